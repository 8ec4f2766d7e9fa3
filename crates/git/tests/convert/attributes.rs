//! Attribute look-up: the eight attributes' effect against `git check-attr`.
//!
//! What a path's attributes are is visible from outside as its conversion: each rule below sets
//! `filter` to one of many drivers, and the driver that is chosen tells which rule won.

use std::collections::BTreeMap;

use hedgerow_git::convert::{
    AttributeSources, Attributes, Conversion, ConvertOptions, Converter, Driver,
};

use crate::repository::Numbers;
use hedgerow_testkit::Repository;

/// Answers of `git check-attr` about `filter`; `None` where it is not a value.
fn git_filters(repository: &Repository, paths: &[&str]) -> BTreeMap<String, Option<String>> {
    let input = paths.join("\0") + "\0";
    let args = ["check-attr", "-z", "--stdin", "filter"];
    let output = repository.git_with(&args, input.as_bytes());
    let output = String::from_utf8(output).unwrap();
    let fields: Vec<&str> = output.split_terminator('\0').collect();
    let not_values = ["set", "unset", "unspecified"];
    fields
        .chunks(3)
        .map(|answer| {
            let value = Some(answer[2].to_owned()).filter(|value| !not_values.contains(&&**value));
            (answer[0].to_owned(), value)
        })
        .collect()
}

fn our_filters(converter: &Converter, paths: &[&str]) -> BTreeMap<String, Option<String>> {
    let filter = |path: &str| match converter.conversion(path.into()) {
        Conversion::Driver(driver) => {
            Some(converter.driver(driver.index).unwrap().name.to_string())
        }
        _ => None,
    };
    paths
        .iter()
        .map(|path| ((*path).to_owned(), filter(path)))
        .collect()
}

fn converter(attributes: Attributes, names: impl Iterator<Item = String>) -> Converter {
    let drivers = names.map(|name| Driver {
        name: name.into(),
        ..Driver::default()
    });
    let options = ConvertOptions {
        drivers: drivers.collect(),
        ..ConvertOptions::default()
    };
    Converter::new(options, attributes)
}

const PATTERNS: &[&str] = &[
    "*",
    "*.c",
    "*.C",
    "*.tar.gz",
    "a",
    "/a",
    "a/",
    "dir/",
    "dir/a",
    "/dir/a",
    "dir/*",
    "/dir/**",
    "**/a",
    "**/x/a",
    "dir/**/a",
    "a?",
    "[ab]",
    "[!a]",
    "[^a].c",
    "[a-c]*.c",
    "[[:upper:]]*",
    "[[:alpha:]]",
    "\\!bang",
    "\\#hash",
    "\\*",
    "a\\b",
    "\"sp ace\"",
    "\"q\\\"uote\"",
    "\"*.\\143\"",
    "\"tab\\t\"",
    "*/a",
    "*/*",
    "**",
    "*a*b*",
    "*.",
    "Makefile",
    "dir/sub",
    "sub/x/a",
    "x/",
    "/x/a",
    "*[",
    "[",
    "a\\",
    "dir//a",
    "./a",
    "!a",
    "*.c.c",
    ".c",
    "**.c",
    "dir**",
    "/**/a",
    "dir/**",
    "/*",
    "/*.c",
    "sub/*.c",
    "*c",
    "[]]",
    "[a-]",
    "[\\]]",
    "[[:digit:][:lower:]]",
    "[!-a]",
];

const PATHS: &[&str] = &[
    "a",
    "b",
    "a.c",
    "b.C",
    "B.c",
    "x.tar.gz",
    "dir/a",
    "dir/b.c",
    "dir/sub/a",
    "dir/sub/x/a",
    "dir/x/a",
    "x/a",
    "x/dir/a",
    "A",
    "!bang",
    "#hash",
    "*",
    "ab",
    "a\\b",
    "sp ace",
    "q\"uote",
    "tab\t",
    "Makefile",
    "dir/Makefile",
    "DIR/A",
    "Dir/a",
    "a-b-c",
    "xaxbx",
    "name.",
    "[",
    "]",
    "a\\",
    ".c",
    "x.c.c",
    "sub/x/a",
    "sub/y.c",
    "dir/sub/x/y/z.c",
    "-",
    "ä",
    "5",
    "_",
    "dir.c/a",
    "dirs",
    "dira/b",
    "a/b",
    "a/a",
    "d",
    "D",
];

