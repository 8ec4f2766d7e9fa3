//! The tools of squashfs-tools-ng, by their names and with their options: what is called `tar2sqfs`
//! behaves as that.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;

/// Takes the words behind the name.
type Persona = fn(Vec<OsString>) -> ExitCode;

const PERSONAS: [(&str, Persona); 0] = [];

/// Does what a program called `name` is to do, if that is one of the tools.
pub fn run(name: &OsStr, words: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    let name = Path::new(name).file_name()?;
    let (_, persona) = PERSONAS.iter().find(|(known, _)| *known == name)?;
    Some(persona(words.collect()))
}
