//! `hedgerow read-tree` and `hedgerow checkout-index`: the binary beside git, in copies of one
//! repository.

mod checkout_index;
mod read_tree;

use crate::support::Repository;

/// Three commits: `base`, and `ours` and `theirs` on top of it, which differ from it and from each
/// other in every way; `ours` is checked out.
fn origin() -> Repository {
    let repository = Repository::init(&[]);
    for name in [
        "same",
        "ours",
        "theirs",
        "both",
        "gone-here",
        "gone-there",
        "gone",
    ] {
        repository.write(name, format!("{name}\n"));
    }
    repository.write("d/same", "same\n");
    repository.write("d/theirs", "theirs\n");
    repository.write("becomes-dir", "file\n");
    repository.symlink("link", "same");
    repository.commit("base");
    repository.git(&["tag", "base"]);
    for (name, mine) in [("theirs", "theirs"), ("ours", "ours")] {
        repository.git(&["checkout", "-q", "--detach", "base"]);
        repository.write(mine, "changed\n");
        repository.write("both", format!("{name}\n"));
        repository.write(format!("new-{name}"), "new\n");
        repository.write("new-both", format!("{name}\n"));
        repository.write("new-same", "new\n");
        repository.write(format!("d/{name}"), "changed\n");
        repository.remove("gone");
        if name == "theirs" {
            repository.remove("gone-there");
            repository.remove("becomes-dir");
            repository.write("becomes-dir/inner", "inner\n");
        } else {
            repository.remove("gone-here");
        }
        repository.commit(name);
        repository.git(&["tag", &format!("t-{name}")]);
    }
    repository
}
