//! Where HEAD is, and what it is compared to.

use super::State;

/// Draws it.
pub fn choose(state: &mut State) {
    match state.random.below(14) {
        0 | 1 => upstream(state, "HEAD~1"),
        2 | 3 => {
            let child = child_of_head(state);
            upstream(state, &child);
        }
        4 => {
            let other = orphan(state);
            upstream(state, &other);
        }
        5 => upstream(state, "HEAD"),
        6 => upstream(state, "gone"),
        7 => drop(state.git(&["checkout", "-q", "--detach"])),
        8 => {
            state.git(&["tag", "-a", "-m", "tag", "v1"]);
            state.git(&["checkout", "-q", "v1"]);
            if state.random.chance(50) {
                state.git(&["commit", "-q", "--allow-empty", "-m", "beyond the tag"]);
            }
        }
        9 => drop(state.git(&[
            "checkout",
            "-q",
            "-b",
            "od d/\u{fc}".replace(' ', "-").as_str(),
        ])),
        10 => drop(state.git(&["checkout", "-q", "--orphan", "fresh"])),
        11 => drop(state.git(&["symbolic-ref", "HEAD", "refs/heads/unborn"])),
        12 => {
            state.git(&["branch", "local"]);
            state.git(&[
                "commit",
                "-q",
                "--allow-empty",
                "-m",
                "ahead of a local branch",
            ]);
            state.configure("[branch \"main\"]\n\tremote = .\n\tmerge = refs/heads/local\n");
        }
        _ => {}
    }
    if state.random.chance(12) {
        let path = state.path();
        super::files::change(state, &path, "extend", |content| content.extend(b"stash\n"));
        state.git(&["stash", "-q"]);
    }
}

/// A remote branch at a commit, tracked by `main`.
fn upstream(state: &mut State, commit: &str) {
    if commit != "gone" {
        state.git(&["update-ref", "refs/remotes/origin/main", commit]);
    }
    state.configure(
        "[remote \"origin\"]\n\turl = /nowhere\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n\
        [branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n",
    );
}

fn child_of_head(state: &State) -> String {
    let child = state.ask(&["commit-tree", "-m", "child", "-p", "HEAD", "HEAD^{tree}"]);
    let child = String::from_utf8(child).unwrap().trim().to_owned();
    let next = state.ask(&["commit-tree", "-m", "next", "-p", &child, "HEAD^{tree}"]);
    String::from_utf8(next).unwrap().trim().to_owned()
}

fn orphan(state: &State) -> String {
    let words = ["commit-tree", "-m", "orphan", "HEAD^{tree}"];
    String::from_utf8(state.ask(&words))
        .unwrap()
        .trim()
        .to_owned()
}
