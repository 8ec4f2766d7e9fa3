//! A repository with submodules, and copies of it in which git and hedgerow work.

use crate::HEDGEROW;
use hedgerow_testkit::{run, temporary, Outcome, Program, Repository, TempDir};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The repository of [`Scene`] and its submodules, those around others first.
const PLACES: [&str; 4] = [".", "sub", "sub/inner", "dir/two"];
const ALLOW: [&str; 2] = ["-c", "protocol.file.allow=always"];

/// The repository and those that its submodules were cloned from. Its tags: `none` has no submodule,
/// `add` has `sub`, `modify` another commit of it, `nested` and `nested2` one that has `inner`, `two`
/// also has `dir/two`, `file` and `dir` have a file and a directory in the place of `sub`, and
/// `clash` a directory with a file that `sub` has, too.
pub struct Scene {
    home: TempDir,
    made: std::cell::Cell<usize>,
}

impl Scene {
    pub fn new(format: &str) -> Scene {
        let scene = Scene {
            home: temporary(),
            made: std::cell::Cell::new(0),
        };
        let inner = scene.made("inner", format);
        inner.commit_files(&[("in", "one\n")], "i1");
        inner.commit_files(&[("in", "two\n"), ("more", "more\n")], "i2");
        let sub = scene.made("sub", format);
        let files = [("file", "one\n"), ("keep", "k\n"), ("d/x", "x\n")];
        sub.commit_files(&files, "s1");
        sub.commit_files(&[(".gitignore", "*.o\n"), ("file", "two\n")], "s2");
        allowed(&sub, &["submodule", "--quiet", "add", "../inner", "inner"]);
        sub.git(&["commit", "-qm", "s3"]);
        sub.git(&["-C", "inner", "checkout", "-q", "HEAD~"]);
        sub.git(&["rm", "-q", "d/x"]);
        sub.git(&["commit", "-qam", "s4"]);
        let two = scene.made("two", format);
        two.commit_files(&[("two", "two\n")], "t1");
        scene.make_top(format);
        scene
    }

    fn made(&self, name: &str, format: &str) -> Repository {
        let root = self.home.path().join("from").join(name);
        std::fs::create_dir_all(&root).unwrap();
        let repository = Repository::at(root);
        let format = format!("--object-format={format}");
        repository.git(&["init", "-q", "-b", "main", &format]);
        repository.git(&["config", "core.fsync", "none"]);
        repository
    }

    fn make_top(&self, format: &str) {
        let top = self.made("super", format);
        let tag = |name: &str| {
            top.git(&["add", "-A"]);
            top.git(&["commit", "-qm", name, "--allow-empty"]);
            top.git(&["tag", name]);
        };
        top.write("base", "base\n");
        tag("none");
        allowed(&top, &["submodule", "--quiet", "add", "../sub", "sub"]);
        for (name, commit) in [
            ("add", "main~3"),
            ("modify", "main~2"),
            ("nested", "main~1"),
        ] {
            top.git(&["-C", "sub", "checkout", "-q", commit]);
            tag(name);
        }
        top.git(&["-C", "sub", "checkout", "-q", "main"]);
        allowed(
            &top,
            &["-C", "sub", "submodule", "--quiet", "update", "--init"],
        );
        tag("nested2");
        let words = [
            "submodule",
            "--quiet",
            "add",
            "--name",
            "a/2",
            "../two",
            "dir/two",
        ];
        allowed(&top, &words);
        tag("two");
        top.git(&["checkout", "-qf", "--recurse-submodules", "add"]);
        for (name, path) in [("file", "sub"), ("dir", "sub/f"), ("clash", "sub/file")] {
            top.git(&["rm", "-rqf", "--cached", "sub", ".gitmodules"]);
            std::fs::remove_dir_all(top.root.join("sub")).ok();
            std::fs::remove_file(top.root.join("sub")).ok();
            std::fs::remove_file(top.root.join(".gitmodules")).ok();
            top.write(path, "of the top\n");
            tag(name);
            top.git(&["checkout", "-qf", "add"]);
        }
        top.git(&["checkout", "-qf", "--recurse-submodules", "two"]);
        top.git(&[
            "checkout",
            "-qf",
            "-B",
            "main",
            "--recurse-submodules",
            "add",
        ]);
    }

    /// A copy at the tag `at`.
    pub fn copy(&self, at: &str) -> Repository {
        let number = self.made.get();
        self.made.set(number + 1);
        self.copy_to(&self.home.path().join(format!("{number:04}")), at)
    }

    fn copy_to(&self, root: &Path, at: &str) -> Repository {
        let origin = Repository::at(self.home.path().join("from/super"));
        std::fs::create_dir(root).unwrap();
        let copy = origin.copy(&root.join("super"));
        refresh(&copy);
        copy.git(&["checkout", "-q", "-f", "--recurse-submodules", at]);
        copy
    }

    /// Two copies at the tag `at`.
    pub fn pair(&self, at: &str) -> Pair {
        Pair {
            git: self.copy(at),
            our: self.copy(at),
            story: format!("at {at}"),
        }
    }
}

fn allowed(repository: &Repository, words: &[&str]) {
    let words: Vec<&str> = ALLOW.iter().chain(words).copied().collect();
    repository.git(&words);
}

/// Lets the indexes know the files, whose stat data are new.
fn refresh(repository: &Repository) {
    for path in PLACES {
        if repository.root.join(path).join(".git").exists() {
            repository.run(&["-C", path, "update-index", "-q", "--refresh"], b"");
        }
    }
}

