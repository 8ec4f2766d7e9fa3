//! Submodules: committed, then left in every state that one can be in.

use super::{files, nested, State};

const PLACES: &[&str] = &["sub1", "lib/sub 2", "sub3", "src/s\u{fc}b"];
const IGNORE: &[&str] = &["all", "dirty", "untracked", "none"];

/// Makes and commits some.
pub fn make(state: &mut State) {
    let count = 1 + state.random.below(4);
    let mut modules = String::new();
    for place in &PLACES[..count] {
        if !files::directory(state, place.as_bytes()) {
            continue;
        }
        nested::repository(state, place.as_bytes(), true);
        if state.random.chance(15) {
            nested::repository(state, format!("{place}/inner").as_bytes(), true);
            let root = state.place(place);
            std::fs::write(
                root.join(".gitmodules"),
                "[submodule \"inner\"]\n\tpath = inner\n\turl = ./inner\n",
            )
            .unwrap();
            state.git_in(&root, &["add", "inner", ".gitmodules"]);
            state.git_in(&root, &["commit", "-q", "-m", "a submodule's submodule"]);
        }
        modules += &format!("[submodule \"{place}\"]\n\tpath = {place}\n\turl = ./{place}\n");
        if state.random.chance(25) {
            modules += &format!("\tignore = {}\n", state.random.pick(IGNORE));
        }
        if state.random.chance(15) {
            let value = *state.random.pick(IGNORE);
            state.configure(&format!("[submodule \"{place}\"]\n\tignore = {value}\n"));
        }
        if state.random.chance(60) {
            let lines = format!("[submodule \"{place}\"]\n\tactive = true\n\turl = /nowhere\n");
            state.configure(&lines);
        }
        state.submodules.push((*place).to_owned());
    }
    if state.random.chance(90) {
        files::write(state, b".gitmodules", modules.as_bytes());
        state.note(format!("  which is {modules:?}"));
    }
    let places: Vec<&str> = state.submodules.iter().map(String::as_str).collect();
    let words: Vec<&str> = ["-c", "advice.addEmbeddedRepo=false", "add", "-f", "--"]
        .into_iter()
        .chain(places)
        .collect();
    state.git(&words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>());
    state.git(&["add", "-A", "."]);
    state.git(&["commit", "-q", "-m", "submodules"]);
}

/// Leaves each in some state.
pub fn change(state: &mut State) {
    for place in state.submodules.clone() {
        for _ in 0..1 + state.random.below(4) {
            one(state, &place);
        }
    }
    if state.random.chance(20) {
        state.git(&["submodule", "absorbgitdirs"]);
    }
}

fn one(state: &mut State, place: &str) {
    let root = state.place(place);
    let at = |name: &str| format!("{place}/{name}").into_bytes();
    match state.random.below(18) {
        0 | 1 => {
            files::write(state, &at("file"), b"committed anew\n");
            state.git_in(&root, &["commit", "-q", "-a", "-m", "more"]);
        }
        2 | 3 => drop(files::write(
            state,
            &at("file"),
            b"changed in the submodule\n",
        )),
        4 | 5 => drop(files::write(
            state,
            &at("new"),
            b"untracked in the submodule\n",
        )),
        6 => {
            files::write(state, &at("staged"), b"staged in the submodule\n");
            state.git_in(&root, &["add", "-A"]);
        }
        7 => {
            // Not initialized: an empty directory.
            files::remove(state, place.as_bytes());
            files::directory(state, place.as_bytes());
        }
        8 => files::remove(state, place.as_bytes()),
        9 => {
            files::remove(state, place.as_bytes());
            files::write(state, place.as_bytes(), b"was a submodule\n");
        }
        10 => drop(state.git(&["rm", "-q", "--cached", place])),
        11 => {
            files::write(state, &at("file"), b"committed and staged\n");
            state.git_in(&root, &["commit", "-q", "-a", "-m", "more"]);
            state.git(&["add", "--", place]);
        }
        12 => drop(files::write(
            state,
            &at("inner/new"),
            b"untracked, two levels down\n",
        )),
        13 => drop(files::write(
            state,
            &at("inner/file"),
            b"changed, two levels down\n",
        )),
        14 => {
            // Its files are gone, its repository is not.
            files::remove(state, &at("file"));
            files::remove(state, &at("dir"));
        }
        15 => {
            files::write(state, &at(".gitignore"), b"new\n/dir/\n");
            state.git_in(&root, &["rm", "-q", "-r", "--cached", "dir"]);
        }
        16 => {
            files::write(state, &at("file"), b"committed anew\n");
            state.git_in(&root, &["commit", "-q", "-a", "-m", "more"]);
            files::write(state, &at("file"), b"and changed\n");
            files::write(state, &at("new"), b"untracked, too\n");
        }
        _ => {
            files::remove(state, place.as_bytes());
            files::write(state, &at("plain"), b"only a directory\n");
        }
    }
}
