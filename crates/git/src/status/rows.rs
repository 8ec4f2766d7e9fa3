//! The index's names directly in one directory.

use crate::index::Index;
use std::ops::Range;

/// A name that a directory has in the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Child<'i> {
    /// Its last component.
    pub name: &'i [u8],
    /// The rows of its stages, or of everything below it.
    pub rows: Range<u32>,
    /// Whether it is a directory.
    pub is_directory: bool,
}

/// Puts the children of a directory into `children`, ascending by name; in a conflict a name may
/// occur twice, first as a file, then as a directory. `rows` are those below the directory, whose
/// path takes `prefix` bytes including its slash.
pub(crate) fn children<'i>(
    index: &'i Index,
    rows: Range<u32>,
    prefix: usize,
    children: &mut Vec<Child<'i>>,
) {
    children.clear();
    let entries = index.entries();
    let path = |row: u32| -> &'i [u8] {
        let path: &'i [u8] = index.path(&entries[row as usize]);
        &path[prefix..]
    };
    let mut sorted = true;
    let mut row = rows.start;
    while row < rows.end {
        let rest = path(row);
        let slash = rest.iter().position(|byte| *byte == b'/');
        let name = &rest[..slash.unwrap_or(rest.len())];
        let end = match slash {
            None => end_of_run(row, rows.end, |row| path(row) == name),
            Some(_) => end_of_run(row, rows.end, |row| is_below(path(row), name)),
        };
        sorted &= children.last().is_none_or(|last| last.name <= name);
        children.push(Child {
            name,
            rows: row..end,
            is_directory: slash.is_some(),
        });
        row = end;
    }
    if !sorted {
        children.sort_by(|a, b| (a.name, a.is_directory).cmp(&(b.name, b.is_directory)));
    }
}

fn is_below(path: &[u8], directory: &[u8]) -> bool {
    path.starts_with(directory) && path.get(directory.len()) == Some(&b'/')
}

/// End of the run of rows that starts at `start` and satisfies `belongs`. Most runs are short, so
/// the search starts near the beginning.
fn end_of_run(start: u32, end: u32, belongs: impl Fn(u32) -> bool) -> u32 {
    let mut known = start;
    let mut step = 1;
    loop {
        let next = known.saturating_add(step).min(end);
        if next == end || !belongs(next) {
            break partition(known + 1, next, &belongs);
        }
        known = next;
        step *= 2;
    }
}

fn partition(mut low: u32, mut high: u32, belongs: &impl Fn(u32) -> bool) -> u32 {
    while low < high {
        let middle = low + (high - low) / 2;
        if belongs(middle) {
            low = middle + 1
        } else {
            high = middle
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::{Builder, EntryStat, Flags, Mode, Version};

    fn index(paths: &[&str]) -> Index {
        let hash = gix_hash::Kind::Sha1;
        let mut builder = Builder::new(hash, Version::V2);
        for path in paths {
            let (id, stat) = (hash.empty_blob(), EntryStat::default());
            let pushed = builder.push((*path).into(), id, Mode::File, stat, Flags::default());
            pushed.unwrap();
        }
        builder.finish()
    }

    fn names(index: &Index, rows: Range<u32>, prefix: usize) -> Vec<(String, Range<u32>, bool)> {
        let mut found = Vec::new();
        children(index, rows, prefix, &mut found);
        let name = |child: &Child<'_>| String::from_utf8_lossy(child.name).into_owned();
        found
            .iter()
            .map(|child| (name(child), child.rows.clone(), child.is_directory))
            .collect()
    }

    #[test]
    fn directories_stand_for_all_below_them() {
        let index = index(&["a", "b.c", "b/1", "b/2/x", "b/2/y", "b0", "c/d"]);
        assert_eq!(
            names(&index, 0..7, 0),
            [
                ("a".into(), 0..1, false),
                ("b".into(), 2..5, true),
                ("b.c".into(), 1..2, false),
                ("b0".into(), 5..6, false),
                ("c".into(), 6..7, true),
            ]
        );
        assert_eq!(
            names(&index, 2..5, 2),
            [("1".into(), 2..3, false), ("2".into(), 3..5, true)]
        );
    }

    #[test]
    fn long_runs_end_where_they_end() {
        for count in [1, 2, 3, 7, 8, 9, 100] {
            let paths: Vec<String> = (0..count).map(|n| format!("d/{n:03}")).collect();
            let mut paths: Vec<&str> = paths.iter().map(String::as_str).collect();
            paths.push("e");
            let index = index(&paths);
            let found = names(&index, 0..count + 1, 0);
            assert_eq!(found[0], ("d".into(), 0..count, true));
            assert_eq!(found.len(), 2);
        }
    }
}
