//! What a user does between two commits.

use super::names::{new_path, parent};
use super::{files, State};

/// Draws up to a dozen things and does them.
pub fn make(state: &mut State) {
    let count = [0, 2, 5, 9, 14][state.random.below(5)];
    for _ in 0..count {
        match state.random.below(10) {
            0..=3 => content(state),
            4 | 5 => kind(state),
            6 | 7 => staging(state),
            8 => renaming(state),
            _ => untracked(state),
        }
    }
}

/// The content of a tracked file, and what the index may know of it.
fn content(state: &mut State) {
    let path = state.path();
    match state.random.below(10) {
        0 => drop(files::change(state, &path, "extend", |content| {
            content.extend_from_slice(b"more\n");
        })),
        1 | 2 => drop(files::change(state, &path, "flip a byte of", |content| {
            files::flip(content)
        })),
        3 if state.without_ctime => {
            // Only the content tells, and git looks at it only if the index is not newer.
            let stat = std::fs::symlink_metadata(state.place(&path));
            if files::change(state, &path, "flip a byte of", |content| {
                files::flip(content)
            }) {
                files::set_time(state, &path, stat.unwrap().modified().unwrap());
            }
        }
        3 | 4 => {
            let time = files::long_ago(state);
            files::set_time(state, &path, time);
        }
        5 => {
            let there_and_back = |content: &mut Vec<u8>| content.push(b'x');
            files::change(state, &path, "extend", there_and_back);
            files::change(state, &path, "shorten", |content| {
                content.pop();
            });
        }
        6 => drop(files::change(state, &path, "empty", Vec::clear)),
        7 => drop(files::change(state, &path, "line ends of", |content| {
            let text = String::from_utf8_lossy(content).replace('\n', "\r\n");
            *content = text.into_bytes();
        })),
        8 => files::toggle_executable(state, &path),
        _ => files::remove(state, &path),
    }
}

/// Files become links, directories become files, and so on.
fn kind(state: &mut State) {
    let path = state.path();
    let mut above = parent(&path);
    above.pop();
    match state.random.below(9) {
        0 | 1 => {
            files::remove(state, &path);
            files::link(state, &path, b"elsewhere");
        }
        2 => {
            files::remove(state, &path);
            files::write(state, &[&path[..], b"/inside"].concat(), b"inside\n");
        }
        3 => {
            files::remove(state, &path);
            files::directory(state, &path);
        }
        4 if !above.is_empty() => files::remove(state, &above),
        5 if !above.is_empty() => {
            files::remove(state, &above);
            files::write(state, &above, b"was a directory\n");
        }
        6 if !above.is_empty() => {
            // Still there by name, but through a link.
            let aside = [&above[..], b".aside"].concat();
            if files::rename(state, &above, &aside) {
                let name = aside.rsplit(|b| *b == b'/').next().unwrap().to_vec();
                files::link(state, &above, &name);
            }
        }
        7 => {
            files::remove(state, &path);
            files::special(state, &path);
        }
        _ => {
            // A link becomes a file, whatever it was before.
            files::remove(state, &path);
            let content = files::text(state);
            files::write(state, &path, &content);
        }
    }
}

/// What goes into the index.
fn staging(state: &mut State) {
    let path = state.path();
    let other = new_path(state);
    match state.random.below(16) {
        0 | 1 => drop(add(state, &path)),
        2 => drop(state.git(&[&b"rm"[..], b"-q", b"--cached", b"--", &literal(&path)])),
        3 => drop(state.git(&[&b"rm"[..], b"-q", b"-f", b"--", &literal(&path)])),
        4 => drop(state.git(&["add", "-A", "."])),
        5 | 6 => {
            // Added, and then changed, removed or replaced.
            let content = files::text(state);
            if files::write(state, &other, &content) && add(state, &other) {
                after_staging(state, &other);
            }
        }
        7 | 8 => {
            files::change(state, &path, "flip a byte of", |content| {
                files::flip(content)
            });
            add(state, &path);
            after_staging(state, &path);
        }
        9 => {
            let content = files::text(state);
            if files::write(state, &other, &content) {
                state.git(&[&b"add"[..], b"-N", b"-f", b"--", &literal(&other)]);
                if state.random.chance(30) {
                    files::remove(state, &other);
                }
            }
        }
        10 => flag(state, &path, b"--assume-unchanged"),
        11 => flag(state, &path, b"--skip-worktree"),
        12 => {
            let sign = *state.random.pick(&[&b"--chmod=+x"[..], b"--chmod=-x"]);
            flag(state, &path, sign);
        }
        13 => staged_link(state, &path),
        14 => absent(state, &path),
        _ => drop(state.git(&["reset", "-q", "--soft", "HEAD~1"])),
    }
}

