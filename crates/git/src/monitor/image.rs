//! What in a mounted working tree is as its image has it: known from the index of the image and from
//! the layer of changes, without a look at any file.
//!
//! An entry of the working tree's index that equals the one in the index of the image was written from
//! the file in the image. As long as nothing in the layer covers its path, that is the file there.

use crate::index::{Entry, EntryStat, Index, Stage};
use crate::repository::Repository;
use crate::worktrees::mounted::{layers_of, read_index, recorded_store, stored_index};
use crate::Result;
use bstr::{BStr, BString, ByteSlice};
use hedgerow_mounts::{ImageName, LayerChanges};
use std::collections::HashSet;
use std::ops::Range;

/// What is as the image of a working tree has it.
#[derive(Debug, Default)]
pub(crate) struct AsInImage {
    /// For each entry of the index whether its file is the one that the index has; `false` if that is
    /// not known.
    pub entries: Vec<bool>,
    /// The outermost directories that hold nothing but files of which that is known, with the rows of
    /// those.
    pub directories: Vec<(BString, Range<usize>)>,
}

/// What is known of the working tree of `repository`, whose index is `index`; `None` if it is an
/// ordinary one, or nothing is known. A failure counts as that: the files are looked at then.
pub(crate) fn as_in_image(repository: &Repository, index: &Index) -> Option<AsInImage> {
    if repository.settings().ignore_case {
        return None;
    }
    let found = find(repository).ok().flatten()?;
    Some(compare(index, &found.image, &found.changes))
}

/// A mounted working tree.
pub(super) struct Mounted {
    pub changes: LayerChanges,
    /// The index of its image.
    pub image: Index,
}

/// That of `repository`; `None` if it is an ordinary one, or nothing is known of it.
pub(super) fn find(repository: &Repository) -> Result<Option<Mounted>> {
    let Some(top) = repository.work_tree() else {
        return Ok(None);
    };
    let Some(layers) = layers_of(repository.git_dir())? else {
        return Ok(None);
    };
    let Some(changes) = layers.changes(top)? else {
        return Ok(None);
    };
    let state = layers.state()?;
    let Some(name) = ImageName::parse(&state.image) else {
        return Ok(None);
    };
    let Some(image) = recorded_store(repository, &state.store).find(&name)? else {
        return Ok(None);
    };
    let image = read_index(&image, &stored_index(repository, &image)?)?;
    Ok(Some(Mounted { changes, image }))
}

/// Compares the `index` of a working tree with that of its `image`.
pub(super) fn compare(index: &Index, image: &Index, changes: &LayerChanges) -> AsInImage {
    let mut entries = vec![false; index.entries().len()];
    let mut touched = Touched::default();
    let mut in_image = image.entries().iter().peekable();
    for (row, entry) in index.entries().iter().enumerate() {
        let path = index.path(entry);
        while let Some(gone) = in_image.next_if(|other| image.path(other) < path) {
            // The index does not name this file.
            touched.add_above(image.path(gone));
        }
        entries[row] = in_image
            .next_if(|other| image.path(other) == path)
            .is_some_and(|other| is_same(entry, other));
    }
    in_image.for_each(|gone| touched.add_above(image.path(gone)));
    for path in &changes.paths {
        touched.add_above(path.as_bstr());
        super::rows_of(index, path.as_bstr()).for_each(|row| entries[row] = false);
    }
    for directory in &changes.directories {
        touched.add(directory.as_bstr());
        // Where it was a file, it is none now.
        let rows = index.rows_at(directory.as_bstr());
        rows.for_each(|row| entries[row] = false);
    }
    let doubted = index.entries().iter().zip(&entries);
    for (entry, _) in doubted.filter(|(_, is_same)| !**is_same) {
        touched.add_above(index.path(entry));
    }
    let directories = touched.outermost_others(index);
    AsInImage {
        entries,
        directories,
    }
}

/// Whether the file that an entry of the image was made from is the one that `entry` means.
fn is_same(entry: &Entry, other: &Entry) -> bool {
    // Every mount has another device.
    let stat = EntryStat {
        dev: other.stat.dev,
        ..entry.stat
    };
    let has_file = entry.mode.is_file() && entry.flags.stage == Stage::Merged;
    has_file
        && !other.flags.skip_worktree
        && (entry.mode, entry.id, stat) == (other.mode, other.id, other.stat)
}

/// Directories in which, or below which, something may be different.
#[derive(Default)]
struct Touched<'a>(HashSet<&'a [u8]>);

impl<'a> Touched<'a> {
    /// Adds a directory and all above it.
    fn add(&mut self, directory: &'a BStr) {
        let mut path = directory.as_bytes();
        while self.0.insert(path) && !path.is_empty() {
            path = above(path);
        }
    }

