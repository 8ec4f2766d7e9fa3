//! Options and what they leave, with packs that are right.

use super::craft::{seal, Craft, BLOB};
use super::twins::{Twins, BOTH};
use super::{grow, pack, FORMATS};
use crate::HEDGEROW;
use hedgerow_testkit::skip;
use hedgerow_testkit::{run, Program};
use std::process::Stdio;

/// Twins without objects, and the pack of a history.
fn scene(format: &'static str) -> (Twins, Vec<u8>) {
    let origin = Twins::new(format);
    grow(&origin, 20, 1);
    let pack = pack(&origin, &["--delta-base-offset"], "main\n");
    (Twins::new(format), pack)
}

#[test]
fn a_pack_that_is_a_file() {
    for (format, _) in FORMATS {
        let (twins, pack) = scene(format);
        let named = format!("--object-format={format}");
        twins.write("other", b"x");
        for words in [
            &["a.pack"][..],
            &["--no-rev-index", "a.pack"],
            &["--rev-index", "a.pack"],
            &["--no-rev-index", "--rev-index", "a.pack"],
            &["-o", "x.idx", "a.pack"],
            &["-o", "x.idx", "--rev-index", "a.pack"],
            &["-o", "x.idx", "--no-rev-index", "a.pack"],
            &["-o", "other.x", "a.pack"],
            &["--index-version=1", "a.pack"],
            &["--index-version=2,0x400", "a.pack"],
            &["--index-version=2,1000", "a.pack"],
            &["--index-version=2,0x80000000", "a.pack"],
            &["--index-version=3", "a.pack"],
            &["--index-version=two", "a.pack"],
            &["--keep", "a.pack"],
            &["--keep=why", "a.pack"],
            &["--threads=1", "a.pack"],
            &["--threads=3", "a.pack"],
            &["--strict", "a.pack"],
            &["--fsck-objects", "a.pack"],
            &["--check-self-contained-and-connected", "a.pack"],
            &["--fix-thin", "a.pack"],
            &[&named, "a.pack"],
            &["--object-format=md5", "a.pack"],
            &["other"],
            &["nowhere.pack"],
            &["--verify", "a.pack"],
            &["--what", "a.pack"],
            &["a.pack", "a.pack"],
            &[],
        ] {
            for extra in ["a.idx", "a.rev", "a.keep", "a.promisor", "x.idx", "x.rev"] {
                for program in BOTH {
                    let _ = std::fs::remove_file(twins.root(program).join(extra));
                }
            }
            twins.write("a.pack", &pack);
            twins.agree(&[&["index-pack"], words].concat(), b"");
        }
    }
}

#[test]
fn a_pack_that_is_a_file_is_of_no_promisor() {
    let (twins, pack) = scene("sha1");
    twins.write("a.pack", &pack);
    for promisor in ["--promisor", "--promisor=why"] {
        let words = ["index-pack", promisor, "a.pack"];
        let before = twins.files(HEDGEROW);
        let [git, found] = twins.run(&words, b"");
        assert_eq!(found.code, 128, "{}", found.stderr);
        let reason = "--promisor cannot be used with a pack name";
        assert!(found.stderr.contains(reason), "{}", found.stderr);
        assert!(twins.files(HEDGEROW) == before);
        match git.code {
            0 => skip("this git marks a pack that is a file as a promisor's"),
            _ => assert!(git.stderr.contains(reason), "{}", git.stderr),
        }
    }
}

#[test]
fn a_pack_that_is_received() {
    for (format, _) in FORMATS {
        let (_, pack) = scene(format);
        let size = pack.len();
        let exact = format!("--max-input-size={size}");
        let short = format!("--max-input-size={}", size - 1);
        for words in [
            &["--stdin"][..],
            &["--stdin", "--keep"],
            &["--stdin", "--keep=why not"],
            &["--stdin", "--promisor"],
            &["--stdin", "--promisor=somebody has it"],
            &["--stdin", "--keep=a", "--promisor=b"],
            &["--stdin", "--no-rev-index"],
            &["--stdin", "--rev-index", "--index-version=1"],
            &["--stdin", "there.pack"],
            &["--stdin", "-o", "there.idx"],
            &["--stdin", "--keep=x", "-o", "x.idx", "there.pack"],
            &["--stdin", "there"],
            &["--stdin", "--fix-thin"],
            &["--stdin", "--strict"],
            &["--stdin", "--check-self-contained-and-connected"],
            &["--stdin", "--verify"],
            &["--stdin", "--object-format=sha1"],
            &["--stdin", "--max-input-size=0"],
            &["--stdin", "--max-input-size=100"],
            &["--stdin", &exact],
            &["--stdin", &short],
        ] {
            let twins = Twins::new(format);
            let words = [&["index-pack"], words].concat();
            twins.agree(&words, &pack);
            // Once more, where it is already.
            twins.agree(&words, &pack);
        }
    }
}

#[test]
fn a_header_that_the_caller_has_read() {
    let (twins, pack) = scene("sha1");
    let count = u32::from_be_bytes(pack[8..12].try_into().unwrap());
    let header = format!("--pack_header=2,{count}");
    twins.agree(&["index-pack", "--stdin", &header], &pack[12..]);
    for bad in ["--pack_header=2", "--pack_header=2,x", "--pack_header=4,1"] {
        let words = ["index-pack", "--stdin", "--keep", bad];
        let agreed = twins.agree(&words, &pack[12..]);
        assert_eq!(agreed.code, 128, "{agreed:?}");
    }
}

