//! `hedgerow multi-pack-index write`, and `repack`.

use super::{not_written, refused, Place};
use crate::environment;
use crate::execution;
use crate::failure::Failure;
use crate::packs::pack_objects::parse_bytes;
use crate::packs::watcher::Watcher;
use crate::progress::lines::{during, Showing};
use clap::Args;
use hedgerow::plumbing::maintain::{
    commit_midx, commit_with_bitmap, other_store, repack_small_packs, BitmapRequest,
};
use hedgerow::plumbing::pack::{write_midx, MidxOptions, WrittenMidx};
use hedgerow_fs::StandardInput;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;

/// What git calls the gathering of what the index is to list.
const TITLE: &str = "Adding packfiles to multi-pack-index";

#[derive(Debug, Args)]
pub struct Write {
    /// Prefer PACK for objects that are in several packs
    #[arg(long, value_name = "PACK")]
    pub preferred_pack: Option<String>,
    /// Read the packs to include from standard input, one index name per line
    #[arg(long)]
    pub stdin_packs: bool,
    /// Write reachability bitmaps, too
    #[arg(long, overrides_with = "no_bitmap")]
    pub bitmap: bool,
    /// Write none
    #[arg(long, hide = true)]
    pub no_bitmap: bool,
    /// Choose commits for bitmaps from the ids in FILE, one per line, instead of the references
    #[arg(long, value_name = "FILE")]
    pub refs_snapshot: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Repack {
    /// Join small packs, oldest first, up to this total size; 0 means all
    #[arg(long, value_name = "BYTES", default_value = "0", value_parser = parse_bytes)]
    pub batch_size: u64,
}

/// Writes it, and its bitmap before it has its name: nobody sees one without the other.
pub fn run(command: &Write, place: &Place<'_>, options: MidxOptions) -> Result<(), Failure> {
    let options = MidxOptions {
        preferred_pack: command.preferred_pack.clone(),
        packs: command.stdin_packs.then(listed_packs).transpose()?,
        for_bitmap: command.bitmap,
        ..options
    };
    let Some(written) = written(place, &options)? else {
        return Ok(());
    };
    if !command.bitmap {
        return commit_midx(place.repository, written).map_err(refused);
    }
    let snapshot = command.refs_snapshot.as_ref();
    let snapshot = snapshot.map(|path| environment::from_directory(place.global, path));
    let (global, output) = (place.global, place.output);
    let watcher = Watcher::new(global, output);
    let building = BitmapRequest {
        refs_snapshot: snapshot.as_deref(),
        execution: execution::configurable(global)?,
    };
    let building = building.options(place.repository, &watcher)?;
    let other = other_store(place.repository, &place.objects)?;
    let store = other.as_ref().unwrap_or(place.repository.objects());
    let (repository, sync) = (place.repository, options.sync);
    let done = commit_with_bitmap(repository, written, store, building, sync, &watcher);
    Ok(done?)
}

/// Puts the objects of the chosen packs into a new one, which the multi-pack-index then lists.
pub fn repack(command: &Repack, place: &Place<'_>, options: &MidxOptions) -> Result<(), Failure> {
    let execution = execution::configurable(place.global)?;
    let (batch, watcher) = (command.batch_size, Watcher::new(place.global, place.output));
    let repacked = repack_small_packs(
        place.repository,
        &place.objects,
        batch,
        &execution,
        &watcher,
    );
    if !repacked.map_err(refused)? {
        return Ok(());
    }
    match written(place, options)? {
        Some(written) => commit_midx(place.repository, written).map_err(refused),
        None => Ok(()),
    }
}

/// The multi-pack-index, unless it is there already, without its name.
fn written(place: &Place<'_>, options: &MidxOptions) -> Result<Option<WrittenMidx>, Failure> {
    let mut warn = |warning| place.output.warn(warning);
    let write = || write_midx(&place.objects, options, &mut warn);
    during(Showing::delayed(place.global), TITLE, write).map_err(not_written)
}

fn listed_packs() -> Result<Vec<String>, Failure> {
    let lines = BufReader::new(StandardInput).lines();
    let lines: std::io::Result<Vec<String>> = lines.collect();
    lines.map_err(|error| Failure::fatal(format!("cannot read standard input: {error}")))
}
