//! Lists that nothing generates name everything that there is.

use super::root;
use hedgerow_testkit::{isolated, require};
use std::fs;
use std::path::Path;

/// Sections of git's configuration whose keys stand in the sources as `"section.key"`.
const SECTIONS: [&str; 32] = [
    "attr",
    "branch",
    "checkout",
    "clean",
    "color",
    "core",
    "diff",
    "extensions",
    "feature",
    "gc",
    "hedgerow",
    "index",
    "mailmap",
    "merge",
    "midx",
    "pack",
    "push",
    "reftable",
    "remote",
    "repack",
    "rerere",
    "safe",
    "sparse",
    "stash",
    "status",
    "submodule",
    "worktree",
    "uploadpack",
    "fetch",
    "maintenance",
    "log",
    "column",
];

fn topic(name: &str) -> String {
    let path = root().join(format!("crates/cli/src/help/topics/{name}.md"));
    fs::read_to_string(path).unwrap()
}

/// The strings of the code that is shipped.
fn strings(mut see: impl FnMut(&str)) {
    let mut pending: Vec<_> = fs::read_dir(root().join("crates")).unwrap().collect();
    while let Some(entry) = pending.pop() {
        let path = entry.unwrap().path();
        let name = path.to_str().unwrap();
        let is_for_tests = [
            "/tests",
            "_test",
            "tests.rs",
            "testkit",
            "latencyfs",
            "test_faults",
        ]
        .iter()
        .any(|mark| name[root().to_str().unwrap().len()..].contains(mark));
        if is_for_tests {
            continue;
        }
        if path.is_dir() {
            pending.extend(fs::read_dir(path).unwrap());
        } else if path.extension().is_some_and(|it| it == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
            let lines = code
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"));
            lines.for_each(|line| line.split('"').skip(1).step_by(2).for_each(&mut see));
        }
    }
}

#[test]
fn every_key_that_is_read_is_listed() {
    let page = topic("configuration").to_lowercase();
    let mut count = 0;
    let mut missing = Vec::new();
    strings(|word| {
        let Some((section, key)) = word.split_once('.') else {
            return;
        };
        let is_key = key.len() > 2 && key.bytes().all(|byte| byte.is_ascii_alphabetic());
        if SECTIONS.contains(&section) && is_key && !["status.terse", "index.lock"].contains(&word)
        {
            count += 1;
            let listed = format!("`{}`", word.to_lowercase());
            if !page.contains(&listed) {
                missing.push(word.to_owned());
            }
        }
    });
    assert!(count > 100, "{count}");
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn every_variable_of_git_that_is_read_is_listed() {
    let page = topic("environment");
    let mut count = 0;
    let mut missing = Vec::new();
    strings(|word| {
        let is_name = word.len() > 4
            && word.starts_with("GIT_")
            && word
                .bytes()
                .all(|byte| byte.is_ascii_uppercase() || byte == b'_');
        if is_name && !word.starts_with("GIT_TEST_") {
            count += 1;
            if !page.contains(&format!("`{word}`")) {
                missing.push(word.to_owned());
            }
        }
    });
    assert!(count > 30, "{count}");
    // They are not read here, but removed from the environment of a git in a submodule.
    missing.retain(|name| {
        !["GIT_CONFIG", "GIT_PREFIX", "GIT_INTERNAL_SUPER_PREFIX"].contains(&&**name)
    });
    missing.dedup();
    assert!(missing.is_empty(), "{missing:?}");
}

/// Every option that the installed squashfs-tools print is on the page for those who come from them.
#[test]
fn every_option_of_squashfs_tools_has_a_counterpart_or_a_word() {
    let page = root().join("docs/src/how-to/from-squashfs-tools.md");
    let page = fs::read_to_string(page).unwrap();
    for tool in ["mksquashfs", "sqfstar", "unsquashfs"] {
        if !require(tool) {
            continue;
        }
        let mut command = isolated(Path::new(tool));
        command.arg("-help");
        let output = command.output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text);
        let options = text.lines().filter_map(|line| {
            let word = line.trim_start().split([' ', '\t', ',']).next()?;
            let name = word.replace(['[', ']'], "");
            let is_option = name.starts_with('-') && name.len() > 1 && !name.ends_with(':');
            is_option.then_some(name)
        });
        let mut count = 0;
        for option in options {
            count += 1;
            let is_there = page.contains(&format!("`{option}`"));
            assert!(is_there || option == "-force", "{tool} {option}");
        }
        assert!(count > 20, "{tool}: {count}");
    }
}

#[test]
fn every_option_of_squashfs_tools_ng_has_a_counterpart_or_a_word() {
    let page = root().join("docs/src/how-to/from-squashfs-tools.md");
    let page = fs::read_to_string(page).unwrap();
    let (_, page) = page.split_once("## squashfs-tools-ng").unwrap();
    for tool in [
        "gensquashfs",
        "tar2sqfs",
        "sqfs2tar",
        "rdsquashfs",
        "sqfsdiff",
    ] {
        if !require(tool) {
            continue;
        }
        let output = isolated(tool).arg("--help").output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text);
        let options = text.lines().filter_map(|line| {
            let word = line.trim_start().split([' ', ',']).next()?;
            word.starts_with("--").then_some(word)
        });
        let mut count = 0;
        for option in options {
            count += 1;
            assert!(
                page.contains(option.trim_end_matches('.')),
                "{tool} {option}"
            );
        }
        assert!(count > 5, "{tool}: {count}");
    }
}
