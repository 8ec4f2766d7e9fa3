//! Cache trees, compared with git's and constructed by hand.

use super::super::tests::repo::{bytes_of, Repo};
use super::super::{Builder, EntryStat, Flags, Mode, Stage, Version, WriteOptions};
use super::*;
use gix_hash::Kind;
use hedgerow_testkit::Random;
use std::collections::BTreeMap;

/// A repository whose index is as `git read-tree HEAD` leaves it.
fn fresh(kind: Kind) -> (Repo, Index) {
    let repo = Repo::with_tree(kind);
    repo.git(&["read-tree", "HEAD"]);
    let index = repo.read_index();
    (repo, index)
}

#[test]
fn the_tree_built_is_the_one_git_writes() {
    for kind in [Kind::Sha1, Kind::Sha256] {
        let (repo, index) = fresh(kind);
        let by_git = index.cache_tree().unwrap();
        let built = CacheTree::build(&index, |_| true).unwrap();
        assert_eq!(built.serialize(), by_git.serialize());
        assert!(built.fits(&index));
        let root = built.root_id().unwrap().to_string();
        assert_eq!(root, repo.ask(&["rev-parse", "HEAD^{tree}"]));
        let mut rewritten = index.clone();
        rewritten.set_cache_tree(Some(built));
        let bytes = bytes_of(&rewritten, &WriteOptions::default());
        assert!(bytes == repo.index_bytes());
        assert_eq!(repo.ask(&["write-tree"]), root);
    }
}

#[test]
fn known_ids_need_no_hashing() {
    let (repo, index) = fresh(Kind::Sha1);
    let by_git = index.cache_tree().unwrap();
    let known = CacheTree::from_known(&index, |dir| {
        let id = repo.ask(&["rev-parse", &format!("HEAD:{dir}")]);
        Some(ObjectId::from_hex(id.as_bytes()).unwrap())
    });
    assert_eq!(known.serialize(), by_git.serialize());

    let nothing = CacheTree::from_known(&index, |_| None);
    assert_eq!(nothing.root_id(), None);
    assert_eq!(
        nothing.root().children().count(),
        by_git.root().children().count()
    );
    let mut without = index.clone();
    without.set_cache_tree(Some(nothing));
    repo.write_index(&without, &WriteOptions::default());
    let root = repo.ask(&["rev-parse", "HEAD^{tree}"]);
    assert_eq!(repo.ask(&["write-tree"]), root);
    assert_eq!(
        repo.read_index().cache_tree(),
        Some(by_git),
        "git repairs it"
    );
}

/// What is built with the help of an older index is what is built without.
#[test]
fn what_is_known_is_used_where_it_is_still_right() {
    let mut random = Random::new(11);
    let (mut asked, mut asked_without) = (0, 0);
    for round in 0..300 {
        let old = random_entries(&mut random, 40);
        let mut new = old.clone();
        for _ in 0..random.below(6) {
            let (path, entry) = random_entry(&mut random);
            match random.below(3) {
                0 => new.retain(|other, _| *other != path),
                _ => drop(new.insert(path, entry)),
            }
        }
        let (mut old, new) = (index_with(&old), index_with(&new));
        old.set_cache_tree(CacheTree::build(&old, |_| true));
        let is_there = |id: &ObjectId| !id.as_slice()[0].is_multiple_of(16) || round % 2 == 0;
        let known = old.cache_tree().unwrap();
        let rebuilt = CacheTree::rebuild(&new, (&old, known), |id| {
            asked += 1;
            is_there(id)
        });
        let built = CacheTree::build(&new, |id| {
            asked_without += 1;
            is_there(id)
        });
        let (rebuilt, built) = (rebuilt.unwrap(), built.unwrap());
        if round % 2 == 0 {
            assert_eq!(rebuilt, built, "round {round}");
        } else {
            // Less is asked about, so that more may be believed, and all that is right.
            let all = CacheTree::build(&new, |_| true).unwrap();
            let (rebuilt, built, all) = (ids(&rebuilt), ids(&built), ids(&all));
            for ((rebuilt, built), all) in rebuilt.iter().zip(built).zip(all) {
                assert!(built.is_none() || *rebuilt == built, "round {round}");
                assert!(rebuilt.is_none() || *rebuilt == all, "round {round}");
            }
        }
    }
    assert!(asked * 2 < asked_without, "{asked} of {asked_without}");
}

