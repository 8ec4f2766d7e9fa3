//! A pack as a file, with the index and the reverse index that belong to it.

use crate::{write_pack, Contents, PackOptions, PackWritten, Result};
use hedgerow_fs::OutputFile;
use hedgerow_pack::{
    reverse_positions, sort_index_entries, write_index, write_reverse_index, IndexLayout,
    ObjectStore,
};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Packs are never changed in place.
const READ_ONLY: u32 = 0o444;

/// How the files of a pack are written.
#[derive(Clone, Debug)]
pub struct FileOptions {
    /// The form of the index.
    pub index: IndexLayout,
    /// With a reverse index (`pack.writeReverseIndex`).
    pub reverse_index: bool,
    /// Wait until they are on the disk.
    pub sync: bool,
}

/// Writes a pack of `contents` as [`write_pack`] does, to files whose names are `base`, a dash, the
/// checksum of the pack and their extension. The index, which makes the pack visible, comes last.
///
/// # Errors
/// As [`write_pack`]; [`crate::Error::Fs`] if a file cannot be written.
pub fn write_pack_files(
    store: &ObjectStore,
    contents: &Contents<'_>,
    options: &PackOptions,
    files: &FileOptions,
    base: &Path,
) -> Result<PackWritten> {
    let options = PackOptions {
        check_copies: true,
        ..options.clone()
    };
    let mut file = PackFile {
        // git-prune(1) clears away what is called so, should this process be killed.
        file: OutputFile::create_with_prefix(&named(base, "pack", ""), "tmp_")?,
        written: 0,
    };
    let mut pack = write_pack(store, contents, &options, true, &mut file)?;
    let name = |extension| named(base, &pack.checksum.to_string(), extension);
    file.file.set_permissions(READ_ONLY)?;
    if files.sync {
        file.file.sync()?;
    }
    file.file.set_target(&name(".pack"));
    file.file.commit(true)?;
    let threads = options.threads.get();
    let mut entries = std::mem::take(&mut pack.index);
    sort_index_entries(&mut entries, threads);
    if files.reverse_index {
        let offset = |at: usize| entries.get(at).map_or(0, |entry| entry.offset);
        let positions = reverse_positions(entries.len(), offset, threads);
        write_reverse_index(&name(".rev"), &positions, &pack.checksum, files.sync)?;
    }
    let checksum = &pack.checksum;
    write_index(&name(".idx"), &entries, checksum, &files.index, files.sync)?;
    pack.index = entries;
    Ok(pack)
}

fn named(base: &Path, name: &str, extension: &str) -> PathBuf {
    let mut path = base.as_os_str().to_owned();
    path.push(format!("-{name}{extension}"));
    path.into()
}

struct PackFile {
    file: OutputFile,
    written: u64,
}

impl Write for PackFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write_at(bytes, self.written);
        written.map_err(io::Error::other)?;
        self.written += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
