//! `pack-objects --revs` and `--all`.

use super::bitmaps::difference;
use super::{lines, printed};
use crate::HEDGEROW;
use hedgerow_testkit::history::{scene, Graph, Scene, Storage};
use hedgerow_testkit::Random;
use hedgerow_testkit::{git, run, Program};
use std::io::Write;
use std::process::{Command, Stdio};

/// The pack that hedgerow makes for the request `input`.
fn pack(scene: &Scene, words: &[&str], input: &str) -> Vec<u8> {
    let mut command = HEDGEROW.command(&scene.root);
    command
        .arg("pack-objects")
        .args(words)
        .arg("--stdout")
        .arg("-q");
    run_with(command, input)
}

/// What `command` prints if its standard input is `input`.
fn run_with(mut command: Command, input: &str) -> Vec<u8> {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(input.as_bytes()).unwrap();
    std::io::Seek::rewind(&mut file).unwrap();
    command.stdin(Stdio::from(file));
    let outcome = run(command);
    assert_eq!(outcome.code, 0, "{input}: {}", outcome.stderr);
    outcome.stdout
}

/// The objects of `pack`, which git indexes strictly in the repository of `scene`.
fn contents(scene: &Scene, pack: &[u8], words: &[&str]) -> Vec<String> {
    let directory = tempfile::tempdir_in(scene.root.join(".git")).unwrap();
    let target = directory.path().join("a.pack");
    let index = [
        &["index-pack", "--stdin", "--strict"],
        words,
        &[target.to_str().unwrap()],
    ]
    .concat();
    git(&scene.root, &index, pack);
    let index = std::fs::read(target.with_extension("idx")).unwrap();
    let shown = git(&scene.root, &["show-index"], &index);
    let shown = lines(&shown);
    let mut ids: Vec<String> = shown
        .iter()
        .map(|line| line.split(' ').nth(1).unwrap().to_owned())
        .collect();
    ids.sort_unstable();
    ids
}

#[test]
fn packs_hold_what_git_says() {
    let mut random = Random::new(20);
    for (seed, format, storage) in [
        (21, "sha1", Storage::Packed),
        (22, "sha1", Storage::Both),
        (23, "sha1", Storage::Loose),
    ] {
        let scene = scene(seed, format, storage, Graph::None);
        for has_bitmap in [false, true] {
            if has_bitmap && storage != Storage::Loose {
                printed(&scene, &["bitmap", "write"]);
            }
            for filter in [
                "",
                "--filter=blob:none",
                "--filter=blob:limit=100",
                "--filter=tree:0",
            ] {
                let want = random.pick(&scene.commits).clone();
                let have = random.pick(&scene.commits).clone();
                let input = format!("{want}\n--not\n{have}\n");
                let mut words = vec!["--revs", "--delta-base-offset"];
                words.extend(Some(filter).filter(|filter| !filter.is_empty()));
                let made = pack(&scene, &words, &input);
                let found = contents(&scene, &made, &[]);
                let expected = difference(&scene, &want, &have);
                match filter {
                    "" => assert_eq!(found, expected, "{input}"),
                    _ => assert!(found.iter().all(|id| expected.contains(id)), "{input}"),
                }
                let thin = pack(&scene, &[&words[..], &["--thin"]].concat(), &input);
                let thin = contents(&scene, &thin, &["--fix-thin"]);
                assert!(found.iter().all(|id| thin.contains(id)));
            }
        }
    }
}

#[test]
fn revisions_are_read_with_all_and_thin_too() {
    let scene = scene(26, "sha1", Storage::Packed, Graph::None);
    let made = pack(&scene, &["--all"], "^b1\n");
    assert_eq!(
        contents(&scene, &made, &[]),
        difference(&scene, "--all", "b1")
    );
    // This is how git makes bundles.
    let made = pack(&scene, &["--thin", "--delta-base-offset"], "main\n^b1\n");
    let found = contents(&scene, &made, &["--fix-thin"]);
    let expected = difference(&scene, "main", "b1");
    assert!(expected.iter().all(|id| found.contains(id)));
    let count = u32::from_be_bytes(made[8..12].try_into().unwrap());
    assert_eq!(count as usize, expected.len());
}

