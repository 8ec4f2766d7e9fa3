//! Repositories and packs that git makes.

use hedgerow_engine::Execution;
use hedgerow_pack::indexer::{index_pack_file, IndexOptions, Installation};
use hedgerow_pack::{HashKind, IndexLayout};
use std::io::Write;
use std::num::NonZeroUsize;
use std::ops::Deref;
use std::path::Path;

pub struct Repository {
    repository: hedgerow_testkit::Repository,
    pub hash: HashKind,
}

impl Deref for Repository {
    type Target = hedgerow_testkit::Repository;

    fn deref(&self) -> &hedgerow_testkit::Repository {
        &self.repository
    }
}

impl Repository {
    /// A repository with a history that gives deep chains of deltas.
    pub fn new(hash: HashKind) -> Self {
        let format = format!("--object-format={hash}");
        let repository = hedgerow_testkit::Repository::init(&[&format]);
        let repository = Repository { repository, hash };
        repository.grow(60, 1);
        repository
    }

    /// Adds commits to the branch `main`, each with a change of a file of many lines.
    pub fn grow(&self, commits: u32, seed: u32) {
        let mut stream = Vec::new();
        let mut lines: Vec<u32> = (0..600).map(|n: u32| n.wrapping_mul(2_654_435)).collect();
        for commit in 0..commits {
            lines[(commit * 37 % 600) as usize] = commit + seed * 1000;
            let text: String = lines.iter().map(|line| format!("line {line}\n")).collect();
            let from = match (commit, seed) {
                (0, 1) => "",
                (0, _) => "from refs/heads/main^0\n",
                _ => "",
            };
            let message = format!("change {commit} {seed}");
            write!(
                stream,
                "commit refs/heads/main\ncommitter a <a@b> {} +0000\ndata {}\n{message}\n{from}\
                 M 100644 inline a/text\ndata {}\n{text}\nM 100644 inline b/{commit}\ndata 3\n{:03}\n",
                1_000_000 + seed * 1000 + commit,
                message.len(),
                text.len(),
                commit % 100,
            )
            .unwrap();
        }
        self.git_with(&["fast-import", "--quiet", "--force"], &stream);
    }

    /// A pack of everything, made with further `arguments`.
    pub fn pack(&self, arguments: &[&str]) -> Vec<u8> {
        let fixed = [
            "pack-objects",
            "-q",
            "--stdout",
            "--all",
            "--no-reuse-delta",
        ];
        self.git(&[&fixed, arguments].concat())
    }

    /// What git makes of the pack at `pack`: its index and its reverse index.
    pub fn index_by_git(&self, pack: &Path, arguments: &[&str]) -> (Vec<u8>, Vec<u8>) {
        let pack = pack.to_str().unwrap();
        let index = self.path("git.idx");
        let _ = std::fs::remove_file(&index);
        let _ = std::fs::remove_file(index.with_extension("rev"));
        let fixed = ["index-pack", "--rev-index", "-o", "git.idx"];
        self.git(&[&fixed, arguments, &[pack]].concat());
        let reverse = std::fs::read(index.with_extension("rev")).unwrap();
        (std::fs::read(index).unwrap(), reverse)
    }

    /// What hedgerow makes of it.
    pub fn index_here(
        &self,
        pack: &Path,
        layout: IndexLayout,
        threads: usize,
    ) -> (Vec<u8>, Vec<u8>) {
        let options = IndexOptions {
            execution: Execution::with_threads(NonZeroUsize::new(threads).unwrap()),
            ..IndexOptions::new(self.hash)
        };
        let mut indexed = index_pack_file(pack, &options).unwrap();
        let places = self.places("here", layout);
        indexed.install(&places).unwrap();
        let reverse = places.reverse.unwrap();
        (
            std::fs::read(places.index).unwrap(),
            std::fs::read(reverse).unwrap(),
        )
    }

    pub fn places(&self, name: &str, layout: IndexLayout) -> Installation {
        Installation {
            index: self.path(format!("{name}.idx")),
            layout,
            reverse: Some(self.path(format!("{name}.rev"))),
            pack: None,
            notes: Vec::new(),
            sync_pack: false,
            sync_indexes: false,
            threads: NonZeroUsize::new(2).unwrap(),
        }
    }
}
