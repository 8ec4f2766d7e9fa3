//! Commit-graphs that are not what they should be: the answer is the same without them.

use crate::HEDGEROW;
use hedgerow_testkit::history::{scene, Graph, Storage};
use hedgerow_testkit::{run, Program};

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
        let found = ask(HEDGEROW);
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

#[test]
fn a_commit_of_the_commit_graph_may_have_to_be_there() {
    let scene = scene(32, "sha1", Storage::Loose, Graph::File);
    let listed = String::from_utf8(scene.git(&["rev-list", "main"])).unwrap();
    let (tip, lost) = (
        listed.lines().next().unwrap(),
        listed.lines().nth(2).unwrap(),
    );
    let path = format!(".git/objects/{}/{}", &lost[..2], &lost[2..]);
    std::fs::remove_file(scene.root.join(path)).unwrap();
    let ask = |program: Program, paranoia: &str, words: &[&str]| {
        let mut command = program.command(&scene.root);
        command.env("GIT_COMMIT_GRAPH_PARANOIA", paranoia);
        command.arg("rev-list").args(words).arg(tip);
        run(command)
    };
    let questions: [&[&str]; 5] = [
        &[],
        &["--objects"],
        &["--count", "--objects"],
        &["--objects", "--missing=print"],
        &["--objects", "--missing=allow-any"],
    ];
    let is_old = ask(Program::Git, "true", &[]).code == 0;
    if is_old {
        hedgerow_testkit::skip("this git does not know GIT_COMMIT_GRAPH_PARANOIA");
    }
    for paranoia in ["false", "true"] {
        for words in questions.iter().filter(|_| !is_old) {
            let theirs = ask(Program::Git, paranoia, words);
            let ours = ask(HEDGEROW, paranoia, words);
            assert_eq!(ours.code, theirs.code, "{words:?} {}", ours.stderr);
            let is_lost = paranoia == "true" && !words.iter().any(|w| w.contains("missing"));
            assert_eq!(ours.code == 128, is_lost, "{words:?} {}", ours.stderr);
            if is_lost {
                assert!(ours.stderr.contains(lost), "{}", ours.stderr)
            } else {
                assert_eq!(ours.stdout, theirs.stdout, "{paranoia} {words:?}")
            }
        }
    }
    let odd = ask(HEDGEROW, "perhaps", &[]);
    assert_eq!(odd.code, 128);
    assert!(
        odd.stderr.contains("GIT_COMMIT_GRAPH_PARANOIA"),
        "{}",
        odd.stderr
    );
}
