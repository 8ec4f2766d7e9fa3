//! `hedgerow status` with the untracked cache and file system monitors: it says what `git status`
//! says without them, and what git says where a monitor does not tell the truth.

use crate::HEDGEROW;
use hedgerow_testkit::{run, skip, Program, Random, Repository};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::Duration;

const DIRECTORIES: [&str; 12] = [
    "a", "a/b", "a/b/c", "d", "d/e", "out", "out/deep", "new", "new/er", "a/new", "d/e/f", "x y",
];
const NAMES: [&str; 8] = ["f", "g", "h.o", "keep.o", "i", "j k", "l", ".hidden"];
const RULES: [&str; 6] = [
    "*.o\n",
    "*.o\n!keep.o\n",
    "out/\n",
    "/new\n",
    "deep\n",
    "# nothing\n",
];
const QUESTIONS: [&[&str]; 4] = [
    &["status", "--porcelain"],
    &["status", "--porcelain", "-uall"],
    &["status", "--porcelain", "-uno"],
    &["status", "--porcelain=v2", "--ignored"],
];

/// How it is known what changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Monitor {
    None,
    Hook,
    FirstHook,
    Daemon,
}

pub struct Watched {
    pub repository: Repository,
    pub random: Random,
    monitor: Monitor,
    /// Who fills the untracked cache.
    filler: Program,
    /// The number of the last change.
    moment: usize,
    pub story: Vec<String>,
}

impl Watched {
    fn new(seed: u64, monitor: Monitor) -> Watched {
        Watched::filled_by(Program::Git, seed, monitor)
    }

    pub fn filled_by(filler: Program, seed: u64, monitor: Monitor) -> Watched {
        let mut watched = Watched {
            filler,
            repository: Repository::init(&["-b", "main"]),
            random: Random::new(seed),
            monitor,
            moment: 0,
            story: vec![format!("seed {seed}, {monitor:?}")],
        };
        for _ in 0..14 {
            let path = watched.file();
            watched.write(&path, "tracked\n");
        }
        watched.rules();
        watched.by_git(&["add", "-A", "-f"]);
        watched.by_git(&["commit", "-q", "-m", "first"]);
        for _ in 0..8 {
            watched.change();
        }
        if watched.random.chance(50) {
            watched.by_git(&["config", "status.showUntrackedFiles", "all"]);
        }
        watched.by_git(&["update-index", "--force-untracked-cache"]);
        watched.by_git(&["config", "core.untrackedCache", "true"]);
        watched.set_monitor();
        // What was changed in the second of the index counts as changed.
        std::thread::sleep(Duration::from_millis(1100));
        watched.fill();
        watched
    }

    fn set_monitor(&mut self) {
        let version = match self.monitor {
            Monitor::None => return,
            Monitor::Daemon => {
                self.by_git(&["config", "core.fsmonitor", "true"]);
                self.by_git(&["fsmonitor--daemon", "start"]);
                return;
            }
            Monitor::Hook => "2",
            Monitor::FirstHook => "1",
        };
        std::fs::create_dir_all(self.repository.path(".git/changes")).unwrap();
        let hook = self.repository.path(".git/watch");
        // The first version knows times only; here it tells everything that ever changed.
        let script = "#!/bin/sh\n\
            cd .git/changes || exit 1\n\
            [ \"$1\" = \"$(git config core.fsmonitorHookVersion)\" ] || exit 1\n\
            now=$(ls | wc -l)\n\
            case $1-$2 in\n\
            2-m*) printf 'm%s\\0' \"$now\"; since=${2#m} ;;\n\
            2-*) printf 'm%s\\0/\\0' \"$now\"; exit ;;\n\
            *) since=0 ;;\n\
            esac\n\
            while [ \"$since\" -lt \"$now\" ]; do\n\
            since=$((since + 1)); cat \"$since\"\n\
            done\n";
        std::fs::write(&hook, script).unwrap();
        std::fs::set_permissions(&hook, PermissionsExt::from_mode(0o755)).unwrap();
        self.by_git(&["config", "core.fsmonitor", ".git/watch"]);
        self.by_git(&["config", "core.fsmonitorHookVersion", version]);
    }

    /// Lets the cache be filled, and be said to be right.
    fn fill(&mut self) {
        for _ in 0..2 {
            match self.filler {
                Program::Git => self.by_git(&["status", "--porcelain"]),
                _ => self.hedgerow(&["status", "--porcelain"]),
            }
        }
    }

    pub fn by_git(&mut self, words: &[&str]) {
        self.story.push(words.join(" "));
        run(writing(&self.repository, words));
    }

    pub fn hedgerow(&mut self, words: &[&str]) {
        self.story.push(format!("hedgerow {}", words.join(" ")));
        let mut command = HEDGEROW.command(&self.repository.root);
        command.args(words).env("GIT_OPTIONAL_LOCKS", "1");
        run(command);
    }

    fn told(&mut self, path: &str) {
        let changes = self.repository.path(".git/changes");
        if changes.exists() {
            self.moment += 1;
            let mut line = path.as_bytes().to_vec();
            line.push(0);
            std::fs::write(changes.join(self.moment.to_string()), line).unwrap();
        }
    }

