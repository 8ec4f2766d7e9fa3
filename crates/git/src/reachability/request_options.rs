//! The options of git-rev-list(1) that say what is asked for, whoever prints it.

use crate::dates::date_seconds;
use crate::{Error, Result};
use bstr::{BStr, ByteSlice};
use hedgerow_reach::{Filter, Objects, Order, Request, Side};
use std::fmt::Display;

/// Those with a value, in the same word or the next.
const VALUED: [&[u8]; 12] = [
    b"-n",
    b"--max-count",
    b"--skip",
    b"--since",
    b"--after",
    b"--max-age",
    b"--until",
    b"--before",
    b"--min-age",
    b"--min-parents",
    b"--max-parents",
    b"--progress",
];

/// Notes in `request` what the option `word` asks for, whose value may be the next of `rest`. Returns
/// whether it is one that this knows.
///
/// # Errors
/// If a value is missing or makes no sense, or the option contradicts one before.
pub fn request_option<'w>(
    request: &mut Request,
    word: &'w BStr,
    rest: &mut impl Iterator<Item = &'w &'w BStr>,
) -> Result<bool> {
    if flag(request, word)? {
        return Ok(true);
    }
    if let Some(spec) = word.strip_prefix(b"--filter=") {
        let filter = Filter::parse(spec)?;
        request.filter = Some(match request.filter.take() {
            Some(before) => before.and(filter),
            None => filter,
        });
        return Ok(true);
    }
    if let Some(count) = word.strip_prefix(b"-n").or_else(|| word.strip_prefix(b"-")) {
        if count.first().is_some_and(u8::is_ascii_digit) {
            max_count(request, count.as_bstr())?;
            return Ok(true);
        }
    }
    let (name, value) = match word.split_once_str("=") {
        Some((name, value)) => (name, Some(value.as_bstr())),
        None => (word.as_bytes(), None),
    };
    if !VALUED.contains(&name) {
        return Ok(false);
    }
    let missing = || Error::Usage {
        reason: format!("option '{}' requires a value", name.as_bstr()),
    };
    let value = value.or_else(|| rest.next().copied()).ok_or_else(missing)?;
    limit(request, name, value)?;
    Ok(true)
}

/// Options without a value.
fn flag(request: &mut Request, word: &BStr) -> Result<bool> {
    match word.as_bytes() {
        b"--objects" if request.objects == Objects::None => request.objects = Objects::All,
        b"--objects" => {}
        b"--objects-edge" => request.objects = Objects::WithEdges,
        b"--topo-order" => request.order = Order::Topological,
        b"--date-order" => request.order = Order::Date,
        b"--reverse" => request.is_reversed = !request.is_reversed,
        b"--first-parent" => request.first_parent = true,
        b"--merges" => request.min_parents = 2,
        b"--no-merges" => request.max_parents = Some(1),
        b"--no-min-parents" => request.min_parents = 0,
        b"--no-max-parents" => request.max_parents = None,
        b"--boundary" => request.boundary = true,
        b"--left-only" => side(request, Side::Left)?,
        b"--right-only" => side(request, Side::Right)?,
        b"--in-commit-order" => request.in_commit_order = true,
        b"--filter-print-omitted" => request.keep_omitted = true,
        b"--filter-provided-objects" => request.filter_tips = true,
        b"--no-filter" => request.filter = None,
        b"--exclude-promisor-objects" => request.exclude_promised = true,
        b"--dense" | b"--sparse" => {}
        _ => return Ok(false),
    }
    Ok(true)
}

fn side(request: &mut Request, side: Side) -> Result<()> {
    if request.side.is_some_and(|other| other != side) {
        let words = "options '--left-only' and '--right-only' cannot be used together";
        return Err(fatal(words));
    }
    request.side = Some(side);
    Ok(())
}

fn limit(request: &mut Request, name: &[u8], value: &BStr) -> Result<()> {
    match name {
        b"-n" | b"--max-count" => max_count(request, value)?,
        b"--skip" => request.skip = u64::try_from(number(value)?).unwrap_or(0),
        b"--since" | b"--after" => request.not_before = Some(date(value)?),
        b"--until" | b"--before" => request.not_after = Some(date(value)?),
        b"--max-age" => request.not_before = u64::try_from(seconds(value)?).ok(),
        b"--min-age" => request.not_after = u64::try_from(seconds(value)?).ok(),
        b"--min-parents" => request.min_parents = usize::try_from(number(value)?).unwrap_or(0),
        b"--max-parents" => request.max_parents = usize::try_from(number(value)?).ok(),
        _ => {}
    }
    Ok(())
}

fn max_count(request: &mut Request, value: &BStr) -> Result<()> {
    request.max_count = u64::try_from(number(value)?).ok();
    Ok(())
}

/// A number in the range of git's.
fn number(value: &BStr) -> Result<i32> {
    let parsed = value.to_str().ok().and_then(|text| text.parse().ok());
    parsed.ok_or_else(|| fatal(format_args!("'{value}': not an integer")))
}

fn seconds(value: &BStr) -> Result<i64> {
    let parsed = value.to_str().ok().and_then(|text| text.parse().ok());
    parsed.ok_or_else(|| {
        fatal(format_args!(
            "'{value}': not a number of seconds since epoch"
        ))
    })
}

fn date(value: &BStr) -> Result<u64> {
    let seconds = if value.iter().all(u8::is_ascii_digit) && value.len() >= 9 {
        seconds(value).ok()
    } else {
        date_seconds(value)
    };
    let seconds = seconds.and_then(|seconds| u64::try_from(seconds).ok());
    seconds.ok_or_else(|| fatal(format_args!("'{value}': not a date")))
}

fn fatal(reason: impl Display) -> Error {
    let reason = reason.to_string();
    Error::Setup { reason }
}
