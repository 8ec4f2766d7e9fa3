//! What a command does not need, it neither reads nor looks at: broken objects and places in which nothing
//! changes are in nobody's way.

use crate::support::{run, temporary, Pair, Repository};
use crate::HEDGEROW;
use hedgerow_testkit::{isolated, require};
use std::time::{Duration, SystemTime};

/// Two commits, `first` and `second`, that differ in both of two directories and at the top. `first` is
/// checked out, and the tree that `second` has in one of them is missing.
fn half_there() -> Repository {
    let repository = Repository::init(&[]);
    for commit in ["first", "second"] {
        for path in ["needed/file", "needed/inner/file", "other/file", "top"] {
            repository.write(path, format!("{commit} {path}\n"));
        }
        repository.write(format!("needed/{commit}"), "only here\n");
        repository.commit(commit);
        repository.git(&["tag", commit]);
    }
    repository.git(&["checkout", "-q", "--detach", "first"]);
    let missing = repository.ask(&["rev-parse", "second:other"]);
    repository.remove(format!(".git/objects/{}/{}", &missing[..2], &missing[2..]));
    repository
}

#[test]
fn directories_in_which_no_pathspec_matches_are_not_read() {
    let origin = half_there();
    for line in [
        "restore -s second needed",
        "restore -s second needed/file",
        "restore --staged -s second needed",
        "restore --staged --worktree --no-overlay -s second needed top",
        "restore --overlay -s second needed/first needed/second",
        "checkout -q second -- needed top",
        "checkout -q --no-overlay second -- needed",
        "reset -q second -- needed/file top",
        "reset -q second -- needed",
        "reset -q -N second -- needed",
    ] {
        for knows_trees in [true, false] {
            let mut pair = Pair::of(&origin, &format!("{line} {knows_trees}"));
            if !knows_trees {
                pair.each("forget trees", |it| {
                    it.write("new", "new\n");
                    it.git(&["add", "new"]);
                });
            }
            pair.any_words = true;
            pair.any_trees = true;
            let words: Vec<&str> = line.split(' ').collect();
            let outcome = pair.both(words[0], "", &words[1..], &[]);
            assert_eq!(outcome.code, 0, "{line}: {outcome:?}");
        }
    }
}

/// Git reads more where there are wildcards, and goes on where it cannot.
#[test]
fn wildcards_are_looked_for_behind_what_is_before_them() {
    let origin = half_there();
    for (line, is_done) in [
        ("restore -s second needed/inner/f* top", true),
        ("restore -s second :(icase)NEEDED/file", true),
        ("restore -s second . :!other", true),
        ("restore -s second *file", false),
        ("reset -q second -- needed/*le", true),
        ("reset -q second -- *le", false),
        ("checkout -q second -- other", false),
        ("reset -q second -- other", false),
    ] {
        let home = temporary();
        let repository = origin.copy(&home.path().join("copy"));
        let mut command = HEDGEROW.command(&repository.root);
        command.args(line.split(' '));
        let outcome = run(command);
        assert_eq!(outcome.code == 0, is_done, "{line}: {outcome:?}");
        let changed = repository.ask(&["status", "--porcelain"]);
        assert_eq!(changed.contains("needed/"), is_done, "{line}: {changed}");
    }
}

#[test]
fn files_whose_entries_stay_are_not_looked_at() {
    if !require("strace") {
        return;
    }
    let repository = Repository::init(&[]);
    for commit in ["first", "second"] {
        repository.write("changes/file", format!("{commit}\n"));
        repository.write("stays/file", "same\n");
        repository.commit(commit);
        repository.git(&["tag", commit]);
    }
    repository.git(&["checkout", "-q", "--detach", "first"]);
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1 << 30);
    for line in [
        "reset -q --keep second",
        "reset -q --merge second",
        "read-tree -m second",
        "read-tree -m -u second",
        "read-tree -m -u first",
        "read-tree -m -u first second",
        "read-tree -m -u first first second",
        "read-tree --reset second",
    ] {
        let home = temporary();
        let place = home.path().join("copy");
        let copy = repository.copy(&place);
        // The index is newer than every file, so that none has to be read again.
        for path in ["changes/file", "stays/file"] {
            let file = std::fs::File::options().write(true).open(copy.path(path));
            file.unwrap().set_modified(long_ago).unwrap();
        }
        copy.git(&["update-index", "--refresh"]);
        let stays = place.join("stays/file");
        std::fs::write(&stays, "mine\n").unwrap();
        let mut strace = isolated("strace");
        strace.args(["-f", "-qq", "-e", "trace=file"]);
        strace
            .arg(env!("CARGO_BIN_EXE_hedgerow"))
            .args(line.split(' '));
        strace.current_dir(&place);
        let traced = run(strace);
        assert_eq!(traced.code, 0, "{line}");
        assert!(
            traced.stderr.contains("index.lock"),
            "{line}: {}",
            traced.stderr
        );
        assert!(
            !traced.stderr.contains("\"stays"),
            "{line}: {}",
            traced.stderr
        );
        assert_eq!(std::fs::read(stays).unwrap(), b"mine\n", "{line}");
    }
}
