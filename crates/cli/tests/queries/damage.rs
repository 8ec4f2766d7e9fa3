//! Commit-graphs that are not what they should be: the answer is the same without them.

use super::generate::{scene, Graph, Storage};
use super::oracle::program::{run, Program};

#[test]
fn a_damaged_commit_graph_is_done_without() {
    let scene = scene(31, "sha1", Storage::Packed, Graph::File);
    let path = scene.root.join(".git/objects/info/commit-graph");
    let whole = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let words = ["rev-list", "--objects", "--topo-order", "--all"];
    let ask = |program: Program| {
        let mut command = program.command(&scene.root);
        command.args(words);
        run(command)
    };
    let expected = ask(Program::Git).stdout;
    let put = |content: &[u8]| {
        let _ = std::fs::remove_file(&path);
        std::fs::write(&path, content).unwrap();
        let found = ask(Program::Hedgerow);
        found.assert_civil("a damaged commit-graph");
        found
    };
    for end in [0, 7, 100, whole.len() / 2] {
        assert_eq!(put(&whole[..end]).stdout, expected, "cut at {end}");
    }
    for at in [0, 4, 5, 6, 7, 11, 30, 1100] {
        let mut damaged = whole.clone();
        damaged[at] ^= 0xff;
        let found = put(&damaged);
        let is_right = found.stdout == expected || found.code == 128;
        assert!(is_right, "byte {at}: {}", found.stderr);
    }
}
