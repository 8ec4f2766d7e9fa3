//! `hedgerow multi-pack-index repack`.

use super::write::TITLE;
use super::{failure, Place};
use crate::execution;
use crate::failure::Failure;
use crate::packs::pack_objects::parse_bytes;
use crate::packs::watcher::Watcher;
use crate::progress::lines::{during, Showing};
use clap::Args;
use hedgerow::plumbing::maintain::{file_options, Observer};
use hedgerow::plumbing::pack::{
    midx_objects_to_repack, write_midx, MidxOptions, ObjectId, ObjectStore, Reader,
};
use hedgerow::plumbing::serve::{stage_pack, Contents, PackOptions, Wanted};

#[derive(Debug, Args)]
pub struct Repack {
    /// Take small packs, the oldest first, until together they have so many bytes; 0 means all
    #[arg(long, value_name = "BYTES", default_value = "0", value_parser = parse_bytes)]
    pub batch_size: u64,
}

/// Puts the objects of the chosen packs into a new one, which the multi-pack-index then lists. The
/// others stay, without an object that is needed, until they expire.
pub fn run(command: &Repack, place: &Place<'_>, options: &MidxOptions) -> Result<(), Failure> {
    let execution = execution::interruptible(place.global)?;
    let Place {
        repository,
        objects,
        global,
        output,
    } = place;
    let config = repository.config();
    let with_kept = config.bool("repack.packKeptObjects")?.unwrap_or(false);
    let mut warn = |warning| output.warn(warning);
    let batch = command.batch_size;
    let ids = midx_objects_to_repack(objects, options.hash, batch, with_kept, &mut warn);
    let ids = ids.map_err(failure)?;
    if ids.is_empty() {
        return Ok(());
    }
    let other = place.other_store()?;
    let store = other.as_ref().unwrap_or(repository.objects());
    let contents = Contents {
        wanted: wanted(store, &ids)?,
        ..Contents::default()
    };
    let offsets = config.bool("repack.useDeltaBaseOffset")?.unwrap_or(true);
    let packing = PackOptions {
        delta_base_offset: offsets,
        ..PackOptions::configured(repository)?
    };
    let packing = PackOptions {
        execution: execution.with_jobs(packing.execution.jobs),
        ..packing
    };
    let watcher = Watcher::new(global, output);
    let files = file_options(repository, &watcher)?;
    let finish = watcher.packing(contents.wanted.len() as u64, &packing.execution.progress);
    let base = objects.join("pack/pack");
    stage_pack(store, &contents, &packing, &files, &base)?.install()?;
    finish();
    store.warnings().into_iter().for_each(&mut warn);
    let write = || write_midx(objects, options, &mut warn);
    let written = during(Showing::delayed(global), TITLE, write).map_err(failure)?;
    if let Some(written) = written {
        written.commit().map_err(failure)?;
    }
    Ok(())
}

fn wanted(store: &ObjectStore, ids: &[ObjectId]) -> Result<Vec<Wanted>, Failure> {
    let mut reader = Reader::new(store);
    let locations = store.locate_all(ids).map_err(Failure::fatal)?;
    let wanted = ids.iter().zip(locations).map(|(id, location)| {
        let missing = || Failure::fatal(format_args!("object {id} is missing"));
        let location = location.ok_or_else(missing)?;
        Ok(Wanted {
            id: *id,
            location,
            kind: reader.kind(id, location).map_err(Failure::fatal)?,
            name_hash: 0,
        })
    });
    wanted.collect()
}