type Entries = BTreeMap<String, (Mode, ObjectId, Flags)>;

fn random_entry(random: &mut Random) -> (String, (Mode, ObjectId, Flags)) {
    let mut path = String::new();
    for _ in 0..random.below(4) {
        path += *random.pick(&["a/", "b/", "b.d/", "long-name/"]);
    }
    // A name of a file is never that of a directory.
    path += *random.pick(&["f", "a.c", "b-x", "z"]);
    let mode = *random.pick(&[Mode::File, Mode::Executable, Mode::Symlink, Mode::Gitlink]);
    let id = ObjectId::from_bytes_or_panic(&[1 + random.below(2) as u8; 20]);
    let flags = Flags {
        intent_to_add: random.chance(3),
        ..Flags::default()
    };
    (path, (mode, id, flags))
}

fn random_entries(random: &mut Random, count: usize) -> Entries {
    (0..count).map(|_| random_entry(random)).collect()
}

fn index_with(entries: &Entries) -> Index {
    let mut builder = Builder::new(Kind::Sha1, Version::V2);
    for (path, (mode, id, flags)) in entries {
        let stat = EntryStat::default();
        builder
            .push(path.as_str().into(), *id, *mode, stat, *flags)
            .unwrap();
    }
    builder.finish()
}

fn ids(tree: &CacheTree) -> Vec<Option<ObjectId>> {
    let nodes = tree.nodes.iter();
    nodes
        .map(|node| node.entry_count.map(|_| node.id))
        .collect()
}

/// The paths of all directories, with a `!` behind those that are invalid.
fn shape(tree: &CacheTree) -> Vec<String> {
    fn walk(directory: &Directory<'_>, path: &str, out: &mut Vec<String>) {
        let path = format!("{path}{}", directory.name());
        let mark = directory.id().map_or("!", |_| "");
        out.push(format!("{path}{mark}"));
        for child in directory.children() {
            walk(&child, &format!("{path}/"), out);
        }
    }
    let mut out = Vec::new();
    walk(&tree.root(), "", &mut out);
    out
}

fn index_of(paths: &[&str]) -> Index {
    let mut builder = Builder::new(Kind::Sha1, Version::V2);
    for path in paths {
        let id = Kind::Sha1.empty_blob();
        let (stat, flags) = Default::default();
        builder
            .push((*path).into(), id, Mode::File, stat, flags)
            .unwrap();
    }
    builder.finish()
}

#[test]
fn siblings_are_ordered_by_length() {
    let index = index_of(&["aa/x", "b/y", "b/z/q", "ba/x/y", "f"]);
    let tree = CacheTree::build(&index, |_| true).unwrap();
    assert_eq!(shape(&tree), ["", "/b", "/b/z", "/aa", "/ba", "/ba/x"]);
    let counts: Vec<_> = tree
        .nodes
        .iter()
        .map(|node| node.entry_count.unwrap())
        .collect();
    assert_eq!(counts, [5, 2, 1, 1, 1, 1]);
    assert_eq!(CacheTree::parse(&tree.serialize(), Kind::Sha1), Some(tree));
}

