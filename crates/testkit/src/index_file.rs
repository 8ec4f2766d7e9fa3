//! A second reader of the index format (gitformat-index(5)), written for the tests alone, so that
//! what the program writes is not judged by the program's own reader.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

#[derive(Debug, PartialEq, Eq)]
pub struct IndexFile {
    pub version: u32,
    pub entries: Vec<IndexEntry>,
    /// Signatures and contents, in the order of the file.
    pub extensions: Vec<(String, Vec<u8>)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexEntry {
    /// ctime s, ns, mtime s, ns, dev, ino; then uid, gid, size.
    pub stat: [u32; 9],
    pub mode: u32,
    pub id: Vec<u8>,
    /// Both flag words, without the length of the name.
    pub flags: (u16, u16),
    pub path: Vec<u8>,
}

/// Entries below a tree, or -1, and its id; by path, with a slash at its end.
pub type CacheTree = std::collections::BTreeMap<Vec<u8>, (i64, Vec<u8>)>;

impl IndexFile {
    /// Reads an index without split or sparse parts. `id_bytes`: 20 or 32.
    pub fn read(content: &[u8], id_bytes: usize) -> IndexFile {
        assert_eq!(&content[..4], b"DIRC");
        let version = number(content, 4);
        let end = content.len() - id_bytes;
        let mut entries: Vec<IndexEntry> = Vec::new();
        let mut at = 12;
        for _ in 0..number(content, 8) {
            let start = at;
            let mut words = [0; 10];
            for word in &mut words {
                *word = number(content, at);
                at += 4;
            }
            let [a, b, c, d, e, f, mode, g, h, i] = words;
            let id = content[at..at + id_bytes].to_vec();
            at += id_bytes;
            let flags = short(content, at);
            at += 2;
            let mut more = 0;
            if flags & 0x4000 != 0 {
                more = short(content, at);
                at += 2;
            }
            let mut path = Vec::new();
            if version == 4 {
                let mut strip = (content[at] & 127) as usize;
                while content[at] & 128 != 0 {
                    at += 1;
                    strip = ((strip + 1) << 7) | (content[at] & 127) as usize;
                }
                at += 1;
                let last = entries.last().map_or(&[][..], |entry| &entry.path);
                path.extend_from_slice(&last[..last.len() - strip]);
            }
            let length = content[at..].iter().position(|byte| *byte == 0).unwrap();
            path.extend_from_slice(&content[at..at + length]);
            at += length + 1;
            if version != 4 {
                at = start + (at - start).div_ceil(8) * 8;
            }
            let flags = (flags & 0xf000, more);
            let stat = [a, b, c, d, e, f, g, h, i];
            entries.push(IndexEntry {
                stat,
                mode,
                id,
                flags,
                path,
            });
        }
        let mut extensions = Vec::new();
        while at < end {
            let name = String::from_utf8_lossy(&content[at..at + 4]).into_owned();
            let length = number(content, at + 4) as usize;
            extensions.push((name, content[at + 8..at + 8 + length].to_vec()));
            at += 8 + length;
        }
        IndexFile {
            version,
            entries,
            extensions,
        }
    }

    pub fn extension(&self, name: &str) -> Option<&[u8]> {
        let found = self
            .extensions
            .iter()
            .find(|(signature, _)| signature == name);
        found.map(|(_, content)| content.as_slice())
    }

    /// The trees in the extension `TREE`, by path.
    pub fn cache_tree(&self, id_bytes: usize) -> CacheTree {
        let mut trees = CacheTree::new();
        let mut rest = self.extension("TREE").unwrap_or_default();
        // The path so far, and how many subtrees are still to come.
        let mut stack: Vec<(Vec<u8>, usize)> = Vec::new();
        while !rest.is_empty() {
            let name_end = rest.iter().position(|byte| *byte == 0).unwrap();
            let line_end = rest.iter().position(|byte| *byte == b'\n').unwrap();
            // A name may hold a line feed.
            let line_end = if line_end < name_end {
                name_end + rest[name_end..].iter().position(|b| *b == b'\n').unwrap()
            } else {
                line_end
            };
            let numbers = std::str::from_utf8(&rest[name_end + 1..line_end]).unwrap();
            let (count, subtrees) = numbers.split_once(' ').unwrap();
            let (count, subtrees): (i64, usize) =
                (count.parse().unwrap(), subtrees.parse().unwrap());
            let mut path = Vec::new();
            if let Some((parent, left)) = stack.last_mut() {
                *left -= 1;
                path = [&parent[..], &rest[..name_end], b"/"].concat();
            }
            rest = &rest[line_end + 1..];
            let mut id = Vec::new();
            if count >= 0 {
                id = rest[..id_bytes].to_vec();
                rest = &rest[id_bytes..];
            }
            trees.insert(path.clone(), (count, id));
            stack.push((path, subtrees));
            while stack.last().is_some_and(|(_, left)| *left == 0) {
                stack.pop();
            }
        }
        trees
    }

    /// All but the stat data, for comparing.
    pub fn without_stat(&self) -> Vec<IndexEntry> {
        let strip = |entry: &IndexEntry| IndexEntry {
            stat: [0; 9],
            ..entry.clone()
        };
        self.entries.iter().map(strip).collect()
    }
}

impl IndexEntry {
    /// Whether the stat data are those of the file now, so that `git status` reads nothing.
    /// A size of 0 is how a racy entry is marked.
    pub fn is_fresh(&self, root: &Path) -> bool {
        let Ok(stat) =
            std::fs::symlink_metadata(root.join(std::ffi::OsStr::from_bytes(&self.path)))
        else {
            return false;
        };
        let now = [
            stat.ctime() as u32,
            stat.ctime_nsec() as u32,
            stat.mtime() as u32,
            stat.mtime_nsec() as u32,
            stat.dev() as u32,
            stat.ino() as u32,
            stat.uid(),
            stat.gid(),
        ];
        now == self.stat[..8] && (self.stat[8] == stat.size() as u32 || self.stat[8] == 0)
    }
}

fn number(content: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(content[at..at + 4].try_into().unwrap())
}

fn short(content: &[u8], at: usize) -> u16 {
    u16::from_be_bytes(content[at..at + 2].try_into().unwrap())
}
