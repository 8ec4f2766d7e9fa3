//! Objects that are not what leads to them says, that are nowhere, or in a pack that cannot be used.

use super::both;
use hedgerow_testkit::git;
use hedgerow_testkit::history::{scene, Graph, Scene, Storage};
use std::path::PathBuf;

/// Writes an object of any content; returns its id.
fn write(scene: &Scene, kind: &str, content: &[u8]) -> String {
    let words = ["hash-object", "-w", "--literally", "-t", kind, "--stdin"];
    let id = git(&scene.root, &words, content);
    String::from_utf8(id).unwrap().trim().to_owned()
}

fn tree(scene: &Scene, mode: &str, id: &str) -> String {
    let bytes = id.as_bytes().chunks(2);
    let bytes = bytes.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16));
    let mut content = format!("{mode} foo\0").into_bytes();
    content.extend(bytes.map(Result::unwrap));
    write(scene, "tree", &content)
}

fn tag(scene: &Scene, id: &str, kind: &str) -> String {
    let text = format!("object {id}\ntype {kind}\ntag x\ntagger a <a> 1 +0000\n\nx\n");
    write(scene, "tag", text.as_bytes())
}

#[test]
fn what_is_of_another_kind_than_is_said_ends_a_walk() {
    let scene = scene(60, "sha1", Storage::Loose, Graph::None);
    let (blob, root, top) = (&scene.blobs[0], &scene.trees[5], &scene.commits[0]);
    let no_blob = tree(&scene, "100644", root);
    let no_tree = tree(&scene, "40000", blob);
    let text = format!("tree {blob}\nauthor a <a> 1 +0000\ncommitter a <a> 1 +0000\n\nx\n");
    let no_root = write(&scene, "commit", text.as_bytes());
    let tags = [
        tag(&scene, blob, "commit"),
        tag(&scene, blob, "tree"),
        tag(&scene, top, "blob"),
    ];
    let questions: [(&[&str], &str); 11] = [
        (&[root, &no_blob], "has blob mode, but is not a blob"),
        (&[&no_blob, root], "has blob mode, but is not a blob"),
        (&[blob, &no_tree], "has tree mode, but is not a tree"),
        (&[&format!("^{blob}"), &no_tree], "but is not a tree"),
        (&[&no_tree], "not a tree"),
        (&[blob, &no_root], "not a tree"),
        (&[&tags[0]], "is a"),
        (&[blob, &tags[0]], "not a commit"),
        (&[&tags[1]], "is a"),
        (&[blob, &tags[1]], "not a tree"),
        (&[top, &tags[2]], "not a blob"),
    ];
    for (tips, said) in questions {
        let words = [&["rev-list", "--objects"], tips].concat();
        for outcome in both(&scene, &words, "") {
            assert_eq!(outcome.code, 128, "{words:?}: {}", outcome.stderr);
            let words_lower = outcome.stderr.to_lowercase();
            assert!(
                words_lower.contains(said) || said == "is a",
                "{words:?}: {outcome:?}"
            );
        }
    }
    // What is not wanted is passed over.
    for tips in [[top.as_str(), &format!("^{}", tags[0])], [top, &no_blob]] {
        let [git, ours] = both(&scene, &["rev-list", tips[0], tips[1]], "");
        assert_eq!((git.code, git.stdout), (ours.code, ours.stdout), "{tips:?}");
    }
}

/// Git makes a commit of whatever the list of the boundary of a shallow clone names, before it reads
/// anything else. A server chooses that list.
#[test]
fn what_the_boundary_names_is_nothing_but_a_commit() {
    let scene = scene(66, "sha1", Storage::Loose, Graph::None);
    let blob = write(&scene, "blob", b"of the boundary\n");
    let below = tree(&scene, "100644", &blob);
    let root = tree(&scene, "40000", &below);
    let by = "author a <a> 1 +0000\ncommitter a <a> 1 +0000\n\nx\n";
    let first = write(&scene, "commit", format!("tree {root}\n{by}").as_bytes());
    let text = format!("tree {}\nparent {first}\n{by}", scene.trees[5]);
    let second = write(&scene, "commit", text.as_bytes());
    let tag = tag(&scene, &blob, "blob");
    scene.git(&["update-ref", "refs/heads/of-boundary", &second]);
    let questions: [&[&str]; 9] = [
        &["--objects", &second],
        &["--objects", "--quiet", &second],
        &["--objects", "--count", &second],
        &["--objects", "--count", "--filter=blob:none", &second],
        &["--objects", "--quiet", "--filter=blob:limit=1", &second],
        &["--objects", "--all"],
        &["--count", &second],
        &["--objects", "--quiet", &tag],
        &["--objects", "--quiet", &scene.commits[0]],
    ];
    for named in [&blob, &below, &root, &tag, &scene.commits[3]] {
        std::fs::write(scene.root.join(".git/shallow"), format!("{named}\n")).unwrap();
        for words in questions {
            let words = [&["rev-list"], words].concat();
            let [git, ours] = both(&scene, &words, "");
            assert_eq!(ours.code, git.code, "{named} {words:?}: {}", ours.stderr);
            let last = |text: &str| text.lines().last().unwrap_or_default().to_owned();
            let said = [last(&git.stderr), last(&ours.stderr)];
            let is_parent = said[0].contains("Failed to traverse parents");
            assert!(
                said[0] == said[1] || is_parent,
                "{named} {words:?}: {said:?}"
            );
        }
        // As a clone asks whether it has everything.
        let words = [
            "rev-list",
            "--objects",
            "--stdin",
            "--quiet",
            "--alternate-refs",
        ];
        let [git, ours] = both(&scene, &words, &format!("{second}\n"));
        assert_eq!(ours.code, git.code, "{named}: {}", ours.stderr);
        let is_commit = [&tag, &scene.commits[3]].contains(&named);
        assert_eq!(git.code == 0, is_commit, "{named}: {}", git.stderr);
    }
}

