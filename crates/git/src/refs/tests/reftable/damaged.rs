//! Tables with a wrong byte: refused, or what git takes them for.

use super::{git_knows_tables, open, tables};
use crate::refs::{RefStore, RefValue};
use crate::repository::Scratch;
use gix_hash::Kind;
use std::collections::BTreeMap;

/// What is read from a table; `None` if anything cannot be.
fn read(store: &dyn RefStore) -> Option<BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    store
        .list("refs/".into(), &mut |name, value| {
            let value = match value? {
                RefValue::Direct(id) => id.to_string(),
                RefValue::Symbolic(target) => target.to_string(),
            };
            found.insert(name.to_string(), value);
            Ok(())
        })
        .ok()?;
    store.read("HEAD".into()).ok()?;
    store.read_log("refs/heads/main".into(), &mut |_| {}).ok()?;
    Some(found)
}

#[test]
fn a_wrong_byte_is_found_or_means_to_git_what_it_means_to_us() {
    if !git_knows_tables() {
        return;
    }
    let scratch = Scratch::new();
    scratch.ask(".", &["init", "-q", "--ref-format=reftable", "r"]);
    scratch.commit("r", 1);
    scratch.ask("r", &["branch", "side"]);
    scratch.ask("r", &["symbolic-ref", "refs/heads/link", "refs/heads/side"]);
    scratch.ask("r", &["pack-refs", "--all"]);
    let git_dir = scratch.path("r/.git");
    let names = tables(&git_dir);
    assert_eq!(names.len(), 1);
    let path = git_dir.join("reftable").join(&names[0]);
    let sound = std::fs::read(&path).unwrap();
    let all = read(&*open(&git_dir, Kind::Sha1)).unwrap();
    assert_eq!(all.len(), 3);
    let (mut ours, mut both) = (0, 0);
    for position in 0..sound.len() {
        let mut damaged = sound.clone();
        damaged[position] ^= [0x01, 0x10, 0x80][position % 3];
        std::fs::write(&path, &damaged).unwrap();
        let Some(found) = read(&*open(&git_dir, Kind::Sha1)) else {
            ours += 1;
            continue;
        };
        let format = "--format=%(refname) %(if)%(symref)%(then)%(symref)%(else)%(objectname)%(end)";
        let listed = scratch.run("r", &["for-each-ref", format], &[]);
        let checked = scratch.run("r", &["fsck"], &[]);
        if listed.status.success() && checked.status.success() {
            let listed = String::from_utf8_lossy(&listed.stdout);
            let lines = listed.lines().filter_map(|line| line.split_once(' '));
            let expected: BTreeMap<String, String> = lines
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect();
            // What git looks up in the table of restarts, it may miss.
            let is_right = found == expected || found == all;
            assert!(is_right, "byte {position}: {found:?}, by git {expected:?}");
            both += 1;
        }
    }
    // The checksum of the log, that of the footer, and order are seen to.
    assert!(
        ours * 2 > sound.len(),
        "{ours} of {}, {both} for both",
        sound.len()
    );
}
