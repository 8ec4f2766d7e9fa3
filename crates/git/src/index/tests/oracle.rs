//! Indexes that git wrote, read and written again.

use super::super::extensions::untracked::UntrackedCache;
use super::repo::{bytes_of, listing_of};
use super::*;

const KINDS: [Kind; 2] = [Kind::Sha1, Kind::Sha256];

/// Reads an index that git wrote, compares it entry by entry, and returns it.
fn same_as_git(repo: &Repo) -> Index {
    let index = repo.read_index();
    assert_eq!(listing_of(&index), repo.listing());
    index
}

/// Checks that writing the index again gives exactly the file that git wrote.
fn same_bytes(repo: &Repo, index: &Index) {
    let written = bytes_of(index, &WriteOptions::default());
    assert!(written == repo.index_bytes(), "the bytes differ");
}

#[test]
fn versions_2_and_4() {
    for kind in KINDS {
        let repo = Repo::with_tree(kind);
        for (number, version) in [("2", Version::V2), ("4", Version::V4)] {
            repo.git(&["update-index", "--index-version", number]);
            let index = same_as_git(&repo);
            assert_eq!(index.version(), version);
            assert_eq!(index.entries().len(), 14);
            assert!(index.cache_tree().is_some());
            let bytes = repo.index_bytes();
            let trailer = &bytes[bytes.len() - kind.len_in_bytes()..];
            assert_eq!(index.checksum().unwrap().as_slice(), trailer);
            same_bytes(&repo, &index);
        }
    }
}

#[test]
fn flags_need_version_3_and_survive() {
    for kind in KINDS {
        let repo = Repo::with_tree(kind);
        repo.git(&["update-index", "--skip-worktree", "dir/a"]);
        repo.git(&["update-index", "--assume-unchanged", "a", "dir/a"]);
        repo.write("dir/new", "not yet");
        repo.git(&["add", "-N", "dir/new"]);
        for version in [Version::V3, Version::V4] {
            if version == Version::V4 {
                repo.git(&["update-index", "--index-version", "4"]);
            }
            let index = same_as_git(&repo);
            assert_eq!(index.version(), version);
            same_bytes(&repo, &index);
            let at = index.find("dir/new".into(), Stage::Merged).unwrap();
            assert!(index.entries()[at].flags.intent_to_add);
            assert_eq!(index.cache_tree().unwrap().root_id(), None);
        }
    }
}

#[test]
fn version_3_becomes_2_when_no_flag_needs_it() {
    let repo = Repo::with_tree(Kind::Sha1);
    repo.git(&["update-index", "--skip-worktree", "a"]);
    let mut index = same_as_git(&repo);
    assert_eq!(bytes_of(&index, &WriteOptions::default())[7], 3);
    for entry in index.entries_mut() {
        entry.flags.skip_worktree = false;
    }
    assert_eq!(bytes_of(&index, &WriteOptions::default())[7], 2);
    repo.write_index(&index, &WriteOptions::default());
    same_as_git(&repo);
}

fn in_conflict(kind: Kind) -> Repo {
    let repo = Repo::with_tree(kind);
    repo.git(&["checkout", "-qb", "side"]);
    repo.write("a", "side");
    repo.git(&["rm", "-q", "dir.d"]);
    repo.git(&["commit", "-qam", "side"]);
    repo.git(&["checkout", "-q", "main"]);
    repo.write("a", "main");
    repo.write("dir.d", "main");
    repo.git(&["commit", "-qam", "main"]);
    let merge = repo.run(&["merge", "-q", "side"], b"");
    assert_eq!(merge.code, 1);
    repo
}

#[test]
fn conflicts_and_their_undoing() {
    for kind in KINDS {
        let repo = in_conflict(kind);
        let index = same_as_git(&repo);
        assert!(index.is_unmerged());
        let in_conflict = index
            .iter()
            .filter(|(path, _)| *path == "a" || *path == "dir.d");
        let stages: Vec<u8> = in_conflict.map(|(_, e)| e.flags.stage.number()).collect();
        assert_eq!(stages, [1, 2, 3, 1, 2]);
        assert_eq!(index.find("a".into(), Stage::Ours), Ok(1));
        assert_eq!(index.find("a".into(), Stage::Merged), Err(0));
        same_bytes(&repo, &index);

        repo.git(&["add", "a"]);
        let index = same_as_git(&repo);
        assert!(index.extensions.resolve_undo.is_some());
        same_bytes(&repo, &index);
    }
}

