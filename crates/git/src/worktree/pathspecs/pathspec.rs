//! One pathspec: how it is parsed, and how it matches a path.

use super::magic;
use super::required::Required;
use crate::config::PathspecSettings;
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use gix_glob::wildmatch::Mode;
use hedgerow_walk::pattern_for_folding;
use std::path::Path;

/// One pathspec, relative to the root of the working tree.
#[derive(Clone)]
pub(super) struct Pathspec {
    /// The path, including wildcards; empty for the root. With a slash at its end, it does not
    /// match a file of that name.
    path: BString,
    /// Length of the prefix from the user's current directory, which is taken literally, in bytes.
    prefix: usize,
    /// Length of the literal part before the first wildcard, in bytes.
    literal: usize,
    /// The part with wildcards; `None` if there is none.
    wild: Option<Wild>,
    ignore_case: bool,
    pub excluding: bool,
    /// Attributes that a path must have, too.
    pub required: Option<Required>,
}

/// What is matched with wildcards.
#[derive(Clone)]
struct Wild {
    mode: Mode,
    /// `None` if it matches nothing.
    pattern: Option<BString>,
}

/// How a pathspec matches a path. If several match, the greatest counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Match {
    /// It names an ancestor directory of the path.
    Above,
    /// The path is a directory that may contain a match.
    Leads,
    /// Its wildcards match.
    Wild,
    /// It names the path.
    Exact,
}

impl Pathspec {
    /// Parses a pathspec given by a user in the directory `prefix`. `settings` come from the
    /// environment.
    pub(super) fn read(
        given: &BStr,
        settings: &PathspecSettings,
        prefix: &BStr,
        root: &Path,
    ) -> Result<Self> {
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
        let (magic, given_path) =
            magic::read(given, settings).map_err(|reason| Error::Setup { reason })?;
        let required = if magic.attributes {
            Required::read(given).map_err(|reason| Error::Setup { reason })?
        } else {
            None
        };
        if magic.prefix.is_some() && !prefix.is_empty() {
            let reason = format!("'prefix' is only for the top of the working tree: '{given}'");
            return Err(Error::Setup { reason });
        }
        let (path, prefix) = if magic.top || magic.prefix.is_some() {
            // git takes this path as it is, even with dots that no path has.
            let fixed = magic.prefix.unwrap_or(0).min(given_path.len());
            (given_path.to_owned(), fixed)
        } else {
            join(prefix, given_path, root).ok_or_else(|| {
                let root = root.display();
                bad(format!("'{given_path}' is outside repository at '{root}'"))
            })?
        };
        let case = if magic.ignore_case {
            Mode::IGNORE_CASE
        } else {
            Mode::empty()
        };
        let mode = match (magic.literal, magic.glob) {
            (true, _) => None,
            (false, false) => Some(case),
            (false, true) => Some(case | Mode::NO_MATCH_SLASH_LITERAL),
        };
        let wildcard = mode.and_then(|_| path.find_byteset(b"*?[\\"));
        let literal = wildcard.map_or(path.len(), |at| at.max(prefix));
        Ok(Pathspec {
            wild: mode.filter(|_| literal < path.len()).map(|mode| Wild {
                mode,
                pattern: if magic.ignore_case {
                    pattern_for_folding(&path[literal..])
                } else {
                    Some(path[literal..].into())
                },
            }),
            literal,
            path,
            prefix,
            ignore_case: magic.ignore_case,
            excluding: magic.exclude,
            required,
        })
    }

    /// A pathspec that matches everything.
    pub(super) fn everything() -> Self {
        Pathspec {
            path: BString::default(),
            prefix: 0,
            literal: 0,
            wild: None,
            ignore_case: false,
            excluding: false,
            required: None,
        }
    }

    /// Whether it has wildcards.
    pub(super) fn is_wild(&self) -> bool {
        self.wild.is_some()
    }

    /// How it matches the path; a directory's path has a slash at its end.
    pub(super) fn matching(&self, path: &[u8]) -> Option<Match> {
        let found = self.matching_name(path)?;
        self.has_required(path).then_some(found)
    }

    fn has_required(&self, path: &[u8]) -> bool {
        let required = self.required.as_ref();
        required.is_none_or(|required| required.are_met(path))
    }

    /// The same, whatever attributes the path has.
    pub(super) fn matching_name(&self, path: &[u8]) -> Option<Match> {
        let whole = self.path.len();
        if whole == 0 {
            return Some(Match::Above);
        }
        if path.get(..whole).is_some_and(|start| self.starts(start)) {
            match path.get(whole) {
                None => return Some(Match::Exact),
                Some(b'/') => return Some(Match::Above),
                Some(_) if self.path.ends_with(b"/") => return Some(Match::Above),
                Some(_) => {}
            }
        }
        let wild = self.wild.as_ref()?;
        let (pattern, rest) = (wild.pattern.as_ref()?, self.after_literal(path)?);
        gix_glob::wildmatch(pattern.as_bstr(), rest, wild.mode).then_some(Match::Wild)
    }

    /// How it matches a directory, whose path has a slash at its end, or possibly something in it.
    pub(super) fn matching_directory(&self, directory: &[u8]) -> Option<Match> {
        // git asks for the attributes of the directory even if it is only on the way.
        let found = self.matching_name_of_directory(directory)?;
        self.has_required(directory).then_some(found)
    }

