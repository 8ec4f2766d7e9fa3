//! Indexes a pack: a file, or what comes as a stream.

use super::conclude::Conclusion;
use super::examine::Examination;
use super::{receive, segments, thin, IndexOptions, IndexedPack};
use crate::error::{Error, Result};
use crate::format::hashed_file::TrailerHasher;
use crate::pack_file::entry::PACK_HEADER_BYTES;
use crate::refusal::Refusal;
use hedgerow_engine::Stage;
use hedgerow_fs::MappedFile;
use hedgerow_fs::{OutputFile, ReadFile};
use std::path::Path;

/// Indexes the pack at `path`.
///
/// # Errors
/// [`Error::Refused`] and [`Error::Checked`] tell what is wrong with the pack; [`Error::Interrupted`].
pub fn index_pack_file(path: &Path, options: &IndexOptions<'_>) -> Result<IndexedPack> {
    let map = MappedFile::open(path)?;
    let count = receive::parse_header(&map)?;
    if let Some(limit) = options.max_input_bytes {
        if map.len() as u64 > limit {
            return Err(Refusal::TooLarge { limit }.into());
        }
    }
    let end = map.len().checked_sub(options.hash.len_in_bytes());
    let end = end.filter(|end| *end as u64 >= PACK_HEADER_BYTES);
    let (data, trailer) = map.split_at(end.ok_or(Refusal::EarlyEnd)?);
    let progress = &options.execution.progress;
    progress.stage(Stage::Receiving).expect(u64::from(count));
    let (checks, existing) = (options.checks(), options.existing(Some(path))?);
    let examination = Examination {
        hash: options.hash,
        existing: existing.as_ref(),
        checks: &checks,
        execution: &options.execution,
    };
    let hash_all = || {
        let mut hasher = TrailerHasher::new(options.hash);
        hasher.update(data);
        hasher.finish()
    };
    let scan = || segments::scan(data, count, examination);
    let (checksum, scanned) = hedgerow_fs::threads::both("hash", hash_all, scan);
    let checksum = checksum.expect("hashing does not panic");
    let (records, findings) = scanned?;
    if checksum.as_bytes() != trailer {
        return Err(Refusal::Checksum.into());
    }
    let concluded = Conclusion::resolve_and_check(data, records, findings, options, examination)?;
    if !concluded.outside.is_empty() {
        return Err(Error::ForeignLocation);
    }
    concluded.into_pack(checksum, options, Vec::new(), None)
}

/// Receives a pack from `input`, of which `before` was read already, into a file in `directory`
/// that has no name yet, and indexes it.
///
/// # Errors
/// As [`index_pack_file`].
pub fn receive_pack(
    input: &ReadFile,
    before: &[u8],
    directory: &Path,
    options: &IndexOptions<'_>,
) -> Result<IndexedPack> {
    let target = directory.join("tmp_pack");
    let file = OutputFile::create_with_prefix(&target, "")?;
    let (checks, existing) = (options.checks(), options.existing(None)?);
    let examination = Examination {
        hash: options.hash,
        existing: existing.as_ref(),
        checks: &checks,
        execution: &options.execution,
    };
    let limit = options.max_input_bytes;
    let received = receive::receive(input, before, &file, limit, examination)?;
    let map = MappedFile::of(&file, &target)?;
    let data = map.get(..received.end as usize);
    // Somebody may have cut the file meanwhile.
    let data = data.ok_or(Refusal::EarlyEnd)?;
    let (records, findings) = (received.records, received.findings);
    let concluded = Conclusion::resolve_and_check(data, records, findings, options, examination)?;
    drop(map);
    let (checksum, added) = if concluded.outside.is_empty() {
        (received.checksum, Vec::new())
    } else {
        let thin = thin::complete(&file, received.end, &concluded, options)?;
        (thin.checksum, thin.added)
    };
    let mut indexed = concluded.into_pack(checksum, options, added, Some(file))?;
    indexed.rest = received.rest;
    Ok(indexed)
}
