//! What git says of files while it looks whether they have changed.

use super::model::Remark;
use crate::index::Stage;
use crate::worktree::compare::Settled;
use crate::worktree::pathspecs::Pathspecs;
use crate::worktree::unanswered::is_unanswered;
use crate::worktree::{OldIndex, Worktree};
use bstr::{BStr, BString, ByteSlice};
use std::collections::BTreeMap;
use std::io;

/// What cannot be looked at or into. Warnings are told in the order of their paths, which is
/// git's as far as it has one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Warning {
    /// What it is about.
    pub path: BString,
    /// The whole of it, in git's words.
    pub text: String,
    /// Whether the system did not answer: what is there is not known.
    pub is_failure: bool,
}

impl Warning {
    pub(super) fn new(path: BString, text: String, error: &io::Error) -> Self {
        Warning {
            path,
            text,
            is_failure: is_unanswered(error),
        }
    }
}

/// What is said, in git's order.
#[derive(Debug, Default)]
pub(super) struct Said {
    pub remarks: Vec<Remark>,
    /// What is to be said of files of attributes, by directory.
    pub warnings: BTreeMap<BString, Vec<String>>,
    /// The directories whose attributes git has at hand, each within the one before it; none before
    /// it has asked for any.
    at_hand: Vec<BString>,
}

impl Said {
    /// Notes what is said while the index is refreshed and while the differences are listed: the
    /// same for each time that git reads a file. One that has changed without lstat showing it is
    /// read twice for the refresh, three times if the index has no size for it, and once more for
    /// the list; any other is read once.
    pub(super) fn while_refreshing(
        &mut self,
        worktree: &Worktree<'_>,
        old: &OldIndex,
        settled: &Settled,
        pathspecs: Option<&Pathspecs>,
    ) {
        self.warnings.clone_from(&settled.warnings);
        let rules = super::rules(worktree, old);
        let mut again = Vec::new();
        for read in &settled.read {
            let entry = &old.index.entries()[read.row as usize];
            let path = old.index.path(entry);
            let flags = entry.flags;
            let is_merged = flags.stage == Stage::Merged;
            let is_meant = pathspecs.is_none_or(|pathspecs| pathspecs.fits(path, entry.mode));
            if !is_merged || flags.intent_to_add || !is_meant {
                continue;
            }
            let same = |row: &u32| settled.clean.binary_search_by_key(row, |(row, _)| *row);
            let looks_same = entry.matches(&read.stat, &rules.stat);
            let is_hidden = looks_same && same(&read.row).is_err();
            let times = match (is_hidden, entry.stat.size) {
                (false, _) => 1,
                (true, 0) => 3,
                (true, _) => 2,
            };
            (0..times).for_each(|_| self.reading(path, read.error.as_ref()));
            if is_hidden {
                again.push((path, read.error.as_ref()));
            }
        }
        again
            .into_iter()
            .for_each(|(path, error)| self.reading(path, error));
    }

    /// Notes the files that may not be read. Git takes them for modified, too, and says nothing.
    pub(super) fn of_unreadable(&mut self, settled: &Settled) {
        let forbidden = settled.forbidden.iter();
        self.remarks
            .extend(forbidden.map(|error| Remark::Error(error.to_string())));
    }

    /// Notes what is said of reading the file `path`.
    fn reading(&mut self, path: &BStr, error: Option<&String>) {
        self.attributes_for(path);
        self.remarks.extend(error.cloned().map(Remark::Error));
    }

    /// Notes what is said of the attributes of the file `path`: git reads those of the directories
    /// that it has not at hand from the file before.
    pub(super) fn attributes_for(&mut self, path: &BStr) {
        if self.warnings.is_empty() {
            return;
        }
        let leads = |directory: &BString| {
            let rest = path.strip_prefix(directory.as_slice());
            directory.is_empty() || rest.is_some_and(|rest| rest.starts_with(b"/"))
        };
        let kept = self.at_hand.iter().take_while(|directory| leads(directory));
        self.at_hand.truncate(kept.count());
        let ends = path.find_iter(b"/").collect::<Vec<_>>();
        for end in std::iter::once(0).chain(ends).skip(self.at_hand.len()) {
            let directory = BString::from(&path[..end]);
            let warnings = self.warnings.get(&directory).into_iter().flatten();
            self.remarks.extend(warnings.cloned().map(Remark::Warning));
            self.at_hand.push(directory);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_read_again_after_another_directory() {
        let mut said = Said {
            warnings: ["", "a"]
                .map(|path| (path.into(), vec![format!("about '{path}'")]))
                .into(),
            ..Said::default()
        };
        for path in ["a/b/c", "a/d", "a.b", "x", "a/d"] {
            said.attributes_for(path.into());
        }
        let told = |path| Remark::Warning(format!("about '{path}'"));
        assert_eq!(said.remarks, ["", "a", "a"].map(told));
    }
}