    /// The same, whatever attributes the directory has.
    pub(super) fn matching_name_of_directory(&self, directory: &[u8]) -> Option<Match> {
        self.matching_name(directory).or_else(|| {
            let goes_on = directory.len() < self.path.len() && self.starts(directory);
            // git assumes that wildcards may cross directories.
            let is_wild = self.wild.is_some() && self.after_literal(directory).is_some();
            (goes_on || is_wild).then_some(Match::Leads)
        })
    }

    /// Whether it names the directory `path` (without a trailing slash) with a trailing slash.
    pub(super) fn names_directory(&self, path: &[u8]) -> bool {
        let is_named =
            self.path.len() == path.len() + 1 && self.path.ends_with(b"/") && self.starts(path);
        is_named && self.has_required(path)
    }

    /// Whether it means all paths.
    pub(super) fn is_everything(&self) -> bool {
        self.path.is_empty()
    }

    /// The path, including wildcards.
    pub(super) fn path(&self) -> &[u8] {
        &self.path
    }

    /// How many bytes of it are taken literally, because they are from the user's current directory.
    pub(super) fn prefix(&self) -> usize {
        self.prefix
    }

    /// The path of that very name, unless case is ignored.
    pub(super) fn name(&self) -> Option<&BStr> {
        (!self.ignore_case).then_some(self.path.as_bstr())
    }

    /// The part before the first wildcard.
    pub(super) fn literal(&self) -> &[u8] {
        &self.path[..self.literal]
    }

    /// Whether the path and the literal part agree as far as both go.
    pub(super) fn agrees(&self, path: &[u8]) -> bool {
        self.starts(&path[..path.len().min(self.literal)])
    }

    /// The common start of all its matches: up to a wildcard, or if case is ignored, only the
    /// prefix.
    pub(super) fn fixed(&self) -> &[u8] {
        let length = if self.ignore_case {
            self.prefix
        } else {
            self.literal
        };
        &self.path[..length]
    }

    /// The rest of a path that starts with the literal part.
    fn after_literal<'p>(&self, path: &'p [u8]) -> Option<&'p BStr> {
        let (start, rest) = path.split_at_checked(self.literal)?;
        self.starts(start).then_some(rest.as_bstr())
    }

    /// Whether it starts with `start`, which is not longer.
    fn starts(&self, start: &[u8]) -> bool {
        let fixed = self.prefix.min(start.len());
        let same = if self.ignore_case {
            start[fixed..].eq_ignore_ascii_case(&self.path[fixed..start.len()])
        } else {
            start[fixed..] == self.path[fixed..start.len()]
        };
        same && start[..fixed] == self.path[..fixed]
    }
}

/// `path` relative to the root, resolved from the directory `prefix`, without `.` and `..`; and how
/// many bytes of `prefix` are left in it. A slash at its end is added if it can only be a
/// directory. `None` if it leaves the working tree.
pub(crate) fn join(prefix: &BStr, path: &BStr, root: &Path) -> Option<(BString, usize)> {
    use std::os::unix::ffi::OsStrExt;
    let is_part = |part: &&[u8]| !part.is_empty();
    let (mut parts, path): (Vec<&[u8]>, &[u8]) = if path.starts_with(b"/") {
        let rest = path.strip_prefix(root.as_os_str().as_bytes())?;
        let below = rest.strip_prefix(b"/");
        (Vec::new(), below.or(rest.is_empty().then_some(rest))?)
    } else {
        (prefix.split_str(b"/").filter(is_part).collect(), path)
    };
    let mut kept = parts.len();
    let mut ends_open = false;
    for part in path.split_str(b"/") {
        ends_open = matches!(part, b"" | b"." | b"..");
        match part {
            b"" | b"." => {}
            b".." => {
                parts.pop()?;
                kept = kept.min(parts.len());
            }
            _ => parts.push(part),
        }
    }
    let prefix: usize = parts[..kept].iter().map(|part| part.len() + 1).sum();
    let mut joined = BString::from(bstr::join("/", &parts));
    if ends_open && !parts.is_empty() {
        joined.push(b'/');
    }
    let prefix = prefix.min(joined.len());
    Some((joined, prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(prefix: &str, spec: &str, path: &str) -> bool {
        let root = Path::new("/root");
        Pathspec::read(
            spec.into(),
            &PathspecSettings::default(),
            prefix.into(),
            root,
        )
        .unwrap()
        .matching(path.as_bytes())
        .is_some()
    }

    #[test]
    fn a_path_means_itself_and_what_is_below() {
        for (prefix, spec, path, expected) in [
            ("", "a", "a", true),
            ("", "a", "a/b", true),
            ("", "a", "ab", false),
            ("", "a/", "a/b", true),
            ("", "a/", "a", false),
            ("", "a/.", "a", false),
            ("", "a/b/..", "a/c", true),
            ("", ".", "x", true),
            ("", "./a//b", "a/b", true),
            ("d", ".", "d/x", true),
            ("d", ".", "dx", false),
            ("d", "..", "x", true),
            ("d", "../e", "e/f", true),
            ("d", ":/e", "e", true),
            ("d", ":/./e", "e", false),
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
    fn paths_outside_and_empty_ones_are_errors() {
        let root = Path::new("/root");
        for (prefix, spec) in [("", ".."), ("d", "../.."), ("", "/rootx/a"), ("", "")] {
            assert!(
                Pathspec::read(
                    spec.into(),
                    &PathspecSettings::default(),
                    prefix.into(),
                    root
                )
                .is_err(),
                "{spec:?}"
            );
        }
    }
}
