//! `submodule update`, `init` and `status` beside git.

use crate::twins::Twins;
use hedgerow_testkit::Repository;

const ALLOW: [&str; 2] = ["-c", "protocol.file.allow=always"];

fn with_files(repository: &Repository, words: &[&str]) {
    let words: Vec<&str> = ALLOW.iter().chain(words).copied().collect();
    repository.git(&words);
}

/// A repository with the submodules `one`, which has a submodule `inner`, `dir/two` and `three`, all
/// cloned with two commits; the older commits are checked out and in the index of `old`.
pub fn scene(it: &Repository) {
    let home = it.root.parent().unwrap().to_owned();
    let made = |name: &str| {
        let root = home.join(name);
        std::fs::create_dir(&root).unwrap();
        let repository = Repository::at(root);
        repository.git(&["init", "-q", "-b", "main"]);
        repository.commit_files(&[("file", "one\n")], name);
        repository
    };
    let inner = made("inner");
    inner.commit_files(&[("file", "two\n")], "second");
    let one = made("one");
    with_files(&one, &["submodule", "--quiet", "add", "../inner", "inner"]);
    one.git(&["commit", "-qm", "with inner"]);
    one.git(&["tag", "-a", "-m", "v1", "v1"]);
    let [two, three] = ["two", "three"].map(made);
    it.commit_files(&[("top", "top\n")], "top");
    it.git(&["remote", "add", "origin", "../super"]);
    for (name, path) in [("one", "one"), ("two", "dir/two"), ("three", "three")] {
        let url = format!("../{name}");
        with_files(
            it,
            &["submodule", "--quiet", "add", "--name", name, &url, path],
        );
    }
    it.git(&["commit", "-qm", "with submodules"]);
    it.git(&["branch", "old"]);
    for (repository, path) in [(&one, "one"), (&two, "dir/two"), (&three, "three")] {
        repository.commit_files(&[("file", "two\n"), ("more/file", "more\n")], "second");
        with_files(it, &["-C", path, "fetch", "-q", "--tags"]);
        it.git(&["-C", path, "checkout", "-q", "origin/main"]);
    }
    it.git(&["add", "-A"]);
    it.git(&["commit", "-qm", "moved"]);
    with_files(
        it,
        &["submodule", "--quiet", "update", "--init", "--recursive"],
    );
}

/// Files of submodules, their HEADs, logs and settings are the same.
pub fn assert_same_submodules(twins: &Twins) {
    for path in ["one", "one/inner", "dir/two", "three"] {
        for words in [
            &["rev-parse", "HEAD"][..],
            &["log", "-g", "--format=%gs", "HEAD"],
            &["status", "--porcelain"],
            &["config", "-l", "--local"],
            &["rev-parse", "--git-dir"],
        ] {
            let of = |it: &Repository| {
                if !it.root.join(path).join(".git").exists() {
                    return None;
                }
                let words: Vec<&str> = ["-C", path].iter().chain(words).copied().collect();
                let outcome = it.run(&words, b"");
                let root = it.root.to_str().unwrap();
                Some((outcome.code, outcome.text().replace(root, "ROOT")))
            };
            let root = |it: &Repository, found: Option<(i32, String)>| {
                let home = it.root.parent().unwrap().to_str().unwrap().to_owned();
                found.map(|(code, text)| (code, text.replace(&home, "HOME")))
            };
            let expected = root(&twins.git, of(&twins.git));
            let found = root(&twins.our, of(&twins.our));
            assert_eq!(expected, found, "{path} {words:?}");
        }
    }
    let config = |it: &Repository| {
        let text = it.ask(&["config", "-l", "--local"]);
        text.replace(it.root.parent().unwrap().to_str().unwrap(), "HOME")
    };
    assert_eq!(config(&twins.git), config(&twins.our));
}

#[test]
fn submodules_are_updated_as_by_git() {
    let mut twins = Twins::new("update", scene);
    twins.line("submodule status");
    twins.line("submodule");
    twins.line("submodule update");
    twins.each(|it| drop(it.git(&["reset", "-q", "--hard", "old"])));
    twins.line("submodule status");
    twins.line("submodule status --cached");
    twins.line("submodule status --recursive one");
    twins.line("submodule update three");
    twins.line("submodule update");
    assert_same_submodules(&twins);
    twins.each(|it| drop(it.git(&["reset", "-q", "--hard", "main@{1}"])));
    twins.line_in("dir", "submodule status");
    twins.line_in("dir", "submodule update --recursive");
    twins.line("submodule update --recursive --force");
    twins.line("submodule update -q");
    twins.line("submodule --quiet update");
    twins.line("submodule -q status");
    twins.line("submodule --cached status");
    twins.line("submodule status --recursive");
    assert_same_submodules(&twins);
    twins.line("submodule update nothing");
    twins.line("submodule status nothing top");
    twins.line("submodule update top");
}

