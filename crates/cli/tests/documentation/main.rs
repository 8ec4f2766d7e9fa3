//! The documentation is true: the examples of the README print what it shows, generated pages are
//! current, links lead somewhere, schemas describe real output, and lists are complete.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test reads the pages and runs programs"
)]

mod lists;
mod pages;
mod readme;
mod schema;
mod schemas;

use hedgerow_testkit::{run, Program, Repository};
use std::path::{Path, PathBuf};
use std::process::Command;

const PATH: &str = env!("CARGO_BIN_EXE_hedgerow");
const HEDGEROW: Program = Program::Hedgerow(PATH);

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The repository of the examples.
fn scene() -> Repository {
    let repository = Repository::init(&["-b", "main"]);
    let files = [
        ("src/core/1.c", "part 1\n"),
        ("src/core/2.c", "part 2\n"),
        ("src/core/3.c", "part 3\n"),
        ("docs/guide.md", "text\n"),
        (".gitignore", "*.o\n*.sqfs\n"),
    ];
    repository.commit_files(&files, "First version");
    repository.git(&["tag", "v1.0"]);
    repository.git(&["branch", "release"]);
    repository.commit_files(&[("docs/guide.md", "text\nmore\n")], "More");
    repository
}

fn hedgerow(repository: &Repository, words: &[&str]) -> Command {
    let mut command = HEDGEROW.command(&repository.root);
    command.args(words);
    command
}

fn said(repository: &Repository, words: &[&str]) -> String {
    String::from_utf8(run(hedgerow(repository, words)).stdout).unwrap()
}
