//! `hedgerow multi-pack-index write`.

use super::{failure, Place};
use crate::environment;
use crate::failure::Failure;
use crate::packs::bitmap::options::{build, build_options};
use clap::Args;
use hedgerow_pack::{write_midx, Bitmaps, MidxOptions, ObjectStore, WrittenMidx};
use hedgerow_reach::BuildOptions;
use std::io::BufRead;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct Write {
    /// Of objects in several packs, take the copies in PACK
    #[arg(long, value_name = "PACK")]
    pub preferred_pack: Option<String>,
    /// Take only the packs whose indexes are named on standard input, one a line
    #[arg(long)]
    pub stdin_packs: bool,
    /// Write reachability bitmaps, too
    #[arg(long, overrides_with = "no_bitmap")]
    pub bitmap: bool,
    /// Write none
    #[arg(long, hide = true)]
    pub no_bitmap: bool,
    /// Choose the commits for bitmaps by the ids in FILE, one a line, and not by the references
    #[arg(long, value_name = "FILE")]
    pub refs_snapshot: Option<PathBuf>,
}

/// Writes it, and its bitmap before it has its name: nobody sees one without the other.
pub fn run(command: &Write, place: &Place<'_>, options: MidxOptions) -> Result<(), Failure> {
    let options = MidxOptions {
        preferred_pack: command.preferred_pack.clone(),
        packs: command.stdin_packs.then(listed_packs).transpose()?,
        for_bitmap: command.bitmap,
        ..options
    };
    let mut warn = |warning| place.output.warn(warning);
    let written = write_midx(&place.objects, &options, &mut warn).map_err(failure)?;
    let Some(written) = written else {
        return Ok(());
    };
    let bitmap = match command.bitmap {
        true => write_bitmap(command, place, &written)?,
        false => None,
    };
    written.commit().map_err(|error| {
        if let Some(bitmap) = bitmap {
            // There is nothing it could belong to.
            let _ = hedgerow_fs::remove_file(&bitmap);
        }
        failure(error)
    })
}

/// Writes the bitmap of what was `written`. Returns where, unless there is nothing it could be of.
fn write_bitmap(
    command: &Write,
    place: &Place<'_>,
    written: &WrittenMidx,
) -> Result<Option<PathBuf>, Failure> {
    let other = place.other_store()?;
    let store: &ObjectStore = other.as_ref().unwrap_or(place.repository.objects());
    let Some(order) = written.bit_order(store).map_err(failure)? else {
        return Ok(None);
    };
    let snapshot = command.refs_snapshot.as_ref();
    let snapshot = snapshot.map(|path| environment::from_directory(place.global, path));
    let snapshot = snapshot.as_deref();
    let options = build_options(place.repository, place.global, place.output, snapshot)?;
    let options = BuildOptions {
        only_reachable: true,
        ..options
    };
    let previous = Bitmaps::open(store);
    let failed = |error: &dyn std::fmt::Display| {
        Failure::refused(format_args!("could not write multi-pack bitmap: {error}"))
    };
    let contents = build(
        store,
        &order,
        previous.as_ref(),
        &options,
        place.global,
        failed,
    )?;
    let path = contents.write(options.threads, true);
    let path = path.map_err(|error| failed(&error))?;
    store
        .warnings()
        .iter()
        .for_each(|warning| place.output.warn(warning));
    Ok(Some(path))
}

fn listed_packs() -> Result<Vec<String>, Failure> {
    let lines = std::io::stdin().lock().lines();
    let lines: std::io::Result<Vec<String>> = lines.collect();
    lines.map_err(|error| Failure::fatal(format!("cannot read standard input: {error}")))
}
