//! Which paths the user means: gitglossary(7), "pathspec". Git wants to know of each pathspec whether
//! it matched anything, and how each stands to a directory.

mod magic;
mod pathspec;

use crate::config::PathspecSettings;
use crate::index::Mode;
use crate::repository::Repository;
use crate::Result;
use bstr::{BStr, BString, ByteSlice};
use pathspec::{Match, Pathspec};
use std::path::Path;

/// Pathspecs, and which of them have matched something.
pub(crate) struct Pathspecs {
    specs: Vec<Pathspec>,
    given: Vec<BString>,
    /// How each has matched at its best.
    matched: Vec<Option<Match>>,
    /// See [`Pathspecs::leading`].
    leading: BString,
}

/// How pathspecs stand to a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// They mean nothing in it.
    Outside,
    /// They may mean something in it.
    Leads,
    /// They mean it, with all that it holds.
    Matches,
}

impl Pathspecs {
    /// Reads what the user gave, relative to where he is. What only excludes, excludes from
    /// everything.
    pub(crate) fn new(repository: &Repository, given: &[BString]) -> Result<Self> {
        let prefix = repository.prefix();
        let prefix = prefix.trim_end_with(|character| character == '/').as_bstr();
        let settings = &repository.environment().pathspecs;
        Self::read(given, settings, prefix, repository.require_work_tree()?)
    }

    fn read(
        given: &[BString],
        settings: &PathspecSettings,
        prefix: &BStr,
        root: &Path,
    ) -> Result<Self> {
        let specs = given
            .iter()
            .map(|spec| Pathspec::read(spec.as_bstr(), settings, prefix, root));
        let mut specs: Vec<Pathspec> = specs.collect::<Result<_>>()?;
        if specs.iter().all(|spec| spec.excluding) {
            specs.push(Pathspec::everything());
        }
        Ok(Pathspecs {
            matched: vec![None; specs.len()],
            leading: leading(&specs),
            specs,
            given: given.to_vec(),
        })
    }

    /// Whether they mean the path of an entry. One that named a path exactly means no other, as
    /// git has it, even with wildcards: what it would overwrite besides stays.
    pub(crate) fn matches(&mut self, path: &BStr, mode: Mode) -> bool {
        let mut is_meant = false;
        for (spec, matched) in self.specs.iter().zip(&mut self.matched) {
            if spec.excluding || *matched == Some(Match::Exact) {
                continue;
            }
            let found = meaning(spec, path, mode);
            is_meant |= found.is_some();
            *matched = found.max(*matched);
        }
        if !is_meant {
            return false;
        }
        // One that excludes need not exclude anything, but there must be something else.
        for (spec, matched) in self.specs.iter().zip(&mut self.matched) {
            if spec.excluding {
                *matched = Some(Match::Wild);
            }
        }
        !self.excludes(path, mode)
    }

    /// The same without remembering it.
    pub(crate) fn fits(&self, path: &BStr, mode: Mode) -> bool {
        let matches = |spec: &Pathspec| meaning(spec, path, mode).is_some();
        self.including().any(matches) && !self.excludes(path, mode)
    }

    fn excludes(&self, path: &BStr, mode: Mode) -> bool {
        let mut excluding = self.excluding();
        excluding.any(|spec| meaning(spec, path, mode).is_some())
    }

    /// How they stand to the untracked directory `path`, which has a slash at its end.
    ///
    /// Where one pathspec names a directory above and another may match something in here, the
    /// latter counts: git looks into the directory then, instead of showing it as one.
    pub(crate) fn untracked_directory(&self, path: &BStr) -> Reach {
        if self.excluding().any(|spec| spec.matching(path).is_some()) {
            return Reach::Outside;
        }
        let matches = self.including().map(|spec| spec.matching_directory(path));
        match matches.max().flatten() {
            None => Reach::Outside,
            Some(Match::Leads) => Reach::Leads,
            Some(Match::Above | Match::Wild | Match::Exact) => Reach::Matches,
        }
    }

    /// Whether they may mean a file in the directory `path`, which has a slash at its end.
    pub(crate) fn lead_into(&self, path: &BStr) -> bool {
        let without = |spec: &Pathspec| {
            // A pattern that fits the directory need not fit what is in it.
            matches!(spec.matching(path), Some(Match::Above | Match::Exact))
        };
        let mut including = self.including();
        including.any(|spec| spec.matching_directory(path).is_some())
            && !self.excluding().any(without)
    }

