//! Which paths the user means: gitglossary(7), "pathspec". The reading of the magic words is that
//! of `gix-pathspec`; the matching is here, because git wants to know of each pathspec whether it
//! matched anything, not only of the first.

use super::pathspec_magic::refusal;
use crate::repository::Repository;
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use gix_glob::wildmatch::Mode;
use gix_pathspec::{MagicSignature, SearchMode};

/// Pathspecs, and which of them have matched something.
pub(crate) struct Pathspecs {
    specs: Vec<Pathspec>,
    given: Vec<BString>,
    matched: Vec<bool>,
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

/// One pathspec, relative to the root of the working tree.
struct Pathspec {
    /// The path, wildcards and all; empty for the root.
    path: BString,
    /// Bytes of it that come from where the user is, and are what they are.
    prefix: usize,
    /// Bytes before the first wildcard.
    literal: usize,
    /// How the wildcards are to be read; `None` if there are none.
    wild: Option<Mode>,
    ignore_case: bool,
    excluding: bool,
}

impl Pathspecs {
    /// Reads what the user gave, relative to where he is. What only excludes, excludes from the
    /// directory where he is, or from everything if `from_all`.
    pub(crate) fn new(repository: &Repository, given: &[BString], from_all: bool) -> Result<Self> {
        let prefix = repository.prefix();
        let prefix = prefix.trim_end_with(|character| character == '/').as_bstr();
        let root = repository.require_work_tree()?;
        let specs = given
            .iter()
            .map(|spec| Pathspec::read(spec.as_bstr(), prefix, root));
        let mut specs: Vec<Pathspec> = specs.collect::<Result<_>>()?;
        if specs.iter().all(|spec| spec.excluding) {
            let prefix = if from_all { BStr::new("") } else { prefix };
            specs.push(Pathspec {
                path: prefix.to_owned(),
                prefix: prefix.len(),
                literal: prefix.len(),
                wild: None,
                ignore_case: false,
                excluding: false,
            });
        }
        Ok(Pathspecs {
            matched: vec![false; specs.len()],
            specs,
            given: given.to_vec(),
        })
    }

    /// Whether they mean the file `path`.
    pub(crate) fn matches(&mut self, path: &BStr) -> bool {
        for (spec, matched) in self.specs.iter().zip(&mut self.matched) {
            if !spec.excluding && spec.matches(path) {
                *matched = true;
            }
        }
        self.fits(path)
    }

    /// The same without remembering it.
    pub(crate) fn fits(&self, path: &BStr) -> bool {
        let any = |excluding| {
            let mut specs = self.specs.iter().filter(|spec| spec.excluding == excluding);
            specs.any(|spec| spec.matches(path))
        };
        any(false) && !any(true)
    }

    /// Whether they mean the directory `path`, or perhaps something in it.
    pub(crate) fn directory(&self, path: &BStr) -> Reach {
        let specs = |excluding| {
            self.specs
                .iter()
                .filter(move |spec| spec.excluding == excluding)
        };
        if specs(true).any(|spec| spec.matches_directory(path)) {
            return Reach::Outside;
        }
        let mut reach = Reach::Outside;
        for spec in specs(false) {
            if spec.matches_directory(path) {
                return Reach::Matches;
            }
            if spec.may_match_below(path) {
                reach = Reach::Leads;
            }
        }
        reach
    }