#[test]
fn a_clone_is_all_there_is() {
    let scene = scene(24, "sha256", Storage::Both, Graph::None);
    printed(&scene, &["bitmap", "write"]);
    let made = pack(&scene, &["--all", "--delta-base-offset"], "");
    let expected = lines(&scene.git(&["rev-list", "--objects", "--no-object-names", "--all"]));
    let words = ["--check-self-contained-and-connected"];
    assert_eq!(contents(&scene, &made, &words), expected);
}

#[test]
fn tags_go_along_with_what_they_are_of() {
    let scene = scene(25, "sha1", Storage::Packed, Graph::None);
    scene.git(&["tag", "-a", "-m", "x", "marked", "main"]);
    let tag = String::from_utf8(scene.git(&["rev-parse", "marked"])).unwrap();
    let input = format!(
        "{}\n",
        String::from_utf8(scene.git(&["rev-parse", "main"]))
            .unwrap()
            .trim()
    );
    let without = contents(&scene, &pack(&scene, &["--revs"], &input), &[]);
    let with = contents(
        &scene,
        &pack(&scene, &["--revs", "--include-tag"], &input),
        &[],
    );
    assert!(!without.contains(&tag.trim().to_owned()));
    assert!(with.contains(&tag.trim().to_owned()));
}

/// Nobody asked for it, and the receiver would refuse all.
#[test]
fn a_tag_whose_file_has_another_object_stays() {
    let scene = scene(25, "sha1", Storage::Packed, Graph::None);
    for name in ["marked", "other"] {
        scene.git(&["tag", "-a", "-m", name, name, "main"]);
    }
    let [tag, other, main] = ["marked", "other", "main"].map(|name| {
        let id = scene.git(&["rev-parse", name]);
        String::from_utf8(id).unwrap().trim().to_owned()
    });
    let file = |id: &str| {
        let objects = scene.root.join(".git/objects");
        objects.join(&id[..2]).join(&id[2..])
    };
    std::fs::remove_file(file(&tag)).unwrap();
    std::fs::copy(file(&other), file(&tag)).unwrap();
    for words in [&["--revs"][..], &[]] {
        let words = [words, &["--include-tag"]].concat();
        let sent = pack(&scene, &words, &format!("{main}\n"));
        let sent = contents(&scene, &sent, &[]);
        assert!(sent.contains(&other) && !sent.contains(&tag), "{words:?}");
    }
}

#[test]
fn a_tag_of_a_tag_goes_along_with_both() {
    let scene = scene(25, "sha1", Storage::Packed, Graph::None);
    scene.git(&["tag", "-a", "-m", "x", "inner", "main"]);
    scene.git(&["tag", "-a", "-m", "x", "outer", "inner"]);
    let ids = ["inner", "outer", "main"].map(|name| {
        let id = scene.git(&["rev-parse", name]);
        String::from_utf8(id).unwrap().trim().to_owned()
    });
    scene.git(&["tag", "-d", "inner"]);
    let input = format!("{}\n", ids[2]);
    for more in [&["--stdout"][..], &["--stdout", "--local"], &[]] {
        let words = [&["--include-tag"], more].concat();
        let [theirs, ours] =
            [Program::Git, HEDGEROW].map(|program| made_by(&program, &scene, &words, &input));
        assert!(ids.iter().all(|id| ours.contains(id)), "{more:?}");
        assert_eq!(ours, theirs, "{more:?}");
    }
}

