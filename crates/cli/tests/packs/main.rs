//! Bitmaps, packs of what is reachable, and serving: git reads what hedgerow writes, hedgerow
//! reads what git writes, and both say the same.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "tests make repositories, look at files, and tell what differs"
)]

mod bitmaps;
mod corrupt;
mod deleting;
mod flips;
mod index_damage;
mod index_pack;
mod killed;
mod large;
mod listed_packs;
mod maintenance;
mod midx_bitmaps;
mod midx_damage;
mod objects;
mod permissions;
mod progress;
mod repack;
mod repacked_states;
mod responses;
mod reverse_damage;
mod served;
mod several;
mod shared_trees;

use hedgerow_testkit::history::Scene;
use hedgerow_testkit::{run, Outcome, Program};

/// The program under test.
const HEDGEROW: Program = Program::Hedgerow(env!("CARGO_BIN_EXE_hedgerow"));

/// Runs hedgerow in the repository of `scene`.
fn hedgerow(scene: &Scene, words: &[&str]) -> Outcome {
    let mut command = HEDGEROW.command(&scene.root);
    command.args(words).stdin(std::process::Stdio::null());
    let outcome = run(command);
    outcome.assert_civil(&format!("{words:?}"));
    outcome
}

/// Runs hedgerow in the repository of `scene`, with `input`.
fn answer(scene: &Scene, words: &[&str], input: &[u8]) -> Outcome {
    let path = scene.root.join(".git/input");
    std::fs::write(&path, input).unwrap();
    let mut command = HEDGEROW.command(&scene.root);
    command
        .args(words)
        .stdin(std::fs::File::open(path).unwrap());
    let outcome = run(command);
    outcome.assert_civil(&format!("{words:?}"));
    outcome
}

/// What hedgerow prints; it must succeed.
fn printed(scene: &Scene, words: &[&str]) -> String {
    let outcome = hedgerow(scene, words);
    assert_eq!(outcome.code, 0, "{words:?}: {}", outcome.stderr);
    String::from_utf8(outcome.stdout).unwrap()
}

/// The lines of a text, sorted: a set.
fn lines(text: &[u8]) -> Vec<String> {
    let text = String::from_utf8(text.to_vec()).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort_unstable();
    lines
}

/// The file in the pack directory with this extension.
fn beside_pack(scene: &Scene, extension: &str) -> std::path::PathBuf {
    let directory = scene.root.join(".git/objects/pack");
    let files = std::fs::read_dir(directory).unwrap();
    let mut paths = files.map(|file| file.unwrap().path());
    let found = paths.find(|path| path.extension().is_some_and(|found| found == extension));
    found.unwrap_or_else(|| panic!("there is a .{extension}"))
}
