use super::both;
use hedgerow::plumbing::codec::deflate;
use hedgerow_testkit::history::{scene, Graph, Scene, Storage};

const FORMATS: [&str; 5] = [
    "%(objectname) %(objecttype) %(objectsize)",
    "%(objectsize:disk) %(deltabase) %(objectname)",
    "%(objectsize)",
    "[%(rest)] %% %(objecttype)",
    "%(objectname)",
];

fn compare(scene: &Scene, words: &[&str], input: &str, is_ordered: bool) {
    let [expected, found] = both(scene, words, input);
    found.assert_civil(&words.join(" "));
    let lines = |output: &[u8]| {
        let text = String::from_utf8_lossy(output).into_owned();
        let mut lines: Vec<String> = text.lines().map(ToOwned::to_owned).collect();
        if !is_ordered {
            lines.sort();
        }
        lines
    };
    let stderr = &found.stderr;
    assert_eq!(
        lines(&found.stdout),
        lines(&expected.stdout),
        "{words:?} {stderr}"
    );
    assert_eq!(
        found.code, expected.code,
        "{words:?} {stderr} {}",
        expected.stderr
    );
}

fn scenes() -> Vec<Scene> {
    vec![
        scene(21, "sha1", Storage::Both, Graph::None),
        scene(22, "sha256", Storage::Packed, Graph::None),
        scene(23, "sha1", Storage::Alternate, Graph::None),
    ]
}

#[test]
fn all_objects_are_told_in_order_and_out_of_it() {
    for scene in scenes() {
        for format in FORMATS {
            let check = format!("--batch-check={format}");
            let all = ["cat-file", "--batch-all-objects", check.as_str()];
            compare(&scene, &all, "", true);
            compare(&scene, &[&all[..], &["--unordered"]].concat(), "", false);
        }
        compare(
            &scene,
            &["cat-file", "--batch-all-objects", "--batch"],
            "",
            true,
        );
        let filters = ["--filter=blob:none", "--filter=object:type=tag"];
        let twice = [&["cat-file", "--batch-check"], &filters[..]].concat();
        compare(&scene, &twice, "HEAD\n", true);
        compare(
            &scene,
            &["cat-file", "--batch-all-objects", "--batch", "--buffer"],
            "",
            true,
        );
    }
}

#[test]
fn named_objects_are_told_as_they_come() {
    for scene in scenes() {
        let missing = "1".repeat(scene.blobs[0].len());
        let mut input = String::new();
        for list in [&scene.blobs, &scene.trees, &scene.commits, &scene.tags] {
            input += &format!("{} some words\n", list[list.len() / 2]);
            input += &format!("{}\n", list[0]);
        }
        input += &format!("main\nmain:\n{missing}\nnothing\nmain:nothing\n\nHEAD^{{tree}} \tx\n");
        for format in FORMATS {
            for mode in ["--batch-check", "--batch"] {
                let mode = format!("{mode}={format}");
                compare(&scene, &["cat-file", mode.as_str()], &input, true);
                compare(
                    &scene,
                    &["cat-file", "--buffer", mode.as_str()],
                    &input,
                    true,
                );
            }
        }
        let nul = input.replace('\n', "\0");
        let known = both(&scene, &["cat-file", "-Z", "--batch"], &nul);
        match known[0].code {
            129 => hedgerow_testkit::skip("this git has no cat-file -Z"),
            _ => compare(&scene, &["cat-file", "-Z", "--batch"], &nul, true),
        }
        compare(&scene, &["cat-file", "-z", "--batch-check"], &nul, true);
        let commands = format!(
            "info main\ncontents {}\nflush\ninfo main:\n",
            scene.blobs[0]
        );
        compare(
            &scene,
            &["cat-file", "--buffer", "--batch-command"],
            &commands,
            true,
        );
        compare(&scene, &["cat-file", "--batch-command"], &commands, true);
        compare(&scene, &["cat-file", "--batch-command"], "info\n", true);
        compare(&scene, &["cat-file", "--batch-check=%(what)"], "", true);
    }
}

