//! Manual pages: every command has one, mandoc has no remark about any, and each reference between
//! them leads somewhere.

use crate::generated;
use hedgerow_testkit::{isolated, require, run, temporary};
use std::collections::BTreeSet;

/// The name under which the page of these words is installed.
fn name(words: &str) -> String {
    match words {
        "" => "hedgerow".into(),
        tool if tool.contains("sqfs") || tool.contains("squashfs") => tool.into(),
        words => format!("hedgerow-{}", words.replace(' ', "-")),
    }
}

#[test]
fn mandoc_has_no_remark() {
    if !require("mandoc") {
        return;
    }
    let directory = temporary();
    let listed = generated(directory.path(), &["man", "--list"]);
    let mut lint = isolated("mandoc");
    lint.args(["-Tlint", "-Wstyle"])
        .current_dir(directory.path());
    for words in listed.lines() {
        let arguments: Vec<&str> = ["man"]
            .into_iter()
            .chain(words.split_whitespace())
            .collect();
        let page = generated(directory.path(), &arguments);
        let file = format!("{}.1", name(words));
        std::fs::write(directory.path().join(&file), page).unwrap();
        lint.arg(file);
    }
    let outcome = run(lint);
    let said = String::from_utf8_lossy(&outcome.stdout).into_owned();
    // References to pages of git are to such as may not be installed.
    let remarks: Vec<&str> = said
        .lines()
        .filter(|line| !line.contains("referenced manual"))
        .collect();
    assert_eq!(remarks, [""; 0]);
}

#[test]
fn pages_refer_to_pages_that_exist() {
    let directory = temporary();
    let listed = generated(directory.path(), &["man", "--list"]);
    let names: BTreeSet<String> = listed.lines().map(name).collect();
    for words in listed.lines() {
        let arguments: Vec<&str> = ["man"]
            .into_iter()
            .chain(words.split_whitespace())
            .collect();
        let page = generated(directory.path(), &arguments);
        for line in page.lines().filter_map(|line| line.strip_prefix(".BR ")) {
            let referred = line.split(' ').next().unwrap().replace("\\-", "-");
            let is_gits = referred == "git" || referred.starts_with("git-");
            assert!(is_gits || names.contains(&referred), "{words}: {referred}");
        }
    }
}