    /// Those that have matched nothing, as they were given. One that excludes need not match.
    pub(crate) fn unmatched(&self) -> Vec<BString> {
        let specs = self.given.iter().zip(&self.specs).zip(&self.matched);
        let unmatched = specs.filter(|((_, spec), matched)| !**matched && !spec.excluding);
        unmatched.map(|((given, _), _)| given.clone()).collect()
    }
}

impl Pathspec {
    fn read(given: &BStr, prefix: &BStr, root: &std::path::Path) -> Result<Self> {
        let bad = |reason: String| Error::Pathspec {
            spec: given.to_owned(),
            reason,
        };
        if given.is_empty() {
            let reason = "empty string is not a valid pathspec. please use . instead if you \
                          meant to match all paths";
            return Err(Error::Setup {
                reason: reason.into(),
            });
        }
        let parsed =
            gix_pathspec::parse(given, gix_pathspec::Defaults::default()).map_err(|error| {
                match refusal(given) {
                    Some(reason) => Error::Setup { reason },
                    None => bad(error.to_string()),
                }
            })?;
        if !parsed.attributes.is_empty() {
            return Err(bad("attributes are not supported here".into()));
        }
        let top = parsed.signature.contains(MagicSignature::TOP);
        let prefix = if top { BStr::new("") } else { prefix };
        let outside = || {
            bad(format!(
                "'{given}' is outside repository at '{}'",
                root.display()
            ))
        };
        let (mut path, prefix) = join(prefix, parsed.path(), root).ok_or_else(outside)?;
        let is_directory = parsed.signature.contains(MagicSignature::MUST_BE_DIR);
        if is_directory && !path.is_empty() {
            path.push(b'/');
        }
        let ignore_case = parsed.signature.contains(MagicSignature::ICASE);
        let case = if ignore_case {
            Mode::IGNORE_CASE
        } else {
            Mode::empty()
        };
        let wildcard = path[prefix..].find_byteset(b"*?[\\");
        let mode = match parsed.search_mode {
            SearchMode::Literal => None,
            SearchMode::ShellGlob => Some(case),
            SearchMode::PathAwareGlob => Some(case | Mode::NO_MATCH_SLASH_LITERAL),
        };
        Ok(Pathspec {
            literal: wildcard.map_or(path.len(), |at| prefix + at),
            wild: mode.filter(|_| wildcard.is_some()),
            path,
            prefix,
            ignore_case,
            excluding: parsed.signature.contains(MagicSignature::EXCLUDE),
        })
    }

    /// Whether it is the path, or a directory that leads to it, or a pattern that fits it.
    fn matches(&self, path: &BStr) -> bool {
        if self.path.is_empty() {
            return true;
        }
        let start = |length: usize| {
            path.get(..length)
                .is_some_and(|start| self.starts_with(start))
        };
        let whole = self.path.len();
        let is_prefix = start(whole) && {
            let ended = self.path.ends_with(b"/");
            ended || path.get(whole).is_none_or(|byte| *byte == b'/')
        };
        is_prefix
            || self.wild.is_some_and(|mode| {
                let (pattern, rest) = (&self.path[self.literal..], path.get(self.literal..));
                let rest = rest.unwrap_or_default().as_bstr();
                start(self.literal) && gix_glob::wildmatch(pattern.as_bstr(), rest, mode)
            })
    }

    /// Whether it means the directory `path`, which has no slash at its end.
    fn matches_directory(&self, path: &BStr) -> bool {
        self.matches(path) || self.path.strip_suffix(b"/") == Some(path.as_bytes())
    }

    /// Whether it may mean something below the directory `path`: it goes on where the path ends, or
    /// it fits up to its first wildcard.
    fn may_match_below(&self, path: &BStr) -> bool {
        let goes_on = self.path.get(path.len()) == Some(&b'/') && self.starts_with(path);
        let fixed = self.literal.min(path.len() + 1);
        let mut whole = path.to_vec();
        whole.push(b'/');
        goes_on || self.wild.is_some() && self.starts_with(&whole[..fixed])
    }

