//! Indexes written here and read by git.

use super::repo::{bytes_of, listing_of};
use super::*;
use bstr::BString;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// An index with the entries of `index`, built by a builder.
fn rebuilt(index: &Index, version: Version) -> Index {
    let mut builder = Builder::new(index.hash(), version);
    builder.reserve(index.entries().len(), 100);
    for (path, entry) in index.iter() {
        builder
            .push(path, entry.id, entry.mode, entry.stat, entry.flags)
            .unwrap();
    }
    builder.finish_replacing(index)
}

#[test]
fn git_takes_what_a_builder_made() {
    for kind in [Kind::Sha1, Kind::Sha256] {
        let repo = Repo::with_tree(kind);
        repo.git(&["update-index", "--skip-worktree", "dir/b/e"]);
        let old = repo.read_index();
        let listing = repo.listing();
        for version in [Version::V2, Version::V3, Version::V4] {
            let index = rebuilt(&old, version);
            repo.write_index(&index, &WriteOptions::default());
            assert_eq!(repo.listing(), listing);
            let expected = version.max(Version::V3);
            assert_eq!(repo.read_index().version(), expected);
            repo.git(&["fsck", "--strict"]);
            let status = repo.git(&["status", "--porcelain", "--ignore-submodules"]);
            assert_eq!(status, b"");
            assert_eq!(repo.git(&["diff-files", "--ignore-submodules"]), b"");
        }
    }
}

#[test]
fn the_version_asked_for_is_written() {
    let repo = Repo::with_tree(Kind::Sha1);
    let index = repo.read_index();
    let listing = repo.listing();
    for (version, number) in [(Version::V2, 2), (Version::V3, 2), (Version::V4, 4)] {
        let options = WriteOptions {
            version: Some(version),
            ..WriteOptions::default()
        };
        assert_eq!(bytes_of(&index, &options)[7], number);
        repo.write_index(&index, &options);
        assert_eq!(repo.listing(), listing);
    }
}

#[test]
fn bytes_are_appended_and_hashed_from_where_they_begin() {
    let index = Index::empty(Kind::Sha1);
    let mut out = b"before".to_vec();
    let checksum = index.write(&mut out, &WriteOptions::default());
    assert_eq!(out[6..], bytes_of(&index, &WriteOptions::default()));
    assert!(out.ends_with(checksum.as_slice()));
}

#[test]
fn names_of_every_length() {
    for version in [Version::V2, Version::V4] {
        let repo = Repo::new(Kind::Sha1);
        let mut builder = Builder::new(Kind::Sha1, version);
        let mut stat = EntryStat::default();
        for len in (1..40).chain(4080..4110).chain([9000]) {
            let path = BString::from("p".repeat(len));
            let id = Kind::Sha1.empty_blob();
            stat.size = len as u32;
            builder
                .push(path.as_bstr(), id, Mode::File, stat, Flags::default())
                .unwrap();
        }
        let index = builder.finish();
        repo.write_index(&index, &WriteOptions::default());
        assert_eq!(listing_of(&index), repo.listing());
        assert_eq!(listing_of(&repo.read_index()), repo.listing());
    }
}

#[test]
fn racy_entries_are_smudged_only_where_the_content_differs() {
    let repo = Repo::new(Kind::Sha1);
    for path in ["clean", "dirty", "old"] {
        repo.write(path, "1");
    }
    repo.git(&["add", "."]);
    let mut index = repo.read_index();
    let second = i64::from(index.entries()[0].stat.mtime_s);
    index.entries_mut()[2].stat.mtime_s -= 10;
    let time = Timestamp {
        seconds: second,
        nanoseconds: 999_999_999,
    };
    index.smudge_racily_clean(time, |row| row != 0);
    let sizes: Vec<u32> = index
        .entries()
        .iter()
        .map(|entry| entry.stat.size)
        .collect();
    assert_eq!(sizes, [1, 0, 1], "the last one is not racy");
}

