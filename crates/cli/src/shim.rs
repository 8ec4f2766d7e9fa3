//! `hedgerow shim`: hedgerow in the place of git.

use crate::ending::Shape;
use crate::environment;
use crate::failure::Failure;
use crate::global::Global;
use crate::output::Output;
use bstr::ByteSlice;
use clap::{Args, Subcommand};
use hedgerow::shim::{commands, install, remove, state, LinksError, State};
use std::fmt::Display;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Run git commands through hedgerow when it supports every option
///
/// A directory with a link named git goes first in PATH. Called by that name, hedgerow answers calls
/// whose every option it knows, and becomes the real git for all others, before anything is touched.
#[derive(Debug, Args)]
pub struct Shim {
    #[command(subcommand)]
    pub action: Action,
}

#[derive(Debug, Subcommand)]
pub enum Action {
    /// Create the link in a directory
    Install(Place),
    /// Print the shell command that puts the directory first in PATH
    Env(Place),
    /// Remove the link
    Remove(Place),
    /// Show what 'git' means here
    Status,
}

#[derive(Debug, Args)]
pub struct Place {
    /// The directory of the link
    #[arg(value_name = "DIR")]
    pub place: PathBuf,
}

pub fn run(command: &Shim, global: &Global, output: &Output) -> Result<u8, Failure> {
    match &command.action {
        Action::Install(at) => {
            let place = in_path(&at.place, global)?;
            let program = hedgerow_fs::own_program().map_err(failure)?;
            install(&place, &program).map_err(|error| refused(error, &at.place))?;
            output.say(format_args!(
                "'git' in '{}' is hedgerow now. To use it: eval \"$(hedgerow shim env {})\"",
                place.display(),
                String::from_utf8_lossy(&quoted(&place))
            ));
        }
        Action::Env(at) => {
            let place = quoted(&in_path(&at.place, global)?);
            output.data(&[b"export PATH=", &place[..], b":\"$PATH\"\n"].concat());
        }
        Action::Remove(at) => {
            let place = absolute(&at.place, global)?;
            remove(&place).map_err(|error| refused(error, &at.place))?;
        }
        Action::Status => show(output),
    }
    Ok(0)
}

fn show(output: &Output) {
    let path = environment::variable("PATH").unwrap_or_default();
    let mut lines = Vec::new();
    let real = match state(&path) {
        State::Active { directory, real } => {
            lines.push(format!("git is hedgerow, by '{}'", directory.display()));
            let mut names: Vec<&str> = commands().collect();
            names.sort_unstable();
            lines.push(format!("answered by hedgerow: {}", names.join(" ")));
            real
        }
        State::Inactive(found) => {
            lines.push("git is not hedgerow".to_owned());
            if let Some(ours) = found.ours {
                let ours = ours.display();
                lines.push(format!("the link in '{ours}' comes too late in PATH"));
            }
            found.real
        }
    };
    lines.push(match real {
        Some(real) => format!("the real git: '{}'", real.display()),
        None => "the real git: none in PATH".to_owned(),
    });
    let switch = environment::variable("HEDGEROW_SHIM");
    if let Some(switch) = switch {
        lines.push(format!("HEDGEROW_SHIM={}", switch.to_string_lossy()));
    }
    output.data((lines.join("\n") + "\n").as_bytes());
}

/// The path as it is meant from where the command starts.
fn absolute(place: &Path, global: &Global) -> Result<PathBuf, Failure> {
    let parts = global.directory.iter();
    let place: PathBuf = parts.map(PathBuf::as_path).chain([place]).collect();
    std::path::absolute(place).map_err(failure)
}

/// The same, if it can stand in `PATH`.
fn in_path(place: &Path, global: &Global) -> Result<PathBuf, Failure> {
    let place = absolute(place, global)?;
    if place.as_os_str().as_bytes().contains(&b':') {
        return Err(failure(format_args!(
            "'{}' cannot be in PATH: its name has a colon",
            place.display()
        )));
    }
    Ok(place)
}

fn failure(error: impl Display) -> Failure {
    Shape::Own.failure(error.to_string())
}

fn refused(error: LinksError, place: &Path) -> Failure {
    let hint = match &error {
        LinksError::Foreign(_) => Some("name another directory; nothing was changed".to_owned()),
        LinksError::NotInstalled(_) => {
            let place = quoted(place);
            let place = String::from_utf8_lossy(&place);
            Some(format!("hedgerow shim install {place}"))
        }
        LinksError::Fs(_) => None,
    };
    Failure {
        hint,
        ..Shape::Own.own(failure(error))
    }
}

/// The path as a shell takes it.
fn quoted(path: &Path) -> Vec<u8> {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-+".contains(byte);
    let bytes = path.as_os_str().as_bytes();
    if bytes.iter().all(is_plain) {
        return bytes.to_vec();
    }
    [b"'", &bytes.replace("'", r"'\''")[..], b"'"].concat()
}
