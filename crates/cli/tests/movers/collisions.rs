//! A file in HEAD and in the working tree where the index has a directory, or the reverse: no tree holds
//! both, so nothing is put aside.

use crate::twins::Twins;
use hedgerow_testkit::Repository;

/// Two commits; in one of them `f` is a file.
fn scene(is_file_first: bool) -> impl Fn(&Repository) {
    move |repository| {
        repository.write("k", "k\n");
        repository.write(if is_file_first { "f" } else { "f/g" }, "one\n");
        repository.commit("one");
        repository.git(&["rm", "-rq", "f"]);
        repository.write(if is_file_first { "f/h" } else { "f" }, "two\n");
        repository.commit("two");
        repository.git(&["checkout", "-q", "--detach", "main~1"]);
        repository.write(if is_file_first { "f" } else { "f/g" }, "edited\n");
        repository.git(&["read-tree", "main"]);
    }
}

#[test]
fn what_no_tree_can_hold_is_not_put_aside() {
    for is_file_first in [false, true] {
        let path = if is_file_first { "f" } else { "f/g" };
        for line in [
            "stash push",
            "stash push --keep-index",
            "stash push -u",
            "stash push -a -q",
            "stash push -- f",
            "stash",
        ] {
            let mut twins = Twins::new(line, scene(is_file_first));
            assert_eq!(twins.line(line).code, 1, "{line}");
            let content = std::fs::read(twins.our.root.join(path)).unwrap();
            assert_eq!(content, b"edited\n", "{line}");
            twins.line("status --porcelain");
        }
    }
}