#[test]
fn mailmaps_are_off_or_refused() {
    let scene = scene(3, "sha1", Storage::Packed, Graph::None);
    let words = ["cat-file", "--batch-command"];
    let [git, here] = both(&scene, &words, "info main\nmailmap true\ninfo main\n");
    assert_eq!(here.code, 129, "{here:?}");
    if git.code != 0 {
        return hedgerow_testkit::skip("this git has no command mailmap");
    }
    for value in ["false", "no", "0", "", "x", " no"] {
        let input = format!("mailmap {value}\ninfo main\n");
        compare(&scene, &words, &input, true);
    }
    compare(&scene, &words, "mailmap\n", true);
}

#[test]
fn paths_of_the_index_and_of_trees() {
    let scene = scene(25, "sha1", Storage::Packed, Graph::None);
    scene.git(&["read-tree", &scene.trees[6]]);
    let path = scene.root.join("x");
    std::fs::write(&path, "staged\n").unwrap();
    scene.git(&["add", "x"]);
    scene.git(&["update-index", "--chmod=+x", "x"]);
    let tree = String::from_utf8(scene.git(&["write-tree"])).unwrap();
    let tree = tree.trim();
    let words =
        format!(":x\n:0:x\n:1:x\n:./x\n:nothing\n{tree}:x\n{tree}:\n{tree}\n:x/y\n{tree}:x/y\n:\n");
    compare(&scene, &["cat-file", "--batch-check"], &words, true);
    compare(&scene, &["cat-file", "-p", ":x"], "", true);
    compare(&scene, &["cat-file", "-t", ":0:x"], "", true);
    compare(&scene, &["cat-file", "-e", ":nothing"], "", true);
    compare(&scene, &["rev-list", "--objects", ":x"], "", true);
    compare(&scene, &["rev-list", "--objects", ":0:x", "main"], "", true);
    let modes = ["cat-file", "--batch-check=%(objectname) [%(objectmode)]"];
    let [git, here] = both(&scene, &modes, &words);
    match git.code {
        0 => assert_eq!(
            String::from_utf8(here.stdout),
            String::from_utf8(git.stdout)
        ),
        _ => {
            hedgerow_testkit::skip("this git does not know %(objectmode)");
            let here = String::from_utf8(here.stdout).unwrap();
            let lines: Vec<&str> = here.lines().collect();
            assert!(
                lines[0].ends_with(" [100755]") && lines[0] == lines[5],
                "{here}"
            );
            assert!(lines[7].ends_with(" []"), "{here}");
        }
    }
    // Directories that a sparse index keeps as one entry.
    scene.git(&["commit", "-qm", "x"]);
    scene.git(&["sparse-checkout", "set", "--cone", "--sparse-index", "d9"]);
    let listing = scene.git(&["ls-tree", "-r", "HEAD"]);
    let listing = String::from_utf8(listing).unwrap();
    let names = |are_submodules: bool| -> String {
        let lines = listing.lines();
        let lines = lines.filter(|line| line.starts_with("160000") == are_submodules);
        let names = lines.filter_map(|line| line.split_once('\t'));
        names
            .map(|(_, name)| format!(":{name}\nHEAD:{name}\n"))
            .collect()
    };
    compare(&scene, &["cat-file", "--batch-check"], &names(false), true);
    let submodules = names(true);
    let [git, here] = both(&scene, &["cat-file", "--batch-check"], &submodules);
    let line = format!("{} submodule\n", "1".repeat(40));
    let expected = line.repeat(submodules.lines().count());
    assert!(!expected.is_empty());
    assert_eq!(String::from_utf8(here.stdout).unwrap(), expected);
    match String::from_utf8(git.stdout).unwrap() {
        text if text.contains("missing") => hedgerow_testkit::skip("this git tells no submodules"),
        text => assert_eq!(text, expected),
    }
}

#[test]
fn one_object_is_told_and_printed() {
    for scene in scenes() {
        let missing = "1".repeat(scene.blobs[0].len());
        let tag = scene.tags.last().unwrap();
        for name in [
            &scene.blobs[0],
            &scene.commits[3],
            &scene.trees[4],
            tag,
            &missing,
        ] {
            for mode in [
                "-t", "-s", "-p", "-e", "blob", "tree", "commit", "tag", "thing",
            ] {
                compare(&scene, &["cat-file", mode, name], "", true);
            }
        }
        compare(&scene, &["cat-file", "-t", "nothing"], "", true);
        compare(&scene, &["cat-file", "-e", "nothing"], "", true);
    }
}

