//! Merges and their like, stopped half-way, with conflicts and without.

use super::{files, State};

/// Makes two histories that do not agree, begins an operation, and resolves some of what is left.
pub fn begin(state: &mut State) {
    theirs(state);
    let kind = state.random.below(13);
    if kind != 10 {
        ours(state);
    }
    match kind {
        0..=2 => drop(state.git(&["merge", "-q", "theirs"])),
        3 => drop(state.git(&["rebase", "-q", "theirs"])),
        4 => drop(state.git(&["rebase", "-q", "--apply", "theirs"])),
        5 => {
            let todo =
                *state
                    .random
                    .pick(&["1s/pick/edit/", "1s/pick/break\\npick/", "1i exec false"]);
            let editor = format!("sequence.editor=sed -i -e '{todo}'");
            let onto = *state.random.pick(&["theirs", "HEAD~1"]);
            state.git(&["-c", &editor, "rebase", "-q", "-i", onto]);
        }
        6 => drop(state.git(&["cherry-pick", "theirs"])),
        7 => {
            state.git(&["cherry-pick", "main~1..theirs"]);
            if state.random.chance(50) {
                // Between two commits of a sequence.
                state.git(&["commit", "-q", "-a", "-m", "by hand"]);
            }
        }
        8 => drop(state.git(&["revert", "--no-edit", "HEAD~1"])),
        9 => {
            let words = *state.random.pick(&["--no-commit", "--no-edit"]);
            state.git(&["revert", words, "HEAD"]);
        }
        10 => {
            change_ours(state);
            state.git(&["stash", "-q", "-u"]);
            state.git(&["merge", "-q", "theirs"]);
            state.git(&["stash", "pop", "-q"]);
        }
        11 => {
            let patch = state.ask(&["format-patch", "--stdout", "theirs~1..theirs"]);
            let path = state.git_dir().join("patch");
            std::fs::write(&path, patch).unwrap();
            let name = path.to_string_lossy().into_owned();
            let way = *state.random.pick(&["-3", "--no-3way"]);
            state.git(&["am", "-q", way, &name]);
        }
        _ => {
            state.git(&["bisect", "start", "HEAD", "HEAD~1"]);
            if state.random.chance(40) {
                state.git(&["merge", "-q", "theirs"]);
            }
        }
    }
    resolve(state);
}

fn theirs(state: &mut State) {
    state.git(&["checkout", "-q", "-b", "theirs"]);
    for name in ["uu.txt", "du.txt"] {
        files::change(state, name.as_bytes(), "their", |content| {
            content.extend_from_slice(b"theirs\n");
        });
    }
    files::remove(state, b"ud.txt");
    files::rename(state, b"rr.txt", b"rr.theirs");
    files::write(state, b"aa.txt", b"added by them\n");
    files::write(state, b"clean.txt", b"only theirs\n");
    match state.random.below(4) {
        0 => drop(files::write(state, b"fd/file", b"a directory of theirs\n")),
        1 => drop(files::write(state, b"fd", b"a file of theirs\n")),
        2 => drop(files::link(state, b"fd", b"a link of theirs")),
        _ => {}
    }
    commit(state, "theirs");
    if state.random.chance(40) {
        files::write(state, b"second.txt", b"theirs too\n");
        commit(state, "theirs, the second");
    }
    state.git(&["checkout", "-q", "main"]);
}

fn ours(state: &mut State) {
    change_ours(state);
    commit(state, "ours");
    if state.random.chance(30) {
        files::write(state, b"more.txt", b"ours too\n");
        commit(state, "ours, the second");
    }
}

fn change_ours(state: &mut State) {
    for name in ["uu.txt", "ud.txt"] {
        files::change(state, name.as_bytes(), "our", |content| {
            content.extend_from_slice(b"ours\n");
        });
    }
    files::remove(state, b"du.txt");
    files::rename(state, b"rr.txt", b"rr.ours");
    files::write(state, b"aa.txt", b"added by us\n");
    match state.random.below(4) {
        0 => drop(files::write(state, b"fd/ours", b"a directory of ours\n")),
        1 => drop(files::write(state, b"fd", b"a file of ours\n")),
        2 => drop(files::link(state, b"fd", b"a link of ours")),
        _ => {}
    }
}

fn commit(state: &mut State, message: &str) {
    state.git(&["add", "-A"]);
    state.git(&["commit", "-q", "--allow-empty", "-m", message]);
}

/// What the user has done about it so far.
fn resolve(state: &mut State) {
    let effort = state.random.below(4);
    if effort == 3 {
        state.git(&["add", "-A"]);
        return;
    }
    let listed = state.ask(&["diff", "--name-only", "--diff-filter=U", "-z"]);
    let unmerged: Vec<Vec<u8>> = listed
        .split(|byte| *byte == 0)
        .filter(|path| !path.is_empty())
        .map(<[u8]>::to_vec)
        .collect();
    for path in unmerged {
        match state.random.below(4 + 3 * (3 - effort)) {
            0 => drop(state.git(&[&b"add"[..], b"-f", b"--", &path])),
            1 => drop(state.git(&[&b"rm"[..], b"-q", b"-f", b"--", &path])),
            2 => drop(files::write(state, &path, b"half resolved\n")),
            3 => files::remove(state, &path),
            _ => {}
        }
    }
}
