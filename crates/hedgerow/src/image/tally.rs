//! What unsquashfs says about an extraction, and the sizes of memory that squashfs-tools take.

use hedgerow_numbers::size_bytes;
use hedgerow_tree::{Node, NodeKind};
use std::collections::HashSet;
use std::fmt;

/// Extracted entries by their kinds, shown with a line for each, as unsquashfs does.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    files: u64,
    directories: u64,
    symlinks: u64,
    devices: u64,
    fifos: u64,
    sockets: u64,
    hard_links: u64,
    /// The files with several names that have been seen.
    linked: HashSet<(u64, u64)>,
}

impl Tally {
    /// Counts an entry; a further name of a file is a hard link.
    pub fn add(&mut self, node: &Node) {
        let is_further = node.link.is_some_and(|link| !self.linked.insert(link));
        let count = match node.kind {
            _ if is_further => &mut self.hard_links,
            NodeKind::File => &mut self.files,
            NodeKind::Directory => &mut self.directories,
            NodeKind::Symlink => &mut self.symlinks,
            NodeKind::BlockDevice | NodeKind::CharacterDevice => &mut self.devices,
            NodeKind::Fifo => &mut self.fifos,
            NodeKind::Socket => &mut self.sockets,
        };
        *count += 1;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = [
            (self.files, "file", "files"),
            (self.directories, "directory", "directories"),
            (self.symlinks, "symlink", "symlinks"),
            (self.devices, "device", "devices"),
            (self.fifos, "fifo", "fifos"),
            (self.sockets, "socket", "sockets"),
            (self.hard_links, "hardlink", "hardlinks"),
        ];
        let lines = lines.map(|(count, one, several)| {
            let name = if count == 1 { one } else { several };
            format!("created {count} {name}")
        });
        to.write_str(&lines.join("\n"))
    }
}

/// Parses a size of memory, such as `100M`, of at least `least_bytes`.
///
/// # Errors
/// It is no size, or a smaller one.
pub fn memory_bytes(word: &str, least_bytes: u64) -> Result<u64, String> {
    let bytes = size_bytes(
        word.trim_end_matches("bytes")
            .trim_end_matches(['b', 'B'])
            .as_bytes(),
    );
    bytes.filter(|bytes| *bytes >= least_bytes).ok_or_else(|| {
        let least = least_bytes >> 20;
        format!("it is a number of bytes such as 100M, and at least {least}M")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_memory_have_units_and_a_minimum() {
        for (word, expected) in [
            ("4M", Some(4 << 20)),
            ("16Mbytes", Some(16 << 20)),
            ("1GB", Some(1 << 30)),
            ("4194303", None),
            ("1", None),
            ("x", None),
            ("", None),
            ("1.5G", None),
        ] {
            assert_eq!(memory_bytes(word, 4 << 20).ok(), expected, "{word}");
        }
    }
}
