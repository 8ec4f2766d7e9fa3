//! `hedgerow reverse-index`: writes missing `.rev` files.

use super::pack_objects::asked_threads;
use crate::environment;
use crate::failure::Failure;
use crate::global::Global;
use crate::output::Output;
use clap::Args;
use hedgerow::plumbing::git::indexing::{pack_indexes, IndexingPlace};
use hedgerow::plumbing::pack::add_reverse_index;
use std::path::PathBuf;

/// Write missing or broken reverse indexes
#[derive(Debug, Args)]
pub struct ReverseIndex {
    /// Packs or their indexes [default: all of the repository]
    #[arg(value_name = "PACK")]
    pub packs: Vec<PathBuf>,
}

pub fn run(command: &ReverseIndex, global: &Global, output: &Output) -> Result<u8, Failure> {
    let place = IndexingPlace::find(&environment::of_git(global)?)?;
    let indexes = match (command.packs.is_empty(), &place.repository) {
        (false, _) => {
            let named = command.packs.iter();
            let index = |path: &PathBuf| match path.extension() {
                Some(extension) if extension == "pack" => path.with_extension("idx"),
                _ => path.clone(),
            };
            named
                .map(|path| environment::from_directory(global, &index(path)))
                .collect()
        }
        (true, Some(repository)) => pack_indexes(repository)?,
        (true, None) => {
            return Err(Failure::fatal(
                "not in a git repository, and no pack is named",
            ));
        }
    };
    let sync = place
        .fsync(&mut |warning| output.warn(warning))?
        .pack_metadata;
    let threads = place.threads(asked_threads(None, global))?;
    for index in indexes {
        let added = add_reverse_index(&index, place.hash(), threads.get(), sync);
        place.share(&index)?;
        if added.map_err(Failure::fatal)? && global.verbose > 0 {
            output.say(index.with_extension("rev").display());
        }
    }
    Ok(0)
}