    /// Whether git looks at the entry `path`, a file or a directory without a slash at its end,
    /// when it looks for untracked and ignored ones. It passes over what no pathspec can match; but
    /// an ignored directory that it looks at is shown whatever the pathspecs mean.
    pub(crate) fn look_at(&self, path: &BStr) -> bool {
        let common = self.leading.len().min(path.len());
        let is_below = self.leading[..common] == path[..common]
            && self.leading.get(common).is_none_or(|byte| *byte == b'/');
        is_below && self.specs.iter().any(|spec| spec.agrees(path))
    }

    /// The directory that all they mean is in, with a slash at its end; empty for the root.
    pub(crate) fn leading(&self) -> &BStr {
        self.leading.as_bstr()
    }

    /// Those that have matched nothing, as they were given; those that exclude too, if nothing else
    /// has matched.
    pub(crate) fn unmatched(&self) -> Vec<BString> {
        let specs = self.given.iter().zip(&self.matched);
        let unmatched = specs.filter(|(_, matched)| matched.is_none());
        unmatched.map(|(given, _)| given.clone()).collect()
    }

    fn including(&self) -> impl Iterator<Item = &Pathspec> {
        self.specs.iter().filter(|spec| !spec.excluding)
    }

    fn excluding(&self) -> impl Iterator<Item = &Pathspec> {
        self.specs.iter().filter(|spec| spec.excluding)
    }
}

/// How a pathspec means an entry. A submodule may be named as the directory that it is.
fn meaning(spec: &Pathspec, path: &BStr, mode: Mode) -> Option<Match> {
    let is_named = || mode == Mode::Gitlink && spec.names_directory(path);
    spec.matching(path)
        .or_else(|| is_named().then_some(Match::Exact))
}