    fn starts_with(&self, start: &[u8]) -> bool {
        let fixed = self.prefix.min(start.len());
        let same = match self.ignore_case {
            true => start[fixed..].eq_ignore_ascii_case(&self.path[fixed..start.len()]),
            false => start[fixed..] == self.path[fixed..start.len()],
        };
        same && start[..fixed] == self.path[..fixed]
    }
}

/// `path` from the directory `prefix`, without `.` and `..`, and how many bytes of `prefix` are
/// left in it. `None` if it leaves the working tree.
fn join(prefix: &BStr, path: &BStr, root: &std::path::Path) -> Option<(BString, usize)> {
    use std::os::unix::ffi::OsStrExt;
    let (mut parts, path): (Vec<&[u8]>, &[u8]) = if path.starts_with(b"/") {
        let rest = path.strip_prefix(root.as_os_str().as_bytes())?;
        (
            Vec::new(),
            rest.strip_prefix(b"/")
                .or(rest.is_empty().then_some(rest))?,
        )
    } else {
        (
            prefix
                .split(|byte| *byte == b'/')
                .filter(|part| !part.is_empty())
                .collect(),
            path,
        )
    };
    let mut kept = parts.len();
    for part in path.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." => {
                parts.pop()?;
                kept = kept.min(parts.len());
            }
            _ => parts.push(part),
        }
    }
    let prefix = bstr::join("/", &parts[..kept]).len();
    Some((bstr::join("/", parts).into(), prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(prefix: &str, spec: &str, path: &str) -> bool {
        let root = std::path::Path::new("/root");
        Pathspec::read(spec.into(), prefix.into(), root)
            .unwrap()
            .matches(path.into())
    }

    #[test]
    fn a_path_means_itself_and_what_is_below() {
        for (prefix, spec, path, expected) in [
            ("", "a", "a", true),
            ("", "a", "a/b", true),
            ("", "a", "ab", false),
            ("", "a/", "a/b", true),
            ("", "a/", "a", false),
            ("", ".", "x", true),
            ("", "./a//b", "a/b", true),
            ("d", ".", "d/x", true),
            ("d", ".", "dx", false),
            ("d", "..", "x", true),
            ("d", "../e", "e/f", true),
            ("d", ":/e", "e", true),
            ("", "/root/a", "a/b", true),
            ("", "/root", "a", true),
        ] {
            assert_eq!(
                matches(prefix, spec, path),
                expected,
                "{prefix:?} {spec:?} {path:?}"
            );
        }
    }

    #[test]
    fn wildcards_cross_directories_unless_told_otherwise() {
        for (prefix, spec, path, expected) in [
            ("", "*.c", "a/b.c", true),
            ("", ":(glob)*.c", "a/b.c", false),
            ("", ":(glob)**/*.c", "a/b.c", true),
            ("", ":(literal)*.c", "b.c", false),
            ("", ":(literal)*.c", "*.c", true),
            ("", "*.c", "*.c/below", true),
            ("[d]", "*.c", "[d]/b.c", true),
            ("[d]", "*.c", "d/b.c", false),
            ("", ":(icase)A/b", "a/B/c", true),
            ("D", ":(icase)a", "d/a", false),
            ("D", ":(icase)a", "D/A", true),
        ] {
            assert_eq!(
                matches(prefix, spec, path),
                expected,
                "{prefix:?} {spec:?} {path:?}"
            );
        }
    }

    #[test]
    fn pathspecs_lead_into_directories() {
        let root = std::path::Path::new("/root");
        for (spec, path, expected) in [
            ("a/b/c", "a", true),
            ("a/b/c", "a/b", true),
            ("a/b/c", "a/c", false),
            ("a/b/c", "a/b/c", false),
            ("*.c", "a", true),
            ("a/*.c", "a", true),
            ("a/*.c", "b", false),
            ("abc*", "ab", false),
            ("ab/x*", "ab", true),
        ] {
            let pathspec = Pathspec::read(spec.into(), "".into(), root).unwrap();
            assert_eq!(
                pathspec.may_match_below(path.into()),
                expected,
                "{spec} {path}"
            );
        }
    }

    #[test]
    fn paths_outside_and_empty_ones_are_errors() {
        let root = std::path::Path::new("/root");
        for (prefix, spec) in [("", ".."), ("d", "../.."), ("", "/rootx/a"), ("", "")] {
            assert!(
                Pathspec::read(spec.into(), prefix.into(), root).is_err(),
                "{spec:?}"
            );
        }
    }
}
