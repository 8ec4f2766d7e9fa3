//! `hedgerow worktree` beside git: the same steps in two copies of a directory must say and leave
//! the same.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::unwrap_used,
    reason = "tests make repositories and look at files"
)]

use bstr::ByteSlice;
use hedgerow_testkit::{
    differences, git_is_at_least, run, snapshot, temporary, Node, Outcome, Program, Random,
    Snapshot,
};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

const HEDGEROW: Program = Program::Hedgerow(env!("CARGO_BIN_EXE_hedgerow"));

/// Two directories with the same repositories: `r` with a few branches, `bare`, `clone` of `r`, and
/// `empty`.
struct Twins {
    root: tempfile::TempDir,
    steps: Vec<String>,
}

impl Twins {
    fn new() -> Self {
        let root = temporary();
        for twin in ["git", "our"] {
            let top = root.path().join(twin);
            std::fs::create_dir(&top).unwrap();
            make(&top);
        }
        Twins {
            root,
            steps: Vec::new(),
        }
    }

    fn top(&self, twin: &str) -> PathBuf {
        std::fs::canonicalize(self.root.path()).unwrap().join(twin)
    }

    /// Runs one line. `worktree` is run by each program; `!` begins git's words for both, `%`
    /// another command of each program, `$` a line for the shell. The directory comes before a colon.
    fn step(&mut self, line: &str) -> i32 {
        self.steps.push(line.to_owned());
        let (directory, words) = line.split_once(": ").unwrap();
        let each = |twin: &str, program: Program| {
            let place = self.top(twin).join(directory);
            if let Some(script) = words.strip_prefix("$ ") {
                let mut command = hedgerow_testkit::isolated("sh");
                command.arg("-c").arg(script).current_dir(place);
                return run(command);
            }
            let (program, words) = match words.split_once(' ') {
                Some(("!", words)) => (Program::Git, words.to_owned()),
                Some(("sparse", words)) => (program, format!("sparse-checkout {words}")),
                Some(("%", words)) => (program, words.to_owned()),
                _ => (program, format!("worktree {words}")),
            };
            let mut command = program.command(&place);
            let words = words.split(' ').map(|word| word.replace('_', " "));
            command
                .args(words)
                .env("GIT_COMMITTER_DATE", "1700000000 +0100");
            run(command)
        };
        let expected = each("git", Program::Git);
        let found = each("our", HEDGEROW);
        // Git ends so where a command that it started failed.
        if found.code != 255 {
            found.assert_civil(line);
        }
        self.compare(&expected, &found);
        expected.code
    }

    /// Whether there is nothing at `place`, and no working tree was there.
    fn is_free(&self, place: &str) -> bool {
        let top = self.top("git");
        let mut command = Program::Git.command(&top.join("r"));
        command.args(["worktree", "list", "--porcelain"]);
        let list = run(command).stdout;
        let line = format!("/{place}\n");
        !top.join(place).exists() && !list.contains_str(line.as_bytes())
    }

    fn compare(&self, expected: &Outcome, found: &Outcome) {
        let story = self.steps.join("\n  ");
        let (git, our) = (self.top("git"), self.top("our"));
        let renamed = |bytes: &[u8]| {
            let our = our.to_string_lossy();
            bytes.replace(our.as_bytes(), git.to_string_lossy().as_bytes())
        };
        // Older versions put one more space after the longest path.
        let is_new = git_is_at_least(2, 55, "the columns of the list, and sparse-checkout clean");
        let text = |bytes: Vec<u8>| {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            if is_new {
                text
            } else {
                let words = text.split(' ').filter(|word| !word.is_empty());
                words.collect::<Vec<_>>().join(" ")
            }
        };
        let last = self.steps.last().map_or("", String::as_str);
        let is_unknown = !is_new && last.contains(": sparse clean");
        if !is_unknown {
            assert_eq!(
                (
                    expected.code,
                    text(expected.stdout.clone()),
                    if is_new {
                        expected.stderr.clone()
                    } else {
                        text(in_newer_words(&expected.stderr).into_bytes())
                    }
                ),
                (
                    found.code,
                    text(renamed(&found.stdout)),
                    // Some steps are git's in both.
                    if is_new {
                        text(renamed(found.stderr.as_bytes()))
                    } else {
                        let words = in_newer_words(&found.stderr);
                        text(renamed(words.as_bytes()))
                    }
                ),
                "{story}\nfirst git, then hedgerow"
            );
        }
        let mut ours = picture(&our);
        for node in ours.values_mut() {
            if let Node::File(_, content) = node {
                *content = renamed(content);
            }
        }
        let differences = differences(&picture(&git), &ours);
        assert!(
            differences.is_empty(),
            "{story}\n{}",
            differences.join("\n")
        );
        for place in indexes(&git) {
            let list = |top: &Path| {
                let mut command = Program::Git.command(&top.join(&place));
                command.args(["ls-files", "-s", "-t", "-v", "--sparse"]);
                text(run(command).stdout)
            };
            assert_eq!(list(&git), list(&our), "{story}\nindex in {place:?}");
        }
    }
}

