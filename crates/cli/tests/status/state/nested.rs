//! Repositories, and what looks like one, inside of the working tree.

use super::names::{directory, parent};
use super::{files, State};

/// Makes one or two.
pub fn make(state: &mut State) {
    for number in 0..1 + state.random.below(2) {
        let mut place = match state.random.below(4) {
            0 => parent(&state.path()),
            1 => [directory(state), b"/"].concat(),
            2 => b"in/side/".to_vec(),
            _ => Vec::new(),
        };
        place.extend_from_slice(format!("repo{number}").as_bytes());
        one(state, &place);
    }
}

fn one(state: &mut State, place: &[u8]) {
    let kind = state.random.below(12);
    let at = |name: &str| [place, b"/", name.as_bytes()].concat();
    match kind {
        0 => repository(state, place, false),
        1..=3 => repository(state, place, true),
        4 => {
            // What a bare repository looks like from outside.
            files::directory(state, &at("objects"));
            files::directory(state, &at("refs"));
            files::write(state, &at("HEAD"), b"ref: refs/heads/main\n");
        }
        5 => {
            files::write(state, &at(".git"), b"gitdir: nowhere\n");
            files::write(state, &at("file"), b"beside it\n");
        }
        6 => {
            files::write(state, &at(".git"), b"no git file\n");
            files::write(state, &at("file"), b"beside it\n");
        }
        7 => {
            files::directory(state, &at(".git"));
            files::write(state, &at("file"), b"beside it\n");
        }
        8 => drop(files::directory(state, &at(".git"))),
        9 => {
            // One that is ignored.
            repository(state, place, true);
            let mut pattern = place.rsplit(|b| *b == b'/').next().unwrap().to_vec();
            pattern.extend_from_slice(b"/\n");
            let ignore = [&parent(place)[..], b".gitignore"].concat();
            files::write(state, &ignore, &pattern);
        }
        10 => {
            // Below an untracked directory that holds more.
            repository(state, &at("below"), true);
            files::write(state, &at("file"), b"beside it\n");
        }
        _ => {
            // One with something of the outer repository in it.
            files::write(state, &at("tracked"), b"of the outer one\n");
            state.git(&[
                &b"add"[..],
                b"-f",
                b"--",
                &super::edits::literal(&at("tracked")),
            ]);
            repository(state, place, false);
        }
    }
}

/// A repository at a path below the root.
pub fn repository(state: &mut State, path: &[u8], with_commit: bool) {
    if !files::directory(state, path) {
        return;
    }
    let place = state.place(path);
    let git = place.join(".git");
    for name in ["objects", "refs/heads"] {
        std::fs::create_dir_all(git.join(name)).unwrap();
    }
    let config = if state.sha256 {
        "[core]\n\trepositoryformatversion = 1\n\tbare = false\n\
        [extensions]\n\tobjectformat = sha256\n"
    } else {
        "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"
    };
    std::fs::write(git.join("config"), config).unwrap();
    std::fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    state.note(format!("repository {}", super::shown(path)));
    if state.random.chance(70) || with_commit {
        files::write(
            state,
            &[path, b"/file"].concat(),
            b"in a nested repository\n",
        );
        files::write(state, &[path, b"/dir/file"].concat(), b"deeper\n");
    }
    if with_commit {
        state.git_in(&place, &["add", "-A"]);
        state.git_in(&place, &["commit", "-q", "-m", "nested"]);
    }
}