#[test]
fn without_a_reverse_index_sizes_are_the_same() {
    let scene = scene(24, "sha1", Storage::Packed, Graph::None);
    let packs = scene.root.join(".git/objects/pack");
    for entry in std::fs::read_dir(packs).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "rev") {
            std::fs::remove_file(path).unwrap();
        }
    }
    let words = ["cat-file", "--batch-check=%(objectsize:disk) %(deltabase)"];
    compare(&scene, &words, &format!("{}\n", scene.trees[3]), true);
    compare(&scene, &words, &scene.commits.join("\n"), true);
    compare(
        &scene,
        &[&words[..], &["--batch-all-objects"]].concat(),
        "",
        true,
    );
}

/// One of which not even the start can be read is called missing; at one that starts well, the output
/// ends, after all that came before it.
#[test]
fn a_damaged_object_does_not_hide_the_others() {
    let scene = scene(25, "sha1", Storage::Loose, Graph::None);
    let damaged = &scene.trees[1];
    let path = format!(".git/objects/{}/{}", &damaged[..2], &damaged[2..]);
    let path = scene.root.join(path);
    let whole = std::fs::read(&path).unwrap();
    assert!(whole.len() > 80, "long enough to be cut");
    let input: String = scene.trees.iter().map(|id| format!("{id}\n")).collect();
    let put = |content: &[u8]| {
        let _ = std::fs::remove_file(&path);
        std::fs::write(&path, content).unwrap();
    };
    for (content, hides) in [
        (&b"garbage"[..], false),
        (b"", false),
        (&whole[..60], true),
        (&[&[0x78, 0x9c][..], &[0xff; 40]].concat(), false),
        (&deflate(&b"junk".repeat(20), 1), false),
        (&deflate(b"blob  3\0abc", 1), false),
        (&deflate(b"blob 03\0abc", 1), false),
        (&deflate(b"blob -1\0abc", 1), false),
        (&deflate(b"blob 3", 1), false),
    ] {
        put(content);
        for words in [
            &["--batch-check"][..],
            &["--batch-check=%(objectname)"],
            &["--batch-check=%(objectsize)", "--buffer"],
            &["--batch"],
            &["--batch", "--buffer"],
            &["--batch-all-objects", "--batch-check"],
            &["--batch-all-objects", "--batch"],
            &["--batch-all-objects", "--batch", "--no-buffer"],
        ] {
            let words = [&["cat-file"][..], words].concat();
            let [git, here] = both(&scene, &words, &input);
            assert_eq!(here.code, git.code, "{words:?}: {}", here.stderr);
            assert!(here.stdout == git.stdout, "{words:?}: {}", here.stderr);
            assert_eq!(here.stderr.is_empty(), git.stderr.is_empty(), "{words:?}");
            let has_contents = words.contains(&"--batch");
            assert_eq!(here.code == 128, hides && has_contents, "{words:?}");
        }
    }
}

/// What a loose object says of itself is told, though the end of its file is missing.
#[test]
fn the_header_of_an_object_that_is_cut_off_is_told() {
    let scene = scene(26, "sha1", Storage::Loose, Graph::None);
    let path = |id: &str| {
        scene
            .root
            .join(format!(".git/objects/{}/{}", &id[..2], &id[2..]))
    };
    let id = scene.git(&["hash-object", "-w", "--stdin"]);
    let id = String::from_utf8(id).unwrap().trim().to_owned();
    let whole = std::fs::read(path(&id)).unwrap();
    std::fs::remove_file(path(&id)).unwrap();
    std::fs::write(path(&id), &whole[..whole.len() - 3]).unwrap();
    for words in [
        &["-t", &id][..],
        &["-s", &id],
        &["--batch-check"],
        &["--batch"],
        &["-p", &id],
    ] {
        let words = [&["cat-file"][..], words].concat();
        let [git, here] = both(&scene, &words, &format!("{id}\n"));
        assert_eq!(here.code, git.code, "{words:?}: {}", here.stderr);
        assert_eq!(here.stdout, git.stdout, "{words:?}");
    }
}

