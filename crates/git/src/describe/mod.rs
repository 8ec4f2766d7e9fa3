//! A name for a commit, made of the nearest tag before it: git-describe(1).

#[cfg(test)]
mod tests;

use crate::reachability::Sources;
use crate::refs::name_fits;
use crate::repository::Repository;
use crate::revision::Digits;
use crate::{Error, Result};
use bstr::{BString, ByteSlice};
use hedgerow_pack::{oid, ObjectId, ObjectKind};
use hedgerow_reach::{nearest_named, IdMap};
use std::collections::hash_map::Entry;

const TAGS: &[u8] = b"refs/tags/";
/// Fewer digits than this are never shown.
const LEAST_DIGITS: usize = 4;

/// Which tags count, and how the name is shown.
#[derive(Clone, Debug, Default)]
pub(crate) struct DescribeOptions {
    /// Tags without an object of their own count too.
    pub all_tags: bool,
    /// Digits of the commit's id, none for the tag alone; as configured if it is not given.
    pub digits: Option<usize>,
    /// If there are any, only tags that fit one of these count, without `refs/tags/`.
    pub matches: Vec<BString>,
    /// Tags that fit one of these do not count.
    pub excludes: Vec<BString>,
}

/// A tag of a commit.
struct Tag {
    /// Without `refs/tags/`.
    name: BString,
    object: Option<Object>,
}

/// What the object of a tag says.
struct Object {
    name: BString,
    seconds: i64,
}

/// The name of the commit `id`: a tag of its own, else `TAG-DISTANCE-gDIGITS`; none without a tag
/// that counts.
pub(crate) fn describe(
    repository: &Repository,
    id: &oid,
    options: &DescribeOptions,
) -> Result<Option<BString>> {
    let tags = tags(repository, options)?;
    let counts = |tag: &Tag| options.all_tags || tag.object.is_some();
    if let Some(tag) = tags.get(id).filter(|tag| counts(tag)) {
        // The name in the object is shown even if git finds nothing by it.
        return Ok(Some(if tag.is_misnamed() {
            let digits = digits(options).show(repository, id)?;
            format!("{}-0-g{digits}", tag.shown()).into()
        } else {
            tag.shown().clone()
        }));
    }
    let named: IdMap<bool> = tags.iter().map(|(id, tag)| (*id, counts(tag))).collect();
    let sources = Sources::read(repository)?;
    let Some(nearest) = nearest_named(sources.of(repository), &id.to_owned(), &named)? else {
        return Ok(None);
    };
    let tag = tags.get(&nearest.commit);
    let name = tag.expect("what was found is one of the tags").shown();
    if options.digits == Some(0) {
        return Ok(Some(name.clone()));
    }
    let digits = digits(options).show(repository, id)?;
    Ok(Some(
        format!("{name}-{}-g{digits}", nearest.distance).into(),
    ))
}

fn digits(options: &DescribeOptions) -> Digits {
    let asked = options.digits.map(|digits| digits.max(LEAST_DIGITS));
    asked.map_or(Digits::Configured, Digits::AtLeast)
}

/// The tag of each tagged object that is shown for it.
fn tags(repository: &Repository, options: &DescribeOptions) -> Result<IdMap<Tag>> {
    let fits = |patterns: &[BString], name: &BString| {
        let mut patterns = patterns.iter();
        patterns.any(|pattern| name_fits(pattern.as_bstr(), name.as_bstr()))
    };
    let mut tags = IdMap::default();
    for reference in repository.references_below(TAGS.into())? {
        let name: BString = reference.name.get(TAGS.len()..).unwrap_or_default().into();
        let is_wanted = options.matches.is_empty() || fits(&options.matches, &name);
        let (Some(id), true) = (reference.id, is_wanted && !fits(&options.excludes, &name)) else {
            continue;
        };
        let (id, object) = tagged(repository, id)?;
        let tag = Tag { name, object };
        match tags.entry(id) {
            Entry::Vacant(entry) => drop(entry.insert(tag)),
            Entry::Occupied(mut entry) if tag.is_before(entry.get()) => drop(entry.insert(tag)),
            Entry::Occupied(_) => {}
        }
    }
    Ok(tags)
}

/// What the tag `id` is of, past all tags, and what its object says if it has one.
fn tagged(repository: &Repository, id: ObjectId) -> Result<(ObjectId, Option<Object>)> {
    let (kind, content) = repository.read_object(&id)?;
    if kind != ObjectKind::Tag {
        return Ok((id, None));
    }
    let corrupt = |reason: String| Error::CorruptObject {
        kind: "tag",
        id,
        reason,
    };
    let tag = gix_object::TagRef::from_bytes(&content, repository.hash_kind())
        .map_err(|error| corrupt(error.probable_cause().to_string()))?;
    let tagger = tag.tagger().ok().flatten();
    let seconds = tagger.map_or(0, |tagger| tagger.seconds());
    let name = tag.name.to_owned();
    let (_, last) = repository.tag_chain(&id)?;
    Ok((last, Some(Object { name, seconds })))
}

impl Tag {
    /// Whether it is shown and not `other`, which is of the same object and was met before: one with
    /// an object of its own, and the latest of these.
    fn is_before(&self, other: &Tag) -> bool {
        let rank = |tag: &Tag| tag.object.as_ref().map(|object| object.seconds);
        rank(self) > rank(other)
    }

    fn shown(&self) -> &BString {
        self.object
            .as_ref()
            .map_or(&self.name, |object| &object.name)
    }

    fn is_misnamed(&self) -> bool {
        *self.shown() != self.name
    }
}