#[test]
fn a_working_tree_of_another_repository_is_none_of_ours() {
    let mut twins = Twins::new("linked", scene);
    let other = |it: &Repository| Repository::at(it.root.parent().unwrap().join("two"));
    twins.each(|it| {
        std::fs::remove_dir_all(it.root.join("dir/two")).unwrap();
        let place = it.root.join("dir/two");
        other(it).git(&["worktree", "add", "-q", "--detach", place.to_str().unwrap()]);
        it.git(&["-C", "dir/two", "checkout", "-q", "HEAD~1"]);
        // Another spelling of the same place, and none.
        it.git(&[
            "-C",
            "three",
            "config",
            "core.worktree",
            "../../../../super/three",
        ]);
        it.git(&["-C", "three", "checkout", "-q", "HEAD~1"]);
        it.git(&["-C", "one", "config", "--unset", "core.worktree"]);
        it.git(&["-C", "one", "checkout", "-q", "HEAD~1"]);
    });
    // Its `.git` names another place in each of the twins.
    let expected = twins.git.run(&["submodule", "update", "--no-fetch"], b"");
    let found = twins.our_line("submodule update --no-fetch");
    assert_eq!((expected.code, expected.text()), (found.code, found.text()));
    for repository in [&twins.git, &twins.our] {
        let worktree = other(repository).run(&["config", "core.worktree"], b"");
        assert_eq!(worktree.code, 1, "{}", worktree.text());
    }
    let of =
        |it: &Repository, path: &str| it.run(&["-C", path, "config", "core.worktree"], b"").text();
    for path in ["one", "three"] {
        assert_eq!(of(&twins.git, path), of(&twins.our, path), "{path}");
    }
}

#[test]
fn local_changes_in_submodules_are_kept() {
    let mut twins = Twins::new("changes", scene);
    twins.each(|it| {
        it.git(&["reset", "-q", "--hard", "old"]);
        it.write("one/file", "mine\n");
        it.write("dir/two/unrelated", "mine\n");
        it.write("three/more/file", "two\nmine\n");
    });
    twins.line("submodule update");
    assert_same_submodules(&twins);
    twins.line("submodule update --force");
    assert_same_submodules(&twins);
}

#[test]
fn what_is_not_populated_is_connected_again() {
    let mut twins = Twins::new("deinit", scene);
    twins.each(|it| {
        it.git(&["submodule", "--quiet", "deinit", "-f", "--all"]);
    });
    twins.line("submodule status");
    twins.line("submodule update");
    twins.line("submodule update one");
    twins.line("submodule init three");
    twins.line("submodule status");
    twins.line("submodule update three");
    assert_same_submodules(&twins);
    twins.line("submodule init");
    twins.each(|it| {
        std::fs::remove_dir_all(it.root.join("dir")).unwrap();
    });
    twins.line("submodule init -q");
    assert_same_submodules(&twins);
    twins.each(|it| drop(it.git(&["submodule", "--quiet", "deinit", "-f", "--all"])));
    let words = "submodule update --init --recursive";
    let expected = twins.git.run(&words.split(' ').collect::<Vec<_>>(), b"");
    let found = twins.our_line(words);
    assert_eq!((expected.code, found.code), (0, 0), "{}", found.stderr);
    assert_eq!(sorted(&expected.text()), sorted(&found.text()));
    assert_same_submodules(&twins);
    twins.assert_same_state();
}

fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines
}

#[test]
fn the_configuration_decides_what_is_updated() {
    let mut twins = Twins::new("configured", scene);
    twins.each(|it| {
        it.git(&["reset", "-q", "--hard", "old"]);
        it.git(&["config", "submodule.one.update", "none"]);
        it.git(&["config", "submodule.two.active", "false"]);
    });
    twins.line("submodule status");
    twins.line("submodule update");
    twins.line("submodule update dir/two");
    twins.line("submodule update --checkout one");
    twins.each(|it| {
        it.git(&["config", "--unset", "submodule.two.active"]);
        it.git(&["config", "submodule.active", "thr*"]);
    });
    twins.line("submodule status");
    twins.line("submodule update --init");
    twins.each(|it| drop(it.git(&["config", "submodule.three.update", "nonsense"])));
    twins.each(|it| drop(it.git(&["reset", "-q", "--hard", "main@{1}"])));
    twins.line("submodule update three");
    assert_same_submodules(&twins);
}

