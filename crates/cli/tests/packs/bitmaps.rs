use super::midx_damage::{hash_len, seal};
use super::{beside_pack, hedgerow, lines, printed};
use crate::HEDGEROW;
use hedgerow_testkit::history::{scene, Graph, Scene, Storage};
use hedgerow_testkit::{run, run_with, Outcome, Program, Random};

const FILTERS: [&str; 7] = [
    "",
    "--filter=blob:none",
    "--filter=blob:limit=100",
    "--filter=tree:0",
    "--filter=object:type=tree",
    "--filter=object:type=tag",
    "--filter=combine:blob:none+object:type=commit",
];

/// What `want` reaches and `have` does not, by two walks of git.
pub fn difference(scene: &Scene, want: &str, have: &str) -> Vec<String> {
    let reached = |tip| lines(&scene.git(&["rev-list", "--objects", "--no-object-names", tip]));
    let had = reached(have);
    let mut wanted = reached(want);
    wanted.retain(|id| had.binary_search(id).is_err());
    wanted
}

/// Asks for what a commit or everything reaches through each filter, and for differences.
pub fn compare(scene: &Scene, random: &mut Random, questions: usize) {
    for _ in 0..questions {
        let want = random.pick(&scene.commits).as_str();
        let tip = if random.chance(50) { want } else { "--all" };
        let mut words = vec!["rev-list", "--objects", "--no-object-names", tip];
        let filter = FILTERS[random.below(FILTERS.len())];
        words.extend(Some(filter).filter(|filter| !filter.is_empty()));
        // A tree that is named and reached is left out only by a walk.
        words.push("--use-bitmap-index");
        let expected = lines(&scene.git(&words));
        let found = printed(scene, &words);
        assert_eq!(lines(found.as_bytes()), expected, "{words:?}");
        words.push("--count");
        let count = printed(scene, &words);
        assert_eq!(count.trim(), expected.len().to_string(), "{words:?}");
        let usage = [&words[..words.len() - 1], &["--disk-usage"]].concat();
        let bytes = printed(scene, &usage);
        assert_eq!(bytes.as_bytes(), scene.git(&usage), "{usage:?}");
        // That many commits, and what they need: no bitmap knows.
        words.push("--max-count=3");
        let count = printed(scene, &words);
        assert_eq!(count.as_bytes(), scene.git(&words), "{words:?}");

        let have = random.pick(&scene.commits);
        let not = format!("^{have}");
        let found = printed(
            scene,
            &["rev-list", "--objects", "--use-bitmap-index", want, &not],
        );
        assert_eq!(
            lines(found.as_bytes()),
            difference(scene, want, have),
            "{want} {not}"
        );
    }
}

fn is_accepted_by_git(scene: &Scene) {
    scene.git(&["fsck", "--no-progress"]);
    for commit in ["main", "b0", "b1", "b2", "b3"] {
        scene.git(&["rev-list", "--test-bitmap", commit]);
    }
}

#[test]
fn git_reads_what_we_write() {
    let mut random = Random::new(5);
    for (seed, format) in [(1, "sha1"), (2, "sha256"), (3, "sha1")] {
        for storage in [Storage::Packed, Storage::Both] {
            let scene = scene(seed, format, storage, Graph::None);
            for table in ["false", "true"] {
                scene.git(&["config", "pack.writeBitmapLookupTable", table]);
                printed(&scene, &["bitmap", "write"]);
                is_accepted_by_git(&scene);
                printed(&scene, &["bitmap", "verify"]);
                compare(&scene, &mut random, 10);
            }
        }
    }
}

#[test]
fn we_read_what_git_writes() {
    let mut random = Random::new(6);
    for (seed, format) in [(4, "sha1"), (5, "sha256")] {
        let scene = scene(seed, format, Storage::Packed, Graph::None);
        let settings: [&[(&str, &str)]; 3] = [
            &[],
            &[("pack.writeBitmapLookupTable", "true")],
            &[
                ("bitmapPseudoMerge.all.pattern", "refs/heads/"),
                ("bitmapPseudoMerge.all.threshold", "now"),
                ("bitmapPseudoMerge.all.stableThreshold", "never"),
            ],
        ];
        for settings in settings {
            for (name, value) in settings {
                scene.git(&["config", name, value]);
            }
            scene.git(&["repack", "-adbq"]);
            printed(&scene, &["bitmap", "verify"]);
            compare(&scene, &mut random, 15);
        }
    }
}

