//! Untracked and ignored files in columns.

use crate::scene::Scene;

/// Files of many widths, some wide, some marked, some ignored.
const FILES: &str = "printf '*.o\\n' >.gitignore; commit one; mkdir sub; echo 1 >sub/file
    for n in a bb ccc dddd a-name-that-is-rather-long e ff another-long-name ggg h ii jjj k \
    'with space' \"$(printf 'tab\\there')\" \
    \"$(printf '\\346\\274\\242\\345\\255\\227')\" \"$(printf 'u\\314\\210ber')\" \
    \"$(printf '\\340\\246\\225\\340\\246\\276')\" \"$(printf 'latin\\344')\" \
    l m n o p q r s t u v w x y z x.o longer.o yy.o zzzz.o; do echo 1 >\"./$n\"; done\n";

const WORDS: &[&[&str]] = &[
    &["--column"],
    &["--column="],
    &["--column=always"],
    &["--column=auto"],
    &["--column=never"],
    &["--column=column"],
    &["--column=row"],
    &["--column=plain"],
    &["--column=dense"],
    &["--column=row,dense"],
    &["--column=row dense", "--ignored"],
    &["--column=dense,nodense"],
    &["--column", "--no-column"],
    &["--column=dense", "--no-column", "--column=row"],
    &["--column=row", "--column=dense", "--column=always"],
    &["--column=row,never"],
    &["--column=dense", "-uno", "--ignored"],
    &["--column", "-s"],
    &["--column", "--porcelain=v2"],
];

fn differences(scene: &Scene, place: &str, more: &[(&str, &str)]) {
    for words in WORDS {
        if let Some(difference) = scene.difference(place, words, more) {
            panic!("{difference}");
        }
    }
}

fn configured(settings: &[(&str, &str)], scene: &Scene) {
    for (key, value) in settings {
        scene.run(&format!("git config '{key}' '{value}'"));
    }
}

#[test]
fn lines_are_as_wide_as_the_terminal() {
    let scene = Scene::new(FILES);
    // Git shows nothing where not even the tab before a path fits: COLUMNS=1.
    for width in [
        "",
        "0",
        "x",
        "2",
        "20",
        " 40x",
        "40",
        "80",
        "81",
        "200",
        "1000000000",
    ] {
        differences(&scene, "", &[("COLUMNS", width)]);
    }
    differences(&scene, "sub", &[("COLUMNS", "50")]);
}

#[test]
fn width_is_that_of_characters() {
    let scene = Scene::new(FILES);
    configured(&[("core.quotePath", "false")], &scene);
    for width in ["40", "80", "200"] {
        differences(&scene, "", &[("COLUMNS", width)]);
    }
}

#[test]
fn colors_and_comments_take_room() {
    let scene = Scene::new(FILES);
    for settings in [
        &[("color.ui", "always")][..],
        &[
            ("status.displayCommentPrefix", "true"),
            ("core.commentChar", ";"),
        ],
        &[
            ("color.status.untracked", ""),
            ("color.status.header", "bold blue"),
        ],
    ] {
        configured(settings, &scene);
        for width in ["40", "80", "200"] {
            differences(&scene, "", &[("COLUMNS", width)]);
        }
    }
}

#[test]
fn the_last_setting_counts() {
    let scene = Scene::new(FILES);
    for file in [
        "[column] ui = row\n status = dense",
        "[column] status = dense,row,always\n ui = column",
        "[column] ui = never\n[column] status = auto,row\n",
        "[column] status = row\n[column] ui = never",
        "[column] status = row\n status = column,dense\n STATUS = always",
    ] {
        scene.run(&format!(
            "printf '%s' '{file}' >../more; git config include.path ../../more"
        ));
        differences(&scene, "", &[]);
        // As behind a pager that git has started.
        differences(&scene, "", &[("GIT_PAGER_IN_USE", "1"), ("TERM", "xterm")]);
    }
}

/// As in git, no width at all is none that was asked for.
#[test]
fn help_has_lines_without_a_width() {
    for words in [&["checkout", "--help"][..], &["image", "create", "--help"]] {
        let mut command = hedgerow_testkit::isolated(env!("CARGO_BIN_EXE_hedgerow"));
        let text = hedgerow_testkit::run({
            command.args(words).env("COLUMNS", "0");
            command
        })
        .text();
        let longest = text.lines().map(str::len).max();
        assert!(longest.is_some_and(|longest| longest > 50), "{text}");
    }
}