/// Everything but objects and the bytes of indexes.
fn picture(top: &Path) -> Snapshot {
    let mut picture = snapshot(top, &|path| {
        path.ends_with(b"/objects") || path.ends_with(b".sample")
    });
    for (path, node) in &mut picture {
        if path.ends_with(b"/index") {
            *node = Node::File(0, Vec::new());
        }
    }
    picture
}

/// The directories below `top` that have a `.git`.
fn indexes(top: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(top).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let found = paths.filter(|path| path.join(".git").exists());
    found
        .map(|path| path.strip_prefix(top).unwrap().to_owned())
        .collect()
}

/// What an older git says, in the words of 2.55.
fn in_newer_words(text: &str) -> String {
    text.replace("`man git check-ref-format`", "'git help check-ref-format'")
        .replace("\"git config advice.", "\"git config set advice.")
        .replace(
            "is not a .git file, error code 2",
            "is not a .git file, error code 10",
        )
}

/// Runs git with the words of `line`.
fn git_line(top: &Path, line: &str) {
    let words: Vec<&str> = line.split(' ').collect();
    hedgerow_testkit::git(top, &words, &[]);
}

fn make(top: &Path) {
    git_line(top, "init -q -b main r");
    let r = top.join("r");
    for line in [
        "config advice.refSyntax true",
        "config advice.worktreeAddOrphan true",
        "config advice.setUpstreamFailure true",
        "config gc.auto 0",
        // Said where git's code for a command does not know sparse indexes.
        "config advice.sparseIndexExpanded false",
    ] {
        git_line(&r, line);
    }
    std::fs::create_dir_all(r.join("d/e")).unwrap();
    for (path, content) in [("f", "1\n"), ("d/g", "2\n"), ("d/e/h", "3\n")] {
        std::fs::write(r.join(path), content).unwrap();
    }
    std::os::unix::fs::symlink("f", r.join("link")).unwrap();
    git_line(&r, "add .");
    git_line(&r, "commit -q -m one");
    git_line(&r, "branch old");
    std::fs::write(r.join("f"), "other\n").unwrap();
    git_line(&r, "commit -q -a -m two");
    git_line(&r, "branch topic");
    git_line(&r, "tag v1");
    git_line(top, "clone -q --bare r bare");
    git_line(top, "clone -q r clone");
    git_line(top, "init -q -b main empty");
}

fn tell(cases: &[&[&str]]) {
    for case in cases {
        let mut twins = Twins::new();
        for line in *case {
            twins.step(line);
        }
    }
}

