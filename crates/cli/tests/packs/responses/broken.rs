//! Makers that come to no end, and caches without room.

use super::site::{Asked, Site};
use hedgerow_testkit::git;
use hedgerow_testkit::skip;
use hedgerow_testkit::Mount;
use std::time::{Duration, Instant};

/// A maker that was stopped when it had written a part of the response.
fn stopped(site: &Site) -> Asked {
    for _ in 0..50 {
        let maker = site.ask(&[]).read();
        site.wait_for_partial(300_000);
        maker.signal("STOP");
        let whole = site.kept().0;
        // What it was told may take a moment to be done.
        std::thread::sleep(Duration::from_millis(20));
        if whole == 0 && site.kept().0 == 0 && site.partial_bytes().is_some() {
            return maker;
        }
        maker.signal("CONT");
        maker.end();
        site.forget();
    }
    panic!("it is always too late");
}

/// Some who follow, and have sent what there is.
fn followers(site: &Site, count: usize) -> Vec<Asked> {
    let followers: Vec<_> = (0..count).map(|_| site.ask(&[]).read()).collect();
    followers.iter().for_each(Asked::wait_for_beginning);
    followers
}

fn end_right(asked: Vec<Asked>, expected: &[u8]) {
    for asked in asked {
        let outcome = asked.end();
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        assert!(outcome.stdout == expected, "{}", outcome.stdout.len());
    }
}

#[test]
fn those_who_followed_one_that_was_killed_answer_right() {
    let site = Site::new(400);
    let expected = site.plain();
    for signal in ["KILL", "TERM"] {
        let maker = stopped(&site);
        let followers = followers(&site, 5);
        maker.signal(signal);
        maker.signal("CONT");
        assert!(maker.end().code > 128);
        end_right(followers, &expected);
        let log = site.log();
        let made = log.iter().filter(|line| line["served_by"] == "hedgerow");
        assert_eq!(made.count(), 1, "the next is made by one: {log:?}");
        assert!(log.iter().all(|line| line["followed"] == true), "{log:?}");
        assert_eq!(site.kept(), (1, 0));
        site.forget();
    }
}

#[test]
fn what_the_killed_left_is_removed_by_the_next() {
    let site = Site::new(400);
    let maker = stopped(&site);
    maker.signal("KILL");
    maker.end();
    assert_eq!(site.kept(), (0, 1));
    // Also by one who asks for something else.
    let tree = git(&site.root(), &["rev-parse", "main^{tree}"], b"");
    let request = site.root().join(".git/request");
    std::fs::write(&request, [&tree[..], b"--not\n\n"].concat()).unwrap();
    assert_eq!(site.ask(&[]).end().code, 0);
    assert_eq!(site.kept(), (1, 0));
}

#[test]
fn one_that_does_not_go_on_is_waited_for_in_vain_once() {
    let site = Site::new(400);
    let expected = site.plain();
    site.configure("responseCacheWait", "4");
    let maker = stopped(&site);
    let first = followers(&site, 2);
    end_right(first, &expected);
    let started = Instant::now();
    end_right(vec![site.ask(&[])], &expected);
    assert!(started.elapsed() < Duration::from_secs(4), "{started:?}");
    assert_eq!(site.served_by(), ["hedgerow"; 3]);
    maker.signal("CONT");
    end_right(vec![maker], &expected);
    end_right(vec![site.ask(&[])], &expected);
    assert_eq!(site.served_by().pop().unwrap(), "cache");
    assert_eq!(site.kept(), (1, 0));
}

#[test]
fn what_was_stored_anew_is_not_appended_to_what_was_sent() {
    let site = Site::new(400);
    let expected = site.plain();
    let maker = stopped(&site);
    let followers = followers(&site, 3);
    // The same objects, not compressed.
    let words = ["-c", "core.compression=0", "repack", "-adFq"];
    git(&site.root(), &words, b"");
    maker.signal("KILL");
    maker.end();
    for follower in followers {
        let outcome = follower.end();
        assert_eq!(outcome.code, 128, "{}", outcome.stderr);
        assert!(outcome.stderr.contains("stored anew"), "{}", outcome.stderr);
        assert!(expected.starts_with(&outcome.stdout) && outcome.stdout.len() < expected.len());
    }
    assert_eq!(site.served_by(), ["nobody"; 3]);
    let outcome = site.ask(&[]).end();
    let packed = site.root().join(".git/check.pack");
    std::fs::write(&packed, &outcome.stdout).unwrap();
    git(&site.root(), &["index-pack", packed.to_str().unwrap()], b"");
}

#[test]
fn what_is_too_large_is_sent_to_all() {
    let site = Site::new(400);
    let expected = site.plain();
    for limit in ["3m", "0"] {
        site.configure("responseCacheSize", limit);
        end_right((0..4).map(|_| site.ask(&[]).read()).collect(), &expected);
        assert_eq!(site.kept(), (0, 0), "{limit}");
    }
}

#[test]
fn a_disk_that_is_full_keeps_nothing_from_those_who_ask() {
    let Some(mount) = Mount::tmpfs("size=2M") else {
        return skip("no small file system can be mounted here to be filled");
    };
    let mut site = Site::new(400);
    let expected = site.plain();
    site.keep_at(&mount.path().join("responses"));
    end_right(vec![site.ask(&[])], &expected);
    assert_eq!(site.kept(), (0, 0));
    end_right((0..4).map(|_| site.ask(&[]).read()).collect(), &expected);
    assert_eq!(site.kept(), (0, 0));
    // Not even a directory.
    let filler = mount.path().join("filler");
    std::fs::remove_dir(site.responses()).unwrap();
    let _ = std::fs::write(&filler, vec![0; 4 << 20]);
    end_right(vec![site.ask(&[])], &expected);
    assert_eq!(site.kept(), (0, 0));
}

#[test]
fn a_call_that_fails_makes_no_wrong_answer() {
    let site = Site::new(40);
    let expected = site.plain();
    let gits = git_answers(&site);
    let operations = [
        "open", "create", "stat", "read", "write", "rename", "lock", "remove",
    ];
    for operation in operations {
        for is_hit in [false, true] {
            site.forget();
            if is_hit {
                assert_eq!(site.ask(&[]).end().code, 0);
            }
            for number in 1..60 {
                if !is_hit {
                    site.forget();
                }
                let fault = format!("{operation}:{number}:5");
                let outcome = site.ask_with(&[], &[("HEDGEROW_TEST_FAULT", &fault)]).end();
                let answer = &outcome.stdout;
                let is_right = match outcome.code {
                    0 => *answer == expected || *answer == gits,
                    _ => expected.starts_with(answer) || gits.starts_with(answer),
                };
                assert!(is_right, "{fault}: {} {}", outcome.code, outcome.stderr);
                assert_eq!(site.kept().1, 0, "{fault}");
                if outcome
                    .stderr
                    .contains(&format!("saw {} calls", number - 1))
                {
                    break;
                }
            }
        }
    }
}

/// The pack that git would have sent.
fn git_answers(site: &Site) -> Vec<u8> {
    let request = std::fs::read(site.root().join(".git/request")).unwrap();
    let words = [
        "pack-objects",
        "--revs",
        "--stdout",
        "--delta-base-offset",
        "-q",
    ];
    git(&site.root(), &words, &request)
}
