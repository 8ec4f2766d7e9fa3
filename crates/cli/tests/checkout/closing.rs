//! File systems that reveal only when a file is closed that what was written is lost, as those do that are
//! reached over a network. What is to be replaced stays then, and nothing is put aside.

use crate::HEDGEROW;
use hedgerow_latencyfs::{Mount, Settings};
use hedgerow_testkit::{run, skip, temporary, Repository};
use std::fs;

/// What is lost, and what is run: it has to fail and to leave everything as it was.
const CASES: [(&str, &[&str]); 8] = [
    ("/.git/objects/", &["stash", "push", "-u"]),
    ("/.git/index.lock", &["reset", "-q", "--hard", "other"]),
    ("/.git/index.lock", &["stash", "push", "--staged"]),
    ("/.git/index.lock", &["merge", "--ff-only", "other"]),
    ("/.git/HEAD", &["switch", "-c", "new"]),
    ("/.git/refs/", &["switch", "-c", "new"]),
    ("/.git/refs/", &["stash", "push", "-u"]),
    ("/.git/logs/", &["stash", "push", "-u"]),
];

#[test]
fn what_closing_loses_replaces_nothing() {
    for (lost, words) in CASES {
        let origin = Repository::init(&[]);
        origin.write("a", "1\n");
        origin.write("b", "1\n");
        origin.commit("first");
        origin.git(&["checkout", "-q", "-b", "other"]);
        origin.write("b", "2\n");
        origin.commit("second");
        origin.git(&["checkout", "-q", "main"]);
        origin.write("a", "changed\n");
        origin.write("c", "staged\n");
        origin.git(&["add", "c"]);
        origin.write("u", "untracked\n");
        let home = temporary();
        let backing = home.path().join("backing");
        fs::create_dir(&backing).unwrap();
        let copy = origin.copy(&backing.join("r"));
        copy.git(&["status"]);
        // The content of `b` may be that of the other commit: files are written before the index.
        let state = || {
            let head = copy.ask(&["symbolic-ref", "HEAD"]);
            let mut tree = copy.tree();
            tree.remove(b"b".as_slice());
            (head, copy.ask(&["ls-files", "--stage"]), tree)
        };
        let before = state();
        let settings = || Settings {
            lost_at_close: Some(lost),
            ..Settings::default()
        };
        let mount = match Mount::with(&backing, settings) {
            Ok(mount) => mount,
            Err(reason) => return skip(&reason.to_string()),
        };
        let mut command = HEDGEROW.command(&mount.path().join("r"));
        command.args(words);
        let outcome = run(command);
        drop(mount);
        let what = format!("{lost} {words:?}: {outcome:?}");
        assert!([1, 128].contains(&outcome.code), "{what}");
        assert!(!outcome.stderr.is_empty(), "{what}");
        if !words.contains(&"--hard") {
            assert_eq!(state(), before, "{what}");
        }
        copy.git(&["fsck", "--no-dangling"]);
    }
}
