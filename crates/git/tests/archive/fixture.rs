//! A repository in a directory of its own, and what git and the library list of it.

use hedgerow_git::archive::{nodes_of_commit, ArchiveOptions, EntryCounter};
use hedgerow_git::repository::{Environment, Repository};
use hedgerow_tree::{Node, NodeError, NodeKind};
use std::ops::Deref;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    File,
    Symlink,
    Directory,
}

/// An entry as either side lists it.
#[derive(Clone, PartialEq, Eq)]
pub struct Listed {
    pub path: Vec<u8>,
    pub kind: Kind,
    pub mode: u16,
    pub mtime_s: i64,
    /// Of a link, its target.
    pub content: Vec<u8>,
}

impl std::fmt::Debug for Listed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let path = self.path.escape_ascii();
        let content = self.content.escape_ascii();
        let Listed { kind, mode, .. } = self;
        write!(f, "{path} {kind:?} {mode:o} {} {content}", self.mtime_s)
    }
}

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
    pub fn new(words: &[&str]) -> Self {
        let mut repository = hedgerow_testkit::Repository::init(words);
        // Dates and identities are among what is expanded: no two alike.
        repository.set_variables(&[
            ("GIT_AUTHOR_DATE", "1600000000 +0530"),
            ("GIT_COMMITTER_DATE", "1700000000 -0100"),
        ]);
        Repo { repository }
    }

    pub fn open(&self) -> Repository {
        let environment = Environment {
            cwd: self.root.clone(),
            config_global: Some("/dev/null".into()),
            no_system_config: true,
            ..Environment::default()
        };
        Repository::discover(&environment).unwrap()
    }

    /// What `git archive` has of a revision.
    pub fn by_git(&self, revision: &str) -> Vec<Listed> {
        crate::archive::read(&self.git(&["archive", "--format=tar", revision]))
    }

    /// What the library has of it: all but the root, and what is warned of.
    pub fn by_us(&self, revision: &str) -> (Vec<Listed>, Vec<String>) {
        self.by_us_with(revision, false)
    }

    pub fn by_us_with(&self, revision: &str, worktree: bool) -> (Vec<Listed>, Vec<String>) {
        let mut nodes = Vec::new();
        let warnings = self.each(revision, worktree, |node| nodes.push(listed(node.unwrap())));
        let root = nodes.remove(0);
        assert_eq!((root.path.as_slice(), root.mode), (&b""[..], 0o755));
        (nodes, warnings)
    }

    /// Shows the nodes as they come.
    pub fn each(
        &self,
        revision: &str,
        worktree_attributes: bool,
        mut show: impl FnMut(Result<Node, NodeError>),
    ) -> Vec<String> {
        let options = ArchiveOptions {
            worktree_attributes,
            tree_mtime_s: 7,
            ..ArchiveOptions::default()
        };
        let listed = nodes_of_commit(&self.open(), revision.into(), &options, |nodes| {
            nodes.for_each(&mut show);
        });
        listed.unwrap().warnings
    }

    /// Why a revision is not listed at all.
    pub fn refusal(&self, revision: &str) -> String {
        let options = ArchiveOptions::default();
        let listed = nodes_of_commit(&self.open(), revision.into(), &options, |_| ());
        listed.unwrap_err().to_string()
    }

    pub fn assert_same(&self, revision: &str) {
        let (ours, _) = self.by_us(revision);
        let theirs = self.by_git(revision);
        for (ours, theirs) in ours.iter().zip(&theirs) {
            assert_eq!(ours, theirs, "{revision}");
        }
        assert_eq!(ours.len(), theirs.len(), "{revision}");
        let (repository, options) = (self.open(), ArchiveOptions::default());
        let counter = EntryCounter::new(&repository, revision.into(), &options).unwrap();
        let count = counter.count(|_, _| true).unwrap();
        assert_eq!(count, theirs.len() as u64 + 1, "{revision}, and the root");
    }
}

/// The node with its content.
pub fn listed(mut node: Node) -> Listed {
    assert_eq!((node.uid, node.gid, node.mtime_ns), (0, 0, 0));
    let (kind, content) = match node.kind {
        NodeKind::File => (Kind::File, content(&mut node).unwrap()),
        NodeKind::Symlink => (Kind::Symlink, node.handle.target().unwrap()),
        NodeKind::Directory => (Kind::Directory, Vec::new()),
        other => panic!("{other:?}"),
    };
    Listed {
        path: node.path,
        kind,
        mode: node.mode,
        mtime_s: node.mtime_s,
        content,
    }
}

/// The content of a file, in small pieces.
pub fn content(node: &mut Node) -> Result<Vec<u8>, NodeError> {
    let mut content = node.handle.open()?;
    let mut read = Vec::new();
    let mut buffer = [0; 777];
    loop {
        match content.read(&mut buffer)? {
            0 => break,
            count => read.extend_from_slice(&buffer[..count]),
        }
    }
    assert_eq!(content.size_bytes(), read.len() as u64);
    Ok(read)
}
