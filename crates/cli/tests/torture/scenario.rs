//! The commands under torture: a place for each to work in, its words, and what it makes when
//! nothing goes wrong.

use crate::judge::{self, Fingerprint};
use crate::HEDGEROW;
use hedgerow_testkit::temporary;
use hedgerow_testkit::{git, Outcome};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What a command works on, which decides how its result is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A repository with a working tree, in `work`.
    WorkTree,
    /// The same with edits, which are in their files or in the stash.
    Edits,
    /// A repository of which only the objects matter, in `work`.
    Objects,
    /// Files in `work`, each of which is as before or as it should be.
    Files,
    /// It only reads: what counts is what it prints.
    Query,
}

/// A command line.
#[derive(Clone, Copy)]
pub struct Scenario {
    pub name: &'static str,
    pub kind: Kind,
    pub words: &'static [&'static str],
    /// The file in `work` that it reads as its standard input.
    pub input: Option<&'static str>,
    /// What is done to `work` beforehand.
    prepare: fn(&Path),
}

const fn scenario(name: &'static str, kind: Kind, words: &'static [&'static str]) -> Scenario {
    Scenario {
        name,
        kind,
        words,
        input: None,
        prepare: |_| (),
    }
}

const fn prepared(
    name: &'static str,
    kind: Kind,
    prepare: fn(&Path),
    words: &'static [&'static str],
) -> Scenario {
    Scenario {
        name,
        kind,
        words,
        input: None,
        prepare,
    }
}

const fn reading(
    name: &'static str,
    kind: Kind,
    words: &'static [&'static str],
    input: &'static str,
) -> Scenario {
    Scenario {
        name,
        kind,
        words,
        input: Some(input),
        prepare: |_| (),
    }
}

