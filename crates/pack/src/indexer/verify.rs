//! Compares an index and a reverse index with the pack.

use super::{IndexedPack, Refusal};
use crate::error::Result;
use crate::format::big_endian::{u32_at, u64_at};
use crate::format::hashed_file::TrailerHasher;
use crate::pack_file::index_writer::{self, IndexLayout};
use crate::pack_file::reverse_writer::{self, reverse_positions};
use gix_hash::Kind;
use hedgerow_fs::MappedFile;
use std::path::Path;

const LARGE: u32 = 1 << 31;
const HEADER_AND_FANOUT: usize = 8 + 1024;

impl IndexedPack {
    /// How the offsets are laid out in the index at `path`: a new one is compared with it.
    ///
    /// # Errors
    /// A reason, if there is no such index or it cannot be used.
    pub fn layout_of(path: &Path, hash: Kind) -> Result<IndexLayout, String> {
        layout(path, hash)
    }

    /// Whether the files are, byte for byte, those of this pack: the index at `index`, laid out as
    /// `layout` says, and the reverse index at `reverse`. Uses up to `threads` threads.
    ///
    /// # Errors
    /// [`Refusal::Differs`] if one differs, [`crate::Error::Fs`] if it cannot be read.
    pub fn verify(
        &self,
        index: &Path,
        layout: &IndexLayout,
        reverse: Option<&Path>,
        threads: usize,
    ) -> Result<()> {
        compare(index, self.checksum.kind(), &mut |sink| {
            index_writer::encode(&self.entries, &self.checksum, layout, sink)
        })?;
        let Some(reverse) = reverse else {
            return Ok(());
        };
        let offset = |at: usize| self.entries.get(at).map_or(0, |entry| entry.offset);
        let positions = reverse_positions(self.entries.len(), offset, threads);
        compare(reverse, self.checksum.kind(), &mut |sink| {
            reverse_writer::encode(&positions, &self.checksum, sink)
        })
    }
}

/// Receives the pieces of a file.
type Sink<'s> = dyn FnMut(&[u8]) -> Result<()> + 's;

/// Refuses the file at `path` if it differs from the output of `encode` followed by its hash.
fn compare(
    path: &Path,
    hash: Kind,
    encode: &mut dyn FnMut(&mut Sink<'_>) -> Result<()>,
) -> Result<()> {
    let map = MappedFile::open(path)?;
    let mut rest: &[u8] = &map;
    let mut hasher = TrailerHasher::new(hash);
    let mut is_same = true;
    encode(&mut |piece| {
        hasher.update(piece);
        match rest.strip_prefix(piece) {
            Some(after) => rest = after,
            None => is_same = false,
        }
        Ok(())
    })?;
    if is_same && rest == hasher.finish().as_bytes() {
        Ok(())
    } else {
        Err(Refusal::Differs {
            path: path.display().to_string(),
        }
        .into())
    }
}

/// How the index at `path` is laid out.
fn layout(path: &Path, hash: Kind) -> Result<IndexLayout, String> {
    let map = MappedFile::open(path).map_err(|error| error.to_string())?;
    if map.get(..4) != Some(b"\xfftOc") {
        return Ok(IndexLayout {
            version: 1,
            ..IndexLayout::default()
        });
    }
    let mut layout = IndexLayout::default();
    let count = u32_at(&map, HEADER_AND_FANOUT - 4).unwrap_or_default() as usize;
    let small = HEADER_AND_FANOUT + count * (hash.len_in_bytes() + 4);
    let large = small + count * 4;
    for row in 0..count {
        let Some(offset) = u32_at(&map, small + row * 4) else {
            return Err("wrong size".into());
        };
        if offset & LARGE != 0 {
            let at = (offset & !LARGE) as usize;
            let offset = at.checked_mul(8).and_then(|at| u64_at(&map, large + at));
            layout
                .exceptions
                .extend(offset.filter(|offset| *offset < u64::from(LARGE)));
        }
    }
    layout.exceptions.sort_unstable();
    Ok(layout)
}
