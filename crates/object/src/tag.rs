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

/// Notices when a chain of tags leads back to where it was. By their ids alone no chain can, but where
/// other objects are read in the place of some, it may. Takes constant memory.
#[derive(Clone, Copy, Debug)]
pub struct CycleGuard {
    /// An object that was passed.
    passed: ObjectId,
    steps: u64,
    /// After so many steps the object passed next is remembered instead.
    limit: u64,
}

impl CycleGuard {
    /// For a chain that starts at `id`.
    pub fn new(id: &oid) -> Self {
        CycleGuard {
            passed: id.to_owned(),
            steps: 0,
            limit: 1,
        }
    }

    /// Whether the chain, which leads on to `id`, is known to be a cycle. One that is gets known.
    pub fn is_cycle(&mut self, id: &oid) -> bool {
        if *self.passed == *id {
            return true;
        }
        self.steps += 1;
        if self.steps == self.limit {
            self.passed = id.to_owned();
            (self.steps, self.limit) = (0, self.limit.saturating_mul(2));
        }
        false
    }
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

    #[test]
    fn every_cycle_is_noticed_and_nothing_else() {
        let id = |number: u32| {
            let mut bytes = [0; 20];
            bytes[..4].copy_from_slice(&number.to_be_bytes());
            ObjectId::from_bytes_or_panic(&bytes)
        };
        for (lead, length) in [(0, 1), (0, 2), (1, 1), (5, 3), (100, 7), (3, 1000)] {
            let mut guard = CycleGuard::new(&id(0));
            let after = |at: u32| match at + 1 {
                next if next == lead + length => lead,
                next => next,
            };
            let mut at = 0;
            let mut steps = 0;
            loop {
                at = after(at);
                steps += 1;
                if guard.is_cycle(&id(at)) {
                    break;
                }
            }
            assert!(
                steps >= length && steps <= 4 * (lead + length),
                "{lead} {length}: {steps}"
            );
        }
        let mut guard = CycleGuard::new(&id(0));
        assert!((1..100_000).all(|at| !guard.is_cycle(&id(at))));
    }
}
