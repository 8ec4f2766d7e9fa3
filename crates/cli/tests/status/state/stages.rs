//! All seven kinds of unmerged paths, put into the index by hand.

use super::{files, names, State};
use hedgerow_testkit::git;

/// The stages that each kind has: DD, AU, UD, UA, DU, AA, UU.
const KINDS: [&[u8]; 7] = [&[1], &[2], &[1, 2], &[3], &[1, 3], &[2, 3], &[1, 2, 3]];

/// Puts all seven, with files or without.
pub fn put(state: &mut State) {
    let id = state.ask(&["hash-object", "-w", "-t", "blob", "/dev/null"]);
    let id = String::from_utf8(id).unwrap().trim().to_owned();
    let mut lines = Vec::new();
    for (number, stages) in KINDS.into_iter().enumerate() {
        let mut path = names::parent(&state.path());
        path.extend_from_slice(format!("unmerged {number}").as_bytes());
        if state.random.chance(15) {
            path = state.path();
        }
        let zeros = "0".repeat(id.len());
        lines.extend_from_slice(format!("0 {zeros}\t").as_bytes());
        lines.extend_from_slice(&path);
        lines.push(0);
        // Of a submodule that only the others have, git says whether its commit is another one,
        // but only if it has looked for renames.
        let modes: &[&str] = match stages {
            [1, 2, ..] => &["100644", "100644", "100755", "120000"],
            _ => &["100644", "100644", "100755", "120000", "160000"],
        };
        for stage in stages {
            let mode = *state.random.pick(modes);
            lines.extend_from_slice(format!("{mode} {id} {stage}\t").as_bytes());
            lines.extend_from_slice(&path);
            lines.push(0);
        }
        match state.random.below(4) {
            0 => {}
            1 => drop(files::link(state, &path, b"unmerged")),
            _ => drop(files::write(state, &path, b"<<<<<<<\n")),
        }
    }
    if state.environment.is_empty() {
        git(
            &state.repository.root,
            &["update-index", "-z", "--index-info"],
            &lines,
        );
        state.note(format!("index-info {:?}", String::from_utf8_lossy(&lines)));
    }
}