/// Two workers everywhere: enough to run beside each other, few enough to count calls.
const SCENARIOS: &[Scenario] = &[
    scenario(
        "switch",
        Kind::WorkTree,
        &["checkout", "-j2", "--threshold", "0", "other"],
    ),
    scenario(
        "switch-force",
        Kind::WorkTree,
        &["checkout", "-j2", "--threshold", "0", "-f", "other"],
    ),
    scenario(
        "restore",
        Kind::WorkTree,
        &["checkout", "-j2", "other", "--", "."],
    ),
    scenario(
        "reset-hard",
        Kind::WorkTree,
        &["reset", "-j2", "--threshold", "0", "--hard", "other"],
    ),
    scenario(
        "restore-both",
        Kind::WorkTree,
        &["restore", "-j2", "-s", "other", "-S", "-W", "."],
    ),
    scenario(
        "sparse-checkout",
        Kind::WorkTree,
        &["sparse-checkout", "set", "d0", "d1"],
    ),
    prepared(
        "sparse-checkout-disable",
        Kind::WorkTree,
        |work| {
            git(work, &["sparse-checkout", "set", "d0", "d1"], b"");
        },
        &["sparse-checkout", "disable"],
    ),
    scenario(
        "read-tree",
        Kind::WorkTree,
        &["read-tree", "-m", "-u", "HEAD", "other"],
    ),
    scenario(
        "checkout-index",
        Kind::WorkTree,
        &["checkout-index", "-f", "-a", "--prefix=out/"],
    ),
    // The names that are ignored here are images, archives and a directory.
    scenario("clean", Kind::WorkTree, &["clean", "-f", "-d", "-x"]),
    scenario(
        "worktree-add",
        Kind::WorkTree,
        &["worktree", "add", "-b", "topic", "second", "other"],
    ),
    prepared("stash-push", Kind::Edits, edit, &["stash", "push", "-u"]),
    prepared(
        "stash-pop",
        Kind::Edits,
        |work| {
            edit(work);
            git(work, &["stash", "push", "-q", "-u"], b"");
        },
        &["stash", "pop"],
    ),
    scenario("status", Kind::Query, &["status", "-j2", "--porcelain=v2"]),
    scenario("walk", Kind::Query, &["walk", "-j2", "--sort", "tree"]),
    scenario(
        "walk-totals",
        Kind::Query,
        &["walk", "-j2", "--stat", "--summary", "tree"],
    ),
    scenario("repack", Kind::Objects, &["repack", "-a", "-d", "-b", "-q"]),
    scenario(
        "repack-geometric",
        Kind::Objects,
        &["repack", "-d", "--geometric=2", "--write-midx", "-q"],
    ),
    scenario(
        "repack-cruft",
        Kind::Objects,
        &["repack", "-d", "--cruft", "-q"],
    ),
    scenario("maintenance", Kind::Objects, &["maintenance", "run"]),
    scenario(
        "multi-pack-index",
        Kind::Objects,
        &["multi-pack-index", "write", "--bitmap"],
    ),
    scenario("bitmap", Kind::Objects, &["bitmap", "write"]),
    scenario("reverse-index", Kind::Objects, &["reverse-index"]),
    reading(
        "index-pack",
        Kind::Objects,
        &["index-pack", "--stdin", "--fix-thin"],
        "thin.pack",
    ),
    reading(
        "pack-objects",
        Kind::Objects,
        &["pack-objects", "--revs", "-q", ".git/objects/pack/pack"],
        "tips",
    ),
    reading(
        "pack-objects-stream",
        Kind::Query,
        &["pack-objects", "--revs", "-q", "--threads=2", "--stdout"],
        "tips",
    ),
    reading(
        "upload-pack-hook",
        Kind::Query,
        &[
            "upload-pack-hook",
            "git",
            "pack-objects",
            "--revs",
            "--thin",
            "--stdout",
            "--progress",
            "--delta-base-offset",
        ],
        "request",
    ),
    scenario("rev-list", Kind::Query, &["rev-list", "--objects", "--all"]),
    scenario(
        "cat-file",
        Kind::Query,
        &["cat-file", "--batch-all-objects", "--batch-check"],
    ),
    scenario(
        "image-create",
        Kind::Files,
        &[
            "image", "create", "-q", "-j2", "-b", "4096", "tree", "new.sqfs",
        ],
    ),
    scenario(
        "image-replace",
        Kind::Files,
        &["image", "create", "-q", "-f", "-j2", "tree", "old.sqfs"],
    ),
    scenario(
        "image-of-commit",
        Kind::Files,
        &["image", "create", "-q", "-j2", "git:other", "new.sqfs"],
    ),
    scenario(
        "image-of-archive",
        Kind::Files,
        &["image", "create", "-q", "-j2", "tree.tar", "new.sqfs"],
    ),
    scenario(
        "image-extract",
        Kind::Files,
        &["image", "extract", "-j2", "old.sqfs", "out"],
    ),
    scenario(
        "image-to-tar",
        Kind::Files,
        &["image", "to-tar", "-o", "new.tar", "old.sqfs"],
    ),
    scenario(
        "image-verify",
        Kind::Query,
        &["image", "verify", "old.sqfs"],
    ),
    scenario(
        "image-list",
        Kind::Query,
        &["image", "list", "-l", "old.sqfs"],
    ),
];

/// The scenarios that take part: all, or those whose names begin as the environment says.
pub fn scenarios() -> impl Iterator<Item = &'static Scenario> {
    let wanted = std::env::var("HEDGEROW_TORTURE_SCENARIO").unwrap_or_default();
    let mut all = SCENARIOS.iter();
    std::iter::from_fn(move || all.find(|one| one.name.starts_with(&wanted)))
}

/// What an undisturbed run leaves.
pub struct Golden {
    pub before: Fingerprint,
    pub after: Fingerprint,
    pub stdout: Vec<u8>,
}

/// Where one scenario is run again and again.
pub struct Stage {
    pub scenario: Scenario,
    pub golden: Golden,
    template: PathBuf,
    _home: tempfile::TempDir,
}

