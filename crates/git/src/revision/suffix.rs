//! The suffixes `^`, `^N`, `~`, `~N` and `^{...}`.

use super::{Resolver, Wanted};
use crate::Result;
use bstr::{BStr, ByteSlice};
use hedgerow_pack::{oid, CommitGraph, ObjectId, ObjectKind, Reader};

/// Fewer generations are read faster from the commits than the commit-graph is opened.
const FEW_GENERATIONS: usize = 16;

/// What is done to the object that the words before a suffix name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Suffix<'a> {
    /// `^N`: the parent of this number; 0 is the commit itself.
    Parent(usize),
    /// `~N`: so many first parents back.
    Ancestor(usize),
    /// `^{}`: tags are followed.
    NoTag,
    /// `^{object}`: it must exist.
    Exists,
    /// `^{KIND}`.
    Kind(ObjectKind),
    /// `^{/TEXT}`: the youngest commit reached whose message fits.
    Message(&'a BStr),
}

impl Suffix<'_> {
    /// What the object must be or lead to.
    pub(super) fn wanted(self) -> Wanted {
        match self {
            Suffix::Parent(_)
            | Suffix::Ancestor(_)
            | Suffix::Message(_)
            | Suffix::Kind(ObjectKind::Commit) => Wanted::Commit,
            Suffix::Kind(ObjectKind::Tree) => Wanted::Tree,
            Suffix::Kind(ObjectKind::Blob) => Wanted::Blob,
            _ => Wanted::Any,
        }
    }
}

/// Splits the last suffix off `spec`, if it ends with one.
pub(super) fn last(spec: &BStr) -> Option<(&BStr, Suffix<'_>)> {
    step(spec).or_else(|| braces(spec))
}

/// `^N` or `~N`. A number that is too large steps out of any history.
fn step(spec: &BStr) -> Option<(&BStr, Suffix<'_>)> {
    let end = spec.iter().rposition(|byte| !byte.is_ascii_digit())?;
    let number = match spec.get(end + 1..)? {
        b"" => 1,
        digits => digits.to_str().ok()?.parse().unwrap_or(usize::MAX),
    };
    let suffix = match spec.get(end)? {
        b'^' => Suffix::Parent(number),
        b'~' => Suffix::Ancestor(number),
        _ => return None,
    };
    Some((spec.get(..end)?.as_bstr(), suffix))
}

/// `^{...}`; `None` also for a kind that does not exist.
fn braces(spec: &BStr) -> Option<(&BStr, Suffix<'_>)> {
    let body = spec.strip_suffix(b"}")?;
    let start = body.rfind(b"^{")?;
    if start == 0 {
        return None;
    }
    let suffix = match body.get(start + 2..)? {
        b"" => Suffix::NoTag,
        b"object" => Suffix::Exists,
        b"commit" => Suffix::Kind(ObjectKind::Commit),
        b"tree" => Suffix::Kind(ObjectKind::Tree),
        b"blob" => Suffix::Kind(ObjectKind::Blob),
        b"tag" => Suffix::Kind(ObjectKind::Tag),
        [b'/', text @ ..] => Suffix::Message(text.as_bstr()),
        _ => return None,
    };
    Some((spec.get(..start)?.as_bstr(), suffix))
}

/// The abbreviated id at the end of git-describe(1) output, `NAME-N-gDIGITS`.
pub(super) fn described(spec: &BStr) -> Option<&BStr> {
    let at = spec.rfind(b"-g")?;
    let digits = spec.get(at + 2..)?;
    (at > 0 && digits.iter().all(u8::is_ascii_hexdigit)).then(|| digits.as_bstr())
}