#[test]
fn working_trees_are_added_as_by_git() {
    tell(&[
        &[
            "r: add ../w",
            "r: list",
            "r: list -v",
            "r: list --porcelain",
        ],
        &[
            "r: add ../q/",
            "r: add --detach ../w/",
            "r: add ../x/w",
            "r: add ../.hid",
            "r: add ../b~d",
            "r: list",
        ],
        &["r: add --detach ../w", "r: add -d ../x old", "r: list"],
        &[
            "r: add -b new ../w",
            "r: add -b new ../x",
            "r: add -B new ../x",
        ],
        &[
            "r: add -b new ../w old",
            "r: remove w",
            "r: add -B new ../w main",
        ],
        &[
            "r: add ../w topic",
            "r: add ../x topic",
            "r: add -f ../x topic",
            "r: list",
        ],
        &[
            "r: add ../w main",
            "r: add ../w v1",
            "r: add ../w nothing",
            "r: add ../topic",
        ],
        &["r: ! checkout -q old", "r: add ../w -", "r: list"],
        &["r: add --no-checkout ../w", "w: ! status --short"],
        &[
            "r: add --lock ../w",
            "r: add --lock --reason because_of ../x",
            "r: list -v",
        ],
        &[
            "r: add -q ../w",
            "r: add -q -b y ../y old",
            "r: add --quiet --detach ../z",
        ],
        &["r/d: add ../../w", "r/d: add in", "r: list"],
        &[
            "r: $ mkdir ../w ../x && touch ../x/file",
            "r: add ../w",
            "r: add --detach ../x",
        ],
        &[
            "r: $ mkdir -p ../b && touch ../b/c",
            "r: add --detach ../b/c",
        ],
        &[
            "r: add --orphan ../w",
            "r: add --orphan -b o ../x",
            "r: add --orphan -b old ../y",
        ],
        &["empty: add ../w", "empty: list"],
        &[
            "empty: add -b b ../w",
            "empty: add -b a..b ../x",
            "empty: add ../y main",
        ],
        &[
            "empty: add --no-checkout ../w",
            "empty: add --track -b q ../w",
        ],
        &["empty: add --detach ../w", "empty: add -b n ../w HEAD"],
        &["r: add -b a..b ../w", "r: add -b main/x ../w2 nothing"],
        &["r: add --detach -b x ../w", "r: add --orphan --detach ../w"],
        &["r: add --orphan ../w main", "r: add --reason x ../w"],
        &[
            "r: add --orphan --track ../w",
            "r: add --orphan --no-checkout ../w",
        ],
        &[
            "bare: add ../w",
            "bare: add ../x topic",
            "bare: list",
            "x: list",
            "x: add ../y",
        ],
    ]);
}

#[test]
fn branches_follow_what_git_lets_them_follow() {
    let mut cases: Vec<Vec<String>> = Vec::new();
    for setting in ["true", "false", "always", "inherit", "simple"] {
        for start in ["origin/topic", "main", "HEAD", "origin/main~1", "old"] {
            for option in ["", "--track ", "--no-track "] {
                cases.push(vec![
                    format!("clone: ! config branch.autoSetupMerge {setting}"),
                    format!("clone: add {option}-b topic ../w {start}"),
                ]);
            }
        }
    }
    cases.push(vec![
        "clone: add ../topic".into(),
        "clone: remove topic".into(),
        "clone: ! branch -D topic".into(),
        "clone: add --guess-remote ../topic".into(),
        "clone: ! config worktree.guessRemote true".into(),
        "clone: add ../old".into(),
        "clone: add --no-guess-remote ../none".into(),
        "clone: add ../w2 nothing".into(),
        "clone: add --track ../w3 main".into(),
    ]);
    cases.push(vec![
        "clone: ! config branch.autoSetupRebase always".into(),
        "clone: add ../w topic".into(),
        "clone: add --track -b x ../x main".into(),
    ]);
    for case in cases {
        let lines: Vec<&str> = case.iter().map(String::as_str).collect();
        tell(&[&lines]);
    }
}

