//! The tools of squashfs-tools-ng, by their names and with their options: what is called `tar2sqfs`
//! behaves as that.

mod console;
mod rdsquashfs;
mod sqfsdiff;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

/// Takes the words behind the name.
type Persona = fn(Vec<OsString>) -> ExitCode;

const PERSONAS: [(&str, Persona); 2] =
    [("rdsquashfs", rdsquashfs::run), ("sqfsdiff", sqfsdiff::run)];

/// Does what the program is to do that the first of `words` names, if it is one of the tools.
pub fn run(mut words: Vec<OsString>) -> Option<ExitCode> {
    let own = words.first()?;
    let name = Path::new(own).file_name()?;
    let (_, persona) = PERSONAS.iter().find(|(known, _)| *known == name)?;
    words.remove(0);
    Some(persona(words))
}
