//! The files of a pack that was indexed: put in their places, or compared with those there.

use super::settings::wants_reverse;
use super::IndexPack;
use crate::failure::Failure;
use crate::output::Output;
use crate::packs::context::RepositoryContext;
use hedgerow::plumbing::pack::indexer::{IndexOptions, IndexedPack, Installation};
use hedgerow::plumbing::pack::IndexLayout;
use std::path::{Path, PathBuf};

/// Refuses to receive a pack under a name that somebody gave, if that is taken.
pub fn refuse_existing(pack: &Path) -> Result<(), Failure> {
    if hedgerow_fs::exists(pack) {
        Err(Failure::fatal(format_args!(
            "unable to create '{}': File exists",
            pack.display()
        )))
    } else {
        Ok(())
    }
}

/// Compares the index at `index`, and the reverse index beside it, with the pack.
pub fn verify(
    command: &IndexPack,
    context: &RepositoryContext,
    indexed: &IndexedPack,
    index: &Path,
    options: &IndexOptions<'_>,
) -> Result<(), Failure> {
    let layout = IndexedPack::layout_of(index, options.hash).map_err(|reason| {
        let index = index.display();
        Failure::fatal(format_args!(
            "Cannot open existing pack idx file for '{index}': {reason}"
        ))
    })?;
    let reverse = if wants_reverse(command, context)? {
        Some(derive(index, "idx", "rev")?).filter(|path| hedgerow_fs::exists(path))
    } else {
        None
    };
    let verified = indexed.verify(
        index,
        &layout,
        reverse.as_deref(),
        options.execution.threads().get(),
    );
    verified.map_err(Failure::fatal)
}

/// Gives the pack, its index and what else is asked for their names, and says so.
#[allow(clippy::too_many_arguments, reason = "each is told apart by its type")]
pub fn install(
    command: &IndexPack,
    context: &RepositoryContext,
    indexed: &mut IndexedPack,
    pack: Option<PathBuf>,
    index: Option<PathBuf>,
    layout: IndexLayout,
    options: &IndexOptions<'_>,
    output: &Output,
) -> Result<(), Failure> {
    let fsync = context.fsync(output)?;
    let pack = match (pack, &context.repository) {
        (Some(pack), _) => pack,
        (None, Some(repository)) => {
            let directory = repository.objects().directory().join("pack");
            directory.join(format!("pack-{}.pack", indexed.checksum))
        }
        (None, None) => return Err(Failure::fatal("--stdin requires a git repository")),
    };
    let index = match index {
        Some(index) => index,
        None => pack.with_extension("idx"),
    };
    let reverse = if wants_reverse(command, context)? {
        Some(derive(&index, "idx", "rev")?)
    } else {
        None
    };
    let mut notes = Vec::new();
    for (note, extension) in [(&command.keep, "keep"), (&command.promisor, "promisor")] {
        if let Some(message) = note {
            let text = message.as_ref().filter(|text| !text.is_empty());
            let text = text.map(|text| format!("{text}\n")).unwrap_or_default();
            notes.push((derive(&pack, "pack", extension)?, text.into_bytes()));
        }
    }
    let places = Installation {
        index,
        layout,
        reverse,
        pack: command.stdin.then_some(pack),
        notes,
        sync_pack: fsync.pack,
        sync_indexes: fsync.pack_metadata,
        threads: options.execution.threads(),
    };
    let new_notes = indexed.install(&places).map_err(Failure::fatal)?;
    let is_kept = command.keep.is_some() && new_notes.first() == Some(&true);
    let report = match (command.stdin, is_kept) {
        (false, _) => format!("{}\n", indexed.checksum),
        (true, true) => format!("keep\t{}\n", indexed.checksum),
        (true, false) => format!("pack\t{}\n", indexed.checksum),
    };
    output.data(report.as_bytes());
    output.data(&indexed.rest);
    Ok(())
}

/// `path` with another extension; it must have the one that belongs to it.
pub fn derive(path: &Path, extension: &str, other: &str) -> Result<PathBuf, Failure> {
    if path.extension().is_some_and(|found| found == extension) {
        Ok(path.with_extension(other))
    } else {
        Err(Failure::fatal(format_args!(
            "packfile name '{}' does not end with '.{extension}'",
            path.display()
        )))
    }
}