impl Stage {
    /// Makes the place of `scenario`, and runs it undisturbed once.
    pub fn new(scenario: Scenario) -> Stage {
        let home = temporary();
        let template = home.path().join("template");
        std::fs::create_dir(&template).unwrap();
        make_work(&template.join("work"));
        (scenario.prepare)(&template.join("work"));
        let mut stage = Stage {
            scenario,
            golden: Golden {
                before: Fingerprint::default(),
                after: Fingerprint::default(),
                stdout: Vec::new(),
            },
            template,
            _home: home,
        };
        let place = stage.place();
        stage.golden.before = judge::fingerprint(scenario.kind, &place.work());
        let outcome = hedgerow_testkit::run(stage.command(&place, &[]));
        assert_eq!(outcome.code, 0, "{}: {outcome:?}", scenario.name);
        stage.golden.after = judge::fingerprint(scenario.kind, &place.work());
        stage.golden.stdout = outcome.stdout;
        stage
    }

    /// A fresh copy of the place.
    pub fn place(&self) -> Place {
        self.place_in(temporary())
    }

    /// A fresh copy of the place, in a directory that goes away with it.
    pub fn place_in(&self, home: tempfile::TempDir) -> Place {
        let status = Command::new("cp")
            .arg("-a")
            .arg(self.template.join("work"))
            .arg(home.path())
            .status();
        assert!(status.is_ok_and(|status| status.success()), "cp");
        // The copies have inodes and times of their own.
        let work = home.path().join("work");
        git(&work, &["update-index", "-q", "--refresh"], b"");
        Place { home }
    }

    /// The command line in `place`, started through `wrapper` (a program and its words) if that is
    /// not empty.
    pub fn command(&self, place: &Place, wrapper: &[String]) -> Command {
        let isolated = HEDGEROW.command(&place.work());
        let mut command = match wrapper.split_first() {
            None => isolated,
            Some((program, words)) => {
                let mut command = Command::new(program);
                command.args(words).arg(isolated.get_program());
                command.env_clear().current_dir(place.work());
                for (name, value) in isolated.get_envs() {
                    command.env(name, value.unwrap_or_default());
                }
                command
            }
        };
        command.args(self.scenario.words);
        // A status writes its index back.
        command.env("GIT_OPTIONAL_LOCKS", "1");
        command.stdin(match self.scenario.input {
            None => Stdio::null(),
            Some(name) => File::open(place.work().join(name)).unwrap().into(),
        });
        command
    }

    /// What must be true after a run that ended by itself.
    pub fn judge(&self, place: &Place, outcome: &Outcome) -> Result<(), String> {
        judge::ended(&self.scenario, &self.golden, &place.work(), outcome)
    }
}

/// A copy of a place, which goes away.
pub struct Place {
    home: tempfile::TempDir,
}

impl Place {
    pub fn work(&self) -> PathBuf {
        self.home.path().join("work")
    }

    pub fn path(&self) -> &Path {
        self.home.path()
    }
}

/// A repository with two branches whose trees differ in every way, objects in several packs and
/// beside them, a thin pack to be received, a directory, its image and its archive.
fn make_work(work: &Path) {
    std::fs::create_dir(work).unwrap();
    let git = |words: &[&str]| git(work, words, b"");
    git(&["init", "-q", "-b", "main"]);
    for (name, value) in [
        ("gc.auto", "0"),
        ("core.fsync", "all"),
        ("gc.pruneExpire", "never"),
    ] {
        git(&["config", name, value]);
    }
    std::fs::write(
        work.join(".git/info/exclude"),
        "/tree\n/tree.tar\n/*.sqfs\n/thin.pack\n/tips\n/request\n/out\n/new.tar\n/second\n",
    )
    .unwrap();
    let write = |path: &str, content: String| {
        let path = work.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    };
    for number in 0..24 {
        write(
            &format!("d{}/f{number}", number % 5),
            format!("{number}\n").repeat(90),
        );
    }
    write("goes/away", "gone\n".into());
    write("becomes-a-file/x", "x\n".into());
    std::os::unix::fs::symlink("d0/f0", work.join("link")).unwrap();
    git(&["add", "."]);
    git(&["commit", "-q", "-m", "first"]);
    git(&["repack", "-q", "-d"]);
    git(&["checkout", "-q", "-b", "other"]);
    git(&["rm", "-q", "-r", "goes", "becomes-a-file", "link"]);
    for number in 0..12 {
        write(
            &format!("d{}/f{number}", number % 5),
            format!("new {number}\n").repeat(120),
        );
        write(&format!("new/deep/e{number}"), format!("{number}"));
    }
    write("becomes-a-file", "a file\n".into());
    write("empty", String::new());
    std::os::unix::fs::symlink("d1/f1", work.join("link")).unwrap();
    git(&["add", "."]);
    git(&["commit", "-q", "-m", "second"]);
    git(&["repack", "-q", "-d"]);
    git(&["checkout", "-q", "main"]);
    write("d1/f1", "third\n".repeat(70));
    git(&["commit", "-q", "-a", "-m", "third"]);
    make_thin_pack(work);
    git(&["tag", "-a", "-m", "a tag", "v1"]);
    make_images(work);
}