    fn file(&mut self) -> String {
        let name = self.random.pick(&NAMES);
        if self.random.chance(20) {
            return (*name).to_owned();
        }
        format!("{}/{name}", self.random.pick(&DIRECTORIES))
    }

    fn write(&mut self, path: &str, content: &str) {
        self.story.push(format!("write {path}: {content:?}"));
        let place = self.repository.path(path);
        if place.is_dir() {
            return;
        }
        let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
        if !self.make_directory(parent) {
            return;
        }
        std::fs::write(place, content).unwrap();
        self.told(path);
    }

    /// Whether the directory `path` is there now. Git finds new directories only if it is told of
    /// them, not just of what is in them.
    fn make_directory(&mut self, path: &str) -> bool {
        let ends = path
            .match_indices('/')
            .map(|(at, _)| at)
            .chain([path.len()]);
        for end in ends.filter(|end| *end > 0) {
            let directory = self.repository.path(&path[..end]);
            if directory.is_dir() {
                continue;
            }
            // A file may be in its place.
            if std::fs::create_dir(directory).is_err() {
                return false;
            }
            self.told(&format!("{}/", &path[..end]));
        }
        true
    }

    fn remove(&mut self, path: &str) {
        self.story.push(format!("remove {path}"));
        let place = self.repository.path(path);
        if place.is_dir() {
            // Git keeps what it knows of directories that are not named themselves.
            for entry in std::fs::read_dir(&place).unwrap() {
                let name = entry.unwrap().file_name().into_string().unwrap();
                self.remove(&format!("{path}/{name}"));
            }
            std::fs::remove_dir(place).unwrap();
            self.told(&format!("{path}/"));
        } else {
            drop(std::fs::remove_file(place));
            self.told(path);
        }
    }

    fn rules(&mut self) {
        let rules = *self.random.pick(&RULES);
        let path = match self.random.below(3) {
            0 => ".gitignore".to_owned(),
            1 => format!("{}/.gitignore", self.random.pick(&DIRECTORIES)),
            _ => ".git/info/exclude".to_owned(),
        };
        self.write(&path, rules);
    }

    pub fn change(&mut self) {
        let path = self.file();
        match self.random.below(19) {
            0..=5 => self.write(&path, "untracked\n"),
            6 => self.write(&path, "tracked\n"),
            7 | 8 => self.remove(&path),
            9 => {
                let directory = *self.random.pick(&DIRECTORIES);
                self.remove(directory);
            }
            10 | 11 => self.rules(),
            12 => self.by_git(&["add", "-f", "--", &path]),
            13 => self.by_git(&["rm", "-q", "--cached", "--", &path]),
            14 => self.by_git(&["commit", "-q", "-m", "more"]),
            15 => self.hedgerow(&["reset", "-q", "HEAD^"]),
            16 => self.hedgerow(&["restore", "--staged", "--", &path]),
            // A program that is a monitor here would have to be told the files.
            17 if matches!(self.monitor, Monitor::None | Monitor::Daemon) => {
                match self.random.below(4) {
                    0 => self.hedgerow(&["reset", "-q", "--hard"]),
                    1 => self.hedgerow(&["checkout", "-q", "-f", "HEAD^"]),
                    2 => self.hedgerow(&["stash", "-q"]),
                    _ => self.hedgerow(&["stash", "pop", "-q"]),
                }
            }
            _ => {
                let directory = *self.random.pick(&DIRECTORIES);
                self.make_directory(directory);
            }
        }
    }

    /// What `program` says without writing anything.
    fn said(&self, program: Program) -> Vec<u8> {
        let mut command = program.command(&self.repository.root);
        command.args(["status", "--porcelain"]);
        command.env("GIT_OPTIONAL_LOCKS", "0");
        run(command).stdout
    }

    pub fn compare(&mut self) {
        let question = *self.random.pick(&QUESTIONS);
        let mut command = Program::Git.command(&self.repository.root);
        command
            .args([
                "-c",
                "core.fsmonitor=false",
                "-c",
                "core.untrackedCache=false",
            ])
            .args(question)
            .env("GIT_OPTIONAL_LOCKS", "0");
        let expected = run(command);
        let mut command = HEDGEROW.command(&self.repository.root);
        let locks = self.random.pick(&["0", "1"]);
        command.args(question).env("GIT_OPTIONAL_LOCKS", locks);
        let found = run(command);
        assert_eq!(
            (expected.code, expected.text()),
            (found.code, found.text()),
            "{question:?}\n{}\nfirst git without help, then hedgerow: {}",
            self.story.join("\n"),
            found.stderr
        );
        self.story
            .push(format!("hedgerow {question:?}, locks {locks}"));
    }

    fn play(&mut self) {
        self.compare();
        for step in 0..14 {
            for _ in 0..self.random.below(3) {
                self.change();
            }
            self.compare();
            if step % 4 == 3 {
                self.fill();
                self.compare();
            }
        }
    }
}