#[test]
fn any_number_of_threads_writes_the_same_file() {
    let scene = scene(7, "sha1", Storage::Packed, Graph::None);
    let write = |threads| {
        printed(&scene, &["-j", threads, "bitmap", "write"]);
        std::fs::read(beside_pack(&scene, "bitmap")).unwrap()
    };
    let first = write("1");
    for threads in ["2", "3", "16"] {
        assert!(write(threads) == first, "{threads}");
    }
}

#[test]
fn a_damaged_accelerator_gives_no_wrong_answer() {
    let scene = scene(8, "sha1", Storage::Packed, Graph::None);
    scene.git(&["config", "pack.writeBitmapLookupTable", "true"]);
    scene.git(&["config", "pack.writeReverseIndex", "true"]);
    scene.git(&["repack", "-adfq"]);
    printed(&scene, &["bitmap", "write"]);
    let words = [
        "rev-list",
        "--objects",
        "--no-object-names",
        "--use-bitmap-index",
        "main",
        "^b1",
    ];
    // Without bitmaps, some objects are listed that trees before the boundary have.
    let plain: Vec<&str> = words
        .iter()
        .copied()
        .filter(|word| !word.contains("bitmap"))
        .collect();
    let expected = [lines(&scene.git(&words)), lines(&scene.git(&plain))];
    let mut random = Random::new(9);
    for extension in ["bitmap", "rev"] {
        let path = beside_pack(&scene, extension);
        let whole = std::fs::read(&path).unwrap();
        // They are read-only.
        std::fs::remove_file(&path).unwrap();
        for _ in 0..100 {
            let mut damaged = whole.clone();
            let at = random.below(damaged.len());
            damaged[at] ^= 1 << random.below(8);
            std::fs::write(&path, damaged).unwrap();
            let found = hedgerow(&scene, &words);
            assert_eq!(found.code, 0, "{}", found.stderr);
            assert!(
                expected.contains(&lines(&found.stdout)),
                "byte {at} of the .{extension}"
            );
            // The hash at the end of a reverse index all of which was compared says nothing more.
            let is_said_twice = extension == "rev" && at + 20 >= whole.len();
            let is_told = found.stderr.contains("warning");
            assert!(is_told || is_said_twice, "{at} {}", found.stderr);
        }
        std::fs::write(&path, whole).unwrap();
    }
}

#[test]
fn a_fetch_is_explained() {
    let scene = scene(10, "sha1", Storage::Both, Graph::None);
    let none = printed(&scene, &["bitmap", "explain", "main"]);
    assert!(
        none.contains("bitmaps: none") && none.contains("hedgerow bitmap write"),
        "{none}"
    );
    printed(&scene, &["bitmap", "write"]);
    let text = printed(&scene, &["bitmap", "explain", "new", "--not", "b1"]);
    assert!(
        text.contains("haves: 1 commit")
            && !text.contains("1 commits")
            && text.contains("lookup table"),
        "{text}"
    );
    let json = printed(
        &scene,
        &["--json", "bitmap", "explain", "new", "--not", "b1"],
    );
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let count = scene.git(&[
        "rev-list",
        "--count",
        "--objects",
        "new",
        "^b1",
        "--use-bitmap-index",
    ]);
    let count: u64 = String::from_utf8(count).unwrap().trim().parse().unwrap();
    assert_eq!(json["objects"], count);
    assert_eq!(json["wants"]["commits_walked"], 1);
}