#[test]
fn an_empty_index() {
    for kind in KINDS {
        let repo = Repo::new(kind);
        repo.git(&["read-tree", "--empty"]);
        let index = same_as_git(&repo);
        assert!(index.entries().is_empty());
        same_bytes(&repo, &index);
        repo.write_index(&Index::empty(kind), &WriteOptions::default());
        assert_eq!(repo.listing(), "");
    }
}

#[test]
fn a_split_index_is_read_whole() {
    for kind in KINDS {
        for version in ["2", "4"] {
            let repo = Repo::with_tree(kind);
            repo.git(&["config", "core.splitIndex", "true"]);
            repo.git(&["config", "splitIndex.maxPercentChange", "100"]);
            repo.git(&["update-index", "--index-version", version]);
            repo.git(&["update-index", "--split-index"]);
            let unchanged = same_as_git(&repo);
            assert_eq!(unchanged.entries().len(), 14);

            repo.write("a", "replaced");
            repo.write("dir/added", "new");
            repo.write("zz", "last");
            repo.git(&["add", "a", "dir/added", "zz"]);
            repo.git(&["rm", "-q", "--cached", "dir/b/e", "dir.d"]);
            let index = same_as_git(&repo);
            assert_eq!(index.entries().len(), 14);
            let bytes = repo.index_bytes();
            assert!(bytes.windows(4).any(|window| window == b"link"));
            assert!(bytes.len() < bytes_of(&index, &WriteOptions::default()).len());

            let listing = repo.listing();
            let mut split = Vec::new();
            index.write_split(&mut split, &WriteOptions::default());
            // Git also replaces entries of files that it may have to read.
            assert!(split.len() <= bytes.len());
            std::fs::write(repo.index_path(), &split).unwrap();
            assert_eq!(repo.listing(), listing);
            same_as_git(&repo);
            assert_eq!(index.count_unshared(), 2);

            let mut shared = Vec::new();
            let id = index.write_shared(&mut shared, &WriteOptions::default());
            std::fs::write(repo.path(format!(".git/sharedindex.{id}")), shared).unwrap();
            let mut renewed = index.clone();
            renewed.set_split(Some(index.as_shared(id)));
            let mut link = Vec::new();
            renewed.write_split(&mut link, &WriteOptions::default());
            assert!(link.len() < split.len());
            std::fs::write(repo.index_path(), &link).unwrap();
            assert_eq!(repo.listing(), listing);
            same_as_git(&repo);

            repo.git(&["config", "core.splitIndex", "false"]);
            repo.write_index(&index, &WriteOptions::default());
            assert_eq!(repo.listing(), listing);
            repo.git(&["fsck"]);
        }
    }
}

#[test]
fn tables_for_readers_with_threads() {
    for kind in KINDS {
        for version in ["2", "4"] {
            for threads in [2, 3, 5, 13, 14, 20] {
                let repo = Repo::with_tree(kind);
                repo.git(&["config", "index.threads", &threads.to_string()]);
                repo.git(&["update-index", "--index-version", version]);
                repo.git(&["rm", "-q", "--cached", "run"]);
                let index = same_as_git(&repo);
                let options = WriteOptions {
                    end_of_entries: true,
                    offset_table: Some(OffsetTable::Threads(threads)),
                    ..WriteOptions::default()
                };
                let bytes = repo.index_bytes();
                let has = |name: &[u8; 4]| bytes.windows(4).any(|window| window == name);
                assert!(has(b"IEOT") && has(b"EOIE"));
                let written = bytes_of(&index, &options);
                assert!(written == bytes, "{kind}, {version}, {threads}");
            }
        }
    }
}

#[test]
fn a_wrong_shared_index_is_refused() {
    let repo = Repo::with_tree(Kind::Sha1);
    let other = repo.index_bytes();
    repo.git(&["update-index", "--split-index"]);
    let bytes = repo.index_bytes();
    let read = Index::read(&bytes, Kind::Sha1, ".git/index".as_ref(), &mut |_| {
        Ok(other.clone())
    });
    let message = read.unwrap_err().to_string();
    assert!(
        message.starts_with("corrupt index '.git/sharedindex."),
        "{message}"
    );
    let read = Index::read(&bytes, Kind::Sha1, "index".as_ref(), &mut |_| {
        Err(crate::Error::NotARepository)
    });
    assert!(matches!(read, Err(crate::Error::NotARepository)));
}

