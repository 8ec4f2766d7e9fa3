//! What is left when the system fails, the disk is full, or the process is killed: nothing.

use super::twins::Twins;
use super::{grow, pack};
use crate::HEDGEROW;
use hedgerow_testkit::skip;
use hedgerow_testkit::Mount;
use hedgerow_testkit::Random;
use hedgerow_testkit::{git, run, Outcome, Program};
use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const PACKS: &str = ".git/objects/pack";

/// The names in the directory of packs, sorted.
fn names(root: &Path) -> Vec<String> {
    let files = std::fs::read_dir(root.join(PACKS)).unwrap();
    let name = |file: std::io::Result<std::fs::DirEntry>| file.unwrap().file_name();
    let mut names: Vec<String> = files
        .map(|file| name(file).into_string().unwrap())
        .collect();
    names.sort_unstable();
    names
}

fn receive(root: &Path, input: &Path, words: &[&str]) -> Command {
    let mut command = HEDGEROW.command(root);
    command.args(["index-pack", "--stdin"]).args(words);
    command.stdin(File::open(input).unwrap());
    command
}

#[test]
fn every_call_that_can_fail() {
    let origin = Twins::new("sha1");
    grow(&origin, 5, 1);
    let old = origin.in_both(&["rev-parse", "main"], b"");
    let full = pack(&origin, &[], "main\n");
    grow(&origin, 5, 2);
    let revisions = format!("main\n^{}", String::from_utf8(old).unwrap());
    let thin = pack(&origin, &["--thin"], &revisions);
    for kind in ["create", "write", "rename", "create+write+rename"] {
        for (number, last) in (1..).map(|number| (number, "")).take(60) {
            let twins = Twins::new("sha1");
            let root = twins.root(HEDGEROW);
            let input = root.join("full");
            std::fs::write(&input, &full).unwrap();
            let outcome = run(receive(&root, &input, &[]));
            assert_eq!(outcome.code, 0, "{outcome:?}");
            let before = names(&root);
            std::fs::write(&input, &thin).unwrap();
            let mut command = receive(&root, &input, &["--fix-thin", "--keep=x"]);
            let fault = format!("{kind}:{number}{last}:28");
            command.env("HEDGEROW_TEST_FAULT", &fault);
            let outcome = run(command);
            let what = format!("{fault}: {outcome:?}");
            outcome.assert_civil(&what);
            let (_, seen) = outcome.stderr.split_once(" saw ").expect(&what);
            let seen: u32 = seen.split_once(' ').unwrap().0.parse().unwrap();
            if outcome.code == 0 {
                assert!(seen < number, "{what}");
                break;
            }
            assert_eq!(outcome.code, 128, "{what}");
            if outcome.stderr.contains("cannot write 'standard output'") {
                // As with git, the pack is in its place before its name is told.
                assert!(outcome.stderr.contains("No space left on device"), "{what}");
                assert!(names(&root).len() > before.len(), "{what}");
                git(&root, &["fsck", "--no-progress"], b"");
                continue;
            }
            assert_says_why(&outcome, &root.join(PACKS), &what);
            let mut after = names(&root);
            // The note comes first, so that no pack is without it.
            after.retain(|name| !name.ends_with(".keep"));
            assert_eq!(after, before, "{what}");
            let again = run(receive(&root, &input, &["--fix-thin", "--keep=x"]));
            assert_eq!(again.code, 0, "{what}: {again:?}");
        }
    }
}

/// Operation, path and reason are named.
fn assert_says_why(outcome: &Outcome, directory: &Path, what: &str) {
    let stderr = &outcome.stderr;
    assert!(stderr.contains("No space left on device"), "{what}");
    assert!(stderr.contains(directory.to_str().unwrap()), "{what}");
}

