//! Makes an image of a directory, checks it, and lists how much is in it:
//! `cargo run --example image -- DIRECTORY IMAGE`.

#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program of its own prints, and reads its environment"
)]

use hedgerow::image::{create, verify, CreateOptions, ReadFile, Source};
use hedgerow::Execution;
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [directory, image] = words.as_slice() else {
        return Err("which directory, and which image?".into());
    };
    let source = Source::directory(Path::new(directory));
    let created = create(source, Path::new(image), &CreateOptions::default())?;
    println!("{} inodes in {} bytes", created.inodes, created.bytes);
    for error in &created.skipped {
        eprintln!("left out: {error}");
    }
    let file = ReadFile::open(Path::new(image))?;
    let report = verify(Box::new(file), 0, &Execution::default())?;
    println!("{} findings", report.findings.len());
    Ok(())
}