#[test]
fn working_trees_are_kept_in_order_as_by_git() {
    tell(&[
        &[
            "r: add ../w",
            "r: remove w",
            "r: list",
            "r: remove w",
            "r: remove r",
        ],
        &[
            "r: add ../w",
            "w: $ echo x >f",
            "r: remove w",
            "r: remove -f w",
        ],
        &[
            "r: add ../w",
            "w: $ echo x >new",
            "r: remove ../w",
            "r: remove --force ../w",
        ],
        &["r: add ../w", "w: $ rm f", "r: remove w"],
        &[
            "r: add ../w",
            "r: lock w",
            "r: lock w",
            "r: remove w",
            "r: remove -f -f w",
        ],
        &[
            "r: add ../w",
            "r: lock --reason so_be_it w",
            "r: lock w",
            "r: move w ../x",
        ],
        &[
            "r: add ../w",
            "r: lock w",
            "r: unlock w",
            "r: unlock w",
            "r: unlock r",
        ],
        &[
            "r: add ../w",
            "r: move w ../x",
            "r: list",
            "x: ! status",
            "r: move x ../clone",
        ],
        &[
            "r: add ../w",
            "r: move w ../bare/objects/../../w",
            "r: move r ../y",
            "r: move z ../y",
        ],
        &[
            "r: add ../w",
            "r: $ rm -r ../w",
            "r: list",
            "r: list -v",
            "r: prune -n",
            "r: prune -v",
        ],
        &[
            "r: add ../w",
            "r: $ rm -r ../w",
            "r: prune --expire=2.days.ago",
            "r: add ../w old",
        ],
        &[
            "r: add ../w",
            "r: $ rm -r ../w",
            "r: add -f ../w old",
            "r: list",
        ],
        &[
            "r: add ../w",
            "r: lock w",
            "r: $ rm -r ../w",
            "r: add -f ../w old",
            "r: add -ff ../w old",
        ],
        &[
            "r: add ../w",
            "r: $ rm -r ../w",
            "r: remove w",
            "r: list --porcelain",
        ],
        &[
            "r: add ../w",
            "r: $ rm .git/worktrees/w/gitdir",
            "r: prune -v",
            "r: prune",
        ],
        &[
            "r: add ../w",
            "r: $ : >.git/worktrees/w/gitdir",
            "r: prune -v",
        ],
        &[
            "r: $ mkdir .git/worktrees; : >.git/worktrees/x",
            "r: prune -v",
        ],
        &[
            "r: add ../w",
            "r: $ mv ../w ../x",
            "r: list",
            "r: repair ../x",
            "r: list",
        ],
        &[
            "r: add ../w",
            "r: $ mv ../w ../x; mkdir -p deep/er",
            "r/deep/er: repair ../../../x",
            "r/deep/er: repair x",
            "r/.git: repair ../x",
            "r/deep/er: repair ../x",
            "r: list",
        ],
        &[
            "r: add ../w",
            "r: $ mv ../w ../x",
            "r/.git: repair ../../x",
            "r: list",
        ],
        &[
            "r: add ../w",
            "w: $ echo gitdir: nowhere >.git",
            "r: repair",
            "w: ! status",
        ],
        &[
            "r: add ../w",
            "w: $ rm .git",
            "r: remove w",
            "r: repair",
            "r: remove w",
        ],
        &[
            "r: add ../w",
            "w: $ rm .git; mkdir .git",
            "r: repair",
            "r: remove w",
        ],
        &[
            "r: repair ../nothing",
            "r: repair ../clone",
            "r: repair ../clone/f",
        ],
        &[
            "r: add ../w",
            "w: list",
            "w: add ../x",
            "w: remove ../x",
            "w: prune",
        ],
        &[
            "r: list -z",
            "r: list -v --porcelain",
            "r: list --porcelain -z",
        ],
        &[
            "r: ! config extensions.worktreeConfig true",
            "r: ! config --worktree a.b c",
            "r: add ../w",
        ],
    ]);
}

