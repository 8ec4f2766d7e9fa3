//! A repository in a directory of its own, driven through git.

use super::*;
use hedgerow_testkit::Repository;
use std::ops::Deref;
use std::path::{Path, PathBuf};

pub(in super::super) struct Repo {
    repository: Repository,
    pub(in super::super) hash: Kind,
}

impl Deref for Repo {
    type Target = Repository;

    fn deref(&self) -> &Repository {
        &self.repository
    }
}

impl Repo {
    pub(in super::super) fn new(hash: Kind) -> Self {
        let mut repository = Repository::init(&[&format!("--object-format={hash}")]);
        // What `git status` writes into the index is what is looked at.
        repository.set_variables(&[("GIT_OPTIONAL_LOCKS", "1")]);
        repository.git(&["config", "advice.sparseIndexExpanded", "false"]);
        Repo { repository, hash }
    }

    /// A repository whose index has files, links, submodules and directories, nothing staged.
    pub(in super::super) fn with_tree(hash: Kind) -> Self {
        let repo = Repo::new(hash);
        for (path, content) in [
            ("a", "1"),
            ("a.txt", ""),
            ("dir/a", "2"),
            ("dir/b/c/d", "3"),
            ("dir/b/e", "4"),
            ("dir-2/f", "5"),
            ("dir.d", "6"),
            ("long-directory/g", "7"),
            ("z/\u{e4}\"\n", "8"),
        ] {
            repo.write(path, content);
        }
        repo.write(["x"; 120].join("/"), "deep");
        let deep = format!("{0}/{0}/{1}", "n".repeat(200), "m".repeat(250));
        repo.write(&deep, "long names");
        repo.write("run", "#!/bin/sh\n");
        let run = repo.path("run");
        std::fs::set_permissions(&run, std::os::unix::fs::PermissionsExt::from_mode(0o700))
            .unwrap();
        std::os::unix::fs::symlink("a", repo.path("dir/link")).unwrap();
        repo.git(&["add", "."]);
        let commit = repo.hash.empty_tree().to_string();
        repo.git(&[
            "update-index",
            "--add",
            "--cacheinfo",
            &format!("160000,{commit},dir/module"),
        ]);
        repo.git(&["commit", "-qm", "tree"]);
        repo
    }

    /// All that git knows of the entries.
    pub(in super::super) fn listing(&self) -> String {
        let listing = self.git(&["ls-files", "--sparse", "--stage", "-v", "--debug", "-z"]);
        mask_flags(&String::from_utf8(listing).unwrap())
    }

    pub(in super::super) fn index_path(&self) -> PathBuf {
        self.path(".git/index")
    }

    pub(in super::super) fn index_bytes(&self) -> Vec<u8> {
        std::fs::read(self.index_path()).unwrap()
    }

    pub(in super::super) fn read_index(&self) -> Index {
        self.try_read(&self.index_bytes()).unwrap()
    }

    pub(in super::super) fn try_read(&self, bytes: &[u8]) -> crate::Result<Index> {
        let load = |id: &ObjectId| {
            let path = self.path(format!(".git/sharedindex.{id}"));
            Ok(std::fs::read(path).unwrap())
        };
        Index::read(bytes, self.hash, Path::new(".git/index"), &mut { load })
    }

    pub(in super::super) fn write_index(&self, index: &Index, options: &WriteOptions) {
        std::fs::write(self.index_path(), bytes_of(index, options)).unwrap();
    }
}

pub(in super::super) fn bytes_of(index: &Index, options: &WriteOptions) -> Vec<u8> {
    let mut bytes = Vec::new();
    index.write(&mut bytes, options);
    bytes
}

/// The bits of git's flags that come from the file; the others are internal to git.
const FLAGS_IN_FILE: u32 = 0x6000_b000;

fn mask_flags(listing: &str) -> String {
    let mask = |line: &str| match line.split_once("flags: ") {
        Some((head, flags)) => {
            let flags = u32::from_str_radix(flags, 16).unwrap() & FLAGS_IN_FILE;
            format!("{head}flags: {flags:x}")
        }
        None => line.to_owned(),
    };
    listing.split('\n').map(mask).collect::<Vec<_>>().join("\n")
}

/// The index as [`Repo::listing`] shows it.
pub(in super::super) fn listing_of(index: &Index) -> String {
    let mut listing = String::new();
    for (path, entry) in index.iter() {
        let (stat, flags) = (&entry.stat, &entry.flags);
        let tag = match (flags.stage, flags.skip_worktree) {
            (Stage::Merged, false) => "H",
            (Stage::Merged, true) => "S",
            _ => "M",
        };
        let tag = if flags.assume_valid {
            tag.to_lowercase()
        } else {
            tag.to_owned()
        };
        let bits = u32::from(flags.stage.number()) << 12
            | u32::from(flags.assume_valid) << 15
            | u32::from(flags.intent_to_add) << 29
            | u32::from(flags.skip_worktree) << 30;
        listing += &format!(
            "{tag} {:06o} {} {}\t{path}\0  ctime: {}:{}\n  mtime: {}:{}\n  dev: {}\tino: {}\n  \
             uid: {}\tgid: {}\n  size: {}\tflags: {bits:x}\n",
            entry.mode.to_u32(),
            entry.id,
            flags.stage.number(),
            stat.ctime_s,
            stat.ctime_ns,
            stat.mtime_s,
            stat.mtime_ns,
            stat.dev,
            stat.ino,
            stat.uid,
            stat.gid,
            stat.size,
        );
    }
    listing
}