impl Resolver<'_> {
    /// What `suffix` makes of the object `id`; `None` if that is nothing.
    pub(super) fn apply(&self, id: &oid, suffix: Suffix<'_>) -> Result<Option<ObjectId>> {
        let repository = self.repository;
        let as_commit = || repository.peel_if_there(id, Some(ObjectKind::Commit));
        match suffix {
            Suffix::NoTag => repository.peel_if_there(id, None),
            Suffix::Exists => Ok(repository.has_object(id)?.then(|| id.to_owned())),
            Suffix::Kind(kind) => repository.peel_if_there(id, Some(kind)),
            Suffix::Parent(0) => as_commit(),
            Suffix::Parent(number) => match as_commit()? {
                Some(commit) => Ok(repository.commit(&commit)?.parents.get(number - 1).copied()),
                None => Ok(None),
            },
            Suffix::Ancestor(generations) => match as_commit()? {
                Some(commit) => self.ancestor(commit, generations),
                None => Ok(None),
            },
            Suffix::Message(text) => match as_commit()? {
                // An empty text fits the commit itself.
                Some(commit) if text.is_empty() => Ok(Some(commit)),
                Some(commit) => self.find_message(text, Some(commit)),
                None => Ok(None),
            },
        }
    }

    fn ancestor(&self, start: ObjectId, generations: usize) -> Result<Option<ObjectId>> {
        let repository = self.repository;
        let graph = match generations {
            FEW_GENERATIONS.. if !repository.environment().commit_graph_paranoia => {
                repository.whole_commit_graph()
            }
            _ => None,
        };
        let mut reader = Reader::new(repository.objects());
        let mut id = start;
        let mut left = generations;
        while left > 0 {
            if let Some(graph) = &graph {
                match first_parents(graph, &id, &mut left) {
                    Line::Ended => return Ok(None),
                    Line::At(ancestor) => id = ancestor,
                    Line::Unknown => {}
                }
                if left == 0 {
                    break;
                }
            }
            let commit = repository.commit_with(&mut reader, &id)?;
            match commit.parents.first() {
                Some(parent) => id = *parent,
                None => return Ok(None),
            }
            left -= 1;
        }
        Ok(Some(id))
    }
}

/// Where a line of first parents leads.
enum Line {
    /// To a commit without parents, before it was followed far enough.
    Ended,
    /// To this one.
    At(ObjectId),
    /// Nowhere: the commit-graph does not know the commit.
    Unknown,
}

/// Follows first parents from the commit `id` as far as `graph` knows them, at most `left` times, which
/// becomes what is left of that.
fn first_parents(graph: &CommitGraph, id: &oid, left: &mut usize) -> Line {
    let Some(mut position) = graph.position(id) else {
        return Line::Unknown;
    };
    while *left > 0 {
        let first = graph.parents(position).map(|mut parents| parents.next());
        match first {
            Some(None) => return Line::Ended,
            Some(Some(Some(parent))) => position = parent,
            // The file is wrong there.
            None | Some(Some(None)) => break,
        }
        *left -= 1;
    }
    let reached = graph.id(position);
    reached.map_or(Line::Unknown, |id| Line::At(id.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_split_off() {
        let split = |spec: &'static str| step(spec.into());
        assert_eq!(split("a^"), Some(("a".into(), Suffix::Parent(1))));
        assert_eq!(split("a~03"), Some(("a".into(), Suffix::Ancestor(3))));
        assert_eq!(split("a^^0"), Some(("a^".into(), Suffix::Parent(0))));
        assert_eq!(
            split("a~99999999999999999999999"),
            Some(("a".into(), Suffix::Ancestor(usize::MAX)))
        );
        for other in ["", "1", "a", "a^{}", "a^x"] {
            assert_eq!(split(other), None, "{other}");
        }
    }

    #[test]
    fn braces_are_split_off() {
        let split = |spec: &'static str| braces(spec.into());
        assert_eq!(split("a^{}"), Some(("a".into(), Suffix::NoTag)));
        assert_eq!(
            split("a^{/b^{c}"),
            None,
            "the innermost braces count, and there is no kind c"
        );
        assert_eq!(
            split("a^{/fix}"),
            Some(("a".into(), Suffix::Message("fix".into())))
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
