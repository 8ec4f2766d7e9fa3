//! What each pattern of an ignore file matches, against Mercurial.

use crate::{Bench, Format};
use std::fs;
use std::path::Path;

const FILES: [&[u8]; 30] = [
    b"a.o",
    b"A.O",
    b"src/a.o",
    b"src/a.c",
    b"src/b.c",
    b"src/build/x",
    b"build/x",
    b"build/y/z.txt",
    b"rebuild",
    b"foo",
    b"foo.bar",
    b"foobar",
    b"foo-bar",
    b"foo bar",
    b"foo#bar",
    b"foo\\bar",
    b"[x]",
    b"{y}",
    b"^z$",
    b"a/b/c/d",
    b"a/b/x/d",
    b"aa",
    b"abab",
    b"x1",
    b"x22",
    b"x_333",
    b"\xe4\xf6",
    b"caf\xc3\xa9",
    b"sub/deep/file",
    b"sub/other.txt",
];

/// Ignore files that Mercurial takes.
const TAKEN: [&str; 98] = [
    "",
    "# nothing",
    r"\.o$",
    r"^a\.o$",
    "foo",
    "^foo",
    "foo$",
    "^foo$",
    "foo|build",
    "^foo|build",
    "^(foo|build)",
    "^(?:foo|build)$",
    "(?i)A\\.o",
    "(?i)^a\\.o$",
    "(?is)a.O",
    "(?x)f o o",
    "(?i:A)\\.O",
    "(?-i:a)\\.o",
    "(?x: f o o )bar",
    "x\\d",
    "x\\d+$",
    "x\\d{2}",
    "x\\d{2,}",
    "x\\d{,1}$",
    "x\\d{1,2}$",
    "x_?\\d{3}",
    "x{2",
    "{y}",
    "\\{y\\}",
    "x\\D",
    "foo\\sbar",
    "foo\\Sbar",
    "foo\\wbar",
    "foo\\Wbar",
    "\\bbar",
    "foo\\b",
    "foo\\Bb",
    "[a-c]/",
    "[^a-z]o",
    "[]x[]",
    "[[]x",
    "[\\]x]]",
    "[\\w-]bar",
    "[\\d_]3",
    "[a\\-z]a",
    "[-.]bar",
    "[.-]bar",
    "[&&~~-]",
    "foo[ \\#]bar",
    "foo\\#bar",
    "foo#bar",
    "foo\\\\bar",
    "foo[\\\\]bar",
    "\\^z\\$",
    "\\x66oo",
    "\\146oo",
    "\\xe4",
    "[\\xe0-\\xef]",
    "caf.$",
    "caf..$",
    "\\A(a|build)",
    "bar\\Z",
    "(?P<l>a)(?P=l)",
    "(ab)\\1",
    "(a)(b)\\1\\2",
    "^(?!foo)f?",
    "^(?!(foo|src|a))",
    "foo(?=bar)",
    "foo(?!bar)",
    "(?<=foo)bar",
    "(?<!foo)bar",
    "(?\\#comment)foobar",
    "a*?b",
    "a+?/",
    "fo??o",
    "()foo",
    "(|x)foo",
    "a||b",
    "syntax: glob\n*.o",
    "syntax: glob\nbuild",
    "syntax: glob\nbuild/",
    "syntax: glob\n**/d",
    "syntax: glob\na/**/d",
    "syntax: glob\na/**",
    "syntax: glob\n?oo",
    "syntax: glob\n[!f]oo*\n{y}\n\\[x\\]",
    "syntax: glob\n{foo,a}*",
    "syntax: glob\nsrc/{a,b}.c",
    "syntax: glob\n./foo\na//b\nsub/../aa",
    "syntax: rootglob\nbuild\n*.o",
    "syntax: nonsense\nfoo",
    "relre:^foo$\nglob:*.c\nrootglob:*.o\nregexp:bar$\nrelglob:aa",
    "include:other",
    "subinclude:sub/ignores",
    "subinclude:sub/deep/ignores\nsubinclude:sub/deep/none\nfoo",
    "include:missing\nfoo",
    "includes\nsubincludes*\nsyntax: include\nx1",
    "foo   \n\t\n \nsyntax:glob  \n  aa\naa\t# x",
];

/// Lines that Mercurial refuses, as does hedgerow.
const REFUSED: [(&str, &str); 21] = [
    ("(", "missing ), unterminated subpattern"),
    ("a)", "unbalanced parenthesis"),
    ("[a", "unterminated character set"),
    ("a**", "multiple repeat"),
    ("^*", "nothing to repeat"),
    ("a|*", "nothing to repeat"),
    ("a{3,2}", "min repeat greater than max repeat"),
    ("\\q", "bad escape \\q"),
    ("\\u1234", "bad escape \\u"),
    ("\\x1", "incomplete escape \\x"),
    ("\\1", "invalid group reference 1"),
    ("(a\\1)", "cannot refer to an open group"),
    ("[z-a]", "bad character range"),
    ("[\\w-z]", "bad character range"),
    ("a(?i)b", "global flags not at the start of the expression"),
    ("(?P<a>x)(?P<a>y)", "bad or repeated group name"),
    ("(?P=a)", "unknown group name"),
    ("(?P<a", "missing >, unterminated name"),
    ("(?y)", "unknown extension ?y"),
    ("\\777", "octal escape value outside of range 0-0o377"),
    ("a\\", "bad escape (end of pattern)"),
];

