//! Command lines drawn for a state.

use crate::state::State;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// How status is called.
#[derive(Clone, Debug)]
pub struct Invocation {
    /// What follows `status`.
    pub words: Vec<Vec<u8>>,
    /// Where, below the root.
    pub directory: PathBuf,
}

const FORMATS: &[&[&str]] = &[
    &[],
    &["-s"],
    &["-s", "-b"],
    &["--porcelain"],
    &["--porcelain=v1", "-z"],
    &["--porcelain=v2", "--branch"],
    &["--porcelain=v2", "--branch", "-z"],
    &["--porcelain=v2", "--show-stash"],
    &["--long"],
    &["-z"],
    &["-s", "-z"],
    &["-b", "--porcelain"],
    &["--branch", "--show-stash"],
    &["-sb", "--no-ahead-behind"],
];
const UNTRACKED: &[&str] = &["-uno", "-unormal", "-uall", "-u", "--untracked-files=all"];
const IGNORED: &[&str] = &[
    "--ignored",
    "--ignored=traditional",
    "--ignored=matching",
    "--ignored=no",
];
const SUBMODULES: &[&str] = &[
    "--ignore-submodules",
    "--ignore-submodules=all",
    "--ignore-submodules=dirty",
    "--ignore-submodules=untracked",
    "--ignore-submodules=none",
];
const RENAMES: &[&str] = &[
    "--no-renames",
    "--renames",
    "-M",
    "-M90%",
    "--find-renames=20",
];

/// One for each format, most with more options.
pub fn draw(state: &mut State) -> Vec<Invocation> {
    let formats: Vec<&[&str]> = FORMATS.to_vec();
    formats
        .into_iter()
        .map(|format| {
            let mut words: Vec<Vec<u8>> = format.iter().map(|w| w.as_bytes().to_vec()).collect();
            let mut perhaps = |state: &mut State, list: &[&str], percent| {
                if state.random.chance(percent) {
                    words.push(state.random.pick(list).as_bytes().to_vec());
                }
            };
            perhaps(state, UNTRACKED, 50);
            perhaps(state, IGNORED, 40);
            perhaps(
                state,
                SUBMODULES,
                if state.submodules.is_empty() { 5 } else { 30 },
            );
            perhaps(state, RENAMES, 20);
            let has_pathspecs = state.random.chance(18);
            let directory = directory(state);
            if has_pathspecs {
                words.extend(pathspecs(state, &directory));
            }
            Invocation { words, directory }
        })
        .collect()
}

fn pathspecs(state: &mut State, directory: &Path) -> Vec<Vec<u8>> {
    let mut words = vec![b"--".to_vec()];
    for _ in 0..1 + state.random.below(3) {
        let path = state.random.pick(&state.paths).clone();
        let above = path.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
        let module = state.submodules.first().cloned().unwrap_or("sub".into());
        words.push(match state.random.below(28) {
            0 | 1 => [b":(literal)", &path[..]].concat(),
            2 | 3 if above > 0 => path[..above].to_vec(),
            4 => b"*.txt".to_vec(),
            5 => b":(glob)**/*.o".to_vec(),
            6 => b":(glob)*".to_vec(),
            7 => [b":(exclude,literal)", &path[..]].concat(),
            8 => b":!*.o".to_vec(),
            9 => b":/".to_vec(),
            10 => b".".to_vec(),
            11 => b"nothing/here".to_vec(),
            12 => b":(icase)SRC".to_vec(),
            13 => module.into_bytes(),
            14 => b":(top)src".to_vec(),
            15 => [&path[..], b"/"].concat(),
            16 if above > 0 => [&path[..above], b"/"].concat(),
            17 if above > 0 => [&path[..above], b"/*"].concat(),
            18 if above > 0 => [b":(exclude,literal)", &path[..above]].concat(),
            19 if above > 0 => [b":(glob)", &path[..above], b"/*/"].concat(),
            20 => [b":(icase,literal)", &path.to_ascii_uppercase()[..]].concat(),
            21 => [module.as_bytes(), b"/"].concat(),
            22 => b"*/".to_vec(),
            23 => b":(glob)**".to_vec(),
            24 => b":^*/".to_vec(),
            25 => b"./".to_vec(),
            26 if !directory.as_os_str().is_empty() => b"..".to_vec(),
            _ => b"src/".to_vec(),
        });
    }
    words
}

/// The root, or a directory of the working tree.
fn directory(state: &mut State) -> PathBuf {
    if !state.random.chance(25) {
        return PathBuf::new();
    }
    let path = state.random.pick(&state.paths).clone();
    let above = path.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
    let directory = PathBuf::from(OsString::from_vec(path[..above].to_vec()));
    let place = state.repository.root.join(&directory);
    // From a directory that is reached by a link, the working directory would be another.
    let real = std::fs::canonicalize(&place).is_ok_and(|real| real == place);
    if real && place.is_dir() {
        directory
    } else {
        PathBuf::new()
    }
}
