//! Checks a multi-pack-index against the packs it lists, with git's checks and messages.

use super::layers::{plain_path, Layer, Layers, Loaded};
use super::split::in_parallel;
use crate::error::Result;
use crate::format::verified::VerifiedFiles;
use crate::pack_file::pack::Pack;
use gix_hash::Kind;
use hedgerow_engine::{Execution, Stage, Steps};
use hedgerow_fs::FileKind;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

/// An error in a multi-pack-index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MidxComplaint {
    /// The finding of a check.
    Finding(String),
    /// An unusable file, which is ignored.
    Warning(String),
    /// An unusable file.
    Error(String),
    /// An error that ends the check.
    Fatal(String),
}

/// Number of objects that one thread checks at a time.
const BATCH: u32 = 1 << 14;

/// Checks all layers of the multi-pack-index of the object directory `objects`, and passes errors
/// to `complain`. It is no error if there is none.
///
/// # Errors
/// Only if a directory or a chain cannot be read.
pub fn verify_midx(
    objects: &Path,
    hash: Kind,
    execution: &Execution,
    complain: &mut dyn FnMut(MidxComplaint),
) -> Result<()> {
    let packs = objects.join("pack");
    let loaded = Loaded::open(&packs, hash)?;
    for (_, refusal) in &loaded.refused {
        let error = refusal.error.iter().cloned().map(MidxComplaint::Error);
        error.for_each(&mut *complain);
        if let Some(fatal) = &refusal.fatal {
            complain(MidxComplaint::Fatal(fatal.clone()));
            return Ok(());
        }
    }
    let warnings = loaded.warnings.iter().cloned();
    warnings
        .map(MidxComplaint::Warning)
        .for_each(&mut *complain);
    let Some(top) = loaded.layers.top() else {
        if hedgerow_fs::exists(&plain_path(&packs)) {
            let error = "multi-pack-index file exists, but failed to parse";
            complain(MidxComplaint::Error(error.into()));
        }
        return Ok(());
    };
    let mut report = |finding| complain(MidxComplaint::Finding(finding));
    for layer in loaded.layers.iter() {
        if !layer.file.is_whole(hash) {
            report("incorrect checksum".into());
        }
    }
    let listed = list_packs(&packs, &loaded.layers, hash, &mut report);
    if top.file.count() == 0 {
        report("the midx contains no oid".into());
        return Ok(());
    }
    for layer in loaded.layers.iter() {
        let count = u64::from(layer.file.count());
        let ordered = execution.progress.stage(Stage::CheckingOrder);
        ordered.expect(count);
        verify_order(layer, &mut report);
        ordered.step(count);
    }
    let placed = execution.progress.stage(Stage::CheckingOffsets);
    if let Err(fatal) = verify_rows(
        &loaded.layers,
        &listed,
        execution.threads(),
        placed,
        &mut report,
    ) {
        complain(MidxComplaint::Fatal(fatal));
    }
    Ok(())
}

/// The packs of `layers`; `None` for a missing one.
fn list_packs(
    packs: &Path,
    layers: &Layers,
    hash: Kind,
    report: &mut dyn FnMut(String),
) -> Vec<Option<Pack>> {
    let mut listed = Vec::new();
    let verified = Arc::new(VerifiedFiles::new(packs, false));
    for (number, name) in layers.names().enumerate() {
        let path = packs.join(name).with_extension("pack");
        let stat = hedgerow_fs::stat(&path).ok().flatten();
        let is_there = stat.is_some_and(|stat| stat.kind == FileKind::File);
        if !is_there {
            report(format!("failed to load pack in position {number}"));
        }
        let verified = Arc::clone(&verified);
        listed.push(is_there.then(|| Pack::new(path, hash, false, verified)));
    }
    listed
}

/// Checks that the ids of `layer` are ascending.
fn verify_order(layer: &Layer, report: &mut dyn FnMut(String)) {
    let mut previous = layer.file.id(0);
    for position in 1..layer.file.count() {
        let id = layer.file.id(position);
        if previous >= id {
            let (a, b) = (hex(previous), hex(id));
            let before = position - 1;
            report(format!(
                "oid lookup out of order: oid[{before}] = {a} >= {b} = oid[{position}]"
            ));
        }
        previous = id;
    }
}

fn hex(id: Option<&[u8]>) -> String {
    id.map(|id| gix_hash::oid::from_bytes_unchecked(id).to_string())
        .unwrap_or_default()
}

/// A wrong row: its pack and position.
struct Wrong {
    pack: u32,
    position: u32,
    what: WrongRow,
}

enum WrongRow {
    /// The entry cannot be found in the pack.
    NoEntry,
    /// The offset in the multi-pack-index, and that in the index of the pack.
    Offset(u64, u64),
}

/// Checks that all objects are where `layers` say. An error is fatal in git.
fn verify_rows(
    layers: &Layers,
    packs: &[Option<Pack>],
    threads: NonZeroUsize,
    placed: &Steps,
    report: &mut dyn FnMut(String),
) -> Result<(), String> {
    let count = layers.count();
    placed.expect(u64::from(count));
    let batches = count.div_ceil(BATCH) as usize;
    let found = in_parallel(batches, threads, |batch| {
        let start = batch as u32 * BATCH;
        let end = start.saturating_add(BATCH).min(count);
        let mut wrong = Vec::new();
        for position in start..end {
            let (pack, _) = row(layers, position)?;
            if pack as usize >= packs.len() {
                let total = packs.len();
                return Err(format!("bad pack-int-id: {pack} ({total} total packs)"));
            }
            if let Some(what) = verify_row(layers, packs, position)? {
                wrong.push(Wrong {
                    pack,
                    position,
                    what,
                });
            }
        }
        placed.step(u64::from(end - start));
        Ok(wrong)
    });
    let mut found: Vec<Wrong> = found?.into_iter().flatten().collect();
    // Git checks pack by pack, from the last to the first.
    found.sort_by_key(|wrong| (std::cmp::Reverse(wrong.pack), wrong.position));
    for wrong in found {
        let position = wrong.position;
        let id = hex(layers.id(position));
        report(match wrong.what {
            WrongRow::NoEntry => {
                format!("failed to load pack entry for oid[{position}] = {id}")
            }
            WrongRow::Offset(ours, theirs) => format!(
                "incorrect object offset for oid[{position}] = {id}: {ours:x} != {theirs:x}"
            ),
        });
    }
    Ok(())
}

fn row(layers: &Layers, position: u32) -> Result<(u32, u64), String> {
    let outside = || "multi-pack-index large offset out of bounds".to_owned();
    layers.row(position).ok_or_else(outside)
}

/// Looks up the object at `position` as a reader would.
fn verify_row(
    layers: &Layers,
    packs: &[Option<Pack>],
    position: u32,
) -> Result<Option<WrongRow>, String> {
    let id = layers.id(position);
    let id = id.expect("the table of ids has as many as there are positions");
    let Some(found) = layers.position_of(id) else {
        return Ok(Some(WrongRow::NoEntry));
    };
    let (pack, offset) = row(layers, found)?;
    let pack = packs.get(pack as usize).and_then(Option::as_ref);
    let Some(index) = pack
        .filter(|pack| pack.data().is_ok())
        .and_then(|pack| pack.index().ok())
    else {
        return Ok(Some(WrongRow::NoEntry));
    };
    // What the pack does not have is at 0 for git.
    let expected = index.lookup(id).unwrap_or(0);
    Ok((expected != offset).then_some(WrongRow::Offset(offset, expected)))
}