    /// Adds the directories above a path.
    fn add_above(&mut self, path: &'a BStr) {
        if !path.is_empty() {
            self.add(above(path).as_bstr());
        }
    }

    /// The outermost directories above entries of `index` that are none of these, with their rows.
    fn outermost_others(&self, index: &Index) -> Vec<(BString, Range<usize>)> {
        let mut found = Vec::new();
        let mut row = 0;
        while let Some(entry) = index.entries().get(row) {
            match self.outermost_other(index.path(entry)) {
                Some(directory) => {
                    let rows = index.range_under(directory.as_bstr());
                    row = rows.end.max(row + 1);
                    found.push((directory.into(), rows));
                }
                None => row += 1,
            }
        }
        found
    }

    /// The outermost directory above `path` that is none of these.
    fn outermost_other<'p>(&self, path: &'p BStr) -> Option<&'p [u8]> {
        let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        let mut directories = std::iter::once(0).chain(slashes.map(|(at, _)| at));
        directories.find_map(|end| {
            let directory = &path.as_bytes()[..end];
            (!self.0.contains(directory)).then_some(directory)
        })
    }
}

/// The directory above a path; empty for the top.
fn above(path: &[u8]) -> &[u8] {
    let end = path.iter().rposition(|byte| *byte == b'/');
    &path[..end.unwrap_or(0)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::{Builder, Flags, Mode, Version};
    use gix_hash::ObjectId;

    /// Entries with these numbers as inodes.
    fn index(entries: &[(&str, u32)]) -> Index {
        let mut builder = Builder::new(gix_hash::Kind::Sha1, Version::default());
        for (path, ino) in entries {
            let stat = EntryStat {
                ino: *ino,
                ..EntryStat::default()
            };
            let id = ObjectId::from_bytes_or_panic(&[7; 20]);
            let flags = Flags::default();
            builder
                .push((*path).into(), id, Mode::File, stat, flags)
                .unwrap();
        }
        builder.finish()
    }

    /// The paths that are as in the image, and the outermost directories.
    fn known(own: &[(&str, u32)], changes: &LayerChanges) -> (Vec<String>, Vec<String>) {
        let image = index(&[
            ("a", 1),
            ("d/b", 2),
            ("d/e/c", 3),
            ("d/e/f/g", 4),
            ("x/y", 5),
        ]);
        let own = index(own);
        let known = compare(&own, &image, changes);
        let rows = own.entries().iter().zip(&known.entries);
        let rows = rows.filter(|(_, is_known)| **is_known);
        let directories = known.directories.iter();
        (
            rows.map(|(entry, _)| own.path(entry).to_string()).collect(),
            directories.map(|(path, _)| path.to_string()).collect(),
        )
    }

    const ALL: [(&str, u32); 5] = [
        ("a", 1),
        ("d/b", 2),
        ("d/e/c", 3),
        ("d/e/f/g", 4),
        ("x/y", 5),
    ];

    fn changes(paths: &[&str], directories: &[&str]) -> LayerChanges {
        let owned = |words: &[&str]| words.iter().map(|word| word.as_bytes().to_vec()).collect();
        LayerChanges {
            paths: owned(paths),
            directories: owned(directories),
            has_mounts: false,
        }
    }

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn without_changes_all_is_as_in_the_image() {
        let (paths, directories) = known(&ALL, &changes(&[], &[]));
        assert_eq!(paths, words("a d/b d/e/c d/e/f/g x/y"));
        assert_eq!(directories, [""]);
    }

    #[test]
    fn what_the_layer_covers_is_not_known() {
        let with = |paths: &[&str], directories: &[&str]| known(&ALL, &changes(paths, directories));
        let (paths, directories) = with(&[".git", "d/b"], &["", "d"]);
        assert_eq!(paths, words("a d/e/c d/e/f/g x/y"));
        assert_eq!(directories, words("d/e x"));
        // A directory that stands in the place of that in the image.
        let (paths, directories) = with(&["d/e"], &["", "d"]);
        assert_eq!(paths, words("a d/b x/y"));
        assert_eq!(directories, words("x"));
        // A directory in the place of a file, and one in which something was.
        let (paths, directories) = with(&[], &["", "a", "x"]);
        assert_eq!(paths, words("d/b d/e/c d/e/f/g x/y"));
        assert_eq!(directories, words("d"));
    }

    #[test]
    fn entries_that_the_image_does_not_have_are_not_known() {
        let none = changes(&[], &[""]);
        // Another file; and one of the image that the index does not name is untracked.
        let (paths, directories) =
            known(&[("a", 1), ("d/b", 9), ("d/e/f/g", 4), ("new", 1)], &none);
        assert_eq!(paths, words("a d/e/f/g"));
        assert_eq!(directories, words("d/e/f"));
        let (paths, directories) = known(&[("moved", 1)], &none);
        assert_eq!((paths, directories), (words(""), words("")));
    }
}