#[test]
fn a_pack_that_is_not_closed_is_refused() {
    let scene = scene(11, "sha1", Storage::Packed, Graph::None);
    let pack = beside_pack(&scene, "pack");
    let stem = pack.file_stem().unwrap().to_str().unwrap().to_owned();
    printed(&scene, &["bitmap", "write", pack.to_str().unwrap()]);
    let tree = scene.git(&["rev-parse", "main^{tree}"]);
    let commit = [
        b"tree ".as_slice(),
        &tree,
        b"author a <a> 1 +0000\ncommitter a <a> 1 +0000\n\nx",
    ]
    .concat();
    let commit = hedgerow_testkit::git(
        &scene.root,
        &["hash-object", "-w", "-t", "commit", "--stdin"],
        &commit,
    );
    let list = scene.root.join(".git/objects/pack/pack");
    hedgerow_testkit::git(
        &scene.root,
        &["pack-objects", "-q", list.to_str().unwrap()],
        &commit,
    );
    let packs = std::fs::read_dir(scene.root.join(".git/objects/pack")).unwrap();
    let mut names = packs.map(|file| file.unwrap().file_name().into_string().unwrap());
    let alone = names
        .find(|name| name.ends_with(".pack") && !name.starts_with(&stem))
        .unwrap();
    let refused = hedgerow(&scene, &["bitmap", "write", &alone]);
    assert_eq!(refused.code, 128);
    assert!(
        refused.stderr.contains("doesn't have full closure"),
        "{}",
        refused.stderr
    );
}

#[test]
fn what_is_met_before_it_is_named_is_filtered() {
    let scene = scene(12, "sha1", Storage::Packed, Graph::None);
    scene.git(&["repack", "-adbq"]);
    let put = |words: &[&str], input: &str| {
        let id = hedgerow_testkit::git(&scene.root, words, input.as_bytes());
        String::from_utf8(id).unwrap().trim().to_owned()
    };
    let blob = put(&["hash-object", "-w", "--stdin"], &"large\n".repeat(100));
    let lower = put(&["mktree"], &format!("100644 blob {blob}\tfile\n"));
    let upper = put(&["mktree"], &format!("040000 tree {lower}\tdirectory\n"));
    let text = format!(
        "tree {upper}\nauthor a <a> 1 +0000\ncommitter a <a> 1 +0000\n\nno bitmap knows it\n"
    );
    let commit = put(&["hash-object", "-w", "-t", "commit", "--stdin"], &text);
    let text = |kind, of| format!("object {of}\ntype {kind}\ntag t\ntagger a <a> 1 +0000\n\nit\n");
    let tag = ["hash-object", "-w", "-t", "tag", "--stdin"];
    let (tag_of_tree, tag_of_blob) = (
        put(&tag, &text("tree", &upper)),
        put(&tag, &text("blob", &blob)),
    );
    // What is named, the filter, and which of all these is left out.
    let cases: [(&[&str], &str, &[&str]); 9] = [
        (&[&tag_of_tree, &tag_of_blob], "blob:limit=100", &[&blob]),
        (&[&tag_of_blob, &tag_of_tree], "blob:limit=100", &[]),
        (&[&tag_of_tree, &tag_of_blob], "blob:limit=1000", &[]),
        (&[&upper, &blob], "blob:none", &[&blob]),
        (
            &[&upper, &blob],
            "combine:blob:limit=1k+object:type=tree",
            &[&blob],
        ),
        (&[&upper, &lower, &blob], "tree:0", &[&lower]),
        (&[&lower, &upper, &blob], "tree:0", &[&blob]),
        // The tree of a commit is met before all that is named.
        (
            &[&commit, &upper, &lower, &blob],
            "tree:0",
            &[&upper, &blob],
        ),
        (&[&blob, &commit], "blob:none", &[]),
    ];
    for (named, filter, left_out) in cases {
        let filter = format!("--filter={filter}");
        let words = [
            "rev-list",
            "--objects",
            "--use-bitmap-index",
            &filter,
            "main",
        ];
        let words = [&words[..], named].concat();
        let found = lines(printed(&scene, &words).as_bytes());
        assert_eq!(found, lines(&scene.git(&words)), "{words:?}");
        for object in named {
            let is_there = found.iter().any(|id| id == object);
            assert_eq!(is_there, !left_out.contains(object), "{words:?} {object}");
        }
    }
}

