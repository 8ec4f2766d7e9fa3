//! Parses filters; errors have git's messages.

use super::Filter;
use crate::{Error, Result};
use hedgerow_numbers::unsigned;
use hedgerow_pack::ObjectKind;

/// Characters that must be escaped in the parts of a combination.
const RESERVED: &[u8] = b"~`!@#$^&*()[]{}\\;'\",<>?";
/// Maximum depth of combinations within combinations.
const DEPTH: usize = 32;

impl Filter {
    /// Parses a filter as git spells it.
    ///
    /// # Errors
    /// [`Error::Filter`]; also for `sparse:oid`, which is recognized but not supported.
    pub fn parse(spec: &[u8]) -> Result<Filter> {
        parse(spec, 0)
    }
}

fn parse(spec: &[u8], depth: usize) -> Result<Filter> {
    if spec == b"blob:none" {
        return Ok(Filter::BlobNone);
    }
    if let Some(limit) = spec.strip_prefix(b"blob:limit=") {
        let limit = unsigned(limit).ok().map(Filter::BlobLimit);
        return limit.ok_or_else(|| invalid(spec));
    }
    if let Some(levels) = spec.strip_prefix(b"tree:") {
        let levels = unsigned(levels).ok().map(Filter::TreeDepth);
        return levels.ok_or_else(|| Error::Filter("expected 'tree:<depth>'".into()));
    }
    if spec.starts_with(b"sparse:oid=") {
        return Err(Error::Filter("sparse:oid filters are not supported".into()));
    }
    if spec.starts_with(b"sparse:path=") {
        let reason = "sparse:path filters support has been dropped";
        return Err(Error::Filter(reason.into()));
    }
    if let Some(name) = spec.strip_prefix(b"object:type=") {
        return ObjectKind::from_name(name)
            .map(Filter::Kind)
            .ok_or_else(|| {
                let name = String::from_utf8_lossy(name);
                Error::Filter(format!(
                    "'{name}' for 'object:type=<type>' is not a valid object type"
                ))
            });
    }
    match spec.strip_prefix(b"combine:") {
        Some(parts) => combine(parts, depth),
        None => Err(invalid(spec)),
    }
}

fn combine(parts: &[u8], depth: usize) -> Result<Filter> {
    if parts.is_empty() {
        return Err(Error::Filter("expected something after combine:".into()));
    }
    if depth >= DEPTH {
        return Err(Error::Filter("filters are combined too deeply".into()));
    }
    let mut filters = Vec::new();
    for part in parts.split(|byte| *byte == b'+') {
        if part.is_empty() {
            continue;
        }
        let reserved = |byte: &&u8| **byte <= b' ' || RESERVED.contains(*byte);
        if let Some(reserved) = part.iter().find(reserved) {
            let reserved = char::from(*reserved);
            return Err(Error::Filter(format!(
                "must escape char in sub-filter-spec: '{reserved}'"
            )));
        }
        filters.push(parse(&unescape(part), depth + 1)?);
    }
    Ok(Filter::Combine(filters))
}

/// Replaces `%XX` by the byte with that number; other text is unchanged.
fn unescape(part: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(part.len());
    let mut rest = part;
    while let [first, after @ ..] = rest {
        let hex = |digit: &u8| char::from(*digit).to_digit(16);
        rest = match rest {
            [b'%', high, low, after @ ..] => match (hex(high), hex(low)) {
                (Some(high), Some(low)) if high + low > 0 => {
                    plain.push((high * 16 + low) as u8);
                    after
                }
                _ => {
                    plain.push(b'%');
                    after_one(rest)
                }
            },
            _ => {
                plain.push(*first);
                after
            }
        };
    }
    plain
}

fn after_one(rest: &[u8]) -> &[u8] {
    rest.get(1..).unwrap_or_default()
}

fn invalid(spec: &[u8]) -> Error {
    let spec = String::from_utf8_lossy(spec);
    Error::Filter(format!("invalid filter-spec '{spec}'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(spec: &str) -> Result<Filter, String> {
        Filter::parse(spec.as_bytes()).map_err(|error| error.to_string())
    }

    #[test]
    fn filters_are_understood() {
        use Filter::{BlobLimit, BlobNone, Combine, Kind, TreeDepth};
        for (spec, expected) in [
            ("blob:none", BlobNone),
            ("blob:limit=1k", BlobLimit(1024)),
            ("blob:limit=010", BlobLimit(8)),
            ("blob:limit=0x10", BlobLimit(16)),
            ("tree:3", TreeDepth(3)),
            ("object:type=tag", Kind(ObjectKind::Tag)),
            (
                "combine:blob:none+tree:1",
                Combine(vec![BlobNone, TreeDepth(1)]),
            ),
            ("combine:%62lob:none+", Combine(vec![BlobNone])),
            (
                "combine:combine:tree%3a1%2bblob:none+tree:2",
                Combine(vec![Combine(vec![TreeDepth(1), BlobNone]), TreeDepth(2)]),
            ),
        ] {
            assert_eq!(parse(spec).unwrap(), expected, "{spec}");
        }
    }

    #[test]
    fn what_is_wrong_is_told_in_the_words_of_git() {
        for (spec, expected) in [
            ("", "invalid filter-spec ''"),
            ("blob:limit=1x", "invalid filter-spec 'blob:limit=1x'"),
            ("blob:limit=-1", "invalid filter-spec 'blob:limit=-1'"),
            ("tree:", "expected 'tree:<depth>'"),
            (
                "object:type=x",
                "'x' for 'object:type=<type>' is not a valid object type",
            ),
            ("combine:", "expected something after combine:"),
            ("combine:a b", "must escape char in sub-filter-spec: ' '"),
            ("sparse:oid=a", "sparse:oid filters are not supported"),
        ] {
            assert_eq!(parse(spec).unwrap_err(), expected, "{spec}");
        }
        let deep = "combine:".repeat(100) + "blob:none";
        assert!(parse(&deep).is_err());
    }
}
