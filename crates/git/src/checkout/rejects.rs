use bstr::{BStr, BString, ByteSlice};
use std::collections::BTreeSet;

/// Why a path keeps a checkout from happening. The order is the one in which git tells them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// What is staged would be lost.
    WouldOverwrite,
    /// The file was changed.
    NotUpToDate,
    /// A directory that is to become a file has untracked files in it.
    DirectoryNotClean,
    /// The directory that the user is in would become a file.
    CurrentDirectory,
    /// An untracked file is where a file is to be written.
    UntrackedOverwritten,
    /// An untracked file is where a file is to be removed.
    UntrackedRemoved,
}

/// The paths that keep a checkout from happening.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rejects {
    paths: Vec<(Reason, BString)>,
}

impl Rejects {
    /// Adds a path.
    pub(crate) fn add(&mut self, reason: Reason, path: impl Into<BString>) {
        self.paths.push((reason, path.into()));
    }

    /// Adds those of another.
    pub(crate) fn extend(&mut self, other: Rejects) {
        self.paths.extend(other.paths);
    }

    pub(crate) fn len(&self) -> usize {
        self.paths.len()
    }

    /// The paths among them, for one reason or for any.
    pub(crate) fn paths(&self, reason: Option<Reason>) -> BTreeSet<BString> {
        let wanted = |(why, _): &&(Reason, BString)| reason.is_none_or(|reason| reason == *why);
        self.paths
            .iter()
            .filter(wanted)
            .map(|(_, path)| path.clone())
            .collect()
    }

    /// Where a path is refused that is a file in one tree and a directory in another, git does not
    /// look below it any more.
    pub(crate) fn drop_below(&mut self, refused: &Refused) {
        let files = self.paths(None);
        self.paths.retain(|(reason, path)| {
            let first = *reason == Reason::NotUpToDate && refused.kept.contains(path);
            let hidden = |above: &BStr| refused.at.contains(above) || files.contains(above);
            first || !ancestors(path.as_bstr()).any(hidden)
        });
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// The paths by reason, each list in ascending order. A file that is in the way of several
    /// is there as often, as with git.
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
    /// The one path below each, if any, for which it was.
    kept: BTreeSet<BString>,
}

impl Refused {
    pub(crate) fn insert(&mut self, path: &BStr, because_of: Option<BString>) {
        self.at.insert(path.to_owned());
        self.kept.extend(because_of);
    }

    /// Whether one of them is above `path`.
    pub(crate) fn covers(&self, path: &BStr) -> bool {
        ancestors(path).any(|above| self.at.contains(above))
    }
}

/// The directories that lead to a path.
pub(crate) fn ancestors(path: &BStr) -> impl Iterator<Item = &BStr> {
    path.find_iter(b"/").map(|at| path[..at].as_bstr())
}

impl Reason {
    /// What git says before and after the list of paths when a checkout is refused.
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
}