/// Nothing is waited for, and nothing read without an end, in the place of a loose object.
#[test]
fn what_is_no_file_is_no_object() {
    let scene = scene(27, "sha1", Storage::Loose, Graph::None);
    let id = &scene.blobs[0];
    let path = scene
        .root
        .join(format!(".git/objects/{}/{}", &id[..2], &id[2..]));
    for kind in ["device", "fifo", "directory"] {
        let _ = std::fs::remove_file(&path);
        match kind {
            "device" => std::os::unix::fs::symlink("/dev/zero", &path).unwrap(),
            "directory" => std::fs::create_dir(&path).unwrap(),
            _ => {
                let made = std::process::Command::new("mkfifo").arg(&path).status();
                assert!(made.unwrap().success());
            }
        }
        for mode in ["-t", "-s", "-p", "blob"] {
            let mut command = crate::HEDGEROW.command(&scene.root);
            command.args(["cat-file", mode, id]);
            let outcome = hedgerow_testkit::run(command);
            outcome.assert_civil(kind);
            assert_eq!(outcome.code, 128, "{kind} {mode}: {}", outcome.stderr);
        }
        for mode in ["--batch-check", "--batch"] {
            let mut command = crate::HEDGEROW.command(&scene.root);
            command.args(["cat-file", "--batch-all-objects", mode]);
            let outcome = hedgerow_testkit::run(command);
            let told = String::from_utf8_lossy(&outcome.stdout).into_owned();
            assert_eq!(outcome.code, 0, "{kind} {mode}: {}", outcome.stderr);
            assert!(told.contains(&format!("{id} missing\n")), "{kind} {mode}");
        }
    }
}

/// A file that is far larger than what it declares is not read.
#[test]
fn no_more_is_read_of_a_loose_object_than_it_declares() {
    let scene = scene(28, "sha1", Storage::Loose, Graph::None);
    let id = &scene.blobs[0];
    let path = scene
        .root
        .join(format!(".git/objects/{}/{}", &id[..2], &id[2..]));
    let _ = std::fs::remove_file(&path);
    std::fs::write(&path, deflate(b"blob 3\0abc", 1)).unwrap();
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    file.set_len(1 << 40).unwrap();
    let mut command = crate::HEDGEROW.command(&scene.root);
    command.args(["cat-file", "-p", id]);
    let outcome = hedgerow_testkit::run(command);
    assert_eq!(outcome.code, 128, "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("declared size 3 is not plausible"),
        "{}",
        outcome.stderr
    );
}

/// With `--batch-command`, all that follows a command is a name, whatever the format asks for.
#[test]
fn a_name_after_a_command_is_not_split() {
    let scene = scene(29, "sha1", Storage::Loose, Graph::None);
    let name = "a name";
    std::fs::write(scene.root.join(name), "x\n").unwrap();
    scene.git(&["add", name]);
    let input = format!("info :{name}\ninfo HEAD some words\ncontents :{name}\ninfo HEAD\n");
    for words in [
        &["--batch-command=%(objectname) %(objecttype) [%(rest)]"][..],
        &[
            "--batch-command=%(objectname) %(objecttype) [%(rest)]",
            "--buffer",
        ],
    ] {
        let words = [&["cat-file"][..], words].concat();
        compare(&scene, &words, &input, true);
    }
}

/// A chain of tags may have any length.
#[test]
fn long_chains_of_tags_are_followed() {
    let scene = scene(30, "sha1", Storage::Loose, Graph::None);
    let mut stream = String::from("blob\nmark :1\ndata 1\nx\n");
    let count = 1100;
    for number in 1..=count {
        stream += &format!(
            "tag t{number}\nmark :{}\nfrom :{number}\ntagger a <a@b> 1 +0000\ndata 1\nx\n",
            number + 1
        );
    }
    hedgerow_testkit::git(
        &scene.root,
        &["fast-import", "--quiet", "--force"],
        stream.as_bytes(),
    );
    for words in [
        &["cat-file", "-t", "t1100^{}"][..],
        &["cat-file", "blob", "t1100"],
        &["rev-list", "--objects", "--count", "t1100"],
        &[
            "rev-list",
            "--objects",
            "--count",
            "--use-bitmap-index",
            "t1100",
        ],
    ] {
        compare(&scene, words, "", true);
    }
    let mut command = crate::HEDGEROW.command(&scene.root);
    command.args(["pack-objects", "--all", "--stdout", "-q"]);
    let outcome = hedgerow_testkit::run(command);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
}
