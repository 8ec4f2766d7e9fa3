//! Adds up a directory tree: `cargo run --example walk -- /usr/share`.

#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program of its own prints, and reads its environment"
)]

use hedgerow::walk::{
    walk, CountedLinks, Entry, Omission, OpenDirectory, Receiver, Totals, WalkOptions,
};
use std::convert::Infallible;
use std::error::Error;
use std::path::PathBuf;
use std::sync::Mutex;

/// What all workers have counted.
#[derive(Default)]
struct Sum {
    totals: Mutex<Totals>,
    links: CountedLinks,
}

/// What one worker has counted; added to the sum when it ends.
struct Part<'s> {
    sum: &'s Sum,
    totals: Totals,
}

impl Drop for Part<'_> {
    fn drop(&mut self) {
        let mut totals = self.sum.totals.lock().expect("adding does not panic");
        totals.merge(&self.totals);
    }
}

impl<'s> Receiver for &'s Sum {
    type Worker = Part<'s>;
    type Error = Infallible;

    fn worker(&self) -> Part<'s> {
        Part {
            sum: self,
            totals: Totals::default(),
        }
    }

    fn entry(&self, part: &mut Part<'s>, entry: Entry<'_>) -> Result<(), Infallible> {
        part.totals.add(&entry, &self.links);
        Ok(())
    }

    fn omitted(&self, _: &mut Part<'s>, omission: Omission) -> Result<(), Infallible> {
        eprintln!("cannot read '{}'", String::from_utf8_lossy(&omission.path));
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let directory = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| ".".into()));
    let sum = Sum::default();
    let options = WalkOptions {
        metadata: true,
        ..WalkOptions::default()
    };
    walk(
        OpenDirectory::open(&directory)?,
        &directory,
        &&sum,
        &options,
    )?;
    let totals = sum.totals.into_inner()?;
    println!(
        "{} files in {} directories, {} bytes",
        totals.files, totals.directories, totals.bytes
    );
    Ok(())
}
