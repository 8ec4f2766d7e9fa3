//! What is to be merged: words, the upstream of the current branch, or what was fetched last.

use crate::branches::Relation;
use crate::refs::Head;
use crate::repository::Repository;
use crate::revision::Wanted;
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use gix_hash::ObjectId;
use hedgerow_object::TagRef;
use hedgerow_pack::ObjectKind;

/// The file with what was fetched last, and the limit for reading it.
const FETCH_HEAD: &str = "FETCH_HEAD";
const FETCH_HEAD_LIMIT_BYTES: u64 = 64 << 20;

/// The commits to merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergeRequest {
    /// In the order in which they were named, each once.
    pub heads: Vec<MergeHead>,
    /// Git's warnings about the words: a name that is ambiguous, a log that is too short.
    pub warnings: Vec<String>,
}

/// A commit to merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergeHead {
    /// How it was named, for logs.
    pub name: BString,
    /// The commit.
    pub commit: ObjectId,
    /// Whether a branch that is moved forward to it keeps all that was named. A tag that is in no
    /// `refs/tags/` would be lost without a commit that holds it.
    pub is_kept_by_fast_forward: bool,
}

/// A word that names no commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmergeable {
    /// The word.
    pub name: BString,
    /// Git's error, if it names something else.
    pub error: Option<String>,
    /// Branches of remotes that it may mean, by their short names.
    pub suggestions: Vec<BString>,
}

impl MergeRequest {
    /// The meaning of the words of a command line. Without any, the upstream of the branch.
    ///
    /// # Errors
    /// In git's words, if there is nothing to merge. The result is `Err` if a word names no commit.
    pub fn parse(
        repository: &Repository,
        words: &[BString],
    ) -> Result<std::result::Result<Self, Unmergeable>> {
        let words = match words {
            [] => vec![upstream(repository)?],
            [only] if only == "-" => vec!["@{-1}".into()],
            [only] if only == FETCH_HEAD => return fetched(repository).map(Ok),
            words => words.to_vec(),
        };
        let (mut heads, mut warnings) = (Vec::new(), Vec::new());
        for word in words {
            match named(repository, word.as_bstr())? {
                Ok((head, more)) => {
                    push(&mut heads, head);
                    warnings.extend(more);
                }
                Err(unmergeable) => return Ok(Err(unmergeable)),
            }
        }
        Ok(Ok(MergeRequest { heads, warnings }))
    }

    /// The heads that neither `head`, if there is one, nor another one reaches.
    pub(super) fn reduced(
        &self,
        repository: &Repository,
        head: Option<ObjectId>,
    ) -> Result<Vec<&MergeHead>> {
        if let [only] = self.heads.as_slice() {
            return Ok(vec![only]);
        }
        let mut reduced = Vec::new();
        for one in &self.heads {
            let others = self.heads.iter().map(|other| other.commit);
            let others = others.filter(|other| *other != one.commit);
            let mut is_reached = false;
            for other in others.chain(head) {
                let relation = repository.relation(&other, &one.commit)?;
                is_reached |= matches!(relation, Relation::Ahead | Relation::Same);
            }
            if !is_reached {
                reduced.push(one);
            }
        }
        Ok(reduced)
    }
}

fn push(heads: &mut Vec<MergeHead>, head: MergeHead) {
    if heads.iter().all(|known| known.commit != head.commit) {
        heads.push(head);
    }
}

fn setup(reason: impl Into<String>) -> Error {
    Error::Setup {
        reason: reason.into(),
    }
}

/// What the current branch follows.
fn upstream(repository: &Repository) -> Result<BString> {
    let config = repository.config();
    if config.bool("merge.defaultToUpstream")? == Some(false) {
        return Err(setup(
            "No commit specified and merge.defaultToUpstream not set.",
        ));
    }
    let Head::Branch { name, .. } = repository.head()? else {
        return Err(setup("No current branch."));
    };
    let short = name.strip_prefix(b"refs/heads/").unwrap_or(&name);
    let short = short.as_bstr();
    let Some(remote) = config.string_in("branch", short, "remote") else {
        return Err(setup("No remote for the current branch."));
    };
    let followed = config.strings_in("branch", short, "merge");
    match followed.as_slice() {
        [] => Err(setup("No default upstream defined for the current branch.")),
        [only] => match repository.upstream(name.as_bstr())? {
            Some(upstream) => Ok(upstream.tracking),
            None => Err(setup(format!(
                "No remote-tracking branch for {only} from {remote}"
            ))),
        },
        _ => Err(Error::NotBuilt {
            reason: "merging the several branches that the current one follows".into(),
        }),
    }
}

