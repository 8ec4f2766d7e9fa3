//! Extracts an image into a new directory: `cargo run --example extract -- IMAGE DIRECTORY`. With
//! one word, writes the image as an archive to standard output.

#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program of its own prints, and reads its environment"
)]

use hedgerow::image::{extract, to_archive, ArchiveOptions, ArchiveOutput, ExtractOptions, Image};
use std::error::Error;
use std::path::Path;
use std::sync::Arc;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (image, directory) = match words.as_slice() {
        [image] => (image, None),
        [image, directory] => (image, Some(directory)),
        _ => return Err("which image, and which directory?".into()),
    };
    let image = Arc::new(Image::open(Path::new(image), 0)?);
    let Some(directory) = directory else {
        let mut output = std::io::stdout();
        to_archive(
            &image,
            ArchiveOutput::Stream(&mut output),
            &ArchiveOptions::default(),
        )?;
        return Ok(());
    };
    let options = ExtractOptions::default();
    let extracted = extract(&image, Path::new(directory), &options, |failed| {
        eprintln!("error: {}", failed.problem);
    })?;
    println!("{} entries", extracted.entries);
    Ok(())
}
