//! Objects that are missing or wrong, and an index that lies.

use super::fixture::{lines, Repo};
use hedgerow_engine::{CancelToken, Options};
use hedgerow_git::index::{Builder, EntryStat, Flags, Mode, Version};
use hedgerow_git::status::rename::{detect, ObjectContents, RenameOptions};
use hedgerow_git::status::staged;
use hedgerow_git::{Error, ObjectId};

fn id(hex: &str) -> ObjectId {
    ObjectId::from_hex(hex.as_bytes()).unwrap()
}

/// What comparing the tree `head` with the index fails with.
fn failure(repo: &Repo, head: ObjectId) -> Error {
    let repository = repo.open(&[]);
    let index = repo.index_of(&repository);
    staged(&repository, &index, Some(head), &Options::default()).unwrap_err()
}

#[test]
fn a_head_that_is_no_tree_is_an_error() {
    let repo = Repo::new();
    repo.write("a", b"a");
    repo.git(&["add", "a"]);
    let blob = id(&repo.ask(&["rev-parse", ":a"]));
    let error = failure(&repo, blob);
    assert!(
        matches!(error, Error::CorruptObject { kind: "tree", .. }),
        "{error}"
    );
    let error = failure(&repo, id(&"12".repeat(20)));
    assert!(matches!(error, Error::Pack(_)), "{error}");
}

#[test]
fn trees_that_cannot_be_checked_out_are_errors() {
    let repo = Repo::new();
    let blob = repo.git_with(&["hash-object", "-w", "--stdin"], b"x");
    let blob = String::from_utf8(blob).unwrap();
    let tree = |name: &str| {
        let entry = format!("100644 blob {}\t{name}\n", blob.trim());
        let tree = repo.git_with(&["mktree"], entry.as_bytes());
        id(String::from_utf8(tree).unwrap().trim())
    };
    for name in ["..", ".git"] {
        let error = failure(&repo, tree(name));
        assert!(
            matches!(error, Error::CorruptObject { kind: "tree", .. }),
            "{error}"
        );
    }
    let deep = format!("{}x", "d/".repeat(2100));
    let stream = format!(
        "commit refs/heads/deep\ncommitter n <e> 1 +0000\ndata 0\n\n\
         M 100644 inline {deep}\ndata 1\nx\n"
    );
    repo.git_with(&["fast-import", "--quiet"], stream.as_bytes());
    let error = failure(&repo, id(&repo.ask(&["rev-parse", "deep^{tree}"])));
    assert!(
        error
            .to_string()
            .contains("exceeded maximum allowed tree depth"),
        "{error}"
    );
}

#[test]
fn contents_that_are_missing_or_no_blobs_are_errors() {
    for stranger in ["12".repeat(20), String::new()] {
        let repo = Repo::new();
        repo.write("a", b"a\nb\n");
        repo.git(&["add", "a"]);
        repo.commit_staged();
        let stranger = if stranger.is_empty() {
            repo.ask(&["rev-parse", "HEAD^{tree}"])
        } else {
            stranger
        };
        repo.git(&["rm", "-q", "--cached", "a"]);
        let entry = format!("100644,{stranger},b");
        repo.git(&["update-index", "--add", "--cacheinfo", &entry]);
        let repository = repo.open(&[]);
        let mut pairs = repo.staged().into_filepairs();
        let before = lines(&pairs);
        let contents = ObjectContents::new(&repository);
        let options = RenameOptions::default();
        detect(&mut pairs, &options, &contents, &Options::default()).unwrap_err();
        assert_eq!(lines(&pairs), before, "nothing is done by halves");
    }
}

#[test]
fn a_cache_tree_whose_counts_are_wrong_is_not_believed() {
    let repo = Repo::new();
    for path in ["a/b", "a/c", "d"] {
        repo.write(path, path.as_bytes());
    }
    repo.git(&["add", "."]);
    repo.commit_staged();
    repo.git(&["read-tree", "HEAD"]);
    let repository = repo.open(&[]);
    let index = repo.index_of(&repository);
    let mut builder = Builder::new(index.hash(), index.version());
    for (path, entry) in index.iter().filter(|(path, _)| *path != "a/b") {
        builder
            .push(path, entry.id, entry.mode, entry.stat, entry.flags)
            .unwrap();
    }
    let mut fewer = builder.finish();
    fewer.set_cache_tree(index.cache_tree().cloned());
    let found = staged(&repository, &fewer, repo.head_tree(), &Options::default()).unwrap();
    assert_eq!(found.changes.len(), 1);
    assert_eq!(found.changes[0].path, "a/b");
}

#[test]
fn cancelling_ends_both_halves() {
    let repo = Repo::new();
    repo.write("a", b"a\nb\n");
    repo.git(&["add", "a"]);
    repo.commit_staged();
    repo.git(&["mv", "a", "b"]);
    repo.write("b", b"a\nb\nc\n");
    repo.git(&["add", "b"]);
    let options = Options {
        cancel: CancelToken::default(),
        ..Options::default()
    };
    options.cancel.cancel();
    let repository = repo.open(&[]);
    let index = repo.index_of(&repository);
    let outcome = staged(&repository, &index, repo.head_tree(), &options);
    assert!(matches!(outcome, Err(Error::Interrupted)), "{outcome:?}");
    let mut pairs = repo.staged().into_filepairs();
    let contents = ObjectContents::new(&repository);
    let outcome = detect(&mut pairs, &RenameOptions::default(), &contents, &options);
    assert!(matches!(outcome, Err(Error::Interrupted)), "{outcome:?}");
}

#[test]
fn an_entry_for_a_whole_directory_is_refused() {
    let repo = Repo::new();
    repo.write("a/b", b"b");
    repo.git(&["add", "."]);
    repo.commit_staged();
    let repository = repo.open(&[]);
    let mut builder = Builder::new(repository.hash_kind(), Version::V2);
    let tree = id(&repo.ask(&["rev-parse", "HEAD:a"]));
    let flags = Flags {
        skip_worktree: true,
        ..Flags::default()
    };
    let stat = EntryStat::default();
    builder
        .push("a/".into(), tree, Mode::SparseDirectory, stat, flags)
        .unwrap();
    let index = builder.finish();
    for head in [None, repo.head_tree()] {
        let outcome = staged(&repository, &index, head, &Options::default());
        assert!(
            matches!(outcome, Err(Error::Internal { .. })),
            "{outcome:?}"
        );
    }
}
