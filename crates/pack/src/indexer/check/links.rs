use super::identity::split_line;
use super::{tree, Findings};
use crate::ObjectKind;
use gix_hash::{Kind, ObjectId};

const TYPE_BITS: u32 = 0o170_000;

/// Records the objects that an object refers to; `None` if it cannot be parsed as its kind.
pub(super) fn collect(
    kind: ObjectKind,
    content: &[u8],
    hash: Kind,
    findings: &mut Findings,
) -> Option<()> {
    match kind {
        ObjectKind::Blob => Some(()),
        ObjectKind::Tree => of_tree(content, hash, findings),
        ObjectKind::Commit => of_commit(content, hash, findings),
        ObjectKind::Tag => of_tag(content, hash, findings),
    }
}

fn of_tree(mut content: &[u8], hash: Kind, findings: &mut Findings) -> Option<()> {
    while !content.is_empty() {
        let entry = tree::next(&mut content, hash.len_in_bytes())?;
        let kind = match entry.mode & TYPE_BITS {
            0o160_000 => continue,
            0o040_000 => ObjectKind::Tree,
            0o100_000 | 0o120_000 => ObjectKind::Blob,
            _ => return None,
        };
        findings.link(ObjectId::from_bytes_or_panic(entry.id), Some(kind));
    }
    Some(())
}

fn of_commit(content: &[u8], hash: Kind, findings: &mut Findings) -> Option<()> {
    let (line, mut text) = split_line(content.strip_prefix(b"tree ")?)?;
    findings.link(id(line, hash)?, Some(ObjectKind::Tree));
    while let Some(parent) = text.strip_prefix(b"parent ") {
        let (line, rest) = split_line(parent)?;
        findings.link(id(line, hash)?, Some(ObjectKind::Commit));
        text = rest;
    }
    Some(())
}

fn of_tag(content: &[u8], hash: Kind, findings: &mut Findings) -> Option<()> {
    let (object, text) = split_line(content.strip_prefix(b"object ")?)?;
    let (kind, _) = split_line(text.strip_prefix(b"type ")?)?;
    findings.link(id(object, hash)?, Some(ObjectKind::from_name(kind)?));
    Some(())
}

fn id(line: &[u8], hash: Kind) -> Option<ObjectId> {
    ObjectId::from_hex(line).ok().filter(|id| id.kind() == hash)
}
