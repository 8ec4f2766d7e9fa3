use crate::index::common_len;
use bstr::{BStr, BString, ByteSlice};
use std::collections::{BTreeMap, BTreeSet};

/// Why a path prevents a checkout. The order is that of git's messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// Staged content would be lost.
    WouldOverwrite,
    /// The file was changed.
    NotUpToDate,
    /// A directory that is to become a file contains untracked files.
    DirectoryNotClean,
    /// The user's current directory would become a file.
    CurrentDirectory,
    /// An untracked file is in the place of a file to write.
    UntrackedOverwritten,
    /// An untracked file is in the place of a file to remove.
    UntrackedRemoved,
    /// A submodule cannot move along.
    Submodule,
}

/// The paths that prevent a checkout.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rejects {
    paths: Vec<(Reason, BString)>,
    /// Paths that only the index has: git looks at them last.
    late: BTreeSet<BString>,
    /// Why submodules cannot move along: lines that git prints before all others.
    said: BTreeMap<BString, Vec<String>>,
}

impl Rejects {
    /// Adds a path.
    pub(crate) fn add(&mut self, reason: Reason, path: impl Into<BString>) {
        self.paths.push((reason, path.into()));
    }

    /// Takes a path back that was added for this reason.
    pub(crate) fn forget(&mut self, reason: Reason, path: &BStr) {
        self.paths
            .retain(|(why, at)| (*why, at.as_bstr()) != (reason, path));
    }

    /// Takes all paths back that were added for this reason.
    pub(crate) fn forget_all_of(&mut self, reason: Reason) {
        self.paths.retain(|(why, _)| *why != reason);
    }

    /// Notes that only the index has `path`.
    pub(crate) fn set_late(&mut self, path: &BStr) {
        self.late.insert(path.to_owned());
    }

    /// Adds a changed file that git comes to with `above`, a directory that is to become a file.
    pub(crate) fn add_below(&mut self, above: &BStr, path: &BStr) {
        let changed = (Reason::NotUpToDate, path.to_owned());
        if !self.paths.contains(&changed) {
            self.paths.push(changed);
        }
        if !self.late.contains(above) {
            self.late.remove(path);
        }
    }

    /// Adds why the submodule at `path` cannot move along.
    pub(crate) fn say(&mut self, path: &BStr, lines: Vec<String>) {
        self.said.insert(path.to_owned(), lines);
    }

    /// Why submodules cannot move along, line by line, in the order of their paths.
    pub fn said(&self) -> impl Iterator<Item = &String> {
        self.said.values().flatten()
    }

    /// The same of the submodule at `path`.
    pub fn said_of(&self, path: &BStr) -> &[String] {
        self.said.get(path).map_or(&[], Vec::as_slice)
    }

    /// Adds the paths of `other`.
    pub(crate) fn extend(&mut self, other: Rejects) {
        self.paths.extend(other.paths);
        self.late.extend(other.late);
        self.said.extend(other.said);
    }

    pub(crate) fn len(&self) -> usize {
        self.paths.len()
    }

    /// The paths below which git does not look any more. It does where an entry of the index is in
    /// the place of a directory: it overlooks that.
    pub(crate) fn hiding(&self) -> BTreeSet<BString> {
        let hides = |(reason, _): &&(Reason, BString)| *reason != Reason::UntrackedOverwritten;
        let hiding = self.paths.iter().filter(hides);
        hiding.map(|(_, path)| path.clone()).collect()
    }

    /// Drops paths below a refused path that is a file in one tree and a directory in the other:
    /// git no longer looks below such a path. `files` are the paths that were refused before.
    pub(crate) fn drop_below(&mut self, refused: &Refused, files: &BTreeSet<BString>) {
        self.paths.retain(|(reason, path)| {
            let first = *reason == Reason::NotUpToDate && refused.kept.contains(path);
            let hidden = |above: &BStr| refused.at.contains(above) || files.contains(above);
            first || !ancestors(path.as_bstr()).any(hidden)
        });
    }

    /// Whether each path is one of `paths`.
    pub(crate) fn are_all_in(&self, paths: &BTreeSet<BString>) -> bool {
        self.paths.iter().all(|(_, path)| paths.contains(path))
    }

    /// Whether no path was rejected.
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// The first path, and why: git's plumbing stops there.
    pub fn first(&self) -> Option<(&BString, Reason)> {
        let key = |(reason, path): &&(Reason, BString)| {
            let is_late = self.late.contains(path);
            (is_late, path.clone(), *reason)
        };
        let first = self.paths.iter().min_by_key(key);
        first.map(|(reason, path)| (path, *reason))
    }

    /// The first path, and why in the words of git's plumbing, which stops there. Of a submodule it says
    /// that it cannot move before it says that it is changed.
    pub fn first_words(&self) -> Option<(&BString, Vec<Reason>)> {
        let (path, reason) = self.first()?;
        let is_submodule = |(why, at): &(Reason, BString)| *why == Reason::Submodule && at == path;
        let mut reasons = vec![reason];
        if reason != Reason::Submodule && self.paths.iter().any(is_submodule) {
            reasons.insert(0, Reason::Submodule);
        }
        Some((path, reasons))
    }

