//! The placeholder `%(describe)`: git-log(1) under "PRETTY FORMATS".

use crate::config::boolean;
use crate::describe::{describe, DescribeOptions};
use crate::repository::Repository;
use crate::Result;
use bstr::{BString, ByteSlice};
use hedgerow_pack::oid;

/// How the placeholder begins.
pub(super) const DESCRIBE: &str = "(describe";

/// What the placeholder at the start of a text stands for.
pub(super) enum Described {
    /// It is not expanded here, though git would.
    Never,
    /// It stays as it is: it is malformed, or there was one before it.
    Kept,
    /// This, in the place of so many bytes.
    Text(BString, usize),
}

/// Finds that out.
pub(super) type Describe<'d> = &'d mut dyn FnMut(&[u8]) -> Result<Described>;

/// Describes `commit` as the placeholder at the start of `text` asks. It is empty without a tag.
pub(super) fn described(repository: &Repository, commit: &oid, text: &[u8]) -> Result<Described> {
    let Some((options, rest)) = options(text) else {
        return Ok(Described::Kept);
    };
    let length = text.len() - rest.len();
    let name = describe(repository, commit, &options)?;
    Ok(Described::Text(name.unwrap_or_default(), length))
}

/// The options of a placeholder, `(describe:tags,match=v*)`, and what follows it.
fn options(text: &[u8]) -> Option<(DescribeOptions, &[u8])> {
    let mut options = DescribeOptions::default();
    let mut rest = text.strip_prefix(DESCRIBE.as_bytes())?;
    if let Some(list) = rest.strip_prefix(b":") {
        rest = list;
        while !rest.starts_with(b")") {
            let (option, after) = rest.split_at(rest.find_byteset(b",)")?);
            set(&mut options, option)?;
            rest = after.strip_prefix(b",").unwrap_or(after);
        }
    }
    Some((options, rest.strip_prefix(b")")?))
}

/// Sets one option; none if git does not know it.
fn set(options: &mut DescribeOptions, option: &[u8]) -> Option<()> {
    let (name, value) = match option.split_once_str("=") {
        Some((name, value)) => (name, Some(value)),
        None => (option, None),
    };
    let text = value.filter(|value| !value.is_empty());
    match name {
        b"tags" => {
            options.all_tags = value.is_none_or(|value| boolean(value.as_bstr()) == Some(true))
        }
        b"abbrev" => options.digits = Some(digits(text?)?),
        b"match" => options.matches.push(text?.into()),
        b"exclude" => options.excludes.push(text?.into()),
        _ => return None,
    }
    Some(())
}

/// A number of digits; one below zero is the least there is, but not none.
fn digits(text: &[u8]) -> Option<usize> {
    let number: i64 = text.to_str().ok()?.trim_start().parse().ok()?;
    Some(usize::try_from(number).unwrap_or(1))
}
