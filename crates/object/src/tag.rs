use crate::line::{hex_len, parse_id, split_line, take_id};
use crate::{Malformed, ObjectKind};
use gix_hash::{oid, ObjectId};

/// An annotated tag, as far as a walk looks into it.
#[derive(Clone, Copy, Debug)]
pub struct TagRef<'d> {
    /// What it points to.
    pub target: ObjectId,
    /// The kind of that, as the tag has it.
    pub kind: ObjectKind,
    /// The name that is written in it.
    pub name: &'d [u8],
}

impl<'d> TagRef<'d> {
    /// Parses the tag `id` from its content.
    ///
    /// # Errors
    /// [`Malformed`] without target, kind or name.
    pub fn parse(id: &oid, content: &'d [u8]) -> Result<Self, Malformed> {
        let bad = |reason| Malformed::new(ObjectKind::Tag, id, reason);
        let mut rest = content;
        let target = take_target(id, &mut rest).ok_or_else(|| bad("it has no object"))?;
        let kind = take_kind(&mut rest).ok_or_else(|| bad("it has no type"))?;
        let name = take_line(&mut rest, b"tag ").ok_or_else(|| bad("it has no name"))?;
        Ok(TagRef { target, kind, name })
    }

    /// What the tag `id` points to and says of its kind, by the `start` of its content; `None` if it
    /// takes more.
    pub fn leading(id: &oid, mut start: &[u8]) -> Option<(ObjectId, ObjectKind)> {
        let target = take_target(id, &mut start)?;
        Some((target, take_kind(&mut start)?))
    }
}

fn take_target(id: &oid, rest: &mut &[u8]) -> Option<ObjectId> {
    take_id(rest, b"object ", hex_len(id)).and_then(parse_id)
}

fn take_kind(rest: &mut &[u8]) -> Option<ObjectKind> {
    take_line(rest, b"type ").and_then(ObjectKind::from_name)
}

fn take_line<'d>(rest: &mut &'d [u8], start: &[u8]) -> Option<&'d [u8]> {
    let (line, after) = split_line(rest.strip_prefix(start)?)?;
    *rest = after;
    Some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_has_target_kind_and_name() {
        let id = ObjectId::null(gix_hash::Kind::Sha1);
        let hex = "1".repeat(40);
        let text = format!("object {hex}\ntype tree\ntag v 1\n\nwords\n");
        let tag = TagRef::parse(&id, text.as_bytes()).unwrap();
        assert_eq!(tag.target.to_string(), hex);
        assert_eq!((tag.kind, tag.name), (ObjectKind::Tree, b"v 1".as_slice()));
        for end in 0..text.find("\n\n").unwrap() {
            assert!(
                TagRef::parse(&id, &text.as_bytes()[..end]).is_err(),
                "{end}"
            );
        }
        let odd = text.replace("tree", "thing");
        assert!(TagRef::parse(&id, odd.as_bytes()).is_err());
    }
}