/// No object has the id of zeros, which marks what is empty in many places.
#[test]
fn what_has_the_null_id_is_missing() {
    let scene = scene(65, "sha1", Storage::Loose, Graph::None);
    let null = "0".repeat(40);
    let text = format!("tree {null}\nauthor a <a> 1 +0000\ncommitter a <a> 1 +0000\n\nx\n");
    let tips = [
        tree(&scene, "100644", &null),
        tree(&scene, "40000", &null),
        write(&scene, "commit", text.as_bytes()),
    ];
    let options: [&[&str]; 5] = [
        &[],
        &["--quiet"],
        &["--count"],
        &["--count", "--use-bitmap-index"],
        &["--quiet", "--not", &scene.commits[0], "--not"],
    ];
    for tip in &tips {
        for options in options {
            let words = [&["rev-list", "--objects"], options, &[tip]].concat();
            for outcome in both(&scene, &words, "") {
                assert_eq!(outcome.code, 128, "{words:?}: {outcome:?}");
            }
        }
    }
}

/// Git keeps the last bits of a mode, however many digits it has, and takes what is no file, link or
/// directory for a submodule. It shows modes as they should be.
#[test]
fn odd_modes_are_told_as_git_takes_them() {
    let scene = scene(64, "sha1", Storage::Loose, Graph::None);
    let (blob, below) = (&scene.blobs[0], &scene.trees[5]);
    let padded = format!("{}100644", "0".repeat(30));
    for (mode, id) in [
        ("100664", blob),
        ("100600", blob),
        ("100775", blob),
        ("120777", blob),
        ("40755", below),
        (&padded, blob),
        ("777", blob),
        ("0", blob),
        ("10000", below),
        ("17777777777", blob),
        ("160777", blob),
    ] {
        let root = tree(&scene, mode, id);
        for words in [
            &["cat-file", "-p", &root][..],
            &["rev-list", "--objects", &root],
            &["rev-list", "--objects", "--count", &root],
        ] {
            let [git, ours] = both(&scene, words, "");
            assert_eq!(git, ours, "{mode}: {words:?}");
        }
        let words = ["cat-file", "--batch-check=%(objectname) %(objectmode)"];
        let [git, ours] = both(&scene, &words, &format!("{root}:foo\n"));
        match git.code {
            0 => assert_eq!(git, ours, "{mode}"),
            _ => hedgerow_testkit::skip("this git does not know %(objectmode)"),
        }
    }
    for mode in ["", "8", "100648", "-1"] {
        let root = tree(&scene, mode, blob);
        for outcome in both(&scene, &["rev-list", "--objects", &root], "") {
            assert_eq!(outcome.code, 128, "{mode}: {outcome:?}");
        }
    }
}

fn loose_path(scene: &Scene, id: &str) -> PathBuf {
    let objects = scene.root.join(".git/objects");
    objects.join(&id[..2]).join(&id[2..])
}