#[test]
fn preferred_tips_are_below_a_directory_and_need_a_name() {
    let scene = scene(77, "sha1", Storage::Loose, Graph::None);
    let mut parent = scene.commits[0].clone();
    for number in 0..120 {
        let words = ["commit-tree", "-m", "x", "-p", &parent, &scene.trees[0]];
        parent = String::from_utf8(scene.git(&words)).unwrap().trim().into();
        scene.git(&["update-ref", &format!("refs/tags/n{number}/tag"), &parent]);
    }
    let repack = |preferred: &str| {
        let preferred = format!("pack.preferBitmapTips={preferred}");
        let mut command = HEDGEROW.command(&scene.root);
        command.args(["repack", "-adbq"]);
        command.env("GIT_CONFIG_COUNT", "1");
        let (key, value) = preferred.split_once('=').unwrap();
        command.env("GIT_CONFIG_KEY_0", key);
        command.env("GIT_CONFIG_VALUE_0", value);
        let outcome = super::run(command);
        assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""));
        std::fs::read(super::beside_pack(&scene, "bitmap")).unwrap()
    };
    let plain = repack("refs/nothing");
    let one = (0..120).find(|number| {
        let directory = format!("refs/tags/n{number}");
        assert_eq!(repack(&format!("{directory}/tag")), plain);
        repack(&directory) != plain
    });
    assert!(one.is_some());
    let config = scene.root.join(".git/config");
    let mut text = std::fs::read_to_string(&config).unwrap();
    text += "[pack]\npreferBitmapTips\n";
    std::fs::write(&config, text).unwrap();
    let outcome = super::hedgerow(&scene, &["repack", "-adbq"]);
    let said = "error: missing value for 'pack.preferbitmaptips'\n";
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, said));
}

/// Where a bitmap cannot be listed, nothing is known of those that are there.
#[test]
fn bitmaps_that_cannot_be_listed_are_not_right() {
    let scene = scene(9, "sha1", Storage::Packed, Graph::None);
    scene.git(&["config", "pack.writeBitmapLookupTable", "true"]);
    scene.git(&["config", "pack.writeBitmapHashCache", "false"]);
    printed(&scene, &["bitmap", "write"]);
    let path = beside_pack(&scene, "bitmap");
    let mut bytes = std::fs::read(&path).unwrap();
    // The last row of the table, in front of the checksum, is that of no object.
    let row = bytes.len() - hash_len("sha1") - 16;
    bytes[row..row + 4].copy_from_slice(&[0xff, 0xff, 0xff, 0]);
    seal(&mut bytes, "sha1");
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, bytes).unwrap();
    let verified = hedgerow(&scene, &["bitmap", "verify"]);
    assert_ne!(verified.code, 0, "{}", verified.stderr);
}

/// What is excluded has to be there, edges are not shown, and a count is all that is printed.
#[test]
fn questions_by_bitmaps_are_understood_as_by_git() {
    let scene = scene(78, "sha1", Storage::Packed, Graph::None);
    scene.git(&["repack", "-adbq"]);
    let absent = "0123456789012345678901234567890123456789";
    let not_absent = format!("^{absent}");
    for words in [
        &["--objects", "--count", "main", &not_absent][..],
        &["--objects", "main", "--not", absent],
        &["--count", "main", &not_absent],
        &["--count", "main", "^b1"],
        &["--count", "--objects", "--disk-usage", "main"],
        &["--disk-usage", "--count", "main"],
        &["--objects-edge", "--count", "main", "^b1"],
        &["--objects-edge", "--disk-usage", "main", "^b1"],
        &["--objects-edge", "main", "^b1"],
    ] {
        let words = [&["rev-list", "--use-bitmap-index"], words].concat();
        let mut git = Program::Git.command(&scene.root);
        git.args(&words);
        let (here, git) = (hedgerow(&scene, &words), run(git));
        let said = |outcome: &Outcome| (outcome.code, lines(&outcome.stdout));
        assert_eq!(said(&here), said(&git), "{words:?}");
        assert_eq!(here.stderr, git.stderr, "{words:?}");
    }
    for input in ["--all\n", "main\n--branches\n", "--\n"] {
        let words = ["pack-objects", "--revs", "--stdout", "-q"];
        let mut git = Program::Git.command(&scene.root);
        git.args(words);
        let git = run_with(git, input.as_bytes());
        let here = super::answer(&scene, &words, input.as_bytes());
        let said = |outcome: Outcome| (outcome.code, outcome.stderr);
        assert_eq!(said(here), said(git), "{input}");
    }
}