/// A command of git that may write what it found to the index.
pub fn writing(repository: &Repository, words: &[&str]) -> Command {
    let mut command = Program::Git.command(&repository.root);
    command.args(words).env("GIT_OPTIONAL_LOCKS", "1");
    command.env("HOME", &repository.root);
    command
}

fn seeds(count: u64, monitor: Monitor) {
    std::thread::scope(|scope| {
        for seed in 0..count {
            scope.spawn(move || Watched::new(seed, monitor).play());
        }
    });
}

#[test]
fn with_the_untracked_cache() {
    seeds(24, Monitor::None);
}

#[test]
fn with_a_monitor_that_is_a_program() {
    seeds(16, Monitor::Hook);
    seeds(6, Monitor::FirstHook);
}

#[test]
fn with_the_daemon_of_git() {
    let repository = Repository::init(&[]);
    if run(writing(&repository, &["fsmonitor--daemon", "start"])).code != 0 {
        return skip("this git has no file system monitor of its own here");
    }
    run(writing(&repository, &["fsmonitor--daemon", "stop"]));
    std::thread::scope(|scope| {
        for seed in 0..8 {
            scope.spawn(move || {
                let mut watched = Watched::new(seed, Monitor::Daemon);
                let played = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                    watched.play();
                }));
                watched.by_git(&["fsmonitor--daemon", "stop"]);
                played.unwrap();
            });
        }
    });
}

/// What a monitor does not name is not looked at: neither by git nor by hedgerow.
#[test]
fn a_monitor_is_believed() {
    let mut watched = Watched::new(3, Monitor::Hook);
    watched.by_git(&["add", "-A"]);
    watched.by_git(&["commit", "-q", "-m", "all"]);
    watched.fill();
    let expected = watched.repository.git(&["status", "--porcelain"]);
    let tracked = watched.repository.git(&["ls-files", "-z"]);
    let tracked = String::from_utf8(tracked).unwrap();
    let first = tracked.split('\0').find(|path| path.contains('/')).unwrap();
    let secret = format!("{}/secret", first.rsplit_once('/').unwrap().0);
    std::fs::write(watched.repository.path(first), "changed in secret\n").unwrap();
    std::fs::write(watched.repository.path(&secret), "").unwrap();
    assert_eq!(watched.said(Program::Git), expected);
    assert_eq!(watched.said(HEDGEROW), expected);
    // Once named, they are seen.
    watched.told(first);
    watched.told(&secret);
    let found = String::from_utf8(watched.said(HEDGEROW)).unwrap();
    assert!(found.contains(&format!("?? {secret}")), "{found}");
    assert!(found.contains(first), "{found}");
}

/// What is written in the second of the index looks old when the index is written again.
#[test]
fn a_directory_that_changed_with_the_index_is_listed_again() {
    let repository = Repository::init(&[]);
    repository.git(&["config", "core.untrackedCache", "true"]);
    repository.commit_files(&[("g/a", "a"), ("f", "b")], "first");
    let by_git = |words: &[&str]| run(writing(&repository, words)).text();
    let ours = || {
        let mut command = HEDGEROW.command(&repository.root);
        command.args(["status", "--short"]);
        command.env("GIT_OPTIONAL_LOCKS", "1");
        run(command).text()
    };
    for _ in 0..3 {
        std::thread::sleep(Duration::from_millis(1100));
        by_git(&["status", "--short"]);
        repository.write("f", "b");
        repository.write("g/t.o", "t");
        by_git(&["status", "--short"]);
        std::fs::rename(repository.path("g/t.o"), repository.path("g/u.o")).unwrap();
        repository.write("f", "b");
        std::thread::sleep(Duration::from_millis(1100));
        assert_eq!(ours(), "?? g/u.o\n");
        std::thread::sleep(Duration::from_millis(1100));
        assert_eq!(ours(), "?? g/u.o\n");
        assert_eq!(by_git(&["status", "--short"]), "?? g/u.o\n");
        repository.remove("g/u.o");
    }
}

/// What was found unchanged is written down, so that it is not looked at again.
#[test]
fn files_that_a_monitor_vouches_for_are_recorded() {
    let mut watched = Watched::new(5, Monitor::Hook);
    watched.write("later", "tracked\n");
    watched.by_git(&["add", "-f", "later"]);
    watched.by_git(&["commit", "-q", "-m", "later"]);
    watched.write("later", "changed\n");
    watched.hedgerow(&["reset", "-q", "--hard"]);
    watched.told("later");
    let flag = |watched: &Watched| watched.repository.git(&["ls-files", "-f", "later"]);
    assert_eq!(flag(&watched), b"H later\n");
    let asked = |watched: &Watched| {
        let mut command = HEDGEROW.command(&watched.repository.root);
        command.args(["status", "--short"]);
        command.env("GIT_OPTIONAL_LOCKS", "1");
        assert_eq!(run(command).code, 0);
    };
    asked(&watched);
    assert_eq!(flag(&watched), b"h later\n");
    // It is in doubt as soon as the monitor names it.
    watched.write("later", "changed\n");
    asked(&watched);
    assert!(String::from_utf8(watched.said(HEDGEROW))
        .unwrap()
        .contains(" M later"));
}
