//! Puts a pack and its auxiliary files in place.

use super::IndexedPack;
use crate::error::Result;
use crate::format::hashed_file::{HashedFile, TEMPORARY};
use crate::pack_file::index_writer::{self, IndexLayout};
use crate::pack_file::reverse_writer::{self, reverse_positions};
use hedgerow_fs::OutputFile;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// The mode of notes in git: nobody else has to read them.
const PRIVATE: u32 = 0o600;

/// The destinations of the files of a pack, and options.
#[derive(Clone, Debug)]
pub struct Installation {
    /// The path of the index.
    pub index: PathBuf,
    /// The format of the index.
    pub layout: IndexLayout,
    /// The path of the reverse index, if there is to be one.
    pub reverse: Option<PathBuf>,
    /// The path of the pack, if it was received.
    pub pack: Option<PathBuf>,
    /// Further small files with their contents (`.keep`, `.promisor`). Existing ones are kept.
    pub notes: Vec<(PathBuf, Vec<u8>)>,
    /// Whether to wait until the pack is on disk (`pack` of core.fsync).
    pub sync_pack: bool,
    /// Whether to wait until its indexes are on disk (`pack-metadata`).
    pub sync_indexes: bool,
    /// Maximum number of threads.
    pub threads: NonZeroUsize,
}

impl IndexedPack {
    /// Renames the files to their final names: the notes, the pack, the reverse index, and last the
    /// index, which makes the pack visible. All are complete by then, and on disk if requested.
    /// Returns which of the notes are new.
    ///
    /// # Errors
    /// [`crate::Error::Fs`]; then no files but notes are left.
    pub fn install(&mut self, places: &Installation) -> Result<Vec<bool>> {
        let mut staged: Vec<(&Path, OutputFile)> = Vec::new();
        if let (Some(mut file), Some(target)) = (self.file.take(), &places.pack) {
            file.set_target(target);
            file.set_read_only()?;
            if places.sync_pack {
                file.sync()?;
            }
            staged.push((target, file));
        }
        if let Some(target) = &places.reverse {
            staged.push((target, self.stage_reverse(target, places)?));
        }
        staged.push((&places.index, self.stage_index(places)?));
        let mut new_notes = Vec::new();
        for (path, content) in &places.notes {
            new_notes.push(note(path, content)?);
        }
        let mut named: Vec<&Path> = Vec::new();
        for (target, file) in staged {
            let is_new = !hedgerow_fs::exists(target);
            if let Err(error) = file.commit(!is_new) {
                for path in named {
                    // The first error is reported.
                    let _ = hedgerow_fs::remove_file(path);
                }
                return Err(error.into());
            }
            if is_new {
                named.push(target);
            }
        }
        Ok(new_notes)
    }

    fn stage_reverse(&self, target: &Path, places: &Installation) -> Result<OutputFile> {
        let offset = |at: usize| self.entries.get(at).map_or(0, |entry| entry.offset);
        let positions = reverse_positions(self.entries.len(), offset, places.threads.get());
        let mut file = HashedFile::create(target, self.checksum.kind())?;
        reverse_writer::encode(&positions, &self.checksum, &mut |bytes| {
            Ok(file.write(bytes)?)
        })?;
        Ok(file.seal(places.sync_indexes)?.1)
    }

    fn stage_index(&self, places: &Installation) -> Result<OutputFile> {
        let mut file = HashedFile::create(&places.index, self.checksum.kind())?;
        let layout = &places.layout;
        index_writer::encode(&self.entries, &self.checksum, layout, &mut |bytes| {
            Ok(file.write(bytes)?)
        })?;
        Ok(file.seal(places.sync_indexes)?.1)
    }
}

/// Writes a small file unless it exists. Returns whether it is new.
fn note(path: &Path, content: &[u8]) -> Result<bool> {
    if hedgerow_fs::is_there(path)? {
        return Ok(false);
    }
    let file = OutputFile::create_with_prefix(path, TEMPORARY)?;
    file.write_at(content, 0)?;
    file.set_permissions(PRIVATE)?;
    match file.commit(false) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(false),
        outcome => Ok(outcome.map(|()| true)?),
    }
}
