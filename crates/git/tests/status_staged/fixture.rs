//! A repository in a directory of its own, and what git and the library say of it.

use hedgerow_git::index::Index;
use hedgerow_git::repository::{Environment, Repository};
use hedgerow_git::status::rename::{detect, Filepair, ObjectContents, RenameOptions};
use hedgerow_git::status::{staged, Staged};
use hedgerow_git::ObjectId;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

pub struct Repo {
    root: PathBuf,
}

impl Drop for Repo {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.root);
    }
}

impl Repo {
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("hedgerow-staged-{}-{count}", std::process::id());
        let root = std::fs::canonicalize(std::env::temp_dir())
            .unwrap()
            .join(name);
        std::fs::create_dir_all(&root).unwrap();
        let repo = Repo { root };
        repo.git(&["init", "-q", "-b", "main"]);
        repo
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    pub fn write(&self, path: &str, content: &[u8]) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// What git says; it must succeed.
    pub fn git(&self, args: &[&str]) -> Vec<u8> {
        self.git_with(args, b"")
    }

    pub fn git_with(&self, args: &[&str], input: &[u8]) -> Vec<u8> {
        let mut child = Command::new("git")
            .args(["-c", "user.name=n", "-c", "user.email=e"])
            .args(args)
            .current_dir(&self.root)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("HOME", &self.root)
            .env("LC_ALL", "C")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {args:?}: {stderr}");
        output.stdout
    }

    pub fn text(&self, args: &[&str]) -> String {
        String::from_utf8(self.git(args)).unwrap().trim().to_owned()
    }

    pub fn commit(&self) {
        self.git(&["commit", "-q", "--allow-empty", "-m", "m"]);
    }

    /// The repository as the library opens it, with settings as of `git -c`.
    pub fn open(&self, settings: &[(&str, &str)]) -> Repository {
        let overrides = settings.iter();
        let environment = Environment {
            cwd: self.root.clone(),
            config_global: Some("/dev/null".into()),
            no_system_config: true,
            config_overrides: overrides
                .map(|(key, value)| ((*key).into(), Some((*value).into())))
                .collect(),
            ..Environment::default()
        };
        Repository::discover(&environment).unwrap()
    }

    pub fn index(&self, repository: &Repository) -> Index {
        let Ok(content) = std::fs::read(repository.index_path()) else {
            return Index::empty(repository.hash_kind());
        };
        let load = |_: &ObjectId| unreachable!("no index is split");
        let path = Path::new("index");
        Index::read(&content, repository.hash_kind(), path, &mut { load }).unwrap()
    }

    pub fn head_tree(&self) -> Option<ObjectId> {
        let output = Command::new("git")
            .args(["rev-parse", "-q", "--verify", "HEAD^{tree}"])
            .current_dir(&self.root)
            .output()
            .unwrap();
        ObjectId::from_hex(output.stdout.trim_ascii_end()).ok()
    }

    pub fn staged(&self) -> Staged {
        let repository = self.open(&[]);
        let index = self.index(&repository);
        let engine = hedgerow_engine::Options::default();
        staged(&repository, &index, self.head_tree(), &engine).unwrap()
    }

    /// What the library finds, as [`Repo::by_git`] tells it.
    pub fn by_us(&self, options: &RenameOptions) -> Vec<String> {
        let repository = self.open(&[]);
        let mut pairs = self.staged().into_filepairs();
        let contents = ObjectContents::new(&repository);
        let engine = hedgerow_engine::Options::default();
        detect(&mut pairs, options, &contents, &engine).unwrap();
        lines(&pairs)
    }

    /// What `git status` says of HEAD against the index. Conflicts are left out.
    pub fn by_git(&self, settings: &[&str], options: &[&str]) -> Vec<String> {
        let mut args: Vec<&str> = Vec::new();
        args.extend(settings.iter().flat_map(|setting| ["-c", setting]));
        args.extend(["status", "--porcelain=v2", "-z", "-uno"]);
        args.extend(options);
        let output = self.git(&args);
        let mut fields = output.split(|byte| *byte == 0);
        let mut lines = Vec::new();
        while let Some(record) = fields.next() {
            let record = String::from_utf8_lossy(record);
            let words: Vec<&str> = record.splitn(10, ' ').collect();
            let source = (words[0] == "2").then(|| fields.next().unwrap());
            if words.len() < 9 || words[0] == "u" || words[1].starts_with('.') {
                continue;
            }
            let letter = &words[1][..1];
            let (modes, ids) = (&words[3..5], &words[6..8]);
            let mut line = format!("{letter} {} {} {} {}", modes[0], modes[1], ids[0], ids[1]);
            match source {
                None => line += &format!(" {}", record.splitn(9, ' ').last().unwrap()),
                Some(source) => {
                    let source = String::from_utf8_lossy(source);
                    line += &format!(" {} {} <- {source}", &words[8][1..], words[9]);
                }
            }
            lines.push(line);
        }
        lines
    }
}

/// Pairs as lines: letter, modes, ids, score, path and source.
pub fn lines(pairs: &[Filepair]) -> Vec<String> {
    let mut lines = Vec::new();
    for pair in pairs {
        let Some(kind) = pair.kind() else { continue };
        let mode = |side: &Option<_>| {
            side.as_ref()
                .map_or(0, |s: &hedgerow_git::status::rename::Side| s.mode.to_u32())
        };
        let id = |side: &Option<hedgerow_git::status::rename::Side>| {
            let null = hedgerow_git::ObjectId::null(gix_hash::Kind::Sha1);
            side.as_ref().map_or(null, |side| side.id.unwrap())
        };
        let mut line = format!(
            "{} {:06o} {:06o} {} {} ",
            kind.letter(),
            mode(&pair.old),
            mode(&pair.new),
            id(&pair.old),
            id(&pair.new)
        );
        let path = pair.path().unwrap();
        match (pair.origin, &pair.old) {
            (Some(origin), Some(old)) => {
                line += &format!("{} {path} <- {}", origin.score.percent(), old.path);
            }
            _ => line += &path.to_string(),
        }
        lines.push(line);
    }
    lines
}
