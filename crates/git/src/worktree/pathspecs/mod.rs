//! The paths that the user selects: gitglossary(7), "pathspec". As in git, it is recorded for each
//! pathspec whether it matched anything, and how it matches directories.

mod magic;
mod modes;
mod pathspec;
mod prefixed;
mod required;

use crate::config::PathspecSettings;
use crate::index::{Entry, Index, Mode};
use crate::repository::Repository;
use crate::tree::Difference;
use crate::Result;
use bstr::{BStr, BString, ByteSlice};
pub(crate) use pathspec::join;
use pathspec::{Match, Pathspec};
pub use prefixed::prefixed;
use required::FILE_NAME;
use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

/// Pathspecs, and which of them have matched something.
#[derive(Clone)]
pub(crate) struct Pathspecs {
    specs: Vec<Pathspec>,
    given: Vec<BString>,
    /// The best match of each so far.
    matched: Vec<Option<Match>>,
    /// See [`Pathspecs::leading`].
    leading: BString,
}

/// How pathspecs match a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// They match nothing in it.
    Outside,
    /// They may match something in it.
    Leads,
    /// They match it, with everything in it.
    Matches,
}

impl Pathspecs {
    /// Parses what the user gave, relative to the user's current directory. If all of them exclude,
    /// they exclude from everything.
    pub(crate) fn new(repository: &Repository, given: &[BString]) -> Result<Self> {
        Self::of_nothing(repository, given)?.attached(repository)
    }

    /// The same before it is known where required attributes are looked up.
    fn of_nothing(repository: &Repository, given: &[BString]) -> Result<Self> {
        let prefix = repository.prefix();
        let prefix = prefix.trim_end_with(|character| character == '/').as_bstr();
        let settings = &repository.environment().pathspecs;
        let root = repository.work_tree().unwrap_or(repository.git_dir());
        Self::read(given, settings, prefix, root)
    }

    /// Lets those that require attributes look them up.
    fn attached(mut self, repository: &Repository) -> Result<Self> {
        for spec in &mut self.specs {
            if let Some(required) = &mut spec.required {
                required.attach(repository, self.leading.as_bstr())?;
            }
        }
        Ok(self)
    }

    /// As [`here`](Self::here), with attributes looked up in the tree `all`, of which every entry is
    /// listed as new, and not in the working tree.
    pub(crate) fn here_in_tree(
        repository: &Repository,
        given: &[BString],
        all: &Difference,
    ) -> Result<Option<Self>> {
        let mut found = Self::here_of(repository, given, &Self::of_nothing)?;
        if let Some(specs) = &mut found {
            specs.attach_tree(repository, all)?;
        }
        Ok(found)
    }

    fn attach_tree(&mut self, repository: &Repository, all: &Difference) -> Result<()> {
        if self.specs.iter().all(|spec| spec.required.is_none()) {
            return Ok(());
        }
        let mut files = HashMap::new();
        for change in all.changes() {
            let (directory, name) = hedgerow_tree::split_path(all.path(change));
            if let (FILE_NAME, Some(side)) = (name, change.new) {
                let content = repository.read_object(&side.id)?.1;
                files.insert(BString::from(directory), content);
            }
        }
        for spec in &mut self.specs {
            if let Some(required) = &mut spec.required {
                required.attach_tree(repository, &files, all)?;
            }
        }
        Ok(())
    }

    /// As [`new`](Self::new), relative to the top of the working tree.
    pub(crate) fn at_top(repository: &Repository, given: &[BString]) -> Result<Self> {
        let settings = &repository.environment().pathspecs;
        let root = repository.work_tree().unwrap_or(repository.git_dir());
        Self::read(given, settings, "".into(), root)?.attached(repository)
    }

    /// As [`new`](Self::new), for commands that are about the user's current directory: without any,
    /// all paths in it are meant, and that is what pathspecs exclude from if all of them exclude.
    /// `None` if all paths of the working tree are meant.
    pub(crate) fn here(repository: &Repository, given: &[BString]) -> Result<Option<Self>> {
        Self::here_of(repository, given, &Self::new)
    }