#[test]
fn what_is_known_of_missing_objects_is_told() {
    let scene = scene(61, "sha1", Storage::Loose, Graph::None);
    let content = b"only here";
    let blob = write(&scene, "blob", content);
    let words = format!("100644 blob {blob}\ta b\n");
    let below = git(&scene.root, &["mktree"], words.as_bytes());
    let below = String::from_utf8(below).unwrap().trim().to_owned();
    let words = format!(
        "040000 tree {below}\td\"\n100644 blob {}\tx\n",
        scene.blobs[0]
    );
    let root = git(&scene.root, &["mktree"], words.as_bytes());
    let root = String::from_utf8(root).unwrap().trim().to_owned();
    let text = format!("tree {root}\nauthor a <a> 1 +0000\ncommitter a <a> 1 +0000\n\nx\n");
    let commit = write(&scene, "commit", text.as_bytes());
    for (id, lines, nul) in [
        (
            &blob,
            "path=\"d\\\"/a b\" type=blob",
            "path=d\"/a b\0type=blob",
        ),
        (&below, "path=\"d\\\"\" type=tree", "path=d\"\0type=tree"),
        (&root, "type=tree", "type=tree"),
    ] {
        let (path, aside) = (loose_path(&scene, id), scene.root.join(".git/aside"));
        std::fs::rename(&path, &aside).unwrap();
        let words = ["rev-list", "--objects", "--missing=print-info", &commit];
        let [git, ours] = both(&scene, &words, "");
        let told = String::from_utf8(ours.stdout.clone()).unwrap();
        assert_eq!(told.lines().last().unwrap(), format!("?{id} {lines}"));
        match git.code {
            0 => assert_eq!(git.stdout, ours.stdout),
            _ => hedgerow_testkit::skip("this git does not know --missing=print-info"),
        }
        let words = [&words[..], &["-z"]].concat();
        let told = String::from_utf8(both(&scene, &words, "")[1].stdout.clone()).unwrap();
        assert!(
            told.ends_with(&format!("{id}\0missing=yes\0{nul}\0")),
            "{told:?}"
        );
        std::fs::rename(&aside, &path).unwrap();
    }
}

#[test]
fn what_only_a_broken_pack_has_is_missing() {
    let scene = scene(62, "sha1", Storage::Packed, Graph::None);
    // The tip of a branch is not loose any more.
    let id = scene.commits.last().unwrap();
    let list = git(&scene.root, &["pack-objects", "-q", "x"], id.as_bytes());
    let name = String::from_utf8(list).unwrap();
    let packs = scene.root.join(".git/objects/pack");
    for entry in std::fs::read_dir(&packs).unwrap() {
        let path = entry.unwrap().path();
        std::fs::rename(&path, scene.root.join(path.file_name().unwrap())).unwrap();
    }
    let target = |extension| packs.join(format!("pack-{}.{extension}", name.trim()));
    for extension in ["idx", "pack"] {
        let from = scene.root.join(format!("x-{}.{extension}", name.trim()));
        std::fs::copy(&from, target(extension)).unwrap();
    }
    let mut pack = std::fs::read(target("pack")).unwrap();
    pack[8] = 0xff;
    std::fs::remove_file(target("pack")).unwrap();
    std::fs::write(target("pack"), pack).unwrap();
    for mode in ["--batch-check", "--batch"] {
        let words = ["cat-file", "--batch-all-objects", mode];
        let [git, ours] = both(&scene, &words, "");
        assert_eq!(git.stdout, ours.stdout, "{words:?}");
        // Git says on standard error that the pack is broken, and that all went well.
        assert_eq!((git.code, ours.code), (0, 128), "{words:?}: {ours:?}");
        assert!(ours.stderr.contains("cannot use '"), "{words:?}: {ours:?}");
        let told = String::from_utf8_lossy(&ours.stdout).into_owned();
        assert!(
            told.contains(&format!("{id} missing\n")),
            "{words:?}: {told}"
        );
    }
    // One that is named is missing, and the others are told.
    let input = format!("{id}\n{}\n{id}:a\n{}\n", scene.blobs[0], scene.trees[0]);
    for mode in ["--batch-check", "--batch"] {
        let [git, ours] = both(&scene, &["cat-file", mode], &input);
        assert_eq!(git.stdout, ours.stdout, "{mode}");
        assert_eq!((git.code, ours.code), (0, 0), "{mode}: {ours:?}");
        assert!(ours.stderr.contains("cannot be read"), "{mode}: {ours:?}");
    }
}

/// Scripts name the empty tree to say "nothing" (`git diff-index $against`), where no object was written.
#[test]
fn the_empty_tree_is_there_without_being_written() {
    const EMPTY: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
    let scene = scene(3, "sha1", Storage::Loose, Graph::None);
    let calls: [&[&str]; 9] = [
        &["cat-file", "-t", EMPTY],
        &["cat-file", "-s", EMPTY],
        &["cat-file", "-p", EMPTY],
        &["cat-file", "-e", EMPTY],
        &["cat-file", "tree", EMPTY],
        &["diff-index", "--cached", "--name-status", EMPTY],
        &["diff-index", "--quiet", "--cached", EMPTY, "--"],
        &["archive", EMPTY],
        &["checkout", EMPTY, "--", "."],
    ];
    for words in calls {
        let [git, ours] = both(&scene, words, "");
        assert_eq!(git, ours, "{words:?}");
    }
}
