//! References to objects that are not there, and files of references that hold no id: a list is
//! never short in silence.

use super::both;
use hedgerow_testkit::history::{scene, Graph, Storage};

const NOWHERE: &str = "1234567890123456789012345678901234567890";
const NULL: &str = "0000000000000000000000000000000000000000";
const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

const QUESTIONS: [&[&str]; 12] = [
    &["rev-list", "--all"],
    &["rev-list", "--objects", "--all"],
    &["rev-list", "--all", "--use-bitmap-index", "--count"],
    &["rev-list", "--tags"],
    &["rev-list", "--tags=z*"],
    &["rev-list", "--glob=tags"],
    &["rev-list", "--branches"],
    &["rev-list", "HEAD", "--not", "--all"],
    &["rev-list", "--exclude=refs/tags/zzz", "--all"],
    &["rev-list", "--objects", "--missing=print", "--all"],
    &["rev-list", "--missing=allow-any", "--all"],
    &["rev-list", "--no-walk", "--all"],
];

#[test]
fn a_reference_to_nothing_ends_a_walk() {
    let scene = scene(63, "sha1", Storage::Packed, Graph::None);
    let path = scene.root.join(".git/refs/tags/zzz");
    let contents = [
        NOWHERE,
        NULL,
        EMPTY_TREE,
        "garbage",
        "",
        "ref: refs/heads/nowhere",
        "ref: ../x",
        "ref: refs/tags/zzz",
    ];
    for content in contents {
        std::fs::write(&path, format!("{content}\n")).unwrap();
        for words in QUESTIONS {
            let [git, ours] = both(&scene, words, "");
            let what = format!("{content:?} {words:?}: {}", ours.stderr);
            assert_eq!(git.code, ours.code, "{what}");
            assert!(git.stdout == ours.stdout, "{what}");
            assert_eq!(git.stderr, ours.stderr, "{what}");
        }
        let [git, ours] = both(&scene, &["pack-objects", "--all", "--stdout", "-q"], "");
        assert_eq!(git.code, ours.code, "{content:?}: {}", ours.stderr);
        assert!(ours.code == 0 || ours.stdout.is_empty(), "{content:?}");
    }
}
