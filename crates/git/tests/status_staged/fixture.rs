//! A repository in a directory of its own, and what git and the library say of it.

use hedgerow_git::index::Index;
use hedgerow_git::repository::{Environment, Repository};
use hedgerow_git::status::rename::{detect, Filepair, ObjectContents, RenameOptions};
use hedgerow_git::status::{staged, Staged};
use hedgerow_git::ObjectId;
use std::ops::Deref;
use std::path::Path;

pub struct Repo {
    repository: hedgerow_testkit::Repository,
}

impl Deref for Repo {
    type Target = hedgerow_testkit::Repository;

    fn deref(&self) -> &hedgerow_testkit::Repository {
        &self.repository
    }
}

impl Repo {
    pub fn new() -> Self {
        let repository = hedgerow_testkit::Repository::init(&[]);
        Repo { repository }
    }

    pub fn commit_staged(&self) {
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

    pub fn index_of(&self, repository: &Repository) -> Index {
        let Ok(content) = std::fs::read(repository.index_path()) else {
            return Index::empty(repository.hash_kind());
        };
        let load = |_: &ObjectId| unreachable!("no index is split");
        let path = Path::new("index");
        Index::read(&content, repository.hash_kind(), path, &mut { load }).unwrap()
    }

    pub fn head_tree(&self) -> Option<ObjectId> {
        let words = ["rev-parse", "-q", "--verify", "HEAD^{tree}"];
        let output = self.run(&words, b"");
        ObjectId::from_hex(output.stdout.trim_ascii_end()).ok()
    }

    pub fn staged(&self) -> Staged {
        let repository = self.open(&[]);
        let index = self.index_of(&repository);
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