/// What all that is meant begins with, up to a slash. Git finds nothing if the first pathspec
/// excludes.
fn leading(specs: &[Pathspec]) -> BString {
    let Some(first) = specs.first().filter(|spec| !spec.excluding) else {
        return BString::default();
    };
    let mut common = first.fixed();
    for spec in specs.iter().filter(|spec| !spec.excluding) {
        let both = common.iter().zip(spec.fixed());
        common = &common[..both.take_while(|(a, b)| a == b).count()];
    }
    let slash = common.rfind_byte(b'/');
    common[..slash.map_or(0, |slash| slash + 1)].into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(prefix: &str, given: &[&str]) -> Pathspecs {
        let given: Vec<BString> = given.iter().map(|spec| (*spec).into()).collect();
        let settings = PathspecSettings::default();
        Pathspecs::read(&given, &settings, prefix.into(), Path::new("/root")).unwrap()
    }

    #[test]
    fn untracked_directories_are_shown_as_one_where_nothing_in_them_is_singled_out() {
        use Reach::{Leads, Matches, Outside};
        for (prefix, specs, path, expected) in [
            ("", &["a"][..], "a/", Matches),
            ("", &["a/"], "a/", Matches),
            ("", &["a"], "a/b/", Matches),
            ("", &["a"], "ab/", Outside),
            ("", &["a/b"], "a/", Leads),
            ("", &["."], "a/", Matches),
            ("", &["*"], "a/", Matches),
            ("", &["*.c"], "a/", Leads),
            ("", &["*.c"], "a.c/", Leads),
            ("", &["a/*.c"], "b/", Outside),
            ("", &[":(glob)*"], "a/", Leads),
            ("", &[":(glob)**"], "a/", Matches),
            ("", &[":(icase)A"], "a/", Matches),
            // What may match in it counts more than what names a directory above it.
            ("", &[".", "*.c"], "a/", Leads),
            ("", &["a", "a/b/c"], "a/b/", Leads),
            ("", &["a/b", "a/b/c"], "a/b/", Leads),
            // But not more than what names the directory itself.
            ("", &["a/b/", "a/b/c"], "a/b/", Matches),
            ("", &["*", "a/b"], "a/", Matches),
            ("", &[":!a"], "a/", Outside),
            ("", &[":!a"], "b/", Matches),
            ("", &[":!a/b"], "a/", Matches),
            // As a directory, it does not end like that.
            ("", &[":!*.o"], "a.o/", Matches),
            ("", &[".", ":(exclude,glob)*/"], "a/", Outside),
            ("d", &["."], "d/", Matches),
            ("d", &["."], "d/e/", Matches),
            ("d", &[":/"], "e/", Matches),
            // After a wildcard in the name of where the user is, all counts as one.
            ("[d]", &["a"], "[d]/b/", Leads),
        ] {
            let found = read(prefix, specs).untracked_directory(path.into());
            assert_eq!(found, expected, "{prefix:?} {specs:?} {path:?}");
        }
    }

    #[test]
    fn tracked_directories_are_entered_for_the_files_that_are_meant() {
        for (specs, path, expected) in [
            (&["a"][..], "a/", true),
            (&["a/b"], "a/", true),
            (&["a/b"], "a/c/", false),
            (&["a", ":!a"], "a/", false),
            (&["a", ":!a/"], "a/", false),
            (&["a", ":!a/b"], "a/", true),
            (&["a", ":!*.o"], "a/b.o/", true),
            (&["a", ":(exclude,glob)*/"], "a/", true),
        ] {
            let found = read("", specs).lead_into(path.into());
            assert_eq!(found, expected, "{specs:?} {path:?}");
        }
    }

    #[test]
    fn git_looks_at_what_a_pathspec_may_begin_with() {
        for (prefix, specs, path, expected) in [
            ("", &["src/a"][..], "src", true),
            ("", &["src/a"], "src/a", true),
            ("", &["src/a"], "src/ab", true),
            ("", &["src/a"], "src/b", false),
            ("", &["src/a"], "s", false),
            ("", &["src"], "s", true),
            ("", &["src"], "srcx", true),
            ("", &["src"], "lib", false),
            ("", &["*.c"], "lib", true),
            ("", &["src/*.c"], "lib", false),
            ("", &[":(icase)SRC"], "src", true),
            ("", &[":(icase)SRC"], "lib", false),
            // What is excluded is looked at, but only in the directory that all is meant in.
            ("", &["src", ":!lib"], "lib", true),
            ("", &["src/a", ":!lib"], "lib", false),
            ("", &[":!lib", "src/a"], "lib", true),
            ("", &["src/a", "src/b"], "src/c", false),
            ("", &["src/a", "src/b"], "src/b", true),
            ("d", &["*"], "d", true),
            ("d", &["*"], "e", false),
        ] {
            let found = read(prefix, specs).look_at(path.into());
            assert_eq!(found, expected, "{prefix:?} {specs:?} {path:?}");
        }
    }

    #[test]
    fn all_that_is_meant_is_in_one_directory() {
        for (prefix, specs, expected) in [
            ("", &["a/b/c"][..], "a/b/"),
            ("", &["a/b/"], "a/b/"),
            ("", &["a"], ""),
            ("", &["a/b/c", "a/b/d"], "a/b/"),
            ("", &["a/b/c", "a/bc/d"], "a/"),
            ("", &["a/b/c", ":!x"], "a/b/"),
            ("", &[":!x", "a/b/c"], ""),
            ("", &[":!x"], ""),
            ("", &["a/b*/c"], "a/"),
            ("", &[":(literal)a/b*/c"], "a/b*/"),
            ("d", &["."], "d/"),
            ("d", &[":(icase)a/b"], "d/"),
            ("d", &["../e/f"], "e/"),
            ("d", &[":/"], ""),
        ] {
            assert_eq!(
                read(prefix, specs).leading(),
                expected,
                "{prefix:?} {specs:?}"
            );
        }
    }

    #[test]
    fn a_submodule_is_named_as_a_directory_too() {
        let specs = read("", &["sub/"]);
        assert!(specs.fits("sub".into(), Mode::Gitlink));
        assert!(!specs.fits("sub".into(), Mode::File));
        assert!(!specs.fits("su".into(), Mode::Gitlink));
        assert!(!read("", &[":!sub/"]).fits("sub".into(), Mode::Gitlink));
    }

    #[test]
    fn what_has_matched_nothing_is_known() {
        let mut specs = read("", &["a", "b", ":!c"]);
        assert!(specs.matches("a/x".into(), Mode::File));
        assert!(!specs.matches("c".into(), Mode::File));
        assert_eq!(specs.unmatched(), ["b"]);
        let mut specs = read("", &["a", ":!c"]);
        assert!(!specs.matches("c".into(), Mode::File));
        assert_eq!(specs.unmatched(), ["a", ":!c"]);
    }

    #[test]
    fn what_is_named_exactly_is_all_that_is_meant() {
        let mut specs = read("", &["*.c"]);
        assert!(specs.matches("!.c".into(), Mode::File));
        assert!(specs.matches("*.c".into(), Mode::File));
        assert!(!specs.matches("a.c".into(), Mode::File));
        assert!(specs.fits("a.c".into(), Mode::File));
    }
}
