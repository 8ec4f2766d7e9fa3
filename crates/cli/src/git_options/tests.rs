use super::*;
use crate::failure::Failure;
use std::ffi::{OsStr, OsString};

const OPTIONS: GitOptions = GitOptions {
    command: "checkout",
    keeps_separator: true,
    options: &[
        GitOption::letter(b'b', "new-branch").with_value(),
        GitOption::letter(b'l', "log").refused("-l -b <branch>"),
        GitOption::switch(None, "guess").or_not(),
        GitOption::switch(None, "overlay").or_not(),
        GitOption::switch(Some(b'm'), "merge").refused("--merge <revision>"),
        GitOption::switch(None, "conflict").with_value(),
        GitOption::switch(Some(b'd'), "detach"),
        GitOption::switch(Some(b't'), "track")
            .with_optional_value()
            .negation_refused("--no-track <branch>"),
        GitOption::switch(Some(b'f'), "force"),
        GitOption::switch(None, "overwrite-ignore").by_default(),
        GitOption::switch(Some(b'2'), "ours").never_negated(),
    ],
};

fn spelled(line: &str) -> Result<String, Failure> {
    let words = spelled_out(&OPTIONS, line.split(' ').map(OsString::from))?;
    Ok(words.join(OsStr::new(" ")).into_string().unwrap())
}

#[test]
fn what_is_there_is_spelled_out() {
    for (line, expected) in [
        ("checkout -fq x", "checkout --force --quiet x"),
        ("checkout --det x --no-gu", "checkout --detach x --no-guess"),
        ("checkout -d --no-detach x", "checkout x"),
        ("checkout --no-quiet -q", "checkout --quiet"),
        ("checkout --guess --no-guess", "checkout --no-guess"),
        ("checkout --no-merge --overwrite-ignore x", "checkout x"),
        ("checkout x -- y -f", "checkout x -- -- y -f"),
        ("checkout -- -- -b", "checkout -- -- -- -b"),
        ("checkout --end-of-options -b -- y", "checkout -- -b -- y"),
        ("checkout -fb x y", "checkout --force --new-branch=x y"),
        ("checkout -bx y", "checkout --new-branch=x y"),
        ("checkout -b=x", "checkout --new-branch==x"),
        ("checkout -b -- -f", "checkout --new-branch=-- --force"),
        ("checkout -t x", "checkout --track x"),
        ("checkout -tdirect x", "checkout --track=direct x"),
        ("checkout --tr=inherit x", "checkout --track=inherit x"),
        ("checkout --conf merge x", "checkout --conflict=merge x"),
        ("checkout --conflict=diff3 --no-conflict x", "checkout x"),
        (
            "checkout -fj4 --workers 2 --stats=s -C d -",
            "checkout --force -j4 --workers 2 --stats=s -C d -",
        ),
    ] {
        assert_eq!(spelled(line).ok().as_deref(), Some(expected), "{line}");
    }
}

#[test]
fn what_only_git_has_is_refused_by_name() {
    for (line, name, hint) in [
        ("checkout -fl", "-l", "-l -b <branch>"),
        ("checkout -fm x", "--merge", "--merge <revision>"),
        ("checkout --no-tr", "--no-track", "--no-track <branch>"),
    ] {
        let failure = spelled(line).unwrap_err();
        let words = format!("'hedgerow checkout' has no option {name}; nothing was touched");
        assert_eq!(failure.message, words, "{line}");
        assert_eq!(failure.exit_code, 129);
        assert_eq!(
            failure.hint.unwrap(),
            format!("use git: git checkout {hint}")
        );
    }
}

#[test]
fn what_nobody_has_is_told_in_gits_words() {
    for (line, words) in [
        ("checkout --nonsense", "unknown option `nonsense'"),
        ("checkout -fx", "unknown switch `x'"),
        ("checkout --no-ours", "unknown option `no-ours'"),
        (
            "checkout --over",
            "ambiguous option: over (could be --overlay or --overwrite-ignore)",
        ),
        ("checkout --force=yes", "option `force' takes no value"),
        ("checkout -b", "switch `b' requires a value"),
        ("checkout --conflict", "option `conflict' requires a value"),
        (
            "checkout --no-conflict=x",
            "option `no-conflict' takes no value",
        ),
    ] {
        assert_eq!(spelled(line).unwrap_err().message, words, "{line}");
    }
}