#[test]
fn a_disk_that_is_really_full() {
    let Some(mount) = Mount::tmpfs("size=2M") else {
        return skip("no small file system can be mounted here to be filled");
    };
    let origin = Twins::new("sha1");
    let mut random = Random::new(5);
    for number in 0..4 {
        let content: Vec<u8> = (0..600_000).map(|_| random.number() as u8).collect();
        origin.write(&format!("file{number}"), &content);
    }
    origin.in_both(&["add", "."], b"");
    let tree = String::from_utf8(origin.in_both(&["write-tree"], b"")).unwrap();
    let large = pack(&origin, &[], &tree);
    let input = origin.root(Program::Git).join("large");
    std::fs::write(&input, &large).unwrap();
    let root = mount.path().join("work");
    git(mount.path(), &["init", "-q", "work"], b"");
    let before = names(&root);
    let outcome = run(receive(&root, &input, &[]));
    outcome.assert_civil("a full disk");
    assert_eq!(outcome.code, 128, "{outcome:?}");
    assert_says_why(&outcome, &root.join(PACKS), &format!("{outcome:?}"));
    assert_eq!(names(&root), before);
    git(&root, &["fsck", "--no-progress"], b"");

    // A pack that has room where its indexes have none.
    let id = String::from_utf8(origin.in_both(&["hash-object", "file0"], b"")).unwrap();
    let small = git(
        &origin.root(Program::Git),
        &["pack-objects", "-q", "--stdout"],
        id.as_bytes(),
    );
    std::fs::write(&input, &small).unwrap();
    let used: u64 = large.len() as u64 / 4 + 12_000;
    let filler = File::create(mount.path().join("filler")).unwrap();
    let free = free_bytes(mount.path());
    std::io::Write::write_all(&mut &filler, &vec![1; (free - used) as usize]).unwrap();
    let mut codes = Vec::new();
    for _ in 0..12 {
        let outcome = run(receive(&root, &input, &["--rev-index"]));
        outcome.assert_civil("a full disk");
        codes.push(outcome.code);
        if outcome.code == 0 {
            break;
        }
        assert_says_why(&outcome, &root.join(PACKS), &format!("{outcome:?}"));
        assert_eq!(names(&root), before);
        let length = filler.metadata().unwrap().len();
        filler.set_len(length - 4096).unwrap();
    }
    assert!(codes.last() == Some(&0), "{codes:?}");
    git(&root, &["fsck", "--no-progress"], b"");
}

fn free_bytes(path: &Path) -> u64 {
    let mut command = Command::new("df");
    let output = command.args(["-B1", "--output=avail"]).arg(path).output();
    let text = String::from_utf8(output.unwrap().stdout).unwrap();
    text.lines().nth(1).unwrap().trim().parse().unwrap()
}

#[test]
fn a_process_that_is_killed() {
    let origin = Twins::new("sha1");
    grow(&origin, 150, 1);
    let bytes = pack(&origin, &["--delta-base-offset"], "main\n");
    let input = origin.root(Program::Git).join("input");
    std::fs::write(&input, &bytes).unwrap();
    let tip = String::from_utf8(origin.in_both(&["rev-parse", "main"], b"")).unwrap();
    let usual = {
        let twins = Twins::new("sha1");
        let start = Instant::now();
        let outcome = run(receive(&twins.root(HEDGEROW), &input, &[]));
        assert_eq!(outcome.code, 0);
        start.elapsed()
    };
    let mut random = Random::new(9);
    let mut left = [0, 0];
    for round in 0..20 {
        let twins = Twins::new("sha1");
        let root = twins.root(HEDGEROW);
        let mut command = receive(&root, &input, &["--strict"]);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        // The first ones are early however long the others take on a busy machine.
        let percent = if round < 6 {
            round
        } else {
            random.below(120) as u32
        };
        let share = percent * usual / 100;
        std::thread::sleep(share.min(Duration::from_secs(5)));
        child.kill().unwrap();
        child.wait().unwrap();
        git(&root, &["fsck", "--no-progress"], b"");
        let found = names(&root);
        let index = found.iter().any(|name| name.ends_with(".idx"));
        left[usize::from(index)] += 1;
        if index {
            // What makes the pack visible comes last.
            assert_eq!(found.len(), 3, "{round}: {found:?}");
            git(&root, &["update-ref", "refs/heads/main", tip.trim()], b"");
            git(&root, &["fsck", "--no-progress", "--full"], b"");
        }
        // Files that never got their name are gone, or have one that git clears away.
        git(&root, &["gc", "-q", "--prune=now"], b"");
        let is_odd = |name: &&String| !name.starts_with("pack-");
        assert_eq!(names(&root).iter().find(is_odd), None, "{round}");
        let again = run(receive(&root, &input, &[]));
        assert_eq!(again.code, 0, "{round}: {again:?}");
        git(&root, &["update-ref", "refs/heads/main", tip.trim()], b"");
        git(&root, &["fsck", "--no-progress", "--full"], b"");
    }
    assert!(left[0] > 2, "some were killed before the end: {left:?}");
}
