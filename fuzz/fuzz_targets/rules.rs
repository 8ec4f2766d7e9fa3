//! Rules of squashfs-tools from any bytes, a line each: paths and patterns, changes of permissions
//! and of attributes. They are refused, or they say something consistent about every path.
#![no_main]

use hedgerow_squashfs::rules::{Fit, ModeChange, PathRules, Syntax, XattrRules};
use libfuzzer_sys::fuzz_target;

const PATHS: [&[u8]; 6] = [b"a", b"a/b", b"a/b/c.c", b"\xff*", b"[a]/(b)", b"a b/\\"];

fuzz_target!(|content: &[u8]| {
    for syntax in [Syntax::Literal, Syntax::Wildcards, Syntax::Regex] {
        for anywhere in [false, true] {
            let mut rules = PathRules::new(syntax);
            if rules.add_lines(content, anywhere).is_ok() {
                judge(&rules);
            }
        }
    }
    let mut names = PathRules::new(Syntax::Literal);
    for (_, line) in PathRules::lines(content) {
        if names.add(line, false).is_ok() {
            assert!(names.contains(&plain(line)) || plain(line).is_empty());
        }
    }
    let mut xattrs = XattrRules::default();
    for line in content.split(|byte| *byte == b'\n') {
        if let Some(change) = std::str::from_utf8(line).ok().and_then(|it| ModeChange::parse(it).ok()) {
            for mode in [0, 0o644, 0o7777] {
                assert!(change.applied(mode, false) <= 0o7777);
                assert!(change.applied(mode, true) <= 0o7777);
            }
        }
        // The rules that are refused are left out.
        let _ = (xattrs.include(line), xattrs.exclude(line), xattrs.add(line));
        let _ = (xattrs.keeps(b"user.a"), xattrs.keeps(line));
    }
});

/// A path that matches is contained, and the directories that lead to it may not be left out.
fn judge(rules: &PathRules) {
    for path in PATHS {
        if rules.fit(path) != Fit::Whole {
            continue;
        }
        assert!(rules.contains(path));
        let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        for (end, _) in ends {
            assert_ne!(rules.fit(&path[..end]), Fit::Nothing);
        }
    }
}

/// The path without empty components and dots.
fn plain(line: &[u8]) -> Vec<u8> {
    let names = line.split(|byte| *byte == b'/');
    let names: Vec<&[u8]> = names.filter(|name| !name.is_empty() && *name != b".").collect();
    names.join(&b'/')
}
