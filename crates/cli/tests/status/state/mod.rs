//! Repositories in states drawn from a seed. Whatever a user, a merge or a script may have left
//! behind is done by git or by hand, and written down, so that a failure can tell its story.

mod attributes;
mod base;
mod branch;
mod configuration;
pub mod edits;
mod files;
mod ignores;
mod index;
mod layout;
mod names;
mod nested;
mod operation;
mod sparse;
mod stages;
mod submodules;

use hedgerow_testkit::Random;
use hedgerow_testkit::Repository;
use hedgerow_testkit::{run, Outcome, Program};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// A repository, and how it came to be as it is.
pub struct State {
    /// Its working tree. Another directory than it was made in if it is a linked one.
    pub repository: Repository,
    pub random: Random,
    /// What git must know to find it.
    pub environment: Vec<(String, OsString)>,
    /// What was done, in order.
    pub operations: Vec<String>,
    /// Paths that were committed at first.
    pub paths: Vec<Vec<u8>>,
    /// Paths of submodules.
    pub submodules: Vec<String>,
    pub sha256: bool,
    /// Whether stat data are compared without the time of the last change of the inode.
    pub without_ctime: bool,
}

impl State {
    /// Draws one.
    pub fn draw(seed: u64) -> State {
        let mut random = Random::new(seed);
        let sha256 = random.chance(12);
        let format = ["--object-format=sha1", "--object-format=sha256"][usize::from(sha256)];
        let mut state = State {
            random,
            operations: vec![format!("init {format}")],
            sha256,
            ..State::of(Repository::init(&[format]))
        };
        state.bring_about();
        state
    }

    /// One that is there.
    pub fn of(repository: Repository) -> State {
        State {
            repository,
            random: Random::new(1),
            environment: Vec::new(),
            operations: vec!["a clone".to_owned()],
            paths: Vec::new(),
            submodules: Vec::new(),
            sha256: false,
            without_ctime: false,
        }
    }

    fn bring_about(&mut self) {
        configuration::set(self);
        let conflict = self.random.chance(36);
        if self.random.chance(30) {
            attributes::set(self);
        }
        let unborn = !conflict && self.random.chance(5);
        base::write(self, conflict);
        if unborn {
            self.git(&["add", "-A"]);
        } else {
            base::commit(self);
        }
        if !unborn && self.random.chance(22) {
            submodules::make(self);
        }
        layout::choose(self, unborn);
        index::choose(self);
        if conflict {
            operation::begin(self);
        } else if !unborn {
            branch::choose(self);
        }
        if !unborn && self.random.chance(18) {
            sparse::choose(self);
        }
        if self.random.chance(60) {
            ignores::write(self);
        }
        edits::make(self);
        if !self.submodules.is_empty() {
            submodules::change(self);
        }
        if self.random.chance(35) {
            nested::make(self);
        }
        if self.random.chance(12) {
            stages::put(self);
        }
        index::age(self);
    }

    /// Notes what is done.
    pub fn note(&mut self, what: impl Into<String>) {
        self.operations.push(what.into());
    }

    /// Whether something that was done has this in its note.
    pub fn did(&self, what: &str) -> bool {
        self.operations.iter().any(|done| done.contains(what))
    }

    /// Runs git; whether it succeeded. Git may refuse: that, too, leaves a state.
    pub fn git<S: AsRef<[u8]>>(&mut self, words: &[S]) -> bool {
        let root = self.repository.root.clone();
        self.git_in(&root, words)
    }

    /// The same in another directory.
    pub fn git_in<S: AsRef<[u8]>>(&mut self, directory: &Path, words: &[S]) -> bool {
        let outcome = self.outcome(directory, words);
        let inside = directory.strip_prefix(&self.repository.root);
        let place = match inside {
            Ok(inside) if inside.as_os_str().is_empty() => String::new(),
            Ok(inside) => format!(" -C {}", inside.display()),
            Err(_) => format!(" -C {}", directory.display()),
        };
        let shown: Vec<_> = words.iter().map(|w| shown(w.as_ref())).collect();
        self.note(format!(
            "git{place} {} -> {}",
            shown.join(" "),
            outcome.code
        ));
        outcome.code == 0
    }

    /// What git says, as it is.
    pub fn ask<S: AsRef<[u8]>>(&self, words: &[S]) -> Vec<u8> {
        self.outcome(&self.repository.root, words).stdout
    }

    fn outcome<S: AsRef<[u8]>>(&self, directory: &Path, words: &[S]) -> Outcome {
        if !files::is_directory(directory) {
            return Outcome {
                code: -1,
                stdout: Vec::new(),
                stderr: String::new(),
            };
        }
        let mut command = Program::Git.command(directory);
        command.args(
            words
                .iter()
                .map(|word| OsString::from_vec(word.as_ref().to_vec())),
        );
        // Only in the repository itself do its variables hold.
        if directory == self.repository.root {
            let environment = self.environment.iter();
            command.envs(environment.map(|(name, value)| (name, value)));
        }
        command.env("GIT_EDITOR", "true");
        run(command)
    }

    /// Where a path is.
    pub fn place(&self, path: impl AsRef<[u8]>) -> PathBuf {
        self.repository.path(path)
    }

    /// The directory that holds `index`, `HEAD`, `info`.
    pub fn git_dir(&self) -> PathBuf {
        let words = ["rev-parse", "--absolute-git-dir"];
        let found = self.ask(&words);
        PathBuf::from(OsString::from_vec(found.trim_ascii_end().to_vec()))
    }

    /// The index in use.
    pub fn index_path(&self) -> PathBuf {
        let other = self
            .environment
            .iter()
            .find(|(name, _)| name == "GIT_INDEX_FILE");
        match other {
            Some((_, path)) => PathBuf::from(path),
            None => self.git_dir().join("index"),
        }
    }

    /// One of the paths that were committed.
    pub fn path(&mut self) -> Vec<u8> {
        self.random.pick(&self.paths).clone()
    }

    /// Adds lines to the configuration.
    pub fn configure(&mut self, lines: &str) {
        use std::io::Write;
        let path = self.git_common_dir().join("config");
        let mut file = std::fs::OpenOptions::new().append(true).open(path).unwrap();
        file.write_all(lines.as_bytes()).unwrap();
        self.note(format!("config {lines:?}"));
    }

    /// The directory that holds `config` and the refs.
    pub fn git_common_dir(&self) -> PathBuf {
        let plain = self.repository.root.join(".git");
        if self.environment.is_empty() && plain.is_dir() {
            return plain;
        }
        let found = self.ask(&["rev-parse", "--git-common-dir"]);
        let path = OsString::from_vec(found.trim_ascii_end().to_vec());
        self.repository.root.join(path)
    }
}

/// A path or a word as the story shows it.
pub fn shown(word: &[u8]) -> String {
    let text = String::from_utf8_lossy(word);
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@~^*".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.into_owned()
    } else {
        format!("{word:?}", word = text)
    }
}
