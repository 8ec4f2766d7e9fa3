//! Where a detached HEAD came from.

use crate::repository::Repository;
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use gix_hash::ObjectId;
use hedgerow_pack::{oid, ObjectKind};

/// What was checked out when HEAD was detached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detached {
    /// The name of a tag or branch, if it still points to the same commit; else the commit's short
    /// id.
    pub from: BString,
    /// HEAD is still at that commit.
    pub is_at: bool,
}

/// The target of the last switch recorded in the log of HEAD; `None` if there is none. `head` is
/// the commit that is checked out.
pub(super) fn read(repository: &Repository, head: &oid) -> Result<Option<Detached>> {
    let switch = repository.find_in_log("HEAD".into(), &mut |entry| {
        let target = switched_to(entry.message.as_ref())?.to_owned();
        Some((entry, target))
    })?;
    let Some((entry, target)) = switch else {
        return Ok(None);
    };
    let from = if target == "HEAD" {
        // `HEAD` means a different commit each time.
        None
    } else {
        reference_at(repository, target.as_ref(), &entry.new)?
    };
    Ok(Some(Detached {
        from: match from {
            Some(name) => name,
            None => repository.short_id(&entry.new)?.into(),
        },
        is_at: entry.new == head,
    }))
}

fn switched_to(message: &BStr) -> Option<&BStr> {
    let moved = message.strip_prefix(b"checkout: moving from ")?;
    let (_, target) = moved.split_once_str(" to ")?;
    Some(target.as_bstr())
}

/// The reference that the user may have meant by `target`, if exactly one matches and it leads to
/// the commit `id`.
fn reference_at(repository: &Repository, target: &BStr, id: &ObjectId) -> Result<Option<BString>> {
    let expanded = if target == "@" || target.contains_str("@{") {
        repository.expand_branch_name(target)
    } else {
        Ok(target.to_owned())
    };
    let Ok(expanded) = expanded else {
        return Ok(None);
    };
    let found = match repository.find_reference(expanded.as_ref()) {
        Ok(found) => found.filter(|found| !found.is_ambiguous),
        Err(Error::Reference { .. }) => None,
        Err(error) => return Err(error),
    };
    let Some(reference) = found.map(|found| found.reference) else {
        return Ok(None);
    };
    let Some(target) = reference.id else {
        return Ok(None);
    };
    // If the tag's object is missing, HEAD can still be reported.
    let commit = || repository.peel(&target, Some(ObjectKind::Commit));
    if target != *id && !matches!(commit(), Ok(Some(commit)) if commit == *id) {
        return Ok(None);
    }
    let name = reference.target.unwrap_or(reference.name);
    let short = name
        .strip_prefix(b"refs/tags/")
        .or_else(|| name.strip_prefix(b"refs/remotes/"));
    Ok(Some(short.map_or_else(|| name.clone(), BString::from)))
}