fn check_patterns(ignore_case: bool) {
    let repository = Repository::init(&[]);
    repository.git(&[
        "config",
        "core.ignorecase",
        if ignore_case { "true" } else { "false" },
    ]);
    let mut wrong = Vec::new();
    for (chunk, padding) in PATTERNS
        .chunks(1)
        .flat_map(|chunk| [(chunk, 0), (chunk, 20)])
    {
        // A file of many rules is looked through in another way.
        let mut text = "nobody filter=f1\n".repeat(padding);
        for (number, pattern) in chunk.iter().enumerate() {
            text.push_str(&format!("{pattern} filter=f{number}\n"));
        }
        repository.write(".gitattributes", text.as_bytes());
        repository.write(
            "dir/.gitattributes",
            text.replace("filter=f", "filter=d").as_bytes(),
        );
        let dir = text.replace("filter=f", "filter=d");
        let attributes = Attributes::new(&AttributeSources {
            directories: vec![("".into(), text.as_bytes()), ("dir".into(), dir.as_bytes())],
            ignore_case,
            ..AttributeSources::default()
        });
        let converter = converter(attributes, ["f0".to_owned(), "d0".to_owned()].into_iter());
        let git = git_filters(&repository, PATHS);
        for (path, ours) in our_filters(&converter, PATHS) {
            if git[&path] != ours {
                wrong.push(format!(
                    "{chunk:?} {path:?}: git {:?}, ours {ours:?}",
                    git[&path]
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_pattern_matches_what_it_matches_for_git() {
    check_patterns(false);
}

#[test]
fn each_pattern_matches_what_it_matches_for_git_in_any_case() {
    check_patterns(true);
}

/// Several files of many rules each, macros among them: which rule wins?
#[test]
fn the_strongest_rule_wins() {
    for seed in 0..8 {
        let mut numbers = Numbers(seed);
        let repository = Repository::init(&[]);
        let mut count = 0;
        let mut file = |macros: bool, rules: usize| {
            let mut text = String::from("# rules\n\n");
            for _ in 0..rules {
                let pattern = PATTERNS[numbers.below(PATTERNS.len())];
                count += 1;
                let states = match numbers.below(10) {
                    0 => "m0".to_owned(),
                    1 => "-m1".to_owned(),
                    2 => "m2 filter".to_owned(),
                    3 => "!filter".to_owned(),
                    4 => "-filter".to_owned(),
                    5 => format!("filter=f{count} m1"),
                    6 => format!("filter=f{count} bad/name"),
                    _ => format!("diff filter=f{count} -merge"),
                };
                text.push_str(&format!("{pattern} {states}\n"));
                if macros && numbers.below(6) == 0 {
                    let number = numbers.below(3);
                    let other = numbers.below(3);
                    text.push_str(&format!("[attr]m{number} filter=f{count} m{other}\n"));
                }
            }
            text
        };
        let top = file(true, 60);
        let dir = file(true, 30);
        let sub = file(false, 5);
        let info = file(true, 3);
        let global = file(true, 10);
        repository.write(".gitattributes", top.as_bytes());
        repository.write("dir/.gitattributes", dir.as_bytes());
        repository.write("dir/sub/.gitattributes", sub.as_bytes());
        repository.write(".git/info/attributes", info.as_bytes());
        repository.write("global", global.as_bytes());
        let global_path = repository.root.join("global");
        repository.git(&[
            "config",
            "core.attributesFile",
            global_path.to_str().unwrap(),
        ]);
        let attributes = Attributes::new(&AttributeSources {
            global: Some(global.as_bytes()),
            directories: vec![
                ("dir/sub".into(), sub.as_bytes()),
                ("".into(), top.as_bytes()),
                ("dir".into(), dir.as_bytes()),
                ("dir".into(), b"* filter=unused"),
            ],
            info: Some(info.as_bytes()),
            ..AttributeSources::default()
        });
        assert!(!attributes.messages().is_empty());
        let names = (0..=count).map(|number| format!("f{number}"));
        let converter = converter(attributes, names);
        assert_eq!(
            our_filters(&converter, PATHS),
            git_filters(&repository, PATHS),
            "seed {seed}"
        );
    }
}

#[test]
fn nothing_that_matters_makes_everything_plain() {
    let sources = AttributeSources {
        directories: vec![(
            "".into(),
            b"*.dts diff=dts\n*.png -diff -merge\n[attr]m diff\n* m\n",
        )],
        ..AttributeSources::default()
    };
    let attributes = Attributes::new(&sources);
    assert!(attributes.is_empty());
    let converter = Converter::new(ConvertOptions::default(), attributes);
    assert!(converter.is_plain());
    assert_eq!(converter.conversion("a.png".into()), Conversion::Plain);
}

#[test]
fn limits_are_those_of_git() {
    let long_line = format!("a{} filter=f\n", "b".repeat(2038));
    let nul = b"x filter=f\n\0a filter=f\n";
    let big = vec![b'\n'; 100 * 1024 * 1024];
    let cases: &[(&[u8], &str, usize)] = &[
        (b"a filter=f\n", "f", 0),
        (b"\xef\xbb\xbfa filter=f\n", "", 0),
        (nul, "", 0),
        (long_line.as_bytes(), "", 1),
        (&big, "", 1),
        (b"!a filter=f\n", "", 1),
        (b"a filter=f x/y\n", "", 1),
    ];
    for (content, expected, messages) in cases {
        let path = "a".to_owned();
        let attributes = Attributes::new(&AttributeSources {
            directories: vec![("".into(), content)],
            ..AttributeSources::default()
        });
        assert_eq!(attributes.messages().len(), *messages);
        let converter = converter(attributes, ["f".to_owned()].into_iter());
        let ours = our_filters(&converter, &[&path])[&path].clone();
        assert_eq!(ours.unwrap_or_default(), *expected);
    }
}

#[test]
fn macros_below_the_top_are_ignored_and_chains_of_them_are_no_danger() {
    let mut chain = String::new();
    for number in 0..200_000 {
        chain.push_str(&format!("[attr]m{number} m{}\n", number + 1));
    }
    chain.push_str("[attr]m200000 filter=f\na m0\nb m1 -filter\n");
    let attributes = Attributes::new(&AttributeSources {
        directories: vec![
            ("".into(), chain.as_bytes()),
            ("dir".into(), b"[attr]n filter=f\nc n\n"),
        ],
        ..AttributeSources::default()
    });
    assert_eq!(attributes.messages().len(), 1);
    let converter = converter(attributes, ["f".to_owned()].into_iter());
    let ours = our_filters(&converter, &["a", "b", "dir/c"]);
    assert_eq!(ours.values().flatten().count(), 1);
    assert_eq!(ours["a"].as_deref(), Some("f"));
}

/// Nothing is asserted but that it comes back.
#[test]
fn garbage_is_survived() {
    let parts: &[&[u8]] = &[
        b"*",
        b"?",
        b"[",
        b"]",
        b"!",
        b"\\",
        b"\"",
        b"/",
        b"**",
        b" ",
        b"\t",
        b"\n",
        b"\0",
        b"=",
        b"-",
        b"a",
        b"text",
        b"[attr]",
        b"filter=f",
        b"[[:",
        b":]",
        b"\\3",
        b"\xff",
        b"#",
    ];
    let mut numbers = Numbers(7);
    for _ in 0..2000 {
        let mut file = Vec::new();
        for _ in 0..numbers.below(60) {
            file.extend_from_slice(parts[numbers.below(parts.len())]);
        }
        for ignore_case in [false, true] {
            let attributes = Attributes::new(&AttributeSources {
                directories: vec![("".into(), &file), ("dir".into(), &file)],
                ignore_case,
                ..AttributeSources::default()
            });
            let converter = converter(attributes, ["f".to_owned()].into_iter());
            our_filters(&converter, PATHS);
        }
    }
}
