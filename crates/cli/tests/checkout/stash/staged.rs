//! `stash push --staged`, with git in the twin: what is staged goes as one patch, or nothing does.

use crate::support::{Pair, Repository};

fn lines() -> String {
    (1..=20).map(|number| format!("{number}\n")).collect()
}

/// Both put aside what `change` staged in a repository of `k`, a file of twenty lines, and of `o`.
fn put_aside(label: &str, words: &[&str], change: impl Fn(&Repository)) -> Pair {
    let origin = Repository::init(&[]);
    origin.write("o", "o\n");
    origin.write("k", lines());
    origin.commit("first");
    let mut pair = Pair::of(&origin, label);
    pair.any_trees = true;
    pair.each("change", change);
    pair.both("stash", "", &[&["push", "--staged"], words].concat(), &[]);
    pair
}

fn edit(repository: &Repository, from: &str, to: &str) {
    let text = std::fs::read_to_string(repository.path("k")).unwrap();
    repository.write("k", text.replace(from, to));
}

/// The index has no content of it, and so has no entry.
#[test]
fn a_file_to_be_added_later_stays_below_what_replaced_a_tracked_one() {
    let pair = put_aside("to be added later", &[], |repository| {
        repository.remove("k");
        repository.git(&["add", "-A"]);
        repository.write("k/f", "precious\n");
        repository.git(&["add", "-N", "k/f"]);
    });
    let kept = std::fs::read(pair.hedgerow.path("k/f")).unwrap();
    assert_eq!(kept, b"precious\n");
}

#[test]
fn other_changes_of_a_staged_file_stay_in_it() {
    for (staged, from, to) in [
        ("13", "\n3\n", "\n3\nnew\n"),
        ("13", "\n12\n", "\nnew\n12\n"),
        ("13", "\n14\n", "\n14\nnew\n"),
        ("13", "\n14\n", "\nnew\n14\n"),
        ("13", "\n15\n", "\nother\n"),
        ("2", "1\n2", "new\n1\n2"),
        ("3", "1\n2", "new\n1\n2"),
        ("19", "\n20\n", "\n20\nnew\n"),
        ("20", "staged\n", "staged\nnew\n"),
    ] {
        put_aside(&format!("{staged}, {to:?}"), &[], |repository| {
            edit(repository, &format!("\n{staged}\n"), "\nstaged\n");
            repository.git(&["add", "k"]);
            edit(repository, from, to);
        });
    }
    put_aside("a mode", &[], |repository| {
        repository.git(&["update-index", "--chmod=+x", "k"]);
        repository.git(&["checkout", "-q", "--", "k"]);
        edit(repository, "\n7\n", "\nseven\n");
    });
}

#[test]
fn with_pathspecs_all_that_is_staged_leaves_the_working_tree() {
    for words in [&["--", "o"][..], &["-k", "--", "o"]] {
        put_aside(&format!("{words:?}"), words, |repository| {
            repository.write("o", "staged\n");
            edit(repository, "\n7\n", "\nseven\n");
            repository.git(&["add", "-A"]);
        });
    }
}

#[test]
fn what_does_not_fit_is_in_the_entry_and_stays() {
    type Change = fn(&Repository);
    let changes: [(&str, Change); 6] = [
        ("removed, and there again", |repository| {
            repository.remove("k");
            repository.git(&["add", "-A"]);
            repository.write("k", "mine\n");
        }),
        ("the same line", |repository| {
            edit(repository, "\n7\n", "\nseven\n");
            repository.git(&["add", "-A"]);
            edit(repository, "\nseven\n", "\nother\n");
        }),
        ("new, and changed", |repository| {
            repository.write("n", "new\n");
            repository.git(&["add", "-A"]);
            repository.write("n", "other\n");
        }),
        ("new and empty, and changed", |repository| {
            repository.write("n", "");
            repository.git(&["add", "-A"]);
            repository.write("n", "other\n");
        }),
        ("new, and gone", |repository| {
            repository.write("n", "new\n");
            repository.git(&["add", "-A"]);
            repository.remove("n");
        }),
        ("binary", |repository| {
            repository.write("k", "\0");
            repository.git(&["add", "-A"]);
            repository.write("k", "\0\0");
        }),
    ];
    for (label, change) in changes {
        put_aside(label, &[], |repository| {
            repository.write("o", "staged\n");
            change(repository);
        });
    }
}