#[test]
fn what_a_tree_cannot_hold_makes_its_directories_invalid() {
    let mut index = index_of(&["a/b/c", "a/d", "e/f"]);
    index.entries_mut()[0].flags.intent_to_add = true;
    let tree = CacheTree::build(&index, |_| true).unwrap();
    assert_eq!(shape(&tree), ["!", "/a!", "/a/b!", "/e"]);
    index.entries_mut()[0].flags.intent_to_add = false;
    index.entries_mut()[0].flags.skip_worktree = true;
    let tree = CacheTree::build(&index, |_| true).unwrap();
    assert_eq!(shape(&tree), ["", "/a", "/a/b", "/e"]);

    let missing = *tree.root().children().next().unwrap().id().unwrap();
    let tree = CacheTree::build(&index, |id| *id != missing).unwrap();
    assert_eq!(shape(&tree), ["!", "/a!", "/a/b", "/e"]);

    index.entries_mut()[2].flags.stage = Stage::Ours;
    assert_eq!(CacheTree::build(&index, |_| true), None);
    let tree = CacheTree::from_known(&index, |_| Some(missing));
    assert_eq!(shape(&tree), ["!", "/a", "/a/b", "/e!"]);
}

#[test]
fn a_changed_path_invalidates_what_leads_to_it() {
    let index = index_of(&["a/b/c", "a/d/x", "e/f/g", "h"]);
    let whole = CacheTree::build(&index, |_| true).unwrap();
    let after = |path: &str| {
        let mut tree = whole.clone();
        tree.invalidate_path(path.into());
        let reread = CacheTree::parse(&tree.serialize(), Kind::Sha1);
        assert_eq!(reread.map(|tree| shape(&tree)), Some(shape(&tree)));
        shape(&tree).join(" ")
    };
    assert_eq!(after("h"), "! /a /a/b /a/d /e /e/f");
    assert_eq!(after("a/b/c"), "! /a! /a/b! /a/d /e /e/f");
    assert_eq!(after("a/new/path"), "! /a! /a/b /a/d /e /e/f");
    assert_eq!(
        after("a/b"),
        "! /a! /a/d /e /e/f",
        "a file where a directory was"
    );
    assert_eq!(after("a"), "! /e /e/f");
    assert_eq!(after("e/f"), "! /a /a/b /a/d /e!");
}

#[test]
fn counts_that_do_not_fit_are_noticed() {
    let index = index_of(&["a/b/c", "a/d", "e/f"]);
    let tree = CacheTree::build(&index, |_| true).unwrap();
    assert!(tree.fits(&index));
    for other in [
        &["a/b/c", "a/d"][..],
        &["a/b/c", "a/d/x", "f"],
        &["a/b/c", "e/f", "g"],
    ] {
        assert!(!tree.fits(&index_of(other)), "{other:?}");
    }
}

#[test]
fn broken_trees_count_as_absent() {
    let id = [b'i'; 20];
    let node = |head: &[u8]| [head, &id].concat();
    let parse = |data: &[u8]| CacheTree::parse(data, Kind::Sha1);
    assert!(parse(&node(b"\x001 0\n")).is_some());
    let twins = [&b"\0-1 2\n"[..], b"a\0-1 0\n", b"a\0-1 0\n"].concat();
    let unsorted = [&b"\0-1 2\n"[..], b"b\0-1 0\n", b"a\0-1 0\n"].concat();
    assert_eq!(shape(&parse(&unsorted).unwrap()), ["!", "/a!", "/b!"]);
    for broken in [
        b"".to_vec(),
        b"\0".to_vec(),
        b"\x001 0\n".to_vec(),
        node(b"a\x001 0\n"),
        node(b"\x00+1 0\n"),
        node(b"\x00 0\n"),
        node(b"\x001 1\n"),
        node(b"\x0099999999999 0\n"),
        node(b"\x001 -1\n"),
        b"\0-1 4294967295\n".to_vec(),
        b"\0-1 0\nmore".to_vec(),
        b"\0-1 1\na/b\0-1 0\n".to_vec(),
        b"\0-1 1\n\0-1 0\n".to_vec(),
        node(b"\0-1 1\na\x000 0\n"),
        twins,
    ] {
        assert_eq!(parse(&broken), None, "{}", broken.escape_ascii());
    }
}

