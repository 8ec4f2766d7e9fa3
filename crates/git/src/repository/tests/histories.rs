use super::fixture::{text, Scratch};
use bstr::ByteSlice;

/// Compares ahead and behind with `git rev-list --count`.
fn compare(scratch: &Scratch, left: &str, right: &str) {
    let found = scratch.open("r");
    let id = |spec: &str| found.resolve_commit(spec.into()).unwrap();
    let (ahead, behind) = found.ahead_behind(&id(left), &id(right)).unwrap();
    let range = format!("{left}...{right}");
    let counted = scratch.ask("r", &["rev-list", "--left-right", "--count", &range]);
    assert_eq!(format!("{ahead}\t{behind}"), counted, "{range}");
}

/// A history of merges that criss-cross; `skewed` gives dates that run backwards.
fn tangled(skewed: bool) -> Scratch {
    let scratch = Scratch::with_history();
    let mut tips = vec!["main".to_owned()];
    let mut state = 7u32;
    for number in 0..40u32 {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let pick = |shift: u32| tips[(state >> shift) as usize % tips.len()].clone();
        let (first, second) = (pick(8), pick(20));
        let tree = scratch.ask("r", &["rev-parse", "HEAD^{tree}"]);
        let step = if skewed { state % 5000 } else { number * 60 };
        let date = format!("{} +0000", 1_700_100_000 + step);
        let message = number.to_string();
        let mut arguments = vec!["commit-tree", "-m", &message, &tree, "-p", &first];
        if state.is_multiple_of(3) && first != second {
            arguments.extend(["-p", &second]);
        }
        let output = scratch.run("r", &arguments, &[("GIT_COMMITTER_DATE", &date)]);
        assert!(output.status.success(), "{output:?}");
        tips.push(text(&output.stdout));
        let name = format!("refs/heads/t{number}");
        scratch.ask("r", &["update-ref", &name, tips.last().unwrap()]);
    }
    scratch
}

#[test]
fn ahead_and_behind() {
    for skewed in [false, true] {
        let scratch = tangled(skewed);
        for left in (0..40).step_by(7) {
            for right in (1..40).step_by(6) {
                compare(&scratch, &format!("t{left}"), &format!("t{right}"));
            }
        }
        compare(&scratch, "main", "t39");
    }
}

/// Histories of commits dated by chance, made by fast-import: one reference `refs/h/H/N` for each.
fn dated_by_chance(histories: u32, commits: u32) -> Scratch {
    let scratch = Scratch::with_history();
    let mut state = 11u64;
    let mut chance = |below: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1);
        (state >> 33) % below
    };
    let mut stream = String::new();
    for history in 0..histories {
        for number in 0..commits {
            // A few are dated before or after all others.
            let seconds = match chance(6) {
                0 => chance(100),
                1 => 1_900_000_000 + chance(100),
                _ => 1_700_000_000 + u64::from(number) * 10,
            };
            stream += &format!("commit refs/h/{history}/{number}\nmark :{}\n", number + 1);
            stream += &format!("committer a <a@b> {seconds} +0000\ndata 0\n");
            let word = ["from", "merge"];
            let mut parents: Vec<u64> = (0..1 + chance(2))
                .map(|_| chance(number.max(1).into()))
                .collect();
            parents.dedup();
            for (parent, word) in parents.iter().zip(word).filter(|_| number > 0) {
                stream += &format!("{word} refs/h/{history}/{parent}\n");
            }
            stream += "\n";
        }
    }
    scratch.ask_with("r", &["fast-import", "--quiet"], stream.as_bytes());
    scratch
}