/// Edits of every kind: changed, staged, removed, new, with another mode.
fn edit(work: &Path) {
    let write = |path: &str, content: &str| std::fs::write(work.join(path), content).unwrap();
    for number in 0..6 {
        write(
            &format!("d{}/f{number}", number % 5),
            &format!("edit {number}\n"),
        );
    }
    git(work, &["add", "d0", "d1"], b"");
    write("d0/f0", "edited again\n");
    std::fs::remove_dir_all(work.join("goes")).unwrap();
    std::fs::create_dir_all(work.join("untracked/deep")).unwrap();
    write("untracked/deep/one", "untracked\n");
    write("beside", "untracked, too\n");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(work.join("d2/f2"), executable).unwrap();
}

/// A pack that needs objects that are here and brings objects that are not.
fn make_thin_pack(work: &Path) {
    let elsewhere = work.parent().unwrap().join("elsewhere");
    let there = |words: &[&str], input: &[u8]| git(&elsewhere, words, input);
    git(
        work,
        &["clone", "-q", ".", elsewhere.to_str().unwrap()],
        b"",
    );
    for number in 0..24 {
        let path = elsewhere.join(format!("d{}/f{number}", number % 5));
        let mut content = std::fs::read(&path).unwrap();
        content.extend_from_slice(b"a line more\n");
        std::fs::write(path, content).unwrap();
    }
    there(&["commit", "-q", "-a", "-m", "elsewhere"], b"");
    let words = ["pack-objects", "--revs", "--thin", "--stdout", "-q"];
    let pack = there(&words, b"HEAD\n^HEAD~1\n");
    std::fs::write(work.join("thin.pack"), pack).unwrap();
    std::fs::remove_dir_all(&elsewhere).unwrap();
    std::fs::write(work.join("tips"), "main\n^main~1\nother\n").unwrap();
    let id = |name: &str| String::from_utf8(git(work, &["rev-parse", name], b"")).unwrap();
    let request = format!("{}--not\n{}\n", id("main") + &id("other"), id("main~1"));
    std::fs::write(work.join("request"), request).unwrap();
}

fn make_images(work: &Path) {
    let tree = work.join("tree");
    std::fs::create_dir_all(tree.join("a/b")).unwrap();
    for number in 0..10_usize {
        let content = format!("{number} ").repeat(1 + number * number * 150);
        std::fs::write(tree.join(format!("a/{number}")), content).unwrap();
    }
    std::fs::hard_link(tree.join("a/1"), tree.join("a/b/hard")).unwrap();
    std::os::unix::fs::symlink("a/2", tree.join("link")).unwrap();
    let run = |words: &[&str]| {
        let mut command = HEDGEROW.command(work);
        let outcome = hedgerow_testkit::run({
            command.args(words);
            command
        });
        assert_eq!(outcome.code, 0, "{words:?}: {outcome:?}");
    };
    run(&["image", "create", "-q", "-b", "4096", "tree", "old.sqfs"]);
    run(&["image", "to-tar", "-o", "tree.tar", "old.sqfs"]);
}
