//! Random changes and moves: hedgerow does what git does, or refuses where git would lose something.

use super::scene::{assert_no_locks, state, Scene};
use hedgerow_testkit::{snapshot, Random, Repository};
use std::fs;

const TAGS: [&str; 9] = [
    "none", "add", "modify", "nested", "nested2", "two", "file", "dir", "clash",
];

const COMMANDS: [&[&str]; 8] = [
    &["checkout", "--detach"],
    &["switch", "--detach"],
    &["checkout", "-q", "-f"],
    &["reset", "--hard"],
    &["reset", "--keep"],
    &["reset", "--merge"],
    &["read-tree", "-m", "-u", "HEAD"],
    &["read-tree", "--reset", "-u"],
];

/// Words that changes leave in files.
const EDITS: [&str; 6] = ["edit-1", "edit-2", "edit-3", "edit-4", "edit-5", "edit-6"];

/// Makes change number `number`, if there is a place for it.
fn change(it: &Repository, kind: usize, number: usize) {
    let text = format!("{}\n", EDITS[number]);
    let edit = |path: &str| {
        if it.path(path).is_file() {
            it.write(path, &text);
        }
    };
    let put = |path: &str, directory: &str| {
        if it.path(directory).is_dir() && !it.path(path).exists() {
            it.write(path, &text);
        }
    };
    match kind {
        0 => edit("sub/file"),
        1 => edit("sub/keep"),
        2 => edit("sub/inner/in"),
        3 => edit("dir/two/two"),
        4 => put("sub/u", "sub"),
        5 => put("sub/x.o", "sub"),
        6 => put("sub/inner/u", "sub/inner"),
        7 => put("sub/inner", "sub"),
        8 => edit("base"),
        9 if it.path("sub/file").is_file() => {
            it.write("sub/file", &text);
            it.run(&["-C", "sub", "add", "file"], b"");
        }
        10 if it.path("sub/.git").exists() => {
            it.run(&["-C", "sub", "checkout", "-q", "-b", "mine"], b"");
        }
        11 if it.path("sub/.git").exists() => {
            it.run(&["-C", "sub", "checkout", "-q", "main~2"], b"");
        }
        12 if it.path("sub").is_dir() => fs::remove_dir_all(it.path("sub")).unwrap(),
        13 if it.path("dir/two").is_dir() => {
            fs::remove_dir_all(it.path("dir/two")).unwrap();
            fs::create_dir(it.path("dir/two")).unwrap();
        }
        14 if it.path("sub/d/x").is_file() => fs::remove_file(it.path("sub/d/x")).unwrap(),
        15 => put("sub/new/deep", "sub"),
        _ => {}
    }
}

/// The words of changes that are somewhere in the working tree.
fn edits(it: &Repository) -> Vec<&'static str> {
    let tree = snapshot(&it.root, &|path| path == b".git");
    let all = format!("{:?}", tree.values().collect::<Vec<_>>());
    EDITS
        .into_iter()
        .filter(|word| all.contains(word))
        .collect()
}

#[test]
fn random_changes_are_kept_or_overwritten_as_by_git() {
    let only = std::env::var("HEDGEROW_TEST_SEED").ok();
    let only: Option<u64> = only.map(|seed| seed.parse().expect("a number"));
    let scenes = ["sha1", "sha256"].map(Scene::new);
    let (mut same, mut kept) = (0, 0);
    for seed in only.map_or(0..70, |seed| seed..seed + 1) {
        let mut random = Random::new(seed);
        let scene = &scenes[usize::from(random.chance(20))];
        let tag = TAGS[random.below(TAGS.len())];
        let mut pair = scene.pair(tag);
        for number in 0..random.below(4) {
            let kind = random.below(16);
            pair.each(&format!("change {kind}"), |it| change(it, kind, number));
        }
        let command = *random.pick(&COMMANDS);
        let to = TAGS[random.below(TAGS.len())];
        let words = [
            &command[..1],
            &["--recurse-submodules"],
            &command[1..],
            &[to],
        ]
        .concat();
        let before = state(&pair.our);
        let had = edits(&pair.our);
        let (git, our) = pair.start(&words);
        let story = format!("seed {seed}: {}", pair.story);
        assert_no_locks(&pair.our, &story);
        let of = |it: &hedgerow_testkit::Outcome| (it.code, it.text(), it.stderr.clone());
        let (after_git, after) = (state(&pair.git), state(&pair.our));
        if of(&git) == of(&our) && after_git == after {
            same += 1;
            continue;
        }
        let (left_by_git, left) = (edits(&pair.git), edits(&pair.our));
        let lost: Vec<_> = had.iter().filter(|it| !left_by_git.contains(it)).collect();
        let what = format!("{story}\ngit: {git:?}\nhedgerow: {our:?}\ngit lost {lost:?}");
        // Either git lost something, or it failed halfway.
        let failed = git.code != 0 || git.stderr.contains("could not be updated");
        assert!(
            !lost.is_empty() || failed,
            "{what}\n{after_git:?}\n{after:?}"
        );
        assert_eq!(left, had, "{what}");
        if our.code != 0 {
            assert_eq!(before, after, "{what}");
        }
        kept += 1;
    }
    println!("{same} as git, {kept} with changes that git lost or left half done");
    assert!(only.is_some() || same > 45, "{same} as git");
}
