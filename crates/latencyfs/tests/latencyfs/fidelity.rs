//! What is shown is what there is, and what is done is done.

use crate::mounted;
use hedgerow_latencyfs::{Mount, Server, Settings};
use hedgerow_testkit::{skip, Repository};
use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{symlink, FileExt, MetadataExt, PermissionsExt};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

/// Every path below a directory with its kind, permissions, links, size, time and content.
fn listing(root: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut pending = vec![root.to_owned()];
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            let seen = fs::symlink_metadata(&path).unwrap();
            let content = if seen.is_dir() {
                pending.push(path.clone());
                String::new()
            } else if seen.is_symlink() {
                fs::read_link(&path).unwrap().display().to_string()
            } else {
                format!("{:?}", fs::read(&path).unwrap())
            };
            let name = path.strip_prefix(root).unwrap().display().to_string();
            let state = (seen.mode(), seen.nlink(), seen.mtime(), seen.mtime_nsec());
            found.insert(name, format!("{state:?} {content}"));
        }
    }
    found
}

fn plant(root: &Path) {
    fs::create_dir_all(root.join("a/b")).unwrap();
    for at in 0..300 {
        fs::write(root.join(format!("a/b/{at}")), format!("file {at}")).unwrap();
    }
    let big: Vec<u8> = (0..3_000_000_u32)
        .map(|at| (at.wrapping_mul(at) >> 7) as u8)
        .collect();
    fs::write(root.join("big"), big).unwrap();
    symlink("a/b/1", root.join("link")).unwrap();
    symlink("nowhere", root.join("dangling")).unwrap();
    fs::hard_link(root.join("a/b/3"), root.join("hard")).unwrap();
    fs::set_permissions(root.join("a/b/2"), fs::Permissions::from_mode(0o751)).unwrap();
    fs::rename(root.join("a/b/5"), root.join("moved")).unwrap();
    fs::remove_file(root.join("a/b/6")).unwrap();
    let old = UNIX_EPOCH + Duration::new(1_234_567_890, 5);
    let file = fs::File::options()
        .write(true)
        .open(root.join("a/b/7"))
        .unwrap();
    file.set_modified(old).unwrap();
    file.set_len(3).unwrap();
}

#[test]
fn what_was_made_through_the_mount_is_there_without_it() {
    let Some((backing, mut mount)) = mounted(0) else {
        return;
    };
    plant(mount.path());
    let through = listing(mount.path());
    assert_eq!(through.len(), 305);
    assert!(through["a/b/7"].ends_with(&format!("{:?}", b"fil")));
    assert_eq!(through, listing(backing.path()));
    mount.remount();
    assert_eq!(through, listing(mount.path()), "with empty caches");
}

#[test]
fn the_same_acts_give_the_same_tree_with_and_without_it() {
    let Some((_backing, mount)) = mounted(0) else {
        return;
    };
    let plain = tempfile::tempdir().unwrap();
    plant(plain.path());
    plant(mount.path());
    let without_times = |root: &Path| -> Vec<(String, String)> {
        let content = |text: String| text.split_once(") ").unwrap().1.to_owned();
        listing(root)
            .into_iter()
            .map(|(name, text)| (name, content(text)))
            .collect()
    };
    assert_eq!(without_times(plain.path()), without_times(mount.path()));
}

#[test]
fn inodes_without_a_descriptor_are_found_by_name() {
    if mounted(0).is_none() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let (backing, at) = (directory.path().join("b"), directory.path().join("m"));
    fs::create_dir(&backing).unwrap();
    fs::create_dir(&at).unwrap();
    let mut settings = Settings::nfs(0);
    settings.held_inodes = Some(2);
    let server = Server::mount(&backing, &at, settings).unwrap();
    plant(&at);
    // What is below moves with its directory.
    fs::rename(at.join("a"), at.join("other")).unwrap();
    assert_eq!(fs::read(at.join("other/b/8")).unwrap(), b"file 8");
    fs::write(at.join("other/b/8"), "again").unwrap();
    assert_eq!(listing(&at), listing(&backing));
    server.unmount().unwrap();
    assert_eq!(fs::read(backing.join("other/b/8")).unwrap(), b"again");
}

#[test]
fn a_file_that_is_removed_while_open_can_still_be_used() {
    let Some((_backing, mount)) = mounted(0) else {
        return;
    };
    let path = mount.path().join("f");
    let mut options = fs::File::options();
    let mut file = options
        .read(true)
        .write(true)
        .create(true)
        .truncate(true)
        .open(&path)
        .unwrap();
    file.write_all(b"still here").unwrap();
    fs::remove_file(&path).unwrap();
    fs::metadata(&path).unwrap_err();
    file.write_all_at(b"STILL", 0).unwrap();
    file.seek(SeekFrom::Start(0)).unwrap();
    let mut text = String::new();
    file.read_to_string(&mut text).unwrap();
    assert_eq!(text, "STILL here");
    assert_eq!(file.metadata().unwrap().nlink(), 0);
}

#[test]
fn the_control_file_can_be_neither_replaced_nor_removed() {
    let Some((backing, mount)) = mounted(0) else {
        return;
    };
    let control = mount.path().join(".latencyfs");
    fs::write(mount.path().join("f"), "").unwrap();
    let refused = |done: std::io::Result<()>| {
        let error = done.unwrap_err();
        assert_eq!(
            error.kind(),
            std::io::ErrorKind::PermissionDenied,
            "{error}"
        );
    };
    refused(fs::rename(mount.path().join("f"), &control));
    refused(fs::remove_file(&control));
    fs::create_dir(&control).unwrap_err();
    assert!(!backing.path().join(".latencyfs").exists());
    assert_eq!(fs::read_dir(mount.path()).unwrap().count(), 1);
}

#[test]
fn a_repository_works_in_it() {
    let Some((_backing, mount)) = mounted(0) else {
        return;
    };
    plant(mount.path());
    let repository = Repository::at(mount.path().to_owned());
    repository.git(&["init", "-q"]);
    repository.commit("t");
    fs::remove_dir_all(mount.path().join("a")).unwrap();
    repository.git(&["checkout", "-q", "-f"]);
    assert_eq!(repository.ask(&["status", "--porcelain"]), "");
    repository.git(&["fsck", "--strict"]);
}

#[test]
fn names_lead_to_entries_in_another_case() {
    let backing = hedgerow_testkit::temporary();
    let settings = || Settings {
        ignore_case: true,
        ..Settings::default()
    };
    let mount = match Mount::with(backing.path(), settings) {
        Ok(mount) => mount,
        Err(reason) => return skip(&reason.to_string()),
    };
    let root = mount.path();
    let names = || listing(backing.path()).into_keys().collect::<Vec<_>>();
    fs::create_dir(root.join("Dir")).unwrap();
    fs::write(root.join("Dir/File"), "one").unwrap();
    assert_eq!(fs::read(root.join("dir/fILE")).unwrap(), b"one");
    fs::write(root.join("DIR/file"), "two").unwrap();
    assert_eq!(names(), ["Dir", "Dir/File"]);
    fs::write(root.join("Dir/other"), "three").unwrap();
    fs::rename(root.join("dir/OTHER"), root.join("dir/file")).unwrap();
    assert_eq!(names(), ["Dir", "Dir/File"]);
    assert_eq!(fs::read(root.join("Dir/File")).unwrap(), b"three");
    fs::remove_file(root.join("dir/FILE")).unwrap();
    fs::remove_dir(root.join("DIR")).unwrap();
    assert!(names().is_empty());
}