/// What each commit reaches is known from git's listing of all: git's own count of two tips goes by
/// dates, too.
fn compare_all(scratch: &Scratch, histories: u32, commits: u32) {
    use std::collections::{HashMap, HashSet};
    let listed = scratch.ask(
        "r",
        &[
            "rev-list",
            "--all",
            "--parents",
            "--topo-order",
            "--reverse",
        ],
    );
    let mut reached: HashMap<&str, HashSet<&str>> = HashMap::new();
    for line in listed.lines() {
        let mut ids = line.split(' ');
        let id = ids.next().unwrap();
        let mut all = HashSet::from([id]);
        ids.for_each(|parent| all.extend(&reached[parent]));
        reached.insert(id, all);
    }
    let names = scratch.ask(
        "r",
        &[
            "for-each-ref",
            "--format=%(refname) %(objectname)",
            "refs/h",
        ],
    );
    let ids: HashMap<&str, &str> = names
        .lines()
        .filter_map(|line| line.split_once(' '))
        .collect();
    let repository = scratch.open("r");
    for history in 0..histories {
        let tip = |number: u32| ids[format!("refs/h/{history}/{number}").as_str()];
        for (left, right) in [(1, 2), (1, 3), (2, 5), (4, 9)] {
            let (left, right) = (tip(commits - left), tip(commits - right));
            let id = |hex: &str| hedgerow_pack::ObjectId::from_hex(hex.as_bytes()).unwrap();
            let found = repository.ahead_behind(&id(left), &id(right)).unwrap();
            let only = |a: &str, b: &str| reached[a].difference(&reached[b]).count();
            assert_eq!(
                found,
                (only(left, right), only(right, left)),
                "{left}...{right}"
            );
        }
    }
}

#[test]
fn any_dates() {
    let scratch = dated_by_chance(300, 24);
    compare_all(&scratch, 300, 24);
    // With corrected dates, with levels only, and with a part of the commits.
    scratch.ask("r", &["commit-graph", "write", "--reachable"]);
    compare_all(&scratch, 300, 24);
    let levels = [
        "-c",
        "commitGraph.generationVersion=1",
        "commit-graph",
        "write",
        "--reachable",
    ];
    scratch.ask("r", &levels);
    compare_all(&scratch, 300, 24);
    std::fs::remove_file(scratch.path("r/.git/objects/info/commit-graph")).unwrap();
    let some: String = (0..300)
        .map(|history| {
            format!(
                "{}\n",
                scratch.ask("r", &["rev-parse", &format!("refs/h/{history}/12")])
            )
        })
        .collect();
    scratch.write("some", some);
    let part = "git -C r commit-graph write --stdin-commits <some";
    let written = std::process::Command::new("sh")
        .args(["-c", part])
        .current_dir(scratch.path(""))
        .status();
    assert!(written.unwrap().success());
    compare_all(&scratch, 300, 24);
}

#[test]
fn one_commit_from_before_all_history() {
    let scratch = Scratch::with_history();
    for number in 0..10 {
        scratch.commit("r", number);
    }
    scratch.ask("r", &["branch", "up"]);
    let date = [
        ("GIT_COMMITTER_DATE", "@1 +0000"),
        ("GIT_AUTHOR_DATE", "@1 +0000"),
    ];
    let output = scratch.run("r", &["commit", "-q", "--allow-empty", "-m", "old"], &date);
    assert!(output.status.success(), "{output:?}");
    compare(&scratch, "HEAD", "up");
}

#[test]
fn unrelated_histories() {
    let scratch = Scratch::with_history();
    scratch.ask("r", &["checkout", "-q", "--orphan", "alone"]);
    scratch.commit("r", 7);
    compare(&scratch, "alone", "main");
}

#[test]
fn tracking() {
    let scratch = Scratch::with_history();
    scratch.ask(".", &["clone", "-q", "r", "c"]);
    scratch.ask("c", &["reset", "-q", "--hard", "HEAD~2"]);
    scratch.commit("c", 9);
    let status = || {
        scratch
            .open("c")
            .tracking_status("refs/heads/main".into())
            .unwrap()
    };
    let found = status().unwrap();
    assert_eq!((found.ahead, found.behind, found.is_gone), (1, 2, false));
    assert_eq!(found.upstream.tracking, "refs/remotes/origin/main");
    scratch.ask("c", &["update-ref", "-d", "refs/remotes/origin/main"]);
    let found = status().unwrap();
    assert_eq!((found.ahead, found.behind, found.is_gone), (0, 0, true));
    scratch.ask("c", &["config", "--unset", "branch.main.merge"]);
    assert_eq!(status(), None);
    let found = scratch.open("c");
    assert_eq!(found.tracking_status("refs/tags/x".into()).unwrap(), None);
}

