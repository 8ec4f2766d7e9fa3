//! The tools of squashfs-tools-ng, by their names and with their options: what is called `tar2sqfs`
//! behaves as that.

mod console;
mod gensquashfs;
mod packing;
mod rdsquashfs;
mod sqfs2tar;
mod sqfsdiff;
mod tar2sqfs;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

/// Takes the words behind the name.
type Persona = fn(Vec<OsString>) -> ExitCode;

const PERSONAS: [(&str, Persona); 5] = [
    ("gensquashfs", gensquashfs::run),
    ("rdsquashfs", rdsquashfs::run),
    ("sqfs2tar", sqfs2tar::run),
    ("sqfsdiff", sqfsdiff::run),
    ("tar2sqfs", tar2sqfs::run),
];

/// Does what the program is to do that the first of `words` names, if it is one of the tools.
pub fn run(mut words: Vec<OsString>) -> Option<ExitCode> {
    let own = words.first()?;
    let name = Path::new(own).file_name()?;
    let (_, persona) = PERSONAS.iter().find(|(known, _)| *known == name)?;
    words.remove(0);
    Some(persona(words))
}
