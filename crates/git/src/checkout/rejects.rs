use bstr::BString;

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

    /// Whether a path below `directory` is among them for that reason.
    pub(crate) fn names_below(&self, reason: Reason, directory: &[u8]) -> bool {
        let below = |path: &BString| {
            let rest = path.strip_prefix(directory);
            rest.is_some_and(|rest| rest.starts_with(b"/"))
        };
        self.paths
            .iter()
            .any(|(why, path)| *why == reason && below(path))
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
