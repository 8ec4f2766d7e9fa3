//! What is committed at first.

use super::{files, names, State};

/// Writes the files of the first commit.
pub fn write(state: &mut State, for_conflict: bool) {
    let count = [1, 6, 15, 30][state.random.below(4)];
    for _ in 0..count {
        let path = names::path(state);
        let done = match state.random.below(12) {
            0 => {
                let target =
                    *state
                        .random
                        .pick(&[&b"a"[..], b"nowhere", b"..", b"src", b"/nonexistent/x"]);
                files::link(state, &path, target)
            }
            _ => {
                let content = files::text(state);
                let before = files::is_file(&state.place(&path));
                !before && files::write(state, &path, &content)
            }
        };
        if done {
            if state.random.chance(8) {
                files::toggle_executable(state, &path);
            }
            state.paths.push(path);
        }
    }
    if state.random.chance(20) {
        let content = *state
            .random
            .pick(&[&b"*.o\n/out/\n"[..], b"*\n!*/\n!*.c\n", b"logs/\n"]);
        let place = names::parent(&state.path());
        files::write(state, &[&place[..], b".gitignore"].concat(), content);
    }
    if for_conflict {
        for name in ["uu.txt", "ud.txt", "du.txt", "rr.txt", "dd.txt"] {
            let content: String = (0..12).map(|n| format!("{name} {n}\n")).collect();
            files::write(state, name.as_bytes(), content.as_bytes());
            state.paths.push(name.as_bytes().to_vec());
        }
    }
    if state.paths.is_empty() {
        files::write(state, b"only", b"one\n");
        state.paths.push(b"only".to_vec());
    }
    // Half of them are older than any index.
    if state.random.chance(60) {
        let all = state.paths.clone();
        for path in all {
            if state.random.chance(80) {
                let time = files::long_ago(state);
                files::set_time(state, &path, time);
            }
        }
    }
}

/// Commits them, and sometimes a second time.
pub fn commit(state: &mut State) {
    state.git(&["add", "-A", "-f"]);
    state.git(&["commit", "-q", "-m", "one"]);
    if state.random.chance(40) {
        let path = state.path();
        files::change(state, &path, "extend", |content| {
            content.extend_from_slice(b"second\n");
        });
        state.git(&["commit", "-q", "-a", "--allow-empty", "-m", "two"]);
    }
}