#[test]
fn bitmaps_are_used_for_files_only_if_asked_for() {
    let scene = scene(27, "sha1", Storage::Packed, Graph::None);
    printed(&scene, &["bitmap", "write"]);
    let options: [&[&str]; 6] = [
        &[],
        &["--use-bitmap-index"],
        &["--no-use-bitmap-index"],
        &["--use-bitmap-index", "--local", "--include-tag"],
        &["--stdout", "--local"],
        &["--stdout", "--local", "--no-use-bitmap-index"],
    ];
    let mut random = Random::new(28);
    // Where bitmaps know no have, git walks after all.
    let packed = lines(&scene.git(&["rev-list", "--all"]));
    // Of a walk, some is left that trees before the boundary have.
    let mut differing = 0;
    for _ in 0..12 {
        let (want, have) = (random.pick(&packed), random.pick(&packed));
        let input = format!("{want}\n^{have}\n");
        let found = options.map(|options| {
            let [theirs, ours] =
                [Program::Git, HEDGEROW].map(|program| made_by(&program, &scene, options, &input));
            assert_eq!(ours, theirs, "{options:?} {input}");
            ours
        });
        assert_eq!(found[0], found[2]);
        assert_eq!(found[1], difference(&scene, want, have), "{input}");
        differing += usize::from(found[0] != found[1]);
    }
    assert!(differing > 0);
    // What bitmaps are written of is found by a walk, as with git.
    let words = ["--all", "--use-bitmap-index", "--write-bitmap-index"];
    let [theirs, ours] =
        [Program::Git, HEDGEROW].map(|program| made_by(&program, &scene, &words, ""));
    assert_eq!(ours, theirs);
}

/// The objects of the pack that `program` makes of the revisions `input`, as a file without
/// `--stdout`.
fn made_by(program: &Program, scene: &Scene, words: &[&str], input: &str) -> Vec<String> {
    let directory = tempfile::tempdir_in(scene.root.join(".git")).unwrap();
    let mut command = program.command(&scene.root);
    command.args(["pack-objects", "-q", "--revs"]).args(words);
    let is_file = !words.contains(&"--stdout");
    if is_file {
        command.arg(directory.path().join("made"));
    }
    let printed = run_with(command, input);
    if !is_file {
        return contents(scene, &printed, &[]);
    }
    let checksum = String::from_utf8(printed).unwrap();
    let index = format!("made-{}.idx", checksum.trim());
    let index = std::fs::read(directory.path().join(index)).unwrap();
    let shown = lines(&git(&scene.root, &["show-index"], &index));
    let ids = shown.iter().map(|line| line.split(' ').nth(1).unwrap());
    let mut ids: Vec<String> = ids.map(str::to_owned).collect();
    ids.sort_unstable();
    ids
}

/// A repository with a commit of a large file, and one in which a line of it has changed, all of it
/// loose; with the ids of both.
fn edited() -> (Scene, String, String) {
    let scene = scene(26, "sha1", Storage::Loose, Graph::None);
    let mut random = Random::new(26);
    let mut text: Vec<String> = (0..2000)
        .map(|_| format!("{}\n", random.number()))
        .collect();
    let mut ids = Vec::new();
    for number in 0..2 {
        text[1000] = format!("changed {number}\n");
        std::fs::create_dir_all(scene.root.join("below")).unwrap();
        std::fs::write(scene.root.join("below/large"), text.concat()).unwrap();
        scene.git(&["add", "below"]);
        scene.git(&["commit", "-q", "-m", "x"]);
        let id = String::from_utf8(scene.git(&["rev-parse", "HEAD"])).unwrap();
        ids.push(id.trim().to_owned());
    }
    let [before, after] = ids.try_into().unwrap();
    (scene, before, after)
}

