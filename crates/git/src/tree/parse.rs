use bstr::ByteSlice;
use gix_hash::oid;
use hedgerow_object::{
    canonical_mode, compare_places, mode_of_digits, RawTreeEntries, TreeProblem,
};
use hedgerow_tree::{check_name, EntryKind, NameRules};
use std::cmp::Ordering;

/// One entry of a tree object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeEntry<'a> {
    /// One component, checked by [`check_name`].
    pub name: &'a [u8],
    /// What it is.
    pub kind: EntryKind,
    /// The object: blob, tree, or the commit of a submodule.
    pub id: &'a oid,
}

/// Reads a whole tree object, whose entries are ordered by name, directories as if they ended in
/// `/`.
///
/// Names that may not become paths, names out of order, and a name that is there twice are
/// errors, which say why.
pub fn entries<'a>(
    content: &'a [u8],
    hash: gix_hash::Kind,
    rules: NameRules,
) -> Result<Vec<TreeEntry<'a>>, String> {
    let mut entries: Vec<TreeEntry<'a>> = Vec::with_capacity(content.len() / 32);
    for raw in RawTreeEntries::new(content, hash) {
        let raw = raw.map_err(|fault| reason(fault.problem))?;
        let entry = TreeEntry {
            name: raw.name,
            kind: kind(raw.mode)?,
            id: raw.id,
        };
        check_name(entry.name, entry.kind, rules).map_err(|error| error.to_string())?;
        if entries
            .last()
            .is_some_and(|last| order(last, &entry) != Ordering::Less)
        {
            return Err(format!("'{}' is not in order", entry.name.as_bstr()));
        }
        if entry.kind == EntryKind::Directory && has_file_of_that_name(&entries, entry.name) {
            return Err(format!("'{}' is there twice", entry.name.as_bstr()));
        }
        entries.push(entry);
    }
    Ok(entries)
}

fn reason(problem: TreeProblem) -> &'static str {
    match problem {
        TreeProblem::Mode => "an entry has no mode",
        TreeProblem::Name => "an entry's name has no end",
        TreeProblem::EmptyName => "an entry's name is empty",
        TreeProblem::Id => "an entry's object id is cut off",
    }
}

/// What git takes the mode for, whose digits are given.
fn kind(digits: &[u8]) -> Result<EntryKind, String> {
    let unknown = || format!("an entry has the mode '{}'", digits.as_bstr());
    let mode = mode_of_digits(digits).ok_or_else(unknown)?;
    Ok(match canonical_mode(mode) {
        0o040_000 => EntryKind::Directory,
        0o100_644 => EntryKind::File,
        0o100_755 => EntryKind::Executable,
        0o120_000 => EntryKind::Symlink,
        _ => EntryKind::Gitlink,
    })
}

/// How the places of two entries in a tree compare. An entry of an index that stands for a whole
/// directory has a slash at the end of its name, and comes after the directory itself.
pub(crate) fn order(a: &TreeEntry<'_>, b: &TreeEntry<'_>) -> Ordering {
    let is_directory = |entry: &TreeEntry<'_>| entry.kind == EntryKind::Directory;
    compare_places((a.name, is_directory(a)), (b.name, is_directory(b)))
        .then_with(|| a.name.len().cmp(&b.name.len()))
}

/// A file sorts before a directory of the same name, with names in between that go on with a
/// byte below `/`: all of these start with the name.
fn has_file_of_that_name(before: &[TreeEntry<'_>], name: &[u8]) -> bool {
    before
        .iter()
        .rev()
        .take_while(|entry| entry.name.starts_with(name))
        .any(|e| e.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(entries: &[(&str, &str)]) -> Vec<u8> {
        let mut content = Vec::new();
        for (mode, name) in entries {
            content.extend_from_slice(format!("{mode} {name}\0").as_bytes());
            content.extend_from_slice(&[7; 20]);
        }
        content
    }

    fn read(content: &[u8]) -> Result<Vec<(String, EntryKind)>, String> {
        let listed = entries(content, gix_hash::Kind::Sha1, NameRules::default())?;
        Ok(listed
            .iter()
            .map(|entry| (entry.name.to_str_lossy().into(), entry.kind))
            .collect())
    }

    #[test]
    fn entries_of_every_kind_are_read() {
        let content = tree(&[
            ("100644", "a"),
            ("100755", "b"),
            ("120000", "c"),
            ("40000", "d"),
            ("160000", "e"),
            ("100664", "f"),
            ("60000", "g"),
            ("0000000000100755", "h"),
        ]);
        use EntryKind::*;
        let kinds = [
            File, Executable, Symlink, Directory, Gitlink, File, Gitlink, Executable,
        ];
        let names = ["a", "b", "c", "d", "e", "f", "g", "h"].map(String::from);
        assert_eq!(read(&content), Ok(names.into_iter().zip(kinds).collect()));
    }

    #[test]
    fn every_truncation_is_an_error() {
        let content = tree(&[("100644", "a"), ("40000", "b")]);
        let first = tree(&[("100644", "a")]).len();
        let whole = [0, first, content.len()];
        for length in (0..content.len()).filter(|length| !whole.contains(length)) {
            let outcome = read(&content[..length]);
            assert!(outcome.is_err(), "{length}: {outcome:?}");
        }
    }

    #[test]
    fn a_name_that_is_there_twice_is_an_error() {
        assert!(read(&tree(&[("100644", "a"), ("100644", "a")])).is_err());
        assert!(read(&tree(&[("120000", "a"), ("40000", "a")])).is_err());
        assert!(read(&tree(&[("120000", "a"), ("100644", "a-b"), ("40000", "a")])).is_err());
        assert!(read(&tree(&[
            ("100644", "a-b"),
            ("40000", "a"),
            ("100644", "a0")
        ]))
        .is_ok());
    }

    #[test]
    fn names_out_of_order_and_names_that_escape_are_errors() {
        assert!(read(&tree(&[("100644", "b"), ("100644", "a")])).is_err());
        assert!(read(&tree(&[("40000", "a"), ("100644", "a.c")])).is_err());
        for name in ["..", ".", ".git", "a/b", "", "git~1"] {
            assert!(read(&tree(&[("100644", name)])).is_err(), "{name:?}");
        }
    }

    #[test]
    fn strange_modes_are_errors() {
        for mode in ["", "100648", "-1", "x"] {
            assert!(read(&tree(&[(mode, "a")])).is_err(), "{mode:?}");
        }
    }
}
