use std::ops::Range;

/// An ordered list of paths grouped by directory, so that work can be distributed by directory.
///
/// Directory 0 is the root. A directory comes after its parent. Rows are indexes in the list.
#[derive(Debug)]
pub struct Layout {
    directories: Vec<Directory>,
    rows: Vec<u32>,
    children: Vec<u32>,
}

/// A directory of a [`Layout`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directory {
    /// A row below this directory, whose path starts with the path of the directory.
    pub witness: u32,
    /// Length of the directory's path in bytes, without a trailing separator.
    pub path_len: u32,
    /// The parent directory; the root is its own parent.
    pub parent: u32,
    rows: Range<u32>,
    children: Range<u32>,
}

impl Directory {
    fn new(witness: u32, path_len: u32, parent: u32) -> Self {
        Directory {
            witness,
            path_len,
            parent,
            rows: 0..0,
            children: 0..0,
        }
    }
}

/// The ranges of a counting sort: the members of each directory become contiguous.
fn spans(counts: &[u32]) -> Vec<Range<u32>> {
    let mut start = 0;
    let span = |count: &u32| {
        let span = start..start + count;
        start = span.end;
        span
    };
    counts.iter().map(span).collect()
}

impl Layout {
    /// Groups `count` paths, which are in ascending byte order without duplicates. `path` returns
    /// the path of a row, with `/` between components and none at its ends.
    pub fn new<'a>(count: usize, path: impl Fn(usize) -> &'a [u8]) -> Self {
        let mut directories = vec![Directory::new(0, 0, 0)];
        let mut home = Vec::with_capacity(count);
        let mut stack: Vec<u32> = vec![0];
        let mut previous: &[u8] = b"";
        for row in 0..count {
            let current = path(row);
            let shared = shared_prefix(previous, current);
            while let [.., top] = stack[..] {
                let len = directories[top as usize].path_len as usize;
                if top == 0 || len <= shared && current.get(len) == Some(&b'/') {
                    break;
                }
                stack.pop();
            }
            let mut top = stack.last().copied().unwrap_or(0);
            let begin = match directories[top as usize].path_len as usize {
                0 => 0,
                len => len + 1,
            };
            for (at, _) in current[begin..]
                .iter()
                .enumerate()
                .filter(|(_, byte)| **byte == b'/')
            {
                directories.push(Directory::new(row as u32, (begin + at) as u32, top));
                top = directories.len() as u32 - 1;
                stack.push(top);
            }
            home.push(top);
            previous = current;
        }
        Self::grouped(directories, &home)
    }

    /// Groups rows and subdirectories by their parents with a counting sort. `home` is the
    /// directory of each row.
    fn grouped(mut directories: Vec<Directory>, home: &[u32]) -> Self {
        let mut row_counts = vec![0; directories.len()];
        let mut child_counts = vec![0; directories.len()];
        home.iter()
            .for_each(|directory| row_counts[*directory as usize] += 1);
        directories[1..]
            .iter()
            .for_each(|child| child_counts[child.parent as usize] += 1);
        for (directory, (rows, children)) in directories
            .iter_mut()
            .zip(spans(&row_counts).into_iter().zip(spans(&child_counts)))
        {
            directory.rows = rows;
            directory.children = children;
        }
        let mut next: Vec<u32> = directories
            .iter()
            .map(|directory| directory.rows.start)
            .collect();
        let mut rows = vec![0; home.len()];
        for (row, directory) in home.iter().enumerate() {
            let slot = &mut next[*directory as usize];
            rows[*slot as usize] = row as u32;
            *slot += 1;
        }
        let mut next: Vec<u32> = directories.iter().map(|dir| dir.children.start).collect();
        let mut children = vec![0; directories.len() - 1];
        for (child, directory) in directories.iter().enumerate().skip(1) {
            let slot = &mut next[directory.parent as usize];
            children[*slot as usize] = child as u32;
            *slot += 1;
        }
        Layout {
            directories,
            rows,
            children,
        }
    }

    /// All directories; the number of a directory is its index.
    pub fn directories(&self) -> &[Directory] {
        &self.directories
    }

    /// The rows directly in a directory, in ascending order.
    pub fn rows(&self, directory: u32) -> &[u32] {
        let span = &self.directories[directory as usize].rows;
        &self.rows[span.start as usize..span.end as usize]
    }

    /// The subdirectories of a directory.
    pub fn children(&self, directory: u32) -> &[u32] {
        let span = &self.directories[directory as usize].children;
        &self.children[span.start as usize..span.end as usize]
    }
}

fn shared_prefix(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(x, y)| x == y).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(paths: &[&str]) -> Vec<(String, u32, Vec<u32>)> {
        let layout = Layout::new(paths.len(), |row| paths[row].as_bytes());
        let describe = |(number, directory): (usize, &Directory)| {
            let path = &paths
                .get(directory.witness as usize)
                .map_or("", |path| path)[..directory.path_len as usize];
            (
                path.to_owned(),
                directory.parent,
                layout.rows(number as u32).to_vec(),
            )
        };
        layout
            .directories()
            .iter()
            .enumerate()
            .map(describe)
            .collect()
    }

    #[test]
    fn rows_are_grouped_though_files_and_directories_interleave() {
        let paths = [
            "a", "b-c", "b/d/e", "b/d/f", "b/g", "b/h/i", "b0", "bb/d/e", "z",
        ];
        let expected = vec![
            (String::new(), 0, vec![0, 1, 6, 8]),
            ("b".into(), 0, vec![4]),
            ("b/d".into(), 1, vec![2, 3]),
            ("b/h".into(), 1, vec![5]),
            ("bb".into(), 0, vec![]),
            ("bb/d".into(), 4, vec![7]),
        ];
        assert_eq!(shape(&paths), expected);
    }

    #[test]
    fn children_of_each_directory_are_listed() {
        let paths = ["a/b/c", "a/d/e", "f/g"];
        let layout = Layout::new(paths.len(), |row| paths[row].as_bytes());
        assert_eq!(layout.children(0), [1, 4]);
        assert_eq!(layout.children(1), [2, 3]);
        assert_eq!(layout.children(4), [] as [u32; 0]);
    }

    #[test]
    fn no_paths_leave_an_empty_root() {
        assert_eq!(shape(&[]), vec![(String::new(), 0, vec![])]);
    }

    #[test]
    fn a_directory_is_not_taken_for_one_with_a_longer_name() {
        let paths = ["ab/c", "abc/d"];
        let layout = Layout::new(paths.len(), |row| paths[row].as_bytes());
        assert_eq!(layout.directories().len(), 3);
        assert_eq!(layout.rows(2), [1]);
    }
}