#[test]
fn depth_exhausts_no_stack() {
    let mut data = b"\0-1 1\n".to_vec();
    for _ in 0..200_000 {
        data.extend_from_slice(b"d\0-1 1\n");
    }
    data.extend_from_slice(b"d\0-1 0\n");
    let mut tree = CacheTree::parse(&data, Kind::Sha1).unwrap();
    assert_eq!(tree.serialize(), data);
    tree.invalidate_path(["d"; 1000].join("/").as_str().into());
    assert_eq!(tree.nodes.len(), 1000);

    let path = ["d"; 100_000].join("/");
    let index = index_of(&[&path]);
    let tree = CacheTree::build(&index, |_| true).unwrap();
    assert_eq!(tree.nodes.len(), 100_000);
}

/// Recurring paths, so that names are prefixes of each other and sort around slashes.
fn scrambled_paths(seed: u32) -> Vec<String> {
    let mut state = seed;
    let mut next = |below: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) % below
    };
    let letters = ["a", "b", "a-", "a0", "a.b", "ab", "0"];
    let mut paths: Vec<String> = (0..60)
        .map(|_| {
            let depth = 1 + next(4);
            let names = (0..depth).map(|_| letters[next(7) as usize]);
            names.collect::<Vec<_>>().join("/")
        })
        .collect();
    paths.sort();
    paths.dedup();
    paths
}

/// What the scrambled paths give that may stand beside each other in an index.
fn scrambled_index(seed: u32) -> Index {
    let mut builder = Builder::new(Kind::Sha1, Version::V2);
    for path in scrambled_paths(seed) {
        let id = Kind::Sha1.empty_blob();
        let (stat, flags) = Default::default();
        // Files that clash with directories are refused and so left out.
        let _ = builder.push(path.as_str().into(), id, Mode::File, stat, flags);
    }
    builder.finish()
}

#[test]
fn indexes_with_the_same_content_are_told_from_others() {
    let index = scrambled_index(0);
    let (mut other_stat, mut other_id, mut other_mode) =
        (index.clone(), index.clone(), index.clone());
    other_stat.entries_mut()[3].stat.size += 1;
    assert!(index.has_content_of(&index) && index.has_content_of(&other_stat));
    other_id.entries_mut()[3].id = Kind::Sha1.null();
    other_mode.entries_mut()[3].mode = Mode::Executable;
    for other in [other_id, other_mode, scrambled_index(1), index_of(&[])] {
        assert!(!index.has_content_of(&other) && !other.has_content_of(&index));
    }
    // The same letters, cut otherwise.
    let (ab, a) = (index_of(&["ab", "c"]), index_of(&["a", "bc"]));
    assert!(!ab.has_content_of(&a));
}

#[test]
fn each_wrong_count_is_noticed() {
    for seed in 0..8 {
        let index = scrambled_index(seed);
        let whole = CacheTree::build(&index, |_| true).unwrap();
        for at in 0..whole.nodes.len() {
            let mut tree = whole.clone();
            tree.nodes[at].entry_count = None;
            assert!(tree.fits(&index), "{seed} {at}");
            let count = whole.nodes[at].entry_count.unwrap();
            for wrong in [0, count - 1, count + 1, u32::MAX] {
                tree.nodes[at].entry_count = Some(wrong);
                assert!(!tree.fits(&index), "{seed} {at}: {wrong} of {count}");
            }
        }
    }
}

#[test]
fn git_writes_the_same_trees_of_scrambled_paths() {
    let repo = Repo::new(Kind::Sha1);
    for seed in 0..8 {
        let mut index = scrambled_index(seed);
        repo.write_index(&index, &WriteOptions::default());
        let root = repo.ask(&["write-tree", "--missing-ok"]);
        let tree = CacheTree::build(&index, |_| true).unwrap();
        assert_eq!(tree.root_id().unwrap().to_string(), root);
        assert!(tree.fits(&index));
        assert_eq!(repo.read_index().cache_tree(), Some(&tree));

        index.set_cache_tree(Some(tree));
        let first = index.path(&index.entries()[0]).to_owned();
        index
            .cache_tree_mut()
            .unwrap()
            .invalidate_path(first.as_bstr());
        repo.write_index(&index, &WriteOptions::default());
        assert_eq!(repo.ask(&["write-tree", "--missing-ok"]), root);
    }
}