#[test]
fn the_hook_is_told_and_may_fail() {
    let mut twins = Twins::new();
    for twin in ["git", "our"] {
        let hook = twins.top(twin).join("r/.git/hooks/post-checkout");
        std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
        std::fs::write(
            &hook,
            "#!/bin/sh\necho $* $(pwd) ${GIT_DIR-none} >>../hook\nexit 3\n",
        )
        .unwrap();
        std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    assert_eq!(twins.step("r: add ../w"), 3);
    assert_eq!(twins.step("r: add --no-checkout ../x"), 0);
    assert_eq!(twins.step("r: add --detach ../y old"), 3);
}

/// A refusal comes before anything is made: a branch that git leaves behind is not there.
#[test]
fn nothing_is_made_if_the_place_is_taken() {
    let twins = Twins::new();
    let r = twins.top("our").join("r");
    let before = picture(&r);
    let mut command = HEDGEROW.command(&r);
    command.args(["worktree", "add", "-b", "new", "../clone"]);
    let stderr = run(command).failed(128, "the place is taken");
    assert!(
        stderr.contains("fatal: '../clone' already exists"),
        "{stderr}"
    );
    assert!(differences(&before, &picture(&r)).is_empty());
}

/// What was made goes away again if writing the files fails.
#[test]
fn a_working_tree_that_cannot_be_filled_is_removed() {
    let mut twins = Twins::new();
    twins.step("r: $ echo 'f filter=x' >.gitattributes");
    twins.step("r: ! add .gitattributes");
    twins.step("r: ! commit -q -m attributes");
    twins.step("r: ! config filter.x.smudge false");
    twins.step("r: ! config filter.x.required true");
    let r = twins.top("our").join("r");
    let mut command = HEDGEROW.command(&r);
    command.args(["worktree", "add", "--detach", "../w"]);
    assert_eq!(run(command).code, 128);
    assert!(!twins.top("our").join("w").exists());
    assert!(!r.join(".git/worktrees/w").exists());
}

#[test]
fn any_sequence_leaves_what_git_leaves() {
    for seed in 1..=12 {
        let mut random = Random::new(seed);
        let mut twins = Twins::new();
        twins.steps.push(format!("seed {seed}"));
        for _ in 0..14 {
            let names = ["w", "x", "y", "topic"];
            let place = random.pick(&names);
            let other = random.pick(&names);
            let revision = random.pick(&["main", "old", "topic", "v1", "HEAD~1"]);
            let line = match random.below(11) {
                // Git leaves a new branch behind if the place is taken.
                0 | 1 if twins.is_free(place) => format!("r: add ../{place}"),
                2 => format!("r: add --detach ../{place} {revision}"),
                3 => format!("r: add -f ../{place} {revision}"),
                4 => format!("r: remove {place}"),
                5 => format!("r: remove -f {place}"),
                6 => format!("r: move {place} ../{other}"),
                7 => format!("r: $ rm -rf ../{place}"),
                8 => "r: prune -v".into(),
                9 => format!("r: lock {place}"),
                _ => format!("r: $ mkdir -p ../{place}; echo x >../{place}/f"),
            };
            twins.step(&line);
            twins.step("r: list -v");
        }
    }
}

#[test]
fn sparse_checkouts_are_those_of_git() {
    tell(&[
        &[
            "r: sparse init",
            "r: sparse list",
            "r: sparse set d",
            "r: sparse list",
            "r: sparse disable",
        ],
        &[
            "r: sparse set d/e",
            "r: sparse add x/y",
            "r: sparse list",
            "r: sparse reapply",
            "r: ! status",
        ],
        &[
            "r: sparse set --no-cone f",
            "r: sparse list",
            "r: sparse add /d/g",
            "r: sparse list",
        ],
        &[
            "r: sparse set --no-cone",
            "r: sparse set --cone d",
            "r: sparse reapply --no-cone",
        ],
        &[
            "r: sparse list",
            "r: sparse add d",
            "r: sparse reapply",
            "r: sparse clean -f",
        ],
        &[
            "r: sparse init --cone",
            "r: sparse set f",
            "r: sparse set /d",
            "r: sparse set !d",
            "r: sparse set d*",
        ],
        &[
            "r: sparse set --skip-checks f",
            "r: sparse set --skip-checks d*",
            "r: sparse list",
        ],
        &[
            "r: $ echo x >d/g",
            "r: sparse set d/e",
            "r: sparse init",
            "r: ! status --short",
        ],
        &[
            "r: $ echo x >d/e/h",
            "r: sparse set x",
            "r: $ git checkout -q d/e/h",
            "r: sparse reapply",
        ],
        &[
            "r: $ echo x >d/new",
            "r: sparse init --cone",
            "r: ! status --short",
        ],
        &[
            "r: $ echo '*.o' >.git/info/exclude; touch d/a.o",
            "r: sparse init --cone",
            "r: ! status",
        ],
        &[
            "r: sparse init --cone",
            "r: $ mkdir -p d; echo mine >d/g",
            "r: sparse set d",
            "r: ! status --short",
        ],
        &[
            "r: sparse init --cone",
            "r: $ mkdir -p d; echo mine >d/g",
            "r: sparse reapply",
        ],
        &[
            "r: sparse init --cone",
            "r: sparse disable",
            "r: sparse set d",
            "r/d: sparse set e",
            "r/d: sparse set ../d",
            "r/d: sparse set ../../x",
        ],
        &[
            "empty: sparse init",
            "empty: sparse set d",
            "empty: sparse list",
        ],
        &[
            "bare: sparse init",
            "bare: sparse list",
            "r: sparse set --no-sparse-index d",
        ],
        &[
            "r: sparse set d/e",
            "r: add ../w old",
            "w: sparse list",
            "w: sparse disable",
            "r: list",
        ],
        &[
            "r: ! checkout -q old",
            "r: sparse set d/e",
            "r: ! checkout -q main",
            "r: sparse disable",
        ],
    ]);
}

#[test]
fn sparse_indexes_are_those_of_git() {
    tell(&[
        &[
            "r: sparse set --sparse-index d/e",
            "r: sparse list",
            "r: ! status --short",
            "r: sparse set x",
            "r: ! fsck",
            "r: % checkout-index -f -- d/",
            "r: % checkout-index -f -- x d",
            "r: % switch -q old",
            "r: % switch -q main",
            "r: sparse add d",
            "r: sparse reapply --no-sparse-index",
        ],
        &[
            "r: sparse init --cone --sparse-index",
            "r: % checkout -q old",
            "r: % reset -q --hard main",
            "r: % reset -q old",
            "r: ! status --short",
            "r: sparse reapply",
            "r: sparse disable",
        ],
        &[
            "r: sparse set --sparse-index x",
            "r: $ echo y >f",
            "r: % stash",
            "r: % stash pop",
            "r: % restore f",
            "r: $ mkdir -p d/e; echo z >d/e/h; git add --sparse d/e/h",
            "r: sparse reapply",
            "r: % checkout -q -- d/g",
            "r: ! commit -q -a -m three",
            "r: sparse reapply",
        ],
        &[
            "r: sparse set --sparse-index --no-cone d/e",
            "r: sparse set --cone d/e",
            "r: sparse reapply --no-cone",
        ],
        &[
            "r: $ git checkout -q -b side; echo b >d/g; git commit -q -am side",
            "r: $ git checkout -q main; echo c >d/g; git commit -q -am mine; git merge -q side; :",
            "r: sparse set --sparse-index x",
            "r: ! checkout -q -f main",
            "r: sparse reapply",
        ],
        &[
            // Edits outside come back, and their files with them.
            "r: sparse set x",
            "r: $ mkdir -p d/e; echo precious >d/g",
            "r: % stash -q",
            "r: % stash pop -q",
            "r: ! status --short",
            "r: % stash -q",
            "r: % stash apply -q --index",
            "r: ! reset -q --hard",
            "r: % stash branch nb",
            "r: ! status --short",
        ],
        &[
            "r: sparse set x",
            "r: $ mkdir -p d; echo precious >d/g",
            "r: % stash -q",
            "r: ! commit -q --allow-empty -m more",
            "r: % stash pop -q",
            "r: ! status --short",
            "r: $ cat d/g",
        ],
        &[
            // The tree of a directory outside that no commit has is written.
            "r: $ echo new >d/e/h; git update-index d/e/h",
            "r: sparse set --sparse-index x",
            "r: ! write-tree",
            "r: ! fsck",
        ],
    ]);
}

/// Git says so once or twice, depending on what it reads before.
#[test]
fn rules_that_are_no_cone_are_told() {
    let mut twins = Twins::new();
    twins.step("r: sparse init --cone");
    let r = twins.top("our").join("r");
    std::fs::write(r.join(".git/info/sparse-checkout"), "/*\n!/*/\n/d\n").unwrap();
    for words in ["read-tree -mu HEAD", "checkout -q old", "reset -q HEAD^{}"] {
        let mut command = HEDGEROW.command(&r);
        command.args(words.split(' '));
        let found = run(command);
        assert_eq!(found.code, 0, "{words}: {}", found.stderr);
        let expected =
            "warning: unrecognized pattern: '/d'\nwarning: disabling cone pattern matching\n";
        assert_eq!(found.stderr, expected, "{words}");
    }
}