/// An object that is not there. Making an index sparse, git says that it is missing.
fn absent(state: &mut State, path: &[u8]) {
    let digits = if state.sha256 { 64 } else { 40 };
    let modes = if state.did("--sparse-index") {
        &["160000"][..]
    } else {
        &["100644", "160000", "120000"][..]
    };
    let mode = *state.random.pick(modes);
    let info = format!("{mode},{},", "7".repeat(digits));
    let info = [info.as_bytes(), path].concat();
    state.git(&[
        &b"update-index"[..],
        b"--add",
        b"--replace",
        b"--cacheinfo",
        &info,
    ]);
}

/// The second letter beside the first.
fn after_staging(state: &mut State, path: &[u8]) {
    match state.random.below(6) {
        0 => drop(files::change(state, path, "flip a byte of", |content| {
            files::flip(content)
        })),
        1 => files::remove(state, path),
        2 => {
            files::remove(state, path);
            files::link(state, path, b"gone");
        }
        3 => drop(state.git(&[&b"rm"[..], b"-q", b"--cached", b"--", &literal(path)])),
        _ => {}
    }
}

/// A change of type that is staged.
fn staged_link(state: &mut State, path: &[u8]) {
    files::remove(state, path);
    files::link(state, path, b"staged");
    add(state, path);
    if state.random.chance(40) {
        files::remove(state, path);
        files::write(state, path, b"and back\n");
    } else {
        after_staging(state, path);
    }
}

/// Renames and copies, staged and not, with changes and without.
fn renaming(state: &mut State) {
    let path = state.path();
    let to = new_path(state);
    match state.random.below(6) {
        0 | 1 => {
            if state.git(&[&b"mv"[..], b"-k", b"--", &path, &to]) {
                files::change(state, &to, "extend", |content| {
                    content.extend_from_slice(b"renamed\n");
                });
                if state.random.chance(60) {
                    add(state, &to);
                }
                after_staging(state, &to);
            }
        }
        2 => {
            if files::rename(state, &path, &to) {
                files::change(state, &to, "extend", |content| content.extend(b"moved\n"));
                state.git(&["add", "-A"]);
                after_staging(state, &to);
            }
        }
        3 | 4 => {
            if files::rename(state, &path, &to) {
                files::change(state, &to, "flip a byte of", |content| files::flip(content));
                state.git(&[&b"add"[..], b"-N", b"-f", b"--", &literal(&to)]);
            }
        }
        _ => {
            if let Ok(content) = std::fs::read(state.place(&path)) {
                if files::write(state, &to, &content) {
                    add(state, &to);
                    files::change(state, &path, "extend", |content| content.extend(b"old\n"));
                    add(state, &path);
                    after_staging(state, &to);
                }
            }
        }
    }
}

fn untracked(state: &mut State) {
    let path = new_path(state);
    match state.random.below(4) {
        0 => files::special(state, &path),
        1 => drop(files::directory(state, &[&path[..], b".d/empty"].concat())),
        2 => drop(files::link(state, &path, b"src")),
        _ => drop(files::write(state, &path, b"untracked\n")),
    }
}

fn add(state: &mut State, path: &[u8]) -> bool {
    state.git(&[&b"add"[..], b"-f", b"--", &literal(path)])
}

fn flag(state: &mut State, path: &[u8], flag: &[u8]) {
    state.git(&[b"update-index", flag, b"--", path]);
}

/// A pathspec for exactly this path.
pub fn literal(path: &[u8]) -> Vec<u8> {
    [b":(literal)", path].concat()
}
