//! Some hundred expressions, read as git reads them.

#![allow(clippy::unwrap_used, reason = "it is a test")]

use hedgerow_numbers::{integer, unsigned};
use hedgerow_testkit::{isolated, Repository};

/// Signs, prefixes, digits at the borders of every type, and units, in every combination.
fn expressions() -> Vec<String> {
    let mut all = Vec::new();
    for sign in ["", "-", "+", " ", "- ", " +"] {
        for digits in [
            "",
            "0",
            "7",
            "00",
            "010",
            "08",
            "0x",
            "0x1F",
            "0X1f",
            "0xg",
            "1023",
            "2147483648",
            "4294967296",
            "9223372036854775807",
            "9223372036854775808",
            "9007199254740992",
            "18446744073709551615",
            "18446744073709551616",
            "1.5",
            "1e3",
            "ten",
        ] {
            for unit in ["", "k", "M", "G", "t", "kk", " k", " "] {
                all.push(format!("{sign}{digits}{unit}"));
            }
        }
    }
    all
}

#[test]
fn integers_are_those_of_git_config() {
    let mut wrong = Vec::new();
    for text in expressions() {
        let setting = format!("x.y={text}");
        let mut git = isolated("git");
        git.args(["-c", &setting, "config", "--type=int", "--get", "x.y"]);
        let output = git.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let expected = if output.status.success() {
            Ok(String::from_utf8(output.stdout).unwrap().trim().to_owned())
        } else if said.contains("invalid unit") {
            Err("invalid unit")
        } else if said.contains("out of range") {
            Err("out of range")
        } else {
            panic!("{text}: {said}")
        };
        let read = integer(text.as_bytes());
        let read = read.map(|it| it.to_string()).map_err(|it| it.words());
        if read != expected {
            wrong.push(format!("'{text}': {read:?}, git {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}: {wrong:#?}", wrong.len());
}

/// Which texts a filter takes for a size, and which it does not.
#[test]
fn sizes_are_those_of_gits_filters() {
    let repository = Repository::bare("sha1");
    let mut wrong = Vec::new();
    for text in expressions() {
        let filter = format!("--filter=blob:limit={text}");
        let taken = repository.run(&["rev-list", "--objects", "--all", &filter], b"");
        if (taken.code == 0) != unsigned(text.as_bytes()).is_ok() {
            wrong.push(format!("'{text}': git {}", taken.code));
        }
    }
    assert!(wrong.is_empty(), "{}: {wrong:#?}", wrong.len());
}
