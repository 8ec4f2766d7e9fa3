//! The cache of responses of `hedgerow upload-pack-hook`, asked by several at once.

mod broken;
mod hostile;
mod site;

use hedgerow_testkit::{git, isolate, use_global_config};
use site::{Site, WORDS};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

#[test]
fn of_those_who_ask_at_once_one_makes_it() {
    let site = Site::new(400);
    let expected = site.plain();
    for round in 0..2 {
        let children: Vec<_> = (0..12).map(|_| site.ask(&[])).collect();
        for child in children {
            let outcome = child.end();
            assert_eq!(outcome.code, 0, "{outcome:?}");
            assert!(outcome.stdout == expected);
        }
        let log = site.log();
        let made = log.iter().filter(|line| line["served_by"] == "hedgerow");
        let found = log.iter().filter(|line| line["served_by"] == "cache");
        assert_eq!((made.count(), found.count()), (1, 11), "{round}: {log:?}");
        assert!(log.iter().any(|line| line["followed"] == true), "{log:?}");
        let bytes = |line: &serde_json::Value| line["bytes"].as_u64();
        assert!(log
            .iter()
            .all(|line| bytes(line) == Some(expected.len() as u64)));
        assert_eq!(site.kept(), (1, 0));
        site.forget();
    }
}

#[test]
fn a_slow_receiver_keeps_nobody_waiting() {
    let site = Site::new(400);
    let expected = site.plain();
    let slow = site.ask(&[]);
    site.wait_for_partial(0);
    // The pipe of the first is full; nobody reads from it.
    let outcome = site.ask(&[]).end();
    assert!(outcome.code == 0 && outcome.stdout == expected);
    assert_eq!(site.kept(), (1, 0));
    let outcome = slow.end();
    assert!(outcome.code == 0 && outcome.stdout == expected);
    assert_eq!(site.served_by(), ["cache", "hedgerow"]);
}

#[test]
fn a_receiver_that_went_away_takes_nothing_from_the_others() {
    let site = Site::new(400);
    let expected = site.plain();
    let gone = site.ask(&[]);
    site.wait_for_partial(0);
    let others: Vec<_> = (0..2).map(|_| site.ask(&[]).read()).collect();
    let outcome = gone.close().end();
    // A death by SIGPIPE, as that of git's pack-objects.
    assert_eq!(outcome.code, 141, "{outcome:?}");
    assert!(outcome.stderr.contains("cannot send the pack: Broken pipe"));
    for other in others {
        let outcome = other.end();
        assert!(outcome.code == 0 && outcome.stdout == expected);
    }
    let mut served = site.served_by();
    served.sort_unstable();
    assert_eq!(served, ["cache", "cache", "nobody"]);
    assert_eq!(site.kept(), (1, 0));
}

#[test]
fn a_hit_reads_no_objects() {
    let site = Site::new(50);
    git(&site.root(), &["tag", "-a", "-m", "m", "annotated"], b"");
    git(&site.root(), &["tag", "light"], b"");
    let made = site.ask(&["--include-tag"]).end();
    // All of them are loose.
    let (objects, hidden) = (
        site.root().join(".git/objects"),
        site.root().join(".git/hidden"),
    );
    let move_all = |from: &Path, to: &Path| {
        for entry in fs::read_dir(from).unwrap() {
            let name = entry.unwrap().file_name();
            fs::rename(from.join(&name), to.join(&name)).unwrap();
        }
    };
    fs::create_dir(&hidden).unwrap();
    move_all(&objects, &hidden);
    let found = site.ask(&["--include-tag"]).end();
    assert!(found.code == 0 && found.stdout == made.stdout, "{found:?}");
    assert_eq!(site.served_by(), ["hedgerow", "cache"]);
    move_all(&hidden, &objects);
    // With another tag, something else goes along.
    git(&site.root(), &["tag", "-a", "-m", "m", "another"], b"");
    let with_another = site.ask(&["--include-tag"]).end();
    assert!(with_another.stdout.len() > made.stdout.len());
    assert_eq!(site.served_by(), ["hedgerow", "cache", "hedgerow"]);
}

#[test]
fn a_hit_is_the_same_wherever_it_goes() {
    let site = Site::new(100);
    let expected = site.ask(&[]).end().stdout;
    let target = site.root().join(".git/target");
    let how = [
        format!("> {}", target.display()),
        format!(">> {}", target.display()),
        format!("| cat > {}", target.display()),
    ];
    for how in how {
        let _ = fs::remove_file(&target);
        let mut shell = Command::new("sh");
        let words = WORDS.join(" ");
        let program = env!("CARGO_BIN_EXE_hedgerow");
        shell
            .arg("-c")
            .arg(format!("{program} upload-pack-hook {words} {how}"));
        use_global_config(isolate(&mut shell), site.global()).current_dir(site.root());
        shell.stdin(Stdio::from(site.request()));
        assert!(shell.status().unwrap().success(), "{how}");
        assert!(fs::read(&target).unwrap() == expected, "{how}");
        assert_eq!(site.served_by().pop().unwrap(), "cache");
    }
}

#[test]
fn an_entry_that_was_cut_off_is_made_again() {
    let site = Site::new(50);
    let expected = site.ask(&[]).end().stdout;
    for length in [0, 16, 1000] {
        let entry = fs::read_dir(site.responses()).unwrap().next().unwrap();
        let file = fs::File::options().write(true).open(entry.unwrap().path());
        file.unwrap().set_len(length).unwrap();
        let outcome = site.ask(&[]).end();
        assert!(outcome.code == 0 && outcome.stdout == expected);
        assert_eq!(site.served_by().pop().unwrap(), "hedgerow");
    }
    assert_eq!(site.kept(), (1, 0));
}

#[test]
fn without_locks_everybody_makes_it() {
    let site = Site::new(200);
    let expected = site.plain();
    let without = [("HEDGEROW_TEST_FAULT", "lock:1-100000:95")];
    let children: Vec<_> = (0..4).map(|_| site.ask_with(&[], &without)).collect();
    for child in children {
        let outcome = child.end();
        assert!(outcome.code == 0 && outcome.stdout == expected);
    }
    assert_eq!(site.kept(), (1, 0));
    assert!(site.log().iter().all(|line| line["followed"].is_null()));
    site.ask_with(&[], &without).end();
    assert_eq!(site.served_by().pop().unwrap(), "cache");
}