#[test]
fn the_cache_of_untracked_files() {
    for kind in KINDS {
        let repo = Repo::with_tree(kind);
        repo.write("dir/untracked", "");
        repo.write("none/of/it", "");
        repo.write(".gitignore", "*.o\n");
        repo.git(&["update-index", "--force-untracked-cache"]);
        repo.git(&["status"]);
        let index = same_as_git(&repo);
        let cache = index.extensions.untracked.clone().unwrap();
        same_bytes(&repo, &index);

        let untracked = cache.serialize();
        assert_eq!(UntrackedCache::parse(&untracked, kind), Some(cache.clone()));
        let mut cut = cache;
        cut.invalidate(b"dir/more/file", &cut.ends());
        assert!(cut.serialize().len() < untracked.len());
        let mut changed = index.clone();
        changed.extensions.untracked = Some(cut.clone());
        let status = repo.git(&["status", "--porcelain"]);
        repo.write_index(&changed, &WriteOptions::default());
        assert_eq!(same_as_git(&repo).extensions.untracked, Some(cut.clone()));
        assert_eq!(repo.git(&["status", "--porcelain"]), status);
        repo.git(&["-c", "core.untrackedCache=true", "status"]);
        let refilled = same_as_git(&repo).extensions.untracked.unwrap();
        let valid = |cache: &UntrackedCache| {
            let records = cache.directories.iter();
            records.filter(|record| record.is_valid()).count()
        };
        assert!(valid(&refilled) > valid(&cut), "git fills the cache again");
        for len in 0..untracked.len() {
            if let Some(cut) = UntrackedCache::parse(&untracked[..len], kind) {
                assert_eq!(cut.directories, [], "{len}");
            }
        }
    }
}

#[test]
fn what_a_file_system_monitor_vouches_for() {
    let repo = Repo::with_tree(Kind::Sha1);
    let hook = repo.path("monitor");
    std::fs::write(&hook, "#!/bin/sh\nprintf 'token\\0'\n").unwrap();
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    repo.git(&["config", "core.fsmonitor", hook.to_str().unwrap()]);
    repo.git(&["config", "core.fsmonitorHookVersion", "2"]);
    repo.git(&["update-index", "--fsmonitor"]);
    repo.git(&["status"]);
    let index = same_as_git(&repo);
    assert_eq!(
        index.extensions.fsmonitor_token.as_deref(),
        Some(&b"token"[..])
    );
    same_bytes(&repo, &index);
    let tags = repo.ask(&["ls-files", "-f"]);
    let valid = |(_, entry): (&BStr, &Entry)| entry.flags.fsmonitor_valid;
    let by_git: Vec<bool> = tags.lines().map(|line| line.starts_with('h')).collect();
    assert!(by_git.contains(&true));
    assert_eq!(index.iter().map(valid).collect::<Vec<_>>(), by_git);
}

#[test]
fn a_sparse_index() {
    for kind in KINDS {
        let repo = Repo::with_tree(kind);
        repo.git(&["rm", "-q", "--cached", "dir/module"]);
        repo.git(&["commit", "-qm", "no submodules"]);
        repo.git(&[
            "sparse-checkout",
            "set",
            "--cone",
            "--sparse-index",
            "dir/b",
        ]);
        let index = same_as_git(&repo);
        assert!(index.has_sparse_directories());
        same_bytes(&repo, &index);
        let at = index.find("long-directory/".into(), Stage::Merged).unwrap();
        assert_eq!(index.entries()[at].mode, Mode::SparseDirectory);
        assert_eq!(index.range_under("long-directory".into()), at..at + 1);
        assert!(index.cache_tree().unwrap().fits(&index));
    }
}

#[test]
fn an_index_for_threads() {
    for version in ["2", "4"] {
        let repo = Repo::with_tree(Kind::Sha1);
        repo.git(&["config", "index.threads", "2"]);
        repo.git(&["config", "index.recordOffsetTable", "true"]);
        repo.git(&["config", "index.recordEndOfIndexEntries", "true"]);
        repo.git(&["update-index", "--index-version", version]);
        repo.write("a", "changed");
        repo.git(&["add", "a"]);
        let bytes = repo.index_bytes();
        for extension in [b"EOIE", b"IEOT"] {
            assert!(bytes.windows(4).any(|window| window == extension));
        }
        let index = same_as_git(&repo);
        repo.write_index(&index, &WriteOptions::default());
        same_as_git(&repo);
    }
}

#[test]
fn an_index_without_checksum() {
    let repo = Repo::with_tree(Kind::Sha1);
    repo.git(&["config", "index.skipHash", "true"]);
    repo.write("a", "changed");
    repo.git(&["add", "a"]);
    if !repo.index_bytes().ends_with(&[0; 20]) {
        hedgerow_testkit::skip("this git is older than 2.40 and knows no index.skipHash");
        return;
    }
    let index = same_as_git(&repo);
    assert_eq!(index.checksum(), None);
    let options = WriteOptions {
        skip_hash: true,
        ..WriteOptions::default()
    };
    assert!(bytes_of(&index, &options) == repo.index_bytes());
    same_as_git(&repo);
}