#[test]
fn orphans_are_counted_and_shown_as_git_does() {
    let scratch = Scratch::with_history();
    scratch.ask("r", &["checkout", "-q", "--detach"]);
    for number in 10..16 {
        scratch.commit("r", number);
        let found = scratch.open("r");
        let old = found.head().unwrap().id().unwrap();
        let new = found.resolve("main".into()).unwrap();
        let orphans = found.orphaned_commits(&old, Some(&new)).unwrap();
        let output = scratch.run("r", &["checkout", "main"], &[]);
        let said = text(&output.stderr);
        scratch.ask("r", &["checkout", "-q", &old.to_string()]);
        let count = orphans.count;
        let plural = if count == 1 { "" } else { "s" };
        let sentence = format!("you are leaving {count} commit{plural} behind");
        assert!(said.contains(&sentence), "{said}");
        for (id, subject) in &orphans.first {
            let line = format!("  {} {subject}\n", found.short_id(id).unwrap());
            assert!(said.contains(&line), "{line} {said}");
        }
        let more = said.contains(" more.\n");
        assert_eq!(more, count > orphans.first.len(), "{said}");
        assert_eq!(
            orphans.first.len(),
            if count == 5 { 5 } else { count.min(4) }
        );
    }
    let found = scratch.open("r");
    let old = found.head().unwrap().id().unwrap();
    let orphans = found.orphaned_commits(&old, Some(&old)).unwrap();
    assert_eq!(orphans.count, 0);
    scratch.ask("r", &["tag", "-a", "-m", "x", "kept", "HEAD~2"]);
    let orphans = scratch.open("r").orphaned_commits(&old, None).unwrap();
    assert_eq!(orphans.count, 2);
    assert_eq!(orphans.first[0].1, "change 15");
}

#[test]
fn a_shallow_history_ends_where_it_ends() {
    let scratch = Scratch::with_history();
    let url = format!("file://{}", scratch.path("r").display());
    scratch.ask(".", &["clone", "-q", "--depth=2", &url, "s"]);
    let found = scratch.open("s");
    let head = found.head().unwrap().id().unwrap();
    let parent = found.resolve("HEAD~1".into()).unwrap();
    assert_eq!(found.ahead_behind(&head, &parent).unwrap(), (1, 0));
}

#[test]
fn commits_are_parsed() {
    let scratch = Scratch::with_history();
    let found = scratch.open("r");
    let id = found.resolve("HEAD".into()).unwrap();
    let commit = found.commit(&id).unwrap();
    let format = |format: &str| scratch.ask("r", &["log", "-1", &format!("--format={format}")]);
    assert_eq!(commit.tree.to_string(), format("%T"));
    assert_eq!(commit.parents[0].to_string(), format("%P"));
    assert_eq!(commit.subject(), format("%s"));
    assert_eq!(commit.seconds.to_string(), format("%ct"));
    let author = format("%an <%ae>");
    assert!(commit.author.as_bstr().starts_with(author.as_bytes()));
    assert!(commit.committer.ends_with(b"+0100"));
    let error = found.commit(&commit.tree).unwrap_err().to_string();
    assert_eq!(
        error,
        format!("corrupt commit {}: it is a tree", commit.tree)
    );
}

#[test]
fn subjects_follow_the_encoding_of_the_output() {
    let scratch = Scratch::with_history();
    let message = "ge\u{e4}ndert";
    let latin = ["-c", "i18n.commitEncoding=ISO8859-1"];
    scratch.write("message", b"ge\xe4ndert\n");
    let commit = ["commit", "-q", "--allow-empty", "-F", "../message"];
    scratch.ask("r", &[&latin[..], &commit].concat());
    let subject = || {
        let found = scratch.open("r");
        let id = found.resolve("HEAD".into()).unwrap();
        found.subject(&found.commit(&id).unwrap())
    };
    assert_eq!(subject(), message);
    for (encoding, expected) in [
        ("ISO8859-1", &b"ge\xe4ndert"[..]),
        ("iso8859-1", b"ge\xe4ndert"),
        ("nonsense", b"ge\xe4ndert"),
        ("utf8", message.as_bytes()),
    ] {
        scratch.ask("r", &["config", "i18n.logOutputEncoding", encoding]);
        assert_eq!(subject(), expected, "{encoding}");
    }
}
