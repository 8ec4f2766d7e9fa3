//! Makes a pack of all that HEAD reaches, and indexes it: `cargo run --example pack -- NEW.pack`.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program of its own prints, and reads its environment"
)]

use hedgerow::pack::{index, serve, IndexOptions, PackOptions, Question};
use hedgerow::{Environment, Repository};
use std::error::Error;
use std::fs::File;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    let pack = PathBuf::from(std::env::args().nth(1).ok_or("which pack?")?);
    let environment = Environment::from_vars(std::env::vars_os(), std::env::current_dir()?)?;
    let repository = Repository::discover(&environment)?;
    let question = Question {
        wants: repository.head()?.id().into_iter().collect(),
        ..Question::default()
    };
    let options = PackOptions::configured(&repository)?;
    let written = serve(&repository, &question, &options, &mut File::create(&pack)?)?;
    println!("{written}");
    let indexed = index(&pack, &IndexOptions::new(repository.hash_kind()))?;
    println!("pack {}", indexed.checksum);
    Ok(())
}
