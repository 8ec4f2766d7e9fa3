//! Git's messages about files while it checks whether they have changed.

use super::model::Remark;
use crate::index::Stage;
use crate::worktree::compare::Settled;
use crate::worktree::pathspecs::Pathspecs;
use crate::worktree::unanswered::is_unanswered;
use crate::worktree::{OldIndex, Worktree};
use bstr::{BStr, BString, ByteSlice};
use std::collections::BTreeMap;
use std::io;

/// Something that cannot be examined. Warnings are sorted by path, which is git's order where git
/// has a fixed one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Warning {
    /// The path concerned.
    pub path: BString,
    /// The complete message, in git's words.
    pub text: String,
    /// Whether it is an error of a system call: the state of the path is unknown.
    pub is_failure: bool,
}

impl Warning {
    pub(crate) fn new(path: BString, text: String, error: &io::Error) -> Self {
        Warning {
            path,
            text,
            is_failure: is_unanswered(error),
        }
    }

    /// The messages of failures, and those of everything else.
    pub fn parted(warnings: Vec<Warning>) -> (Vec<String>, Vec<String>) {
        let (failures, warnings): (Vec<_>, Vec<_>) =
            warnings.into_iter().partition(|one| one.is_failure);
        let texts = |all: Vec<Warning>| all.into_iter().map(|one| one.text).collect();
        (texts(failures), texts(warnings))
    }
}

/// The warning that the directory `path` could not be listed; `is_open` if it was opened.
pub(crate) fn could_not_list(path: BString, is_open: bool, error: &io::Error) -> Warning {
    let verb = if is_open { "read" } else { "open" };
    let reason = hedgerow_fs::reason(error);
    let text = format!("could not {verb} directory '{path}': {reason}");
    Warning::new(path, text, error)
}

/// The messages, in git's order.
#[derive(Debug, Default)]
pub(super) struct Said {
    pub remarks: Vec<Remark>,
    /// Messages about attribute files, by directory.
    pub warnings: BTreeMap<BString, Vec<String>>,
    /// The directories whose attributes git holds at this point, each within the one before it;
    /// empty before it has read any.
    at_hand: Vec<BString>,
}

impl Said {
    /// Records the messages of refreshing the index and of listing the differences: one for each
    /// time that git reads a file. A changed file that lstat does not reveal is read twice for the
    /// refresh (three times if the index has no size for it) and once more for the list; any other
    /// is read once.
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
            // Hidden: changed although its stat data match.
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

    /// Records the files that permissions make unreadable. Git also counts them as modified,
    /// without a message.
    pub(super) fn of_unreadable(&mut self, settled: &Settled) {
        let forbidden = settled.forbidden.iter();
        self.remarks
            .extend(forbidden.map(|error| Remark::Error(error.to_string())));
    }

    /// Records the messages of reading the file `path`.
    fn reading(&mut self, path: &BStr, error: Option<&String>) {
        self.attributes_for(path);
        self.remarks.extend(error.cloned().map(Remark::Error));
    }

    /// Records the messages about the attributes of the file `path`: git reads those of the
    /// directories that it does not hold from the previous file.
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