fn untracked_files(bench: &mut Bench) -> std::path::PathBuf {
    use std::os::unix::ffi::OsStrExt;
    let root = bench.init("ignored", Format::V1);
    for name in FILES {
        let path = root.join(Path::new(std::ffi::OsStr::from_bytes(name)));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
    for (name, content) in [
        ("other", "syntax: glob\nfoo*\n"),
        ("sub/ignores", "^deep\nother\n"),
        ("sub/deep/ignores", "syntax: rootglob\nfile\n"),
        ("sub/deep/none", "syntax: rootglob\nfile\nignores\n"),
    ] {
        fs::write(root.join(name), content).unwrap();
    }
    root
}

#[test]
fn every_pattern_matches_what_it_matches_for_mercurial() {
    let Some(mut bench) = Bench::new() else {
        return;
    };
    let root = untracked_files(&mut bench);
    for patterns in TAKEN {
        fs::write(root.join(".hgignore"), format!("{patterns}\n")).unwrap();
        bench.compare(&root, &[&["-u", "-i"]], &format!("{patterns:?}"));
    }
}

#[test]
fn what_mercurial_refuses_is_refused_and_its_line_is_named() {
    let Some(mut bench) = Bench::new() else {
        return;
    };
    let root = untracked_files(&mut bench);
    for (pattern, reason) in REFUSED {
        fs::write(root.join(".hgignore"), format!("fine\n\n{pattern}\n")).unwrap();
        let theirs = bench.hg.run(&root, &["status".as_ref()]);
        assert_eq!(theirs.code, 255, "{pattern}: {theirs:?}");
        let ours = bench.ours(&root, &[]);
        assert_eq!(ours.status.code(), Some(128), "{pattern}");
        let said = String::from_utf8(ours.stderr).unwrap();
        let expected = format!(
            "fatal: {}:3: invalid pattern '{pattern}': {reason}\n",
            root.join(".hgignore").display()
        );
        assert!(said.starts_with(&expected), "{said} instead of {expected}");
    }
}

#[test]
fn ignore_files_are_found_by_the_configuration() {
    let Some(mut bench) = Bench::new() else {
        return;
    };
    let root = untracked_files(&mut bench);
    let elsewhere = bench.path("elsewhere");
    fs::write(&elsewhere, "^foo\n").unwrap();
    let settings = format!(
        "[ui]\nignore = other\nignore.two = {}\n\
         ignore.three = {}/none\n%include more\n",
        elsewhere.display(),
        bench.path("").display()
    );
    fs::write(root.join(".hg/hgrc"), settings).unwrap();
    fs::write(root.join(".hg/more"), "[ui]\nignore.four = sub/ignores\n").unwrap();
    bench.compare(&root, &[&["-u", "-i"], &[]], "configured");
    let said = String::from_utf8(bench.ours(&root, &[]).stderr).unwrap();
    assert!(said.contains("skipping unreadable pattern file"), "{said}");
    fs::write(root.join(".hg/hgrc"), "[ui]\n%unset ignore\n").unwrap();
    bench.compare(&root, &[&["-u", "-i"]], "unset");
}

#[test]
fn files_that_include_themselves_come_to_an_end() {
    let Some(mut bench) = Bench::new() else {
        return;
    };
    let root = untracked_files(&mut bench);
    fs::write(root.join(".hgignore"), "foo\ninclude:.hgignore\n").unwrap();
    let ours = bench.ours(&root, &[]);
    assert_eq!(ours.status.code(), Some(128));
    let said = String::from_utf8(ours.stderr).unwrap();
    let expected = ":2: too many files are included, one in the other\n";
    assert!(said.contains(expected), "{said}");
}

#[test]
fn a_pattern_that_would_take_forever_or_all_memory_is_refused() {
    let Some(mut bench) = Bench::new() else {
        return;
    };
    let root = untracked_files(&mut bench);
    fs::write(root.join("a".repeat(200)), "").unwrap();
    for pattern in [
        "((a{500}){500}){500}",
        "(?=a)((a*)*)*$b",
        "(((a+)+)+)+\\1\\1x",
    ] {
        fs::write(root.join(".hgignore"), format!("{pattern}\n")).unwrap();
        let ours = bench.ours(&root, &[]);
        let said = String::from_utf8_lossy(&ours.stderr).into_owned();
        assert!(
            ours.status.success() || said.contains(":1: invalid pattern"),
            "{pattern}: {said}"
        );
    }
}
