//! Names that are awkward in one way or another, and plain ones.

use super::State;

const FILES: &[&[u8]] = &[
    b"a",
    b"b.txt",
    b"c.c",
    b"main.rs",
    b"x.o",
    b"keep.o",
    b"notes.md",
    b"k.id",
    b"w.crlf",
    b"f.flt",
    b"u.u16",
    b"README",
    b"Makefile",
    b"sp ace",
    b" lead",
    b"trail ",
    b"quo\"te",
    b"new\nline",
    b"tab\there",
    b"bell\x07",
    b"back\\slash",
    b"\xff\xfe",
    "n\u{e4}me".as_bytes(),
    "\u{65e5}\u{672c}".as_bytes(),
    b"-dash",
    b"dot.",
    b"a -> b",
    b" -> ",
    b"star*",
    b"[x]",
    b"#hash",
    b"!bang",
    b":colon",
    b".hidden",
    b"~",
    b"\x7fdel",
    b"esc\x1b[31m",
];
const DIRECTORIES: &[&[u8]] = &[
    b"src",
    b"lib",
    b"doc",
    b"a-b",
    b"a",
    b"a0",
    b"deep",
    b"build",
    b"logs",
    b"tmp",
    b"di r",
    b"d\"q",
    "\u{fc}b".as_bytes(),
    b".cfg",
    b"out",
    b"sub",
];

/// Where something can be put: a file's name in up to four directories.
pub fn path(state: &mut State) -> Vec<u8> {
    let depth = [0, 0, 1, 1, 1, 2, 2, 3, 4][state.random.below(9)];
    let mut path = Vec::new();
    for _ in 0..depth {
        path.extend_from_slice(state.random.pick::<&[u8]>(DIRECTORIES));
        path.push(b'/');
    }
    path.extend_from_slice(state.random.pick::<&[u8]>(FILES));
    path
}

/// A file's name.
pub fn file(state: &mut State) -> &'static [u8] {
    state.random.pick::<&[u8]>(FILES)
}

/// A directory's name.
pub fn directory(state: &mut State) -> &'static [u8] {
    state.random.pick::<&[u8]>(DIRECTORIES)
}

/// A path for something untracked: anywhere, or in a directory that is there.
pub fn new_path(state: &mut State) -> Vec<u8> {
    if state.random.chance(50) {
        return path(state);
    }
    let mut place = parent(&state.path());
    place.extend_from_slice(file(state));
    place
}

/// The directory of a path with its slash; empty at the root.
pub fn parent(path: &[u8]) -> Vec<u8> {
    let slash = path.iter().rposition(|byte| *byte == b'/');
    path[..slash.map_or(0, |at| at + 1)].to_vec()
}
