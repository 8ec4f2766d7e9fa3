//! Lists what changed in the working tree in the current directory: `cargo run --example status`.

#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program of its own prints, and reads its environment"
)]

use hedgerow::status::{status, Change, Options};
use hedgerow::{Environment, Repository};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let environment = Environment::from_vars(std::env::vars_os(), std::env::current_dir()?)?;
    let repository = Repository::discover(&environment)?;
    let status = status(&repository, &Options::default())?;
    for change in &status.changes {
        let Change { path, .. } = change;
        println!("changed {path}");
    }
    for path in &status.untracked {
        println!("untracked {path}");
    }
    Ok(())
}
