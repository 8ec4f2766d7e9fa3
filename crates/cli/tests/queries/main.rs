//! `hedgerow rev-list` and `hedgerow cat-file` beside git's, in the same repositories: what they
//! print, and how they end, must be the same.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "tests make repositories, look at files, and tell what differs"
)]

mod ancestors;
mod broken_references;
mod cat_file;
mod damage;
mod documents;
mod links;
mod odd_objects;
mod promised;
mod rev_list;

use hedgerow_testkit::history::Scene;
use hedgerow_testkit::{run, Outcome, Program};

/// The program under test.
const HEDGEROW: Program = Program::Hedgerow(env!("CARGO_BIN_EXE_hedgerow"));

/// Both programs with the same words and input.
fn both(scene: &Scene, words: &[&str], input: &str) -> [Outcome; 2] {
    [Program::Git, HEDGEROW].map(|program| {
        let mut command = program.command(&scene.root);
        command.args(words);
        let path = scene.root.with_file_name("input");
        std::fs::write(&path, input).unwrap();
        command.stdin(std::fs::File::open(&path).unwrap());
        run(command)
    })
}