#[test]
fn what_only_git_can_do_is_refused_before_anything_is_touched() {
    let twins = Twins::new("refused", scene);
    let our = &twins.our;
    our.git(&["reset", "-q", "--hard", "old"]);
    let refused = |words: &str, code: i32, expected: &str| {
        let before = our.tree();
        let said = twins.our_line(words).failed(code, words);
        assert!(said.contains(expected), "{words}: {said}");
        assert_eq!(our.tree(), before, "{words}");
    };
    for option in ["--remote", "--merge", "--rebase"] {
        refused(
            &format!("submodule update {option}"),
            129,
            "nothing was touched",
        );
    }
    for way in ["merge", "rebase", "!touch here"] {
        our.git(&["config", "submodule.three.update", way]);
        refused("submodule update", 129, "submodule.three.update");
    }
    our.git(&["config", "--unset", "submodule.three.update"]);
}

#[test]
fn states_are_listed_as_far_as_they_are_known() {
    let mut twins = Twins::new("listed", scene);
    twins.each(|it| {
        it.git(&[
            "config",
            "-f",
            ".gitmodules",
            "--remove-section",
            "submodule.three",
        ]);
    });
    twins.line("submodule status");
    twins.line("submodule status --recursive");
    twins.line("submodule status one three");
    twins.line("submodule status three one");
}

#[test]
fn a_submodule_that_lost_its_repository_is_not_listed_as_new() {
    let mut twins = Twins::new("lost", scene);
    twins.each(|it| std::fs::remove_dir_all(it.root.join(".git/modules/three")).unwrap());
    for words in [
        "submodule status",
        "submodule status --cached",
        "submodule status one",
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        let expected = twins.git.run(&words, b"");
        let found = twins.our_line(&words.join(" "));
        assert_eq!((expected.code, expected.text()), (found.code, found.text()));
        assert_eq!(
            expected.stderr.is_empty(),
            found.stderr.is_empty(),
            "{}",
            found.stderr
        );
    }
}

#[test]
fn hostile_submodules_lead_nowhere() {
    // CVE-2018-11235, CVE-2018-17456, CVE-2024-32002, CVE-2019-19604.
    let mut twins = Twins::new("hostile", scene);
    twins.each(|it| {
        it.git(&[
            "config",
            "-f",
            ".gitmodules",
            "submodule.../../evil.path",
            "three",
        ]);
        it.git(&[
            "config",
            "-f",
            ".gitmodules",
            "submodule.../../evil.url",
            "../three",
        ]);
        it.git(&[
            "config",
            "-f",
            ".gitmodules",
            "--remove-section",
            "submodule.three",
        ]);
    });
    twins.line("submodule update");
    twins.line("submodule update three");
    twins.line("submodule status one");
    twins.line("submodule status three");
    twins.line("submodule init three");
    twins.each(|it| {
        it.git(&["checkout", "-q", ".gitmodules"]);
        it.git(&[
            "config",
            "-f",
            ".gitmodules",
            "submodule.three.update",
            "!touch here",
        ]);
    });
    twins.line("submodule update");
    twins.each(|it| {
        it.git(&["checkout", "-q", ".gitmodules"]);
        it.git(&[
            "config",
            "-f",
            ".gitmodules",
            "submodule.three.url",
            "-u./evil",
        ]);
        it.git(&["config", "--unset", "submodule.three.url"]);
    });
    twins.line("submodule init three");
    twins.each(|it| {
        it.git(&["checkout", "-q", ".gitmodules"]);
        it.git(&["submodule", "--quiet", "init"]);
        let (dir, kept) = (it.root.join("dir"), it.root.join("kept"));
        std::fs::rename(&dir, kept).unwrap();
        std::os::unix::fs::symlink("kept", dir).unwrap();
    });
    let before = twins.our.tree();
    for words in ["submodule update", "submodule status"] {
        let said = twins.our_line(words).failed(128, words);
        assert!(said.contains("not to be a symbolic link"), "{said}");
    }
    assert_eq!(twins.our.tree(), before);
}

#[test]
fn the_number_of_workers_changes_nothing() {
    for jobs in ["1", "3", "8"] {
        let twins = Twins::new(jobs, scene);
        twins.our.git(&["reset", "-q", "--hard", "old"]);
        let said = twins.our_line(&format!("submodule update -j {jobs}"));
        let text = String::from_utf8(said.ok("update")).unwrap();
        let paths: Vec<&str> = text
            .lines()
            .map(|line| line.split('\'').nth(1).unwrap())
            .collect();
        assert_eq!(paths, ["dir/two", "one", "three"]);
    }
}
