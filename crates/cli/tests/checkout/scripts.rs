//! What git's own test scripts found: each mend has its own small test, with git in the twin.

use crate::support::{Pair, Repository};

fn origin() -> Repository {
    let repository = Repository::init(&["-b", "main"]);
    for path in ["one", "two", "d/three"] {
        repository.write(path, format!("{path}\n"));
    }
    repository.commit("first");
    repository.write("two", "changed\n");
    repository.commit("second");
    repository
}

/// A HEAD of only zeros is detached at a commit that does not exist, and can be left.
#[test]
fn a_head_of_only_zeros_can_be_left() {
    let zeros = |it: &Repository| it.write(".git/HEAD", format!("{}\n", "0".repeat(40)));
    for words in [
        &["checkout", "main", "--"][..],
        &["checkout", "-f", "main"],
        &["checkout", "main^"],
        &["checkout", "-b", "new", "main"],
        &["checkout", "--orphan", "new", "main"],
        &["switch", "main"],
        &["switch", "--detach", "main"],
        &["reset", "main"],
        &["reset", "--hard", "main^"],
        &["reset", "--soft", "main"],
        // These need a commit there.
        &["checkout"],
        &["checkout", "-b", "new"],
        &["checkout", "--orphan", "new"],
        &["switch", "-c", "new"],
        &["reset"],
        &["reset", "--hard"],
        &["checkout", "--", "one"],
    ] {
        for edited in ["", "one", "two"] {
            let mut pair = Pair::of(&origin(), &format!("{words:?} {edited}"));
            pair.each("zeros", zeros);
            if !edited.is_empty() {
                pair.each("edited", |it| it.write(edited, "mine\n"));
            }
            pair.both(words[0], "", &words[1..], &[]);
        }
    }
}
