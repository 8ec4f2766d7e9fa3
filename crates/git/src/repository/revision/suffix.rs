//! The suffixes `^`, `^N`, `~`, `~N` and `^{...}`.

use super::{Resolver, Wanted};
use crate::Result;
use bstr::{BStr, ByteSlice};
use hedgerow_pack::{ObjectId, ObjectKind};

/// One step through history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// `^N`: the parent of this number; 0 is the commit itself.
    Parent(usize),
    /// `~N`: so many first parents back.
    Ancestor(usize),
}

/// What stands between the braces of `^{...}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Onion<'a> {
    /// Nothing: tags are followed.
    NoTag,
    /// `object`: it must exist.
    Any,
    /// The name of a kind.
    Kind(ObjectKind),
    /// `/TEXT`: the youngest commit reached whose message fits.
    Message(&'a BStr),
}

/// Splits `^N` or `~N` off the end. A number that is too large steps out of any history.
pub(super) fn parent_step(spec: &BStr) -> Option<(&BStr, Step)> {
    let end = spec.iter().rposition(|byte| !byte.is_ascii_digit())?;
    let number = match spec.get(end + 1..)? {
        b"" => 1,
        digits => digits.to_str().ok()?.parse().unwrap_or(usize::MAX),
    };
    let step = match spec.get(end)? {
        b'^' => Step::Parent(number),
        b'~' => Step::Ancestor(number),
        _ => return None,
    };
    Some((spec.get(..end)?.as_bstr(), step))
}

/// Splits `^{...}` off the end; `None` also for a kind that does not exist.
pub(super) fn onion(spec: &BStr) -> Option<(&BStr, Onion<'_>)> {
    let body = spec.strip_suffix(b"}")?;
    let start = body.rfind(b"^{")?;
    if start == 0 {
        return None;
    }
    let onion = match body.get(start + 2..)? {
        b"" => Onion::NoTag,
        b"object" => Onion::Any,
        b"commit" => Onion::Kind(ObjectKind::Commit),
        b"tree" => Onion::Kind(ObjectKind::Tree),
        b"blob" => Onion::Kind(ObjectKind::Blob),
        b"tag" => Onion::Kind(ObjectKind::Tag),
        [b'/', text @ ..] => Onion::Message(text.as_bstr()),
        _ => return None,
    };
    Some((spec.get(..start)?.as_bstr(), onion))
}

/// The abbreviated id at the end of git-describe(1) output, `NAME-N-gDIGITS`.
pub(super) fn described(spec: &BStr) -> Option<&BStr> {
    let at = spec.rfind(b"-g")?;
    let digits = spec.get(at + 2..)?;
    (at > 0 && digits.iter().all(u8::is_ascii_hexdigit)).then(|| digits.as_bstr())
}

impl Resolver<'_> {
    pub(super) fn step(&self, spec: &BStr, step: Step, depth: usize) -> Result<Option<ObjectId>> {
        let Some(id) = self.object(spec, Wanted::Commit, depth)? else {
            return Ok(None);
        };
        let repository = self.repository;
        let Some(mut id) = repository.peel(&id, Some(ObjectKind::Commit))? else {
            return Ok(None);
        };
        match step {
            Step::Parent(0) => Ok(Some(id)),
            Step::Parent(number) => {
                let commit = repository.commit(&id)?;
                Ok(commit.parents.get(number - 1).copied())
            }
            Step::Ancestor(count) => {
                for _ in 0..count {
                    match repository.commit(&id)?.parents.first() {
                        Some(parent) => id = *parent,
                        None => return Ok(None),
                    }
                }
                Ok(Some(id))
            }
        }
    }

    pub(super) fn peel_onion(
        &self,
        spec: &BStr,
        onion: Onion<'_>,
        depth: usize,
    ) -> Result<Option<ObjectId>> {
        let wanted = match onion {
            Onion::Kind(ObjectKind::Commit) | Onion::Message(_) => Wanted::Commit,
            Onion::Kind(ObjectKind::Tree) => Wanted::Tree,
            Onion::Kind(ObjectKind::Blob) => Wanted::Blob,
            _ => Wanted::Any,
        };
        let Some(id) = self.object(spec, wanted, depth)? else {
            return Ok(None);
        };
        let repository = self.repository;
        match onion {
            Onion::NoTag => repository.peel(&id, None),
            Onion::Any => Ok(repository.has_object(&id)?.then_some(id)),
            Onion::Kind(kind) => repository.peel(&id, Some(kind)),
            Onion::Message(text) => match repository.peel(&id, Some(ObjectKind::Commit))? {
                // An empty text fits the commit itself.
                Some(commit) if text.is_empty() => Ok(Some(commit)),
                Some(commit) => self.find_message(text, Some(commit)),
                None => Ok(None),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_split_off() {
        let split = |spec: &'static str| parent_step(spec.into());
        assert_eq!(split("a^"), Some(("a".into(), Step::Parent(1))));
        assert_eq!(split("a~03"), Some(("a".into(), Step::Ancestor(3))));
        assert_eq!(split("a^^0"), Some(("a^".into(), Step::Parent(0))));
        assert_eq!(
            split("a~99999999999999999999999"),
            Some(("a".into(), Step::Ancestor(usize::MAX)))
        );
        for other in ["", "1", "a", "a^{}", "a^x"] {
            assert_eq!(split(other), None, "{other}");
        }
    }

    #[test]
    fn braces_are_split_off() {
        let split = |spec: &'static str| onion(spec.into());
        assert_eq!(split("a^{}"), Some(("a".into(), Onion::NoTag)));
        assert_eq!(
            split("a^{/b^{c}"),
            None,
            "the innermost braces count, and there is no kind c"
        );
        assert_eq!(
            split("a^{/fix}"),
            Some(("a".into(), Onion::Message("fix".into())))
        );
        for other in ["^{}", "a^{nothing}", "a{}", "a^{", "}"] {
            assert_eq!(split(other), None, "{other}");
        }
    }

    #[test]
    fn describe_output() {
        assert_eq!(described("v1-2-gabcd".into()), Some("abcd".into()));
        assert_eq!(described("v1-gdeadbeef".into()), Some("deadbeef".into()));
        for other in ["-gabcd", "v1-gxyz", "v1", "gabcd"] {
            assert_eq!(described(other.into()), None, "{other}");
        }
    }
}
