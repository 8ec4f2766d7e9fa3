//! Two repositories that are alike, one for git and one for hedgerow.

use crate::HEDGEROW;
use hedgerow_testkit::{git, run, Outcome, Program};
use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

pub const BOTH: [Program; 2] = [Program::Git, HEDGEROW];

/// Two repositories.
pub struct Twins {
    home: tempfile::TempDir,
}

/// Mode and content of each file below `.git/objects` and beside `.git`.
pub type Files = BTreeMap<PathBuf, (u32, Vec<u8>)>;

impl Twins {
    pub fn new(format: &'static str) -> Self {
        let home = hedgerow_testkit::temporary();
        let twins = Twins { home };
        for program in BOTH {
            std::fs::create_dir(twins.root(program)).unwrap();
        }
        let format = format!("--object-format={format}");
        twins.in_both(&["init", "-q", "-b", "main", &format], b"");
        twins.in_both(&["config", "core.fsync", "none"], b"");
        twins.in_both(&["config", "pack.writeReverseIndex", "true"], b"");
        twins
    }

    pub fn root(&self, program: Program) -> PathBuf {
        let name = match program {
            Program::Git => "one",
            Program::Hedgerow(_) => "two",
        };
        self.home.path().join(name)
    }

    /// Has git do something in both.
    pub fn in_both(&self, words: &[&str], input: &[u8]) -> Vec<u8> {
        let [one, two] = BOTH.map(|program| git(&self.root(program), words, input));
        assert!(one == two, "{words:?}");
        one
    }

    pub fn write(&self, path: &str, content: &[u8]) {
        for program in BOTH {
            let path = self.root(program).join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            let _ = std::fs::remove_file(&path);
            std::fs::write(path, content).unwrap();
        }
    }

    /// Runs each program in its repository; `input` is a file to it.
    pub fn run(&self, words: &[&str], input: &[u8]) -> [Outcome; 2] {
        let path = self.home.path().join("input");
        std::fs::write(&path, input).unwrap();
        BOTH.map(|program| {
            let mut command = program.command(&self.root(program));
            command.args(words).stdin(File::open(&path).unwrap());
            run(command)
        })
    }

    /// Runs both: they must end alike, say the same on standard output, and leave the same files.
    /// Where they refuse, git may leave what it had by then; hedgerow leaves all as it was.
    pub fn agree(&self, words: &[&str], input: &[u8]) -> Agreed {
        let before = self.files(HEDGEROW);
        let [expected, found] = self.run(words, input);
        let what = format!("{words:?}: git: {} here: {}", expected.stderr, found.stderr);
        found.assert_civil(&what);
        assert_eq!(found.code, expected.code, "{what}");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let here = self.files(HEDGEROW);
        let (git, said) = match found.code {
            0 | 1 => (self.files(Program::Git), text(&expected.stdout)),
            _ => (before, String::new()),
        };
        assert_eq!(text(&found.stdout), said, "{what}");
        let names = |files: &Files| files.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&here), names(&git), "{what}");
        for (path, content) in &git {
            assert!(here.get(path) == Some(content), "{path:?} {what}");
        }
        if found.code > 1 {
            self.restore_git(&here);
        }
        Agreed {
            code: found.code,
            git: expected.stderr,
            here: found.stderr,
        }
    }

    /// Gives git the files that hedgerow has.
    fn restore_git(&self, wanted: &Files) {
        let root = self.root(Program::Git);
        for path in self.files(Program::Git).keys() {
            if !wanted.contains_key(path) {
                std::fs::remove_file(root.join(path)).unwrap();
            }
        }
        for (path, (mode, content)) in wanted {
            let path = root.join(path);
            if std::fs::read(&path).ok().as_ref() != Some(content) {
                let _ = std::fs::remove_file(&path);
                std::fs::write(&path, content).unwrap();
                let mode = std::fs::Permissions::from_mode(*mode);
                std::fs::set_permissions(path, mode).unwrap();
            }
        }
    }

    pub fn files(&self, program: Program) -> Files {
        let root = self.root(program);
        let mut files = Files::new();
        gather(&root, &root, &mut files);
        files
    }
}

/// How both ended, and what each said.
#[derive(Debug)]
pub struct Agreed {
    pub code: i32,
    pub git: String,
    pub here: String,
}

impl Agreed {
    /// Both refused, with these words; what git says is not compared if that is other words.
    pub fn refused(&self, words: &str) {
        assert!(self.code != 0, "{self:?}");
        assert!(self.here.contains(words), "'{words}': {self:?}");
    }

    /// Both refused with the same words.
    pub fn refused_alike(&self, words: &str) {
        self.refused(words);
        assert!(self.git.contains(words), "'{words}': {self:?}");
    }
}

fn gather(root: &Path, directory: &Path, files: &mut Files) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let stat = std::fs::symlink_metadata(&path).unwrap();
        let relative = path.strip_prefix(root).unwrap().to_owned();
        let is_repository = relative.starts_with(".git");
        let is_objects = relative.starts_with(".git/objects") || relative == Path::new(".git");
        if is_repository && !is_objects {
            continue;
        }
        if stat.is_dir() {
            gather(root, &path, files)
        } else {
            let content = std::fs::read(&path).unwrap();
            files.insert(relative, (stat.permissions().mode() & 0o777, content));
        }
    }
}
