//! Comparing an image with what a checkout would write.

use bstr::BString;
use hedgerow_tree::{canonical_order, Content, Node, NodeError, NodeKind};
use std::cmp::Ordering;

const BUFFER_BYTES: usize = 64 << 10;

/// The paths at which two trees differ, in kind, permissions, owner, content or target, or which only
/// one of them has. Both come in canonical order.
///
/// # Errors
/// What cannot be read of either.
pub(crate) fn differences(
    first: impl Iterator<Item = Result<Node, NodeError>>,
    second: impl Iterator<Item = Result<Node, NodeError>>,
) -> Result<Vec<BString>, NodeError> {
    let mut found = Vec::new();
    let (mut first, mut second) = (first, second);
    let mut pair = (first.next().transpose()?, second.next().transpose()?);
    loop {
        let order = match &pair {
            (None, None) => return Ok(found),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(a), Some(b)) => canonical_order(&a.path, &b.path),
        };
        let (a, b) = match order {
            Ordering::Less => (pair.0.take(), None),
            Ordering::Greater => (None, pair.1.take()),
            Ordering::Equal => (pair.0.take(), pair.1.take()),
        };
        match (a, b) {
            (Some(mut a), Some(mut b)) => {
                if differ(&mut a, &mut b)? {
                    found.push(a.path.into());
                }
            }
            (one, other) => found.extend(one.or(other).map(|node| BString::from(node.path))),
        }
        if order != Ordering::Greater {
            pair.0 = first.next().transpose()?;
        }
        if order != Ordering::Less {
            pair.1 = second.next().transpose()?;
        }
    }
}

fn differ(a: &mut Node, b: &mut Node) -> Result<bool, NodeError> {
    let facts = |node: &Node| (node.kind, node.mode, node.uid, node.gid);
    if facts(a) != facts(b) {
        return Ok(true);
    }
    match a.kind {
        NodeKind::Symlink => Ok(a.handle.target()? != b.handle.target()?),
        NodeKind::File => contents_differ(a.handle.open()?, b.handle.open()?),
        _ => Ok(false),
    }
}

fn contents_differ(mut a: Box<dyn Content>, mut b: Box<dyn Content>) -> Result<bool, NodeError> {
    if a.size_bytes() != b.size_bytes() {
        return Ok(true);
    }
    let mut buffers = [vec![0; BUFFER_BYTES], vec![0; BUFFER_BYTES]];
    loop {
        let [one, other] = &mut buffers;
        let counts = (fill(&mut *a, one)?, fill(&mut *b, other)?);
        if counts.0 != counts.1 || one[..counts.0] != other[..counts.1] {
            return Ok(true);
        }
        if counts.0 == 0 {
            return Ok(false);
        }
    }
}

/// Reads until the buffer is full or the content ends; holes are zeros.
fn fill(content: &mut dyn Content, buffer: &mut [u8]) -> Result<usize, NodeError> {
    let mut filled = 0;
    while filled < buffer.len() {
        match content.read(&mut buffer[filled..])? {
            0 => break,
            count => filled += count,
        }
    }
    Ok(filled)
}