    fn here_of(
        repository: &Repository,
        given: &[BString],
        new: &dyn Fn(&Repository, &[BString]) -> Result<Self>,
    ) -> Result<Option<Self>> {
        if given.is_empty() && repository.prefix().is_empty() {
            return Ok(None);
        }
        let mut specs = new(repository, given)?;
        if given.len() == specs.specs.len() {
            return Ok(Some(specs));
        }
        let here = new(repository, &[BString::from(".")])?;
        specs.specs.pop();
        specs.specs.extend(here.specs);
        specs.leading = leading(&specs.specs);
        // Messages show it like this.
        specs.given.push(if given.is_empty() {
            repository.prefix().to_owned()
        } else {
            ".".into()
        });
        Ok(Some(specs))
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

    /// Whether they match the path of an entry, and records it. As in git, a pathspec without
    /// wildcards that has matched a path exactly matches no other path afterwards, whatever the case
    /// of its letters. One with wildcards does: git before 2.50 took the file of that very name only.
    pub(crate) fn matches(&mut self, path: &BStr, mode: Mode) -> bool {
        let mut is_meant = false;
        for (spec, matched) in self.specs.iter().zip(&mut self.matched) {
            let is_done = *matched == Some(Match::Exact) && !spec.is_wild();
            if spec.excluding || is_done {
                continue;
            }
            let found = meaning(spec, path, mode);
            is_meant |= found.is_some();
            *matched = found.max(*matched);
        }
        if !is_meant {
            return false;
        }
        // An excluding pathspec need not exclude anything, but something else must match.
        for (spec, matched) in self.specs.iter().zip(&mut self.matched) {
            if spec.excluding {
                *matched = Some(Match::Wild);
            }
        }
        !self.excludes(path, mode)
    }

    /// The same without recording it.
    pub(crate) fn fits(&self, path: &BStr, mode: Mode) -> bool {
        let matches = |spec: &Pathspec| meaning(spec, path, mode).is_some();
        self.including().any(matches) && !self.excludes(path, mode)
    }

    fn excludes(&self, path: &BStr, mode: Mode) -> bool {
        let mut excluding = self.excluding();
        excluding.any(|spec| meaning(spec, path, mode).is_some())
    }

    /// How they match the untracked directory `path`, which has a slash at its end.
    ///
    /// If one pathspec names a directory above and another may match something in here, the latter
    /// counts: git then enters the directory instead of showing it as one line.
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

    /// Whether they may match a file in the directory `path`, which has a slash at its end.
    pub(crate) fn lead_into(&self, path: &BStr) -> bool {
        let without = |spec: &Pathspec| {
            // A pattern that matches the directory need not match what is in it.
            // Below it, paths may lack the attributes that a pathspec requires.
            spec.required.is_none()
                && matches!(spec.matching(path), Some(Match::Above | Match::Exact))
        };
        let mut including = self.including();
        including.any(|spec| spec.matching_name_of_directory(path).is_some())
            && !self.excluding().any(without)
    }

    /// Whether git examines the entry `path`, a file or a directory without a trailing slash, when
    /// it looks for untracked and ignored ones. It skips what no pathspec can match; but an ignored
    /// directory that it examines is shown whatever the pathspecs match.
    pub(crate) fn look_at(&self, path: &BStr) -> bool {
        let common = self.leading.len().min(path.len());
        let is_below = self.leading[..common] == path[..common]
            && self.leading.get(common).is_none_or(|byte| *byte == b'/');
        is_below && self.specs.iter().any(|spec| spec.agrees(path))
    }

    /// The common leading directory of all matches, with a slash at its end; empty for the root.
    pub(crate) fn leading(&self) -> &BStr {
        self.leading.as_bstr()
    }

    /// The rows of an index that alone can match: those whose paths start with [`Self::leading`], whose
    /// slash at the end does not count.
    pub(crate) fn rows(&self, index: &Index) -> Range<usize> {
        let start = self.leading.strip_suffix(b"/").unwrap_or(&self.leading);
        let path = |entry: &Entry| index.path(entry).as_bytes();
        let first = index.entries().partition_point(|entry| path(entry) < start);
        let below = index.entries().get(first..).unwrap_or_default();
        let count = below.partition_point(|entry| path(entry).starts_with(start));
        first..first + count
    }

    /// The pathspecs that have matched nothing, as given; also the excluding ones if nothing else
    /// has matched.
    pub(crate) fn unmatched(&self) -> Vec<BString> {
        let specs = self.given.iter().zip(&self.matched);
        let unmatched = specs.filter(|(_, matched)| matched.is_none());
        unmatched.map(|(given, _)| given.clone()).collect()
    }

    /// Whether every path is meant.
    pub(crate) fn mean_all(&self) -> bool {
        self.including().any(Pathspec::is_everything) && self.excluding().next().is_none()
    }

    /// The positions of the pathspecs that include something other than all, and have matched nothing.
    pub(crate) fn idle(&self) -> impl Iterator<Item = usize> + '_ {
        let specs = self.specs.iter().zip(&self.matched).enumerate();
        let is_idle = |spec: &Pathspec| !spec.excluding && !spec.is_everything();
        let idle = specs.filter(move |(_, (spec, matched))| matched.is_none() && is_idle(spec));
        idle.map(|(at, _)| at)
    }