#[test]
fn git_sees_a_change_that_only_smudging_reveals() {
    let repo = Repo::new(Kind::Sha1);
    repo.write("f", "1");
    repo.git(&["add", "f"]);
    repo.write("f", "2");
    let mut index = repo.read_index();
    let now = EntryStat::from(&lstat(&repo, "f"));
    index.entries_mut()[0].stat = now;
    let later = Timestamp {
        seconds: i64::from(now.mtime_s) + 10,
        nanoseconds: 0,
    };
    let write = |index: &Index| {
        repo.write_index(index, &WriteOptions::default());
        let file = std::fs::OpenOptions::new()
            .write(true)
            .open(repo.index_path())
            .unwrap();
        let since_epoch = std::time::Duration::from_secs(later.seconds as u64);
        file.set_modified(std::time::UNIX_EPOCH + since_epoch)
            .unwrap();
        repo.ask(&["diff-files", "--name-only"])
    };
    assert_eq!(write(&index), "", "the stat data hide the change");
    let time = Timestamp {
        seconds: i64::from(now.mtime_s),
        nanoseconds: 0,
    };
    index.smudge_racily_clean(time, |_| true);
    assert_eq!(write(&index), "f");
}

fn lstat(repo: &Repo, path: &str) -> hedgerow_fs::Stat {
    use std::os::unix::fs::MetadataExt;
    let data = std::fs::symlink_metadata(repo.path(path)).unwrap();
    hedgerow_fs::Stat {
        kind: hedgerow_fs::FileKind::File,
        mode: data.mode(),
        size: data.size(),
        mtime: Timestamp {
            seconds: data.mtime(),
            nanoseconds: data.mtime_nsec() as u32,
        },
        ctime: Timestamp {
            seconds: data.ctime(),
            nanoseconds: data.ctime_nsec() as u32,
        },
        atime: Timestamp {
            seconds: data.atime(),
            nanoseconds: data.atime_nsec() as u32,
        },
        dev: data.dev(),
        ino: data.ino(),
        uid: data.uid(),
        gid: data.gid(),
        nlink: data.nlink(),
        rdev: data.rdev(),
        blocks: data.blocks(),
        io_bytes: data.blksize(),
    }
}

#[test]
fn stat_data_are_those_that_git_records() {
    let repo = Repo::with_tree(Kind::Sha1);
    let index = repo.read_index();
    for path in ["a", "a.txt", "dir/b/c/d", "run", "dir/link"] {
        let at = index.find(path.into(), Stage::Merged).unwrap();
        let entry = &index.entries()[at];
        let now = EntryStat::from(&lstat(&repo, path));
        assert_eq!(entry.stat, now);
        assert!(entry.matches(&now, &StatRules::default()));
    }
}

/// Entries of any kind under random paths of few letters, so that many share directories.
fn any_index() -> impl Strategy<Value = Index> {
    let numbers = any::<[u32; 9]>();
    let entry = (any::<[u8; 20]>(), 0..4u8, any::<[bool; 4]>(), numbers);
    let entries = proptest::collection::btree_map("[ab]{1,3}(/[ab-]{1,9}){0,4}", entry, 0..40);
    entries.prop_map(|entries: BTreeMap<String, _>| {
        let mut builder = Builder::new(Kind::Sha1, Version::V4);
        for (path, (id, mode, flags, numbers)) in entries {
            let mode = [Mode::File, Mode::Executable, Mode::Symlink, Mode::Gitlink][mode as usize];
            let [assume_valid, skip_worktree, intent_to_add, fsmonitor_valid] = flags;
            let flags = Flags {
                stage: Stage::Merged,
                assume_valid,
                skip_worktree,
                intent_to_add,
                fsmonitor_valid: fsmonitor_valid && mode != Mode::Gitlink,
            };
            let [ctime_s, ctime_ns, mtime_s, mtime_ns, dev, ino, uid, gid, size] = numbers;
            let stat = EntryStat {
                ctime_s,
                ctime_ns,
                mtime_s,
                mtime_ns,
                dev,
                ino,
                uid,
                gid,
                size,
            };
            let id = ObjectId::Sha1(id);
            // Files that clash with directories are refused and so left out.
            let _ = builder.push(path.as_str().into(), id, mode, stat, flags);
        }
        let mut index = builder.finish();
        index.extensions.fsmonitor_token = Some(b"token".to_vec());
        index
    })
}

proptest! {
    #[test]
    fn an_index_survives_every_version(index in any_index()) {
        for version in [Version::V2, Version::V3, Version::V4] {
            let options = WriteOptions {
                version: Some(version),
                ..WriteOptions::default()
            };
            let bytes = bytes_of(&index, &options);
            let read = Index::read(&bytes, Kind::Sha1, "index".as_ref(), &mut |_| unreachable!());
            let read = read.unwrap();
            prop_assert_eq!(&read.entries, &index.entries);
            prop_assert_eq!(&read.paths, &index.paths);
            prop_assert_eq!(bytes_of(&read, &options), bytes);
        }
    }
}