/// Lets `sub` have its Git directory in its working tree, as old versions of git did.
pub fn unabsorb(it: &Repository) {
    std::fs::remove_file(it.path("sub/.git")).unwrap();
    std::fs::rename(it.path(".git/modules/sub"), it.path("sub/.git")).unwrap();
    let set = |config: &str, words: &[&str]| {
        let file = it.path(config);
        let words = [&["config", "-f", file.to_str().unwrap()], words].concat();
        it.git(&words);
    };
    set("sub/.git/config", &["--unset", "core.worktree"]);
    if it.path("sub/inner/.git").exists() {
        it.write("sub/inner/.git", "gitdir: ../.git/modules/inner\n");
        let config = "sub/.git/modules/inner/config";
        set(config, &["core.worktree", "../../../inner"]);
    }
}

/// Two copies, in which git and hedgerow work.
pub struct Pair {
    pub git: Repository,
    pub our: Repository,
    pub story: String,
}

/// What is in a working tree and its submodules, and where they are.
#[derive(Debug, PartialEq, Eq)]
pub struct State(Vec<(String, String)>);

impl Pair {
    /// Does the same to both.
    pub fn each(&mut self, what: &str, change: impl Fn(&Repository)) -> &mut Self {
        self.story += &format!("; {what}");
        change(&self.git);
        change(&self.our);
        self
    }

    /// Runs both; returns what they said, without what differs between any two copies.
    pub fn start(&mut self, words: &[&str]) -> (Outcome, Outcome) {
        self.story += &format!("; {words:?}");
        let start = |program: Program, repository: &Repository| {
            let mut command = program.command(&repository.root);
            command.args(words);
            let mut outcome = run(command);
            let root = repository.root.display().to_string();
            outcome.stderr = outcome.stderr.replace(&root, "ROOT");
            outcome
        };
        (start(Program::Git, &self.git), start(HEDGEROW, &self.our))
    }

    /// Runs both: they must say and leave the same.
    pub fn same(&mut self, words: &[&str]) -> Outcome {
        let (git, our) = self.start(words);
        let of = |outcome: &Outcome| (outcome.code, outcome.text(), outcome.stderr.clone());
        assert_eq!(
            of(&git),
            of(&our),
            "{}\nfirst git, then hedgerow",
            self.story
        );
        self.assert_same();
        our
    }

    pub fn assert_same(&self) {
        let (git, our) = (state(&self.git), state(&self.our));
        assert_eq!(git, our, "{}\nfirst git, then hedgerow", self.story);
        assert_no_locks(&self.our, &self.story);
    }
}

/// Nothing is locked, in the repository and in its submodules.
pub fn assert_no_locks(repository: &Repository, what: &str) {
    repository.assert_no_lock(what);
    for git_dir in git_dirs(repository) {
        for name in ["index.lock", "HEAD.lock", "config.lock"] {
            assert!(!git_dir.join(name).exists(), "{what}: {name} is left");
        }
    }
}

/// The Git directories of submodules.
fn git_dirs(repository: &Repository) -> Vec<PathBuf> {
    let modules = repository.root.join(".git/modules");
    let places = ["sub", "sub/modules/inner", "a/2"];
    let places = places.iter().map(|place| modules.join(place));
    places.filter(|place| place.join("HEAD").exists()).collect()
}

/// Where the submodule of a Git directory has its files.
fn place_of(git_dir: &Path) -> &'static str {
    let ends = [
        ("modules/a/2", "dir/two"),
        ("sub/modules/inner", "sub/inner"),
    ];
    let known = ends.into_iter().find(|(end, _)| git_dir.ends_with(end));
    known.map_or("sub", |(_, place)| place)
}

pub fn state(repository: &Repository) -> State {
    let root = repository.root.display().to_string();
    let mut parts = Vec::new();
    let mut ask = |place: &str, words: &[&str]| {
        let words: Vec<&str> = ["-C", place].iter().chain(words).copied().collect();
        let outcome = repository.run(&words, b"");
        let text = format!("{} {}", outcome.code, outcome.text().replace(&root, "ROOT"));
        parts.push((words.join(" "), text));
    };
    for place in PLACES {
        if !repository.root.join(place).join(".git").exists() {
            continue;
        }
        ask(place, &["ls-files", "-s", "-t", "-v"]);
        ask(place, &["log", "-g", "--format=%gd %gs %H", "HEAD"]);
        ask(place, &["symbolic-ref", "-q", "HEAD"]);
        ask(place, &["status", "--porcelain=v2", "--ignored"]);
        ask(place, &["rev-parse", "--show-toplevel", "--git-dir"]);
        ask(place, &["for-each-ref"]);
    }
    for git_dir in git_dirs(repository) {
        let place = git_dir.display().to_string();
        let config = std::fs::read_to_string(git_dir.join("config")).unwrap();
        // Where a file comes into its place, git leaves what the submodule says of its directory.
        let files = repository.root.join(place_of(&git_dir));
        let is_shown = |line: &&str| !line.contains("worktree =") || files.join(".git").exists();
        let mut lines: Vec<&str> = config.lines().filter(is_shown).collect();
        lines.sort_unstable();
        parts.push((
            place.replace(&root, "ROOT"),
            lines.join("\n").replace(&root, "ROOT"),
        ));
    }
    let is_git_dir = |path: &[u8]| {
        let path = std::ffi::OsStr::from_bytes(path);
        Path::new(path).ends_with(".git") && repository.root.join(path).is_dir()
    };
    let tree = hedgerow_testkit::snapshot(&repository.root, &is_git_dir);
    let shown = |path: &[u8]| String::from_utf8_lossy(path).into_owned();
    let lines = tree.iter();
    let tree: String = lines
        .map(|(path, node)| format!("{} {node:?}\n", shown(path)))
        .collect();
    parts.push(("files".into(), tree));
    State(parts)
}