#[test]
fn what_follows_the_pack_in_a_pipe_is_passed_on() {
    let (twins, pack) = scene("sha1");
    let outputs = BOTH.map(|program| {
        let mut sender = std::process::Command::new("cat");
        let path = twins.root(program).join("both");
        std::fs::write(&path, [&pack[..], b"and more\n"].concat()).unwrap();
        let sender = sender.arg(&path).stdout(Stdio::piped());
        let mut sender = sender.spawn().unwrap();
        let mut command = program.command(&twins.root(program));
        command.args(["index-pack", "--stdin"]);
        command.stdin(sender.stdout.take().unwrap());
        let outcome = run(command);
        sender.wait().unwrap();
        (
            outcome.code,
            String::from_utf8_lossy(&outcome.stdout).into_owned(),
        )
    });
    assert_eq!(outputs[0], outputs[1]);
    assert!(outputs[0].1.ends_with("\nand more\n"), "{outputs:?}");
}

#[test]
fn a_thin_pack() {
    for (format, _) in FORMATS {
        for style in [&["--thin", "--delta-base-offset"][..], &["--thin"]] {
            let twins = Twins::new(format);
            grow(&twins, 20, 1);
            let old = twins.in_both(&["rev-parse", "main"], b"");
            let old = String::from_utf8(old).unwrap();
            let full = pack(&twins, &[], "main\n");
            grow(&twins, 4, 2);
            let thin = pack(&twins, style, &format!("main\n^{old}"));
            let receiver = Twins::new(format);
            receiver.agree(&["index-pack", "--stdin"], &full);
            let refused = receiver.agree(&["index-pack", "--stdin"], &thin);
            refused.refused_alike("unresolved delta");
            let elsewhere = Twins::new(format);
            let refused = elsewhere.agree(&["index-pack", "--stdin", "--fix-thin"], &thin);
            refused.refused_alike("unresolved delta");
            let words = ["index-pack", "--stdin", "--fix-thin", "--strict", "--keep"];
            let agreed = receiver.agree(&words, &thin);
            assert_eq!(agreed.code, 0, "{agreed:?}");
            let tip = twins.in_both(&["rev-parse", "main"], b"");
            let tip = String::from_utf8(tip).unwrap();
            receiver.in_both(&["update-ref", "refs/heads/main", tip.trim()], b"");
            receiver.in_both(&["fsck", "--no-progress", "--strict"], b"");
        }
    }
}

#[test]
fn an_index_is_compared_with_its_pack() {
    for (format, hash) in FORMATS {
        let (twins, pack) = scene(format);
        twins.write("a.pack", &pack);
        for words in [&["a.pack"][..], &["--index-version=1", "a.pack"]] {
            twins.agree(&[&["index-pack"], words].concat(), b"");
            for words in [
                ["--verify", "a.pack"],
                ["--verify-stat", "a.pack"],
                ["--verify-stat-only", "a.pack"],
            ] {
                let agreed = twins.agree(&[&["index-pack"], &words[..]].concat(), b"");
                assert_eq!(agreed.code, 0, "{agreed:?}");
            }
            for words in [&["-v", "a.idx"][..], &["-s", "a"], &["a.pack", "none"]] {
                twins.agree(&[&["verify-pack"], words].concat(), b"");
            }
        }
        twins.agree(&["index-pack", "a.pack"], b"");
        for extension in ["idx", "rev"] {
            let name = format!("a.{extension}");
            let whole = std::fs::read(twins.root(Program::Git).join(&name)).unwrap();
            // Right by its checksum, wrong in one of the fields before.
            for at in [9, 1100, whole.len() - 50] {
                let mut bytes = whole[..whole.len() - hash.len_in_bytes()].to_vec();
                let at = at.min(bytes.len() - 1);
                bytes[at] ^= 1;
                twins.write(&name, &seal(bytes, hash));
                let [git, here] = twins.run(&["index-pack", "--verify", "a.pack"], b"");
                let both = format!("{name} {at} {git:?} {here:?}");
                assert!(git.code != 0 && here.code != 0, "{both}");
                let words = ["verify-pack", "a.pack"];
                let [git, here] = twins.run(&words, b"");
                assert!((git.code, here.code) == (1, 1), "{git:?} {here:?}");
            }
            twins.write(&name, &whole);
        }
        twins.agree(&["index-pack", "--verify", "a.pack"], b"");
    }
}

#[test]
fn packs_of_nothing_and_of_the_same_twice() {
    for (format, hash) in FORMATS {
        let twins = Twins::new(format);
        let nothing = Craft::new(hash).seal();
        for words in [
            &["--stdin"][..],
            &["--stdin", "--strict"],
            &["--stdin", "--fix-thin"],
        ] {
            twins.agree(&[&["index-pack"], words].concat(), &nothing);
        }
        let mut twice = Craft::new(hash);
        twice.add(BLOB, b"same\n");
        twice.add(BLOB, b"other\n");
        twice.add(BLOB, b"same\n");
        let twice = twice.seal();
        twins.agree(&["index-pack", "--stdin"], &twice);
        twins.write("a.pack", &twice);
        twins.agree(&["index-pack", "a.pack"], b"");
        for strict in ["--strict", "--check-self-contained-and-connected"] {
            let refused = twins.agree(&["index-pack", strict, "a.pack"], b"");
            refused.refused_alike("appears twice in the pack");
        }
        let refused = twins.agree(&["index-pack", "--verify", "a.pack"], b"");
        refused.refused_alike("appears twice in the pack");
    }
}