#[test]
fn thin_packs_have_new_deltas_against_what_the_receiver_has() {
    let (scene, before, after) = edited();
    scene.git(&["branch", "before", &before]);
    let receiver = scene.root.with_file_name("receiver.git");
    let words = ["clone", "-q", "--bare", "--no-local", "--single-branch"];
    let target = receiver.to_str().unwrap();
    scene.git(&[&words[..], &["--branch=before", ".", target]].concat());
    let input = format!("{after}\n^{before}\n");
    let thin = pack(&scene, &["--thin"], &input);
    let whole = pack(&scene, &["--revs"], &input);
    assert!(thin.len() < 1000, "{}", thin.len());
    assert!(whole.len() > 10_000, "{}", whole.len());
    git(
        &receiver,
        &["index-pack", "--stdin", "--fix-thin", "--strict"],
        &thin,
    );
    git(&receiver, &["fsck", "--strict"], b"");
    let blob = ["cat-file", "blob", &format!("{after}:below/large")];
    let content = std::fs::read(scene.root.join("below/large")).unwrap();
    assert_eq!(git(&receiver, &blob, b""), content);
    // Whoever has asked for a part may lack the bases.
    let part = pack(&scene, &["--thin", "--filter=blob:limit=1m"], &input);
    assert!(part.len() > 10_000, "{}", part.len());
}

#[test]
fn filters_add_up_and_the_last_of_an_option_counts() {
    let (scene, before, after) = edited();
    let input = format!("{after}\n{before}\n");
    let ids = |words: &[&str]| {
        let made = pack(&scene, &[&["--revs"], words].concat(), &input);
        contents(&scene, &made, &[])
    };
    let both = ids(&["--filter=combine:blob:none+object:type=tree"]);
    let (first, second) = ("--filter=blob:none", "--filter=object:type=tree");
    assert_eq!(ids(&[first, second]), both);
    assert_eq!(ids(&[second, "--no-filter", first]), ids(&[first]));
    assert_eq!(ids(&[first, "--no-filter"]), ids(&[]));
    assert_ne!(ids(&[first]), both);
    assert_eq!(ids(&["--window=0", "--revs", "--window=3"]), ids(&[]));
    // Less than no delta is none.
    let bytes = |depth: &str| pack(&scene, &["--revs", depth], &input).len();
    assert_eq!(bytes("--depth=-1"), bytes("--depth=0"));
    assert!(bytes("--depth=-1") > bytes("--depth=1"));
}

#[test]
fn what_is_not_there_cannot_be_left_out() {
    let scene = scene(23, "sha1", Storage::Packed, Graph::None);
    let tip = scene.commits.last().unwrap();
    let missing = "1".repeat(40);
    for input in [
        format!("{tip}\n^{missing}\n"),
        format!("{tip}\n--not\n{missing}\n"),
        format!("{missing}\n"),
    ] {
        for program in [Program::Git, HEDGEROW] {
            let mut command = program.command(&scene.root);
            command.args(["pack-objects", "--revs", "--stdout", "-q"]);
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(input.as_bytes()).unwrap();
            std::io::Seek::rewind(&mut file).unwrap();
            let outcome = run({
                command.stdin(Stdio::from(file));
                command
            });
            let said = (outcome.code, outcome.stderr.contains(&missing));
            assert_eq!(said, (128, true), "{program:?} {input}");
        }
    }
}

/// A partial clone asks for contents by their ids, and may have the commits that reach them.
#[test]
fn contents_that_are_asked_for_are_sent_to_who_has_their_commits() {
    let scene = scene(9, "sha1", Storage::Packed, Graph::None);
    let (blob, tree, head) = (&scene.blobs[0], &scene.trees[0], &scene.commits[0]);
    for filter in [&[][..], &["--filter=blob:none"]] {
        let words = [&["--stdout", "--thin"], filter].concat();
        for wants in [blob.to_string(), format!("{tree}\n{blob}")] {
            let input = format!("{wants}\n--not\n{head}\n");
            let [git, ours] =
                [Program::Git, HEDGEROW].map(|program| made_by(&program, &scene, &words, &input));
            assert!(!git.is_empty());
            assert_eq!(ours, git, "{words:?} {wants}");
        }
    }
}

