use super::fixture::{fatal, Scratch};
use hedgerow_testkit::git_is_at_least;

const OTHER: (&str, &str) = ("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1");

/// Whether git and the library agree on the repository at `directory`, and what they say.
fn trusted(scratch: &Scratch, directory: &str, variables: &[(&str, &str)]) -> bool {
    let output = scratch.run(directory, &["rev-parse", "HEAD"], variables);
    let found = scratch.discover(directory, variables);
    assert_eq!(
        found.is_ok(),
        output.status.success(),
        "{directory} {variables:?}: {output:?} {found:?}"
    );
    if let Err(error) = &found {
        assert_eq!(error.to_string().trim_end(), fatal(&output).trim_end());
    }
    found.is_ok()
}

fn listed(scratch: &Scratch, values: &[&str]) -> bool {
    let mut config = String::from("[safe]\n");
    for value in values {
        config.push_str(&format!("\tdirectory = {value}\n"));
    }
    scratch.write("safe", config);
    let global = scratch.path("safe").to_str().unwrap().to_owned();
    let results: Vec<bool> = ["r", "r/dir"]
        .iter()
        .map(|directory| trusted(scratch, directory, &[OTHER, ("GIT_CONFIG_GLOBAL", &global)]))
        .collect();
    assert!(results[0] == results[1] || values.contains(&"."));
    results[0]
}

#[test]
fn safe_directory_decides_about_others_repositories() {
    if !git_is_at_least(2, 47, "who may own a repository") {
        return;
    }
    let scratch = Scratch::with_history();
    let own = scratch.path("r").to_str().unwrap().to_owned();
    let around = scratch.path("").to_str().unwrap().to_owned();
    assert!(!trusted(&scratch, "r", &[OTHER]));
    assert!(listed(&scratch, &["*"]));
    assert!(listed(&scratch, &[&own]));
    assert!(listed(&scratch, &[&format!("{own}/")]));
    assert!(listed(&scratch, &[&format!("{around}*")]));
    assert!(!listed(&scratch, &[&around]));
    assert!(!listed(&scratch, &[&format!("{own}/*")]));
    assert!(!listed(&scratch, &["*", ""]));
    assert!(listed(&scratch, &["*", "", &own]));
    assert!(!listed(&scratch, &["relative/r", "/nowhere/*"]));
    assert!(listed(&scratch, &["/*"]));
    assert!(listed(&scratch, &["."]));
}

#[test]
fn only_protected_configuration_counts() {
    let scratch = Scratch::with_history();
    scratch.ask("r", &["config", "safe.directory", "*"]);
    assert!(!trusted(&scratch, "r", &[OTHER]));
    let command = [
        OTHER,
        ("GIT_CONFIG_COUNT", "1"),
        ("GIT_CONFIG_KEY_0", "safe.directory"),
        ("GIT_CONFIG_VALUE_0", "*"),
    ];
    assert!(trusted(&scratch, "r", &command));
}

#[test]
fn a_named_repository_is_trusted() {
    let scratch = Scratch::with_history();
    assert!(trusted(&scratch, "r", &[OTHER, ("GIT_DIR", ".git")]));
}

#[test]
fn bare_repositories_may_be_limited_to_named_ones() {
    if !git_is_at_least(2, 47, "who may own a repository") {
        return;
    }
    let scratch = Scratch::with_history();
    scratch.ask(".", &["clone", "-q", "--bare", "r", "b.git"]);
    let explicit = [
        ("GIT_CONFIG_COUNT", "1"),
        ("GIT_CONFIG_KEY_0", "safe.bareRepository"),
        ("GIT_CONFIG_VALUE_0", "explicit"),
    ];
    assert!(trusted(&scratch, "b.git", &[]));
    assert!(!trusted(&scratch, "b.git", &explicit));
    assert!(trusted(&scratch, "r/.git", &explicit));
    let mut named = explicit.to_vec();
    named.push(("GIT_DIR", "."));
    assert!(trusted(&scratch, "b.git", &named));
}

#[test]
fn owners_are_compared() {
    if hedgerow_fs::effective_uid() != 0 {
        hedgerow_testkit::skip("only root can give files to another user");
        return;
    }
    let scratch = Scratch::with_history();
    scratch.ask("r", &["worktree", "add", "-q", "../linked"]);
    let give = |inner: &str, uid| {
        std::os::unix::fs::lchown(scratch.path(inner), Some(uid), None).unwrap();
    };
    let stranger = 54_321;
    let sudo = [("SUDO_UID", "54321")];
    for path in ["r", "r/.git"] {
        give(path, stranger);
        assert!(!trusted(&scratch, "r/dir", &[]), "{path}");
        assert!(trusted(&scratch, "r/dir", &sudo), "{path}");
        give(path, 0);
        assert!(trusted(&scratch, "r/dir", &[]), "{path}");
    }
    for path in ["linked", "linked/.git", "r/.git/worktrees/linked"] {
        give(path, stranger);
        assert!(!trusted(&scratch, "linked", &[]), "{path}");
        give(path, 0);
    }
    assert!(trusted(&scratch, "linked", &[]));
}
