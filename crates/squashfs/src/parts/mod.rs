//! Images in parts: several processes each make the image of a range of the entries, and one merges
//! these to the image that a single process would have made, byte for byte.
//!
//! A part is an image with the entries of its range and the directories above them, so that it is
//! read like any other. What an image does not hold, stands after it ([`note`]). Because ranges are
//! contiguous and the division into fragment blocks finds itself again after a while, nearly all
//! blocks of the whole image are in one of the parts, compressed already: [`Reuse`] finds them by
//! their content, and compresses anew the few that are not.

mod note;
mod range;

pub(crate) use note::sealed;
pub use range::{Outline, PartRange};

use crate::writer::{create_with_end, NotReusable};
use crate::{nodes_of_image, CreateOptions, Created, Image, Item, Reuse, WriteError};
use hedgerow_fs::ReadFile;
use hedgerow_tree::{canonical_order, Node, NodeError};
use note::{Note, Whole};
use std::cmp::Ordering;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Writes the image of one part to `target`, like [`create`](crate::create). `nodes` are those of the
/// whole tree; those outside of the range are not opened. `made` is kept in the part: what the caller
/// needs to know to merge, such as the options.
///
/// # Errors
/// As [`create`](crate::create).
pub fn create_part(
    nodes: impl Iterator<Item = Result<Node, NodeError>> + Send,
    range: PartRange,
    made: &[u8],
    target: &Path,
    options: &CreateOptions,
) -> Result<Created, WriteError> {
    let taken = range::Taken::default();
    let nodes = range::Within::new(nodes, range, &taken);
    let end = |skipped: &[NodeError]| {
        let (start, next, links) = taken.take();
        let note = Note {
            number: range.shard.number(),
            count: range.shard.count(),
            total_bytes: range.total_bytes,
            outline: range.outline,
            made: made.to_vec(),
            start,
            next,
            skipped: skipped.iter().map(ToString::to_string).collect(),
            links,
        };
        note.to_bytes()
    };
    create_with_end(nodes, target, options, Some(&end))
}

/// All parts of an image, checked.
pub struct Parts {
    parts: Vec<Part>,
}

struct Part {
    path: PathBuf,
    note: Note,
}

/// What was merged.
#[derive(Debug)]
pub struct Merged {
    /// The image.
    pub created: Created,
    /// Entries, or attributes of entries, that were left out of the parts, and why.
    pub skipped: Vec<String>,
}

impl Parts {
    /// Opens the parts, in any order; one may be there twice. Every byte of each is checked against
    /// its digest.
    ///
    /// # Errors
    /// A part is damaged or missing, or they are not of one tree in one state.
    pub fn open(paths: &[PathBuf]) -> Result<Self, WriteError> {
        let parts = paths.iter().map(|path| {
            let file = ReadFile::open(path)?;
            let note = Note::read(&file)?;
            Ok(Part {
                path: path.clone(),
                note,
            })
        });
        let mut parts = parts.collect::<Result<Vec<Part>, WriteError>>()?;
        parts.sort_by_key(|part| part.note.number);
        parts.dedup_by(|next, before| next.note == before.note);
        check(&parts)?;
        Ok(Parts { parts })
    }

    /// What the callers of [`create_part`] have noted, the same in all parts.
    pub fn made(&self) -> &[u8] {
        &self.parts[0].note.made
    }

    /// Writes the whole image to `target`. The options must be those with which the parts were made.
    ///
    /// # Errors
    /// As [`create`](crate::create).
    pub fn merge(self, target: &Path, options: &CreateOptions) -> Result<Merged, WriteError> {
        let open = |part: &Part| {
            Image::open(&part.path, 0).map_err(|error| WriteError::Part {
                path: part.path.clone(),
                reason: error.to_string(),
            })
        };
        let images = self.parts.iter().map(open).collect::<Result<Vec<_>, _>>()?;
        let reuse = Reuse::of_all(
            images,
            &options.settings,
            options.block_bytes,
            &options.execution,
        );
        let reuse = reuse.map_err(|error| match error {
            NotReusable::Failed(error) => *error,
            error => WriteError::Reuse(Box::new(error)),
        })?;
        let options = CreateOptions {
            reuse: Some(Arc::new(reuse)),
            ..options.clone()
        };
        let mut skipped = Vec::new();
        let mut nodes: Vec<OwnNodes> = Vec::new();
        for part in self.parts {
            let image = Arc::new(open(&part)?);
            skipped.extend(part.note.skipped);
            nodes.push(OwnNodes {
                nodes: nodes_of_image(&image, &[]).map_err(NodeError::source)?,
                start: part.note.start,
                next: part.note.next,
                links: part.note.links.into_iter().collect(),
            });
        }
        let items = nodes.into_iter().flatten().map(|node| node.map(Item::from));
        let created = crate::create(items, target, &options)?;
        Ok(Merged { created, skipped })
    }
}

const CHANGED: &str = "the tree was not the same when another part was made";

/// Whether these are all parts, in order, of one tree in one state.
fn check(parts: &[Part]) -> Result<(), WriteError> {
    let refuse = |part: &Part, reason: &str| {
        Err(WriteError::Part {
            path: part.path.clone(),
            reason: reason.into(),
        })
    };
    let Some(first) = parts.first() else {
        return Err(WriteError::Limit {
            reason: "there are no parts".into(),
        });
    };
    let whole: Whole<'_> = first.note.whole();
    let state = first.note.state();
    let mut start = Some(&b""[..]);
    for (number, part) in (1..).zip(parts) {
        if part.note.whole() != whole {
            return refuse(part, "it was made with other options");
        }
        if part.note.state() != state {
            return refuse(part, CHANGED);
        }
        if part.note.number < number {
            return refuse(part, "there is another part with this number");
        }
        if part.note.number > number {
            return refuse(part, &format!("part {number} is missing before it"));
        }
        if part.note.start.as_deref() != start {
            return refuse(part, CHANGED);
        }
        start = part.note.next.as_deref();
    }
    match parts.last() {
        Some(last) if last.note.number < last.note.count => refuse(
            last,
            &format!("part {} is missing after it", last.note.number + 1),
        ),
        Some(last) if start.is_some() => refuse(last, "entries after it are in no part"),
        _ => Ok(()),
    }
}

/// The nodes of a part without the directories above them, with the links of the source.
struct OwnNodes {
    nodes: crate::ImageNodes,
    start: Option<Vec<u8>>,
    next: Option<Vec<u8>>,
    links: HashMap<Vec<u8>, (u64, u64)>,
}

impl Iterator for OwnNodes {
    type Item = Result<Node, NodeError>;

    fn next(&mut self) -> Option<Self::Item> {
        let start = self.start.as_ref()?;
        let mut node = loop {
            match self.nodes.next()? {
                Ok(node) if canonical_order(&node.path, start) == Ordering::Less => {}
                Ok(node) => break node,
                // A part is whole: nothing of it may be left out.
                Err(error) => return Some(Err(NodeError::source(error))),
            }
        };
        let is_past = |next: &Vec<u8>| canonical_order(&node.path, next) != Ordering::Less;
        if self.next.as_ref().is_some_and(is_past) {
            return None;
        }
        node.link = self.links.get(&node.path).copied();
        Some(Ok(node))
    }
}