/// Options that walk take revisions from standard input, with and without `--revs`; tags come along with
/// what is listed.
#[test]
fn what_is_asked_for_is_read_whatever_asks() {
    for (format, storage) in [("sha1", Storage::Both), ("sha256", Storage::Loose)] {
        let scene = scene(27, format, storage, Graph::None);
        let tree = format!("{}^{{tree}}", scene.commits[0]);
        let apart = git(&scene.root, &["commit-tree", "-m", "apart", &tree], b"");
        let apart = String::from_utf8(apart).unwrap();
        let head = &scene.commits[0];
        git(&scene.root, &["tag", "-am", "x", "of-head", head], b"");
        git(&scene.root, &["tag", "-am", "x", "of-tag", "of-head"], b"");
        let listed = format!("{head}\n{}\n", scene.blobs[0]);
        for (words, input) in [
            (&["--all"][..], &apart),
            (&["--unpacked"], &apart),
            (&["--reflog"], &apart),
            (&["--indexed-objects"], &apart),
            (&["--keep-unreachable"], &apart),
            (&["--pack-loose-unreachable"], &apart),
            (&["--exclude-promisor-objects"], &apart),
            (&["--keep-unreachable", "--unpacked"], &apart),
            (&["--keep-unreachable", "--unpacked"], &String::new()),
            (&["--unpacked", "--include-tag"], &apart),
            (&["--include-tag"], &listed),
        ] {
            for revs in [&[][..], &["--revs"]] {
                let words = [&["pack-objects", "-q", "--stdout"], words, revs].concat();
                let [git, ours] = [Program::Git, HEDGEROW].map(|program| {
                    let mut command = program.command(&scene.root);
                    command.args(&words);
                    contents(&scene, &run_with(command, input), &[])
                });
                assert_eq!(ours, git, "{words:?} {input}");
            }
        }
    }
}

/// Standard input may name commits that count as shallow, whether or not there are bitmaps.
#[test]
fn commits_are_made_shallow_for_one_pack() {
    let scene = scene(41, "sha1", Storage::Packed, Graph::File);
    let listed = scene.git(&["rev-list", "main"]);
    let listed = lines(&listed);
    let (tip, boundary) = (&listed[0], &listed[listed.len() / 2]);
    for has_bitmap in [false, true] {
        if has_bitmap {
            printed(&scene, &["bitmap", "write"]);
        }
        for words in [&["--revs"][..], &["--revs", "--local"]] {
            for input in [
                format!("--shallow {boundary}\n{tip}\n"),
                format!("--shallow {boundary}\n--shallow {tip}\n{tip}\n"),
            ] {
                let mut command = Program::Git.command(&scene.root);
                let rest = ["--stdout", "-q"];
                command.arg("pack-objects").args(words).args(rest);
                let theirs = contents(&scene, &run_with(command, &input), &[]);
                let ours = contents(&scene, &pack(&scene, words, &input), &[]);
                assert_eq!(ours, theirs, "{words:?} {input}");
            }
        }
    }
    let mut command = HEDGEROW.command(&scene.root);
    command.args(["pack-objects", "--revs", "--stdout", "-q"]);
    let outcome = hedgerow_testkit::run_with(command, b"--shallow 123\n");
    assert_eq!(outcome.code, 128, "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("not an object name '123'"),
        "{}",
        outcome.stderr
    );
}

/// An edge that leads to no tree has nothing that deltas could be against, and no more is wrong with it.
#[test]
fn edges_without_a_tree_are_passed_over() {
    let scene = scene(42, "sha1", Storage::Loose, Graph::None);
    let nowhere = "1".repeat(40);
    for edge in [&scene.blobs[0], &nowhere, &scene.commits[0]] {
        let input = format!("-{edge}\n{} a\n{}\n", scene.blobs[1], scene.trees[1]);
        let made = pack(&scene, &[], &input);
        assert!(!made.is_empty(), "{edge}");
    }
}
