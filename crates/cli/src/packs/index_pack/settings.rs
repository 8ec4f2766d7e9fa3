//! What the options of `index-pack`, the configuration and the environment ask for.

use super::IndexPack;
use crate::environment;
use crate::failure::Failure;
use crate::global::Global;
use crate::packs::pack_objects::asked_threads;
use bstr::ByteSlice;
use hedgerow::pack::{IndexOptions, Severities};
use hedgerow::plumbing::git::indexing::IndexingPlace;
use hedgerow::plumbing::pack::{HashKind, IndexLayout};
use hedgerow::Execution;

/// Refuses options that do not go together.
pub fn check_combination(command: &IndexPack, place: &IndexingPlace) -> Result<(), Failure> {
    if command.pack.is_none() && !command.stdin {
        return Err(Failure::usage(
            "a pack or --stdin is missing; see 'hedgerow index-pack -h'",
        ));
    }
    let reason = if command.fix_thin && !command.stdin {
        "the option '--fix-thin' requires '--stdin'"
    } else if command.promisor.is_some() && command.pack.is_some() {
        "--promisor cannot be used with a pack name"
    } else if command.stdin && place.repository.is_none() {
        "--stdin requires a git repository"
    } else if command.stdin && command.object_format.is_some() {
        "options '--object-format' and '--stdin' cannot be used together"
    } else {
        return Ok(());
    };
    Err(Failure::fatal(reason))
}

pub fn hash(command: &IndexPack, place: &IndexingPlace) -> Result<HashKind, Failure> {
    match command.object_format.as_deref() {
        None => Ok(place.hash()),
        Some("sha1") => Ok(HashKind::Sha1),
        Some("sha256") => Ok(HashKind::Sha256),
        Some(other) => {
            let message = format_args!("unknown hash algorithm '{other}'").to_string();
            Err(Failure::fatal(message))
        }
    }
}

pub fn options<'s>(
    command: &IndexPack,
    global: &Global,
    place: &'s IndexingPlace,
    hash: HashKind,
) -> Result<IndexOptions<'s>, Failure> {
    let asked = [&command.strict, &command.fsck_objects];
    let words: Vec<&str> = asked
        .into_iter()
        .flatten()
        .flatten()
        .map(String::as_str)
        .collect();
    let is_checked = asked.into_iter().any(Option::is_some);
    let is_verified = command.verify || command.verify_stat || command.verify_stat_only;
    let links = command.strict.is_some() || command.check_self_contained_and_connected;
    Ok(IndexOptions {
        execution: Execution::with_threads(place.threads(asked_threads(command.threads, global))?),
        store: place.store(hash),
        fix_thin: command.fix_thin,
        rules: is_checked
            .then(|| Severities::parse(&words))
            .transpose()
            .map_err(Failure::fatal)?,
        links,
        kinds: command.promisor.is_some(),
        grafts: place.grafts()?,
        not_promised: place.not_promised(command.promisor.is_some()),
        unique: links || is_verified,
        max_input_bytes: command.max_input_size.filter(|limit| *limit > 0),
        compression: place.compression()?,
        statistics: command.verify_stat || command.verify_stat_only,
        ..IndexOptions::new(hash)
    })
}

pub fn layout(command: &IndexPack, place: &IndexingPlace) -> Result<IndexLayout, Failure> {
    let mut layout = place.index_layout()?;
    let Some(text) = &command.index_version else {
        return Ok(layout);
    };
    let parsed = parse_index_version(text);
    let bad = || Failure::fatal(format_args!("bad --index-version={text}"));
    let (version, last_small) = parsed.ok_or_else(bad)?;
    layout.version = version;
    if let Some(last_small) = last_small {
        layout.last_small_offset = last_small;
    }
    Ok(layout)
}

/// `VERSION[,OFFSET]`, the offset in decimal, octal or hexadecimal.
fn parse_index_version(text: &str) -> Option<(u32, Option<u32>)> {
    let (version, offset) = match text.split_once(',') {
        Some((version, offset)) => (version, Some(offset)),
        None => (text, None),
    };
    let version = version.parse().ok().filter(|version| *version <= 2)?;
    let Some(offset) = offset else {
        return Some((version, None));
    };
    let offset = match offset.strip_prefix("0x").or(offset.strip_prefix("0X")) {
        Some(digits) => u32::from_str_radix(digits, 16).ok()?,
        None if offset.starts_with('0') => u32::from_str_radix(offset, 8).ok()?,
        None => offset.parse().ok()?,
    };
    (offset & 0x8000_0000 == 0).then_some((version, Some(offset)))
}

/// Whether a reverse index is wanted.
pub fn wants_reverse(command: &IndexPack, place: &IndexingPlace) -> Result<bool, Failure> {
    if command.rev_index || command.no_rev_index {
        return Ok(command.rev_index);
    }
    let forbidden = environment::variable("GIT_TEST_NO_WRITE_REV_INDEX").unwrap_or_default();
    let forbidden = forbidden.to_string_lossy();
    if hedgerow::plumbing::git::config::boolean(forbidden.as_bytes().as_bstr()) == Some(true) {
        return Ok(false);
    }
    Ok(place.writes_reverse_index()?)
}