    /// The pathspec at a position, as given, and the path of which it is the name; there is none if case
    /// is ignored.
    pub(crate) fn named(&self, at: usize) -> (&BString, Option<&BStr>) {
        (&self.given[at], self.specs[at].name())
    }

    /// What all matches of each start with, if that is anything.
    pub(crate) fn starts(&self) -> impl Iterator<Item = &[u8]> {
        let starts = self.specs.iter().map(Pathspec::literal);
        starts.filter(|start| !start.is_empty())
    }

    fn including(&self) -> impl Iterator<Item = &Pathspec> {
        self.specs.iter().filter(|spec| !spec.excluding)
    }

    fn excluding(&self) -> impl Iterator<Item = &Pathspec> {
        self.specs.iter().filter(|spec| spec.excluding)
    }
}

/// How a pathspec matches an entry. A submodule may be named as a directory.
fn meaning(spec: &Pathspec, path: &BStr, mode: Mode) -> Option<Match> {
    let is_named = || mode == Mode::Gitlink && spec.names_directory(path);
    spec.matching(path)
        .or_else(|| is_named().then_some(Match::Exact))
}

/// The common start of all matches, up to a slash. git uses none if the first pathspec excludes.
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
            // A possible match in it takes precedence over a name of a directory above it.
            ("", &[".", "*.c"], "a/", Leads),
            ("", &["a", "a/b/c"], "a/b/", Leads),
            ("", &["a/b", "a/b/c"], "a/b/", Leads),
            // But not over a name of the directory itself.
            ("", &["a/b/", "a/b/c"], "a/b/", Matches),
            ("", &["*", "a/b"], "a/", Matches),
            ("", &[":!a"], "a/", Outside),
            ("", &[":!a"], "b/", Matches),
            ("", &[":!a/b"], "a/", Matches),
            // With its trailing slash, the directory does not match.
            ("", &[":!*.o"], "a.o/", Matches),
            ("", &[".", ":(exclude,glob)*/"], "a/", Outside),
            ("d", &["."], "d/", Matches),
            ("d", &["."], "d/e/", Matches),
            ("d", &[":/"], "e/", Matches),
            // After a wildcard in the current directory's name, everything counts as a pattern.
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
            // Excluded paths are examined, but only in the leading directory of all pathspecs.
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
    fn a_name_without_wildcards_is_all_that_is_meant() {
        let mut specs = read("", &[":(icase)a.c"]);
        assert!(specs.matches("A.c".into(), Mode::File));
        assert!(!specs.matches("a.c".into(), Mode::File));
        let mut specs = read("", &["*.c"]);
        assert!(specs.matches("!.c".into(), Mode::File));
        assert!(specs.matches("*.c".into(), Mode::File));
        assert!(specs.matches("a.c".into(), Mode::File));
    }
}