/// The commit that a word names, and git's warnings about the word.
type NamedHead = std::result::Result<(MergeHead, Vec<String>), Unmergeable>;

fn named(repository: &Repository, word: &BStr) -> Result<NamedHead> {
    let unmergeable = |error| {
        Ok(Err(Unmergeable {
            name: word.to_owned(),
            error,
            suggestions: suggestions(repository, word)?,
        }))
    };
    let resolved = match repository.resolve_if_named(word, Wanted::Any, None) {
        Ok(Some(resolved)) => resolved,
        Ok(None) => return unmergeable(None),
        Err(error @ Error::Revision { .. }) => return unmergeable(Some(error.to_string())),
        Err(error) => return Err(error),
    };
    let Some(commit) = repository.peel_if_there(&resolved.id, Some(ObjectKind::Commit))? else {
        let Some(last) = repository.peel_if_there(&resolved.id, None)? else {
            return unmergeable(None);
        };
        let kind = crate::repository::kind_name(repository.object_kind(&last)?);
        return unmergeable(Some(format!(
            "{word}: expected commit type, but the object dereferences to {kind} type"
        )));
    };
    let head = MergeHead {
        name: word.to_owned(),
        commit,
        is_kept_by_fast_forward: is_kept(repository, resolved.id)?,
    };
    Ok(Ok((head, resolved.warnings)))
}

/// Whether the object stays reachable without a merge: if it is a tag, only if it is in its place.
fn is_kept(repository: &Repository, id: ObjectId) -> Result<bool> {
    let (kind, content) = repository.read_object(&id)?;
    if kind != ObjectKind::Tag {
        return Ok(true);
    }
    let tag = TagRef::parse(&id, &content).map_err(|error| Error::CorruptObject {
        kind: "tag",
        id,
        reason: error.to_string(),
    })?;
    let name = BString::from([b"refs/tags/", tag.name].concat());
    let found = repository.reference(name.as_bstr())?;
    Ok(found.and_then(|found| found.id) == Some(id))
}

/// Branches of remotes with this name.
fn suggestions(repository: &Repository, word: &BStr) -> Result<Vec<BString>> {
    let ending = [b"/".as_slice(), word].concat();
    let mut found = Vec::new();
    for reference in repository.references_below("refs/remotes/".into())? {
        let short = &reference.name[b"refs/remotes/".len()..];
        let at = short.find_byte(b'/').unwrap_or(0);
        if short[at..] == ending {
            found.push(short.into());
        }
    }
    Ok(found)
}

/// What was fetched in order to be merged.
fn fetched(repository: &Repository) -> Result<MergeRequest> {
    let path = repository.git_dir().join(FETCH_HEAD);
    let content = hedgerow_fs::read_file(&path, FETCH_HEAD_LIMIT_BYTES)?;
    let content = content.ok_or_else(|| {
        setup(format!(
            "could not open '{}' for reading: No such file or directory",
            path.display()
        ))
    })?;
    let mut heads = Vec::new();
    for line in content.lines() {
        let mut parts = line.splitn(3, |byte| *byte == b'\t');
        let (hex, mark) = (parts.next().unwrap_or_default(), parts.next());
        let is_id = hex.len() == repository.hash_kind().len_in_hex();
        if !is_id || mark != Some(b"") {
            continue;
        }
        match named(repository, hex.as_bstr())? {
            Ok((head, _)) => push(&mut heads, head),
            Err(_) => {
                let (hex, path) = (hex.as_bstr(), path.display());
                let reason = format!("not something we can merge in {path}: {hex}");
                return Err(setup(reason));
            }
        }
    }
    if heads.is_empty() {
        return Err(setup(format!("{FETCH_HEAD} - not something we can merge")));
    }
    Ok(MergeRequest {
        heads,
        warnings: Vec::new(),
    })
}
