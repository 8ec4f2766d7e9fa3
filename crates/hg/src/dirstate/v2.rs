//! The second format: a docket with the parents and the position of the root's nodes, and a data
//! file of nodes, one for each path, which point to their children and to the bytes of their paths.

use super::{corrupt, is_inside, Dirstate, Entry, Expected, Mtime, NodeId, Span};
use crate::Result;
use std::path::Path;

const MARKER: &[u8] = b"dirstate-v2\n";
/// Size of a docket before the data file's identifier, in bytes.
const DOCKET_BYTES: usize = 125;
const NODE_BYTES: usize = 44;
/// Maximum nesting depth of directories. Paths are at most 65,535 bytes long.
const DEPTH: usize = 32 * 1024;

/// Bits of a node's flags.
mod flag {
    pub const TRACKED: u16 = 1 << 0;
    pub const IN_FIRST_PARENT: u16 = 1 << 1;
    pub const MERGED: u16 = 1 << 2;
    pub const EXECUTABLE: u16 = 1 << 3;
    pub const SYMLINK: u16 = 1 << 4;
    pub const EXPECTED_IS_MODIFIED: u16 = 1 << 9;
    pub const HAS_MODE_AND_SIZE: u16 = 1 << 10;
    pub const HAS_MTIME: u16 = 1 << 11;
    pub const SECOND_IS_AMBIGUOUS: u16 = 1 << 12;
    pub const ANY_PARENT_OR_WORKING_COPY: u16 = TRACKED | IN_FIRST_PARENT | MERGED;
}

/// The docket file `.hg/dirstate`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Docket {
    parents: [NodeId; 2],
    roots: Nodes,
    /// Size of the used part of the data file, in bytes; more may follow.
    pub data_bytes: u32,
    /// The data file is called `dirstate.` followed by this.
    identifier: String,
}

/// Consecutive nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Nodes {
    start: u32,
    count: u32,
}

impl Docket {
    /// Parses a docket. `path` is for errors.
    pub fn parse(content: &[u8], path: &Path) -> Result<Self> {
        if content.is_empty() {
            return Ok(Docket::default());
        }
        if !content.starts_with(MARKER) {
            let reason = "it is not in the second format, but 'requires' lists 'dirstate-v2'";
            return Err(corrupt(path, reason));
        }
        fields(content).ok_or_else(|| corrupt(path, "it ends too early, or names no data file"))
    }

    /// The name of the data file, which is next to the docket.
    pub fn data_file_name(&self) -> String {
        format!("dirstate.{}", self.identifier)
    }

    /// Combines it with the content of the data file. `path` is that of the data file, for errors.
    pub fn with_data(self, mut data: Vec<u8>, path: &Path) -> Result<Dirstate> {
        let used = self.data_bytes as usize;
        if data.len() < used {
            let reason = format_args!("it has {} bytes instead of {used}", data.len());
            return Err(corrupt(path, reason));
        }
        data.truncate(used);
        let entries = entries(&data, self.roots).map_err(|reason| corrupt(path, reason))?;
        Dirstate::new(data, self.parents, entries, path)
    }
}

fn fields(content: &[u8]) -> Option<Docket> {
    let (fixed, rest) = content.split_at_checked(DOCKET_BYTES)?;
    let length = usize::from(*fixed.last()?);
    let identifier = rest.get(..length)?;
    // Only a file name without directories is accepted.
    let is_name = identifier.iter().all(u8::is_ascii_alphanumeric);
    let docket = Docket {
        parents: [
            *fixed.get(12..)?.first_chunk()?,
            *fixed.get(44..)?.first_chunk()?,
        ],
        roots: Nodes {
            start: number(fixed, 76)?,
            count: number(fixed, 80)?,
        },
        data_bytes: number(fixed, 120)?,
        identifier: String::from_utf8(identifier.to_vec()).ok()?,
    };
    let has_name = !identifier.is_empty() && is_name;
    (has_name || docket.data_bytes == 0).then_some(docket)
}

/// The entries of all nodes that are tracked in any way, each directory's content after the
/// directory.
fn entries(data: &[u8], roots: Nodes) -> std::result::Result<Vec<Entry>, String> {
    let capacity = data.len() / NODE_BYTES;
    // Nodes may not overlap, so there cannot be more of them than fit. Circular references would
    // exceed that.
    let mut budget = capacity;
    let mut entries = Vec::with_capacity(capacity.min(1 << 16));
    let mut pending = vec![roots];
    while let Some(nodes) = pending.last_mut() {
        if nodes.count == 0 {
            pending.pop();
            continue;
        }
        let start = nodes.start as usize;
        let node = data.get(start..).and_then(|rest| rest.first_chunk());
        let node: &[u8; NODE_BYTES] = node.ok_or_else(|| format!("no node fits at {start}"))?;
        nodes.start += NODE_BYTES as u32;
        nodes.count -= 1;
        budget = budget
            .checked_sub(1)
            .ok_or("it has more nodes than it has room for")?;
        let (entry, children) = parse_node(node)
            .filter(|(entry, _)| fits(entry, data))
            .ok_or_else(|| format!("the node at byte {start} is not one"))?;
        entries.extend(entry);
        if children.count > 0 {
            pending.push(children);
        }
        if pending.len() > DEPTH {
            return Err("its directories are nested too deeply".into());
        }
    }
    Ok(entries)
}

/// The entry, if the node is tracked in any way, and the node's children.
fn parse_node(node: &[u8; NODE_BYTES]) -> Option<(Option<Entry>, Nodes)> {
    let children = Nodes {
        start: number(node, 14)?,
        count: number(node, 18)?,
    };
    let flags = short(node, 30)?;
    let has = |bit: u16| flags & bit != 0;
    if !has(flag::ANY_PARENT_OR_WORKING_COPY) {
        return Some((None, children));
    }
    // Mercurial could not detect a change by stat data, so the content must be compared.
    let is_known = !has(flag::EXPECTED_IS_MODIFIED);
    let entry = Entry {
        path: Span {
            start: number(node, 0)?,
            length: short(node, 4)?.into(),
        },
        source: match number(node, 8)? {
            0 => Span::default(),
            start => Span {
                start,
                length: short(node, 12)?.into(),
            },
        },
        tracked: has(flag::TRACKED),
        in_first_parent: has(flag::IN_FIRST_PARENT),
        merged: has(flag::MERGED),
        expected: (is_known && has(flag::HAS_MODE_AND_SIZE)).then_some(Expected {
            size: number(node, 32)?,
            executable: has(flag::EXECUTABLE),
            symlink: Some(has(flag::SYMLINK)),
        }),
        mtime: (is_known && has(flag::HAS_MTIME)).then_some(Mtime {
            seconds: number(node, 36)?,
            nanoseconds: number(node, 40)?,
            ambiguous: has(flag::SECOND_IS_AMBIGUOUS),
        }),
    };
    Some((Some(entry), children))
}

fn fits(entry: &Option<Entry>, data: &[u8]) -> bool {
    entry.as_ref().is_none_or(|entry| {
        entry.path.of(data).is_some_and(is_inside) && entry.source.of(data).is_some()
    })
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn short(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}
