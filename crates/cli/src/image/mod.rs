//! `hedgerow image`: SquashFS and EROFS images.

mod arguments;
mod cat;
pub mod create;
mod diff;
mod extract;
mod hash_tree;
mod info;
mod list;
mod to_tar;
mod verify;

pub use arguments::Image;

use crate::environment::from_directory;
use crate::failure::Failure;
use crate::global::Global;
use crate::output::Output;
use crate::walk::not_started;
use crate::walk::sink::write;
use arguments::{Action, Place};
use hedgerow::image::{AnyImage, Error};
use hedgerow_fs::Destination;
use std::io;
use std::path::{Path, PathBuf};

pub fn run(command: &Image, global: &Global, output: &Output) -> Result<u8, Failure> {
    match &command.action {
        Action::Create(command) => create::run(command, global, output),
        Action::Diff(command) => diff::run(command, global, output),
        Action::Extract(command) => extract::run(command, global, output),
        Action::List(command) => list::run(command, global, output),
        Action::Cat(command) => cat::run(command, global, output),
        Action::Info(command) => info::run(command, global),
        Action::Merge(command) => create::parts::merge(command, global, output),
        Action::ToTar(command) => to_tar::run(command, global, output),
        Action::Verify(command) => verify::run(command, global, output),
    }
}

fn open(place: &Place, global: &Global) -> Result<AnyImage, Failure> {
    let path = from_directory(global, &place.image);
    let opened = AnyImage::open(&path, place.offset);
    opened.map_err(|error| unreadable(&place.image, error))
}

/// An error about an image, with the name that the user gave.
fn unreadable(image: &Path, error: Error) -> Failure {
    match error {
        Error::Fs(error) if error.source.kind() == io::ErrorKind::IsADirectory => {
            let image = image.display();
            Failure {
                hint: Some(format!("to list a directory: hedgerow walk '{image}'")),
                ..not_started(format_args!("'{image}' is a directory, not an image"))
            }
        }
        Error::Fs(error) => {
            let error = hedgerow_fs::Error::new(error.operation, image, error.source);
            not_started(error)
        }
        error => not_started(format_args!("cannot read '{}': {error}", image.display())),
    }
}

/// The destination of an output named `named`. An existing regular file is refused unless it may be
/// replaced.
fn place(named: &Path, global: &Global, may_replace: bool) -> Result<Destination, Failure> {
    let refused = |reason| format!("cannot create '{}': {reason}", named.display());
    let place = Destination::of(&from_directory(global, named)).map_err(not_started)?;
    let Destination::File(target) = &place else {
        return Ok(place);
    };
    if hedgerow_fs::is_directory(target) {
        return Err(not_started(refused("Is a directory")));
    }
    if !may_replace && hedgerow_fs::is_there(target).map_err(not_started)? {
        return Err(Failure {
            hint: Some("use -f to replace it".into()),
            ..not_started(refused("File exists"))
        });
    }
    Ok(place)
}

/// The file to write an image to. A stream will not do, because the superblock is written last.
pub fn image_file(place: Destination, named: &Path) -> Result<PathBuf, String> {
    match place {
        Destination::File(path) => Ok(path),
        Destination::Stream(_) => Err(format!(
            "cannot write '{}': an image needs a regular file",
            named.display()
        )),
    }
}

/// Writes data; a closed pipe is not an error.
fn print(bytes: &[u8]) -> Result<(), Failure> {
    let written = write(bytes).or_else(crate::walk::closed_pipe_is_fine);
    written.map_err(unwritable)
}

fn unwritable(error: io::Error) -> Failure {
    not_started(hedgerow_fs::Error::new("write", "standard output", error))
}
