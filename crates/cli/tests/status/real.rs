//! Repositories that were not made for this: the project's own, and the Kubernetes tree if it is
//! there.

use crate::compare::compare;
use crate::invocation::Invocation;
use crate::refresh;
use crate::state::State;
use hedgerow_testkit::git;
use hedgerow_testkit::Repository;
use hedgerow_testkit::{skip, temporary};
use std::path::{Path, PathBuf};

const FORMATS: &[&[&str]] = &[
    &[],
    &["-s", "-b"],
    &["--porcelain", "-z"],
    &["--porcelain=v2", "--branch"],
    &["--porcelain=v2", "--branch", "-z", "-uall", "--ignored"],
    &["-s", "--ignored=matching", "--no-renames"],
    &["-s", "-uno"],
    &["-s", "--", "*.go", "*.rs", ":!vendor"],
];

fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// As it stands, whatever its developer is at.
#[test]
fn the_project_itself() {
    if !project().join(".git").exists() {
        return skip("the sources are not in a git repository");
    }
    // Its files may be changed by others meanwhile: a clone does not.
    compare_clone(project().join(".git"));
}

#[test]
fn kubernetes() {
    let bundle = project().join("../shared/corpus/k8s.bundle");
    if !bundle.exists() {
        return skip("there is no k8s.bundle beside the project");
    }
    compare_clone(bundle);
}

fn compare_clone(origin: PathBuf) {
    let home = temporary();
    let root = home.path().join("clone");
    let origin = if origin.is_file() && origin.ends_with(".git") {
        // A linked working tree: git knows where the rest is.
        origin.parent().unwrap().to_owned()
    } else {
        origin
    };
    let words = [Path::new("clone"), Path::new("-q"), &origin, &root];
    git(home.path(), &words, b"");
    let mut state = State::of(Repository::at(root));
    look(&state);
    edit(&mut state);
    look(&state);
}

fn look(state: &State) {
    for words in FORMATS {
        let invocation = Invocation {
            words: words.iter().map(|word| word.as_bytes().to_vec()).collect(),
            directory: PathBuf::new(),
        };
        if let Err(difference) = compare(state, &invocation) {
            panic!("{}\n{difference}", state.operations.join("\n"));
        }
    }
    if let Err(difference) = refresh::compare(state) {
        panic!("{}\n{difference}", state.operations.join("\n"));
    }
}

/// Changes every so manieth file in one way or another.
fn edit(state: &mut State) {
    let listed = state.ask(&["ls-files", "-z"]);
    let paths = listed
        .split(|byte| *byte == 0)
        .filter(|path| !path.is_empty());
    let paths: Vec<Vec<u8>> = paths.map(<[u8]>::to_vec).collect();
    let step = (paths.len() / 40).max(1);
    state.paths = paths.into_iter().step_by(step).collect();
    for _ in 0..10 {
        crate::state::edits::make(state);
    }
    state
        .repository
        .write("new directory/deep/file", "untracked\n");
    state
        .repository
        .write("target/ignored.o", "perhaps ignored\n");
}
