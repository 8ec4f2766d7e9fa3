//! The extensions, which follow the entries of an index file.

pub(super) mod fsmonitor;
pub(super) mod resolve_undo;
pub(super) mod split;
pub(super) mod untracked;

use super::cache_tree::CacheTree;
use super::cursor::{Cursor, Parsed, Problem};
use gix_hash::Kind;

/// The extensions that an index in memory keeps.
#[derive(Clone, Debug, Default)]
pub(super) struct Extensions {
    /// `sdir`: the index may hold sparse directories.
    pub(super) sparse: bool,
    /// `TREE`.
    pub(super) cache_tree: Option<CacheTree>,
    /// `REUC`: the sides of resolved conflicts, as stored in the file.
    pub(super) resolve_undo: Option<Vec<u8>>,
    /// `UNTR`: the untracked files that were found, by directory.
    pub(super) untracked: Option<untracked::UntrackedCache>,
    /// `link`: the index is written split, based on this shared index.
    pub(super) split: Option<split::SharedIndex>,
    /// The token of `FSMN`; its bits become a flag of each entry.
    pub(super) fsmonitor_token: Option<Vec<u8>>,
}

/// The extensions of a file; two of them concern the entries and are applied when those are
/// complete.
pub(super) struct ParsedExtensions<'a> {
    pub(super) kept: Extensions,
    pub(super) link: Option<split::Link<'a>>,
    pub(super) fsmonitor: Option<fsmonitor::Fsmonitor<'a>>,
}

/// Parses `bytes`, everything between the entries and the trailer.
///
/// Fails if their sizes do not add up, or if there is an unknown required extension (one whose name
/// starts with anything but a capital letter).
pub(super) fn read(bytes: &[u8], hash: Kind) -> Parsed<ParsedExtensions<'_>> {
    let mut found = ParsedExtensions {
        kept: Extensions::default(),
        link: None,
        fsmonitor: None,
    };
    let mut cursor = Cursor::new(bytes);
    while !cursor.is_empty() {
        let name = cursor.take_array::<4>().ok_or("half an extension")?;
        let size = cursor.be32().ok_or("half an extension")?;
        let data = usize::try_from(size)
            .ok()
            .and_then(|size| cursor.take(size));
        let name_text = || name.escape_ascii().to_string();
        let data = data.ok_or_else(|| format!("extension '{}' is cut off", name_text()))?;
        match name {
            b"TREE" => found.kept.cache_tree = CacheTree::parse(data, hash),
            b"REUC" => found.kept.resolve_undo = Some(data.to_owned()),
            b"UNTR" => found.kept.untracked = untracked::UntrackedCache::parse(data, hash),
            b"FSMN" => found.fsmonitor = fsmonitor::Fsmonitor::parse(data),
            b"sdir" => found.kept.sparse = true,
            b"link" => found.link = Some(split::Link::parse(data, hash)?),
            [b'A'..=b'Z', ..] => {}
            _ => {
                let what = format!("index extension '{}'", name_text());
                return Err(Problem::Unsupported(what));
            }
        }
    }
    Ok(found)
}

/// Appends an extension. One too long for its size field is left out, since it is optional.
pub(super) fn push(out: &mut Vec<u8>, name: &[u8; 4], data: &[u8]) {
    if let Ok(size) = u32::try_from(data.len()) {
        out.extend_from_slice(name);
        out.extend_from_slice(&size.to_be_bytes());
        out.extend_from_slice(data);
    }
}
