//! Where the parts of the repository are.

use super::State;

/// Moves them there.
pub fn choose(state: &mut State, unborn: bool) {
    let root = state.repository.root.clone();
    let beside = root.parent().unwrap().join("beside");
    match state.random.below(18) {
        0 | 1 if !unborn && state.submodules.is_empty() => {
            let place = beside.to_string_lossy().into_owned();
            if state.git(&["worktree", "add", "-q", "-b", "linked", &place]) {
                // The branches of the tests start at `main`.
                state.git(&["checkout", "-q", "--detach"]);
                state.repository.root = beside;
                state.git(&["checkout", "-q", "main"]);
            }
        }
        2 if state.submodules.is_empty() => {
            std::fs::rename(root.join(".git"), &beside).unwrap();
            std::fs::write(root.join(".git"), format!("gitdir: {}\n", beside.display())).unwrap();
            state.note("a .git file");
        }
        3 if state.submodules.is_empty() => {
            std::fs::rename(root.join(".git"), &beside).unwrap();
            state.environment = vec![
                ("GIT_DIR".to_owned(), beside.into_os_string()),
                ("GIT_WORK_TREE".to_owned(), root.into_os_string()),
            ];
            state.note("GIT_DIR and GIT_WORK_TREE");
        }
        4 => {
            let index = root.join(".git/index.other");
            std::fs::copy(root.join(".git/index"), &index).unwrap();
            state.environment = vec![("GIT_INDEX_FILE".to_owned(), index.into_os_string())];
            state.note("GIT_INDEX_FILE");
        }
        5 if state.submodules.is_empty() => {
            std::fs::rename(root.join(".git"), &beside).unwrap();
            let config = format!("[core]\n\tworktree = {}\n", root.display());
            use std::io::Write;
            let file = std::fs::OpenOptions::new()
                .append(true)
                .open(beside.join("config"));
            file.unwrap().write_all(config.as_bytes()).unwrap();
            state.environment = vec![("GIT_DIR".to_owned(), beside.into_os_string())];
            state.note("GIT_DIR and core.worktree");
        }
        _ => {}
    }
}