    /// The paths by reason, each list in ascending order. A file that blocks several paths is
    /// listed once for each, as with git.
    pub fn by_reason(&self) -> Vec<(Reason, Vec<&BString>)> {
        let mut sorted: Vec<&(Reason, BString)> = self.paths.iter().collect();
        sorted.sort();
        let mut lists: Vec<(Reason, Vec<&BString>)> = Vec::new();
        for (reason, path) in sorted {
            match lists.last_mut() {
                Some((last, list)) if last == reason => list.push(path),
                _ => lists.push((*reason, vec![path])),
            }
        }
        lists
    }
}

/// Paths that were refused.
#[derive(Default)]
pub(crate) struct Refused {
    at: BTreeSet<BString>,
    /// For each refused path, the one path below it that caused the refusal, if any.
    kept: BTreeSet<BString>,
}

impl Refused {
    pub(crate) fn insert(&mut self, path: &BStr, because_of: Option<BString>) {
        self.at.insert(path.to_owned());
        self.kept.extend(because_of);
    }

    /// Whether a refused path is an ancestor of `path`.
    pub(crate) fn covers(&self, path: &BStr) -> bool {
        ancestors(path).any(|above| self.at.contains(above))
    }
}

/// The ancestor directories of a path, the topmost first.
pub(crate) fn ancestors(path: &BStr) -> impl Iterator<Item = &BStr> {
    path.find_iter(b"/").map(|at| path[..at].as_bstr())
}

/// The ancestor directories of a path that are none of `previous`.
pub(crate) fn new_ancestors<'p>(previous: &BStr, path: &'p BStr) -> impl Iterator<Item = &'p BStr> {
    let common = common_len(previous, path);
    let ends = path[common..].find_iter(b"/");
    ends.map(move |at| path[..common + at].as_bstr())
}

/// The directories above some of `paths`, each once if the paths are sorted.
pub(crate) fn all_ancestors<'p>(
    paths: impl Iterator<Item = &'p BStr>,
) -> impl Iterator<Item = &'p BStr> {
    let mut previous = BStr::new("");
    paths.flat_map(move |path| new_ancestors(std::mem::replace(&mut previous, path), path))
}

impl Reason {
    /// Git's text before and after the list of paths of a refused checkout.
    pub fn words(self) -> (&'static str, &'static str) {
        match self {
            Reason::WouldOverwrite | Reason::NotUpToDate => (
                "Your local changes to the following files would be overwritten by checkout:",
                "Please commit your changes or stash them before you switch branches.",
            ),
            Reason::DirectoryNotClean => (
                "Updating the following directories would lose untracked files in them:",
                "",
            ),
            Reason::CurrentDirectory => ("Refusing to remove the current working directory:", ""),
            Reason::UntrackedOverwritten => (
                "The following untracked working tree files would be overwritten by checkout:",
                "Please move or remove them before you switch branches.",
            ),
            Reason::UntrackedRemoved => (
                "The following untracked working tree files would be removed by checkout:",
                "Please move or remove them before you switch branches.",
            ),
            Reason::Submodule => ("Cannot update submodule:", ""),
        }
    }
}

impl Reason {
    /// The words of git's plumbing about one path.
    pub fn of_path(self, path: &BStr) -> String {
        match self {
            Reason::WouldOverwrite => {
                format!("Entry '{path}' would be overwritten by merge. Cannot merge.")
            }
            Reason::NotUpToDate => format!("Entry '{path}' not uptodate. Cannot merge."),
            Reason::DirectoryNotClean => {
                format!("Updating '{path}' would lose untracked files in it")
            }
            Reason::CurrentDirectory => {
                format!("Refusing to remove '{path}' since it is the current working directory.")
            }
            Reason::UntrackedOverwritten => {
                format!("Untracked working tree file '{path}' would be overwritten by merge.")
            }
            Reason::UntrackedRemoved => {
                format!("Untracked working tree file '{path}' would be removed by merge.")
            }
            Reason::Submodule => format!("Submodule '{path}' cannot checkout new HEAD."),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_told_by_reason_in_order() {
        let mut rejects = Rejects::default();
        for path in ["b", "a", "b"] {
            rejects.add(Reason::NotUpToDate, path);
        }
        rejects.add(Reason::WouldOverwrite, "z");
        let told: Vec<(Reason, Vec<String>)> = rejects
            .by_reason()
            .into_iter()
            .map(|(reason, paths)| (reason, paths.iter().map(|path| path.to_string()).collect()))
            .collect();
        let expected = vec![
            (Reason::WouldOverwrite, vec!["z".to_owned()]),
            (
                Reason::NotUpToDate,
                ["a", "b", "b"].map(String::from).to_vec(),
            ),
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn directories_are_seen_once() {
        let paths = [
            "a",
            "b/c",
            "b/c-d/e",
            "b/cd/e",
            "b/cd/f/g",
            "b/cd/fg/h",
            "c/d/e",
        ];
        let above = all_ancestors(paths.into_iter().map(BStr::new));
        let above: Vec<&BStr> = above.collect();
        assert_eq!(
            above,
            ["b", "b/c-d", "b/cd", "b/cd/f", "b/cd/fg", "c", "c/d"]
        );
        let deep: Vec<BString> = (1..500).map(|level| "d/".repeat(level).into()).collect();
        let above = all_ancestors(deep.iter().map(|path| path.as_bstr()));
        assert_eq!(above.count(), 499);
    }
}
