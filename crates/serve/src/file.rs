//! A pack as a file, with its index and reverse index.

use crate::{write_pack, Contents, PackOptions, PackWritten, Result};
use hedgerow_fs::OutputFile;
use hedgerow_pack::{
    reverse_positions, sort_index_entries, stage_index, stage_reverse_index, IndexLayout,
    ObjectStore, OPTIONAL_EXTENSIONS,
};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Options for writing the files of a pack.
#[derive(Clone, Debug)]
pub struct FileOptions {
    /// The format of the index.
    pub index: IndexLayout,
    /// Whether to write a reverse index (`pack.writeReverseIndex`).
    pub reverse_index: bool,
    /// Whether to sync the pack to disk (`pack` of `core.fsync`).
    pub sync_pack: bool,
    /// Whether to sync its indexes (`pack-metadata`).
    pub sync_indexes: bool,
}

impl Default for FileOptions {
    fn default() -> Self {
        FileOptions {
            index: IndexLayout::default(),
            reverse_index: true,
            sync_pack: true,
            sync_indexes: true,
        }
    }
}

/// A pack and its auxiliary files, complete but with temporary names. If it is dropped without
/// [`StagedPack::install`], they are deleted.
#[derive(Debug)]
pub struct StagedPack {
    /// What was written; the index entries are in order of ids.
    pub written: PackWritten,
    base: PathBuf,
    /// The files with their extensions, in the order in which they are renamed. The index, which
    /// makes the pack visible, comes last.
    files: Vec<(&'static str, OutputFile)>,
}

/// Writes a pack of `contents` as [`write_pack`] does, to files whose final names are `base`, a
/// dash, the checksum of the pack and their extension.
///
/// # Errors
/// As [`write_pack`]; [`crate::Error::Fs`] if a file cannot be written.
pub fn stage_pack(
    store: &ObjectStore,
    contents: &Contents<'_>,
    options: &PackOptions,
    files: &FileOptions,
    base: &Path,
) -> Result<StagedPack> {
    let options = PackOptions {
        check_copies: true,
        ..options.clone()
    };
    let mut file = PackFile {
        // git-prune(1) removes files with this prefix, should this process be killed.
        file: OutputFile::create_with_prefix(&named(base, "pack", ""), "tmp_")
            .map_err(|error| in_directory_of(base, error))?,
        written: 0,
    };
    let mut written = write_pack(store, contents, &options, true, &mut file)?;
    file.file.set_read_only()?;
    if files.sync_pack {
        file.file.sync()?;
    }
    let mut staged = vec![(".pack", file.file)];
    let threads = options.execution.threads().get();
    sort_index_entries(&mut written.index, threads);
    let (entries, checksum) = (&written.index, &written.checksum);
    let name = |extension| named(base, &checksum.to_string(), extension);
    if files.reverse_index {
        let offset = |at: usize| entries.get(at).map_or(0, |entry| entry.offset);
        let positions = reverse_positions(entries.len(), offset, threads);
        let sync = files.sync_indexes;
        let file = stage_reverse_index(&name(".rev"), &positions, checksum, sync)?;
        staged.push((".rev", file));
    }
    let (layout, sync) = (&files.index, files.sync_indexes);
    let index = stage_index(&name(".idx"), entries, checksum, layout, sync)?;
    staged.push((".idx", index));
    Ok(StagedPack {
        written,
        base: base.to_owned(),
        files: staged,
    })
}

impl StagedPack {
    /// The final name of the file with this extension.
    pub fn path(&self, extension: &str) -> PathBuf {
        named(&self.base, &self.written.checksum.to_string(), extension)
    }

    /// Adds an auxiliary file of the pack, to be renamed before the index.
    pub fn add(&mut self, extension: &'static str, file: OutputFile) {
        let at = self.files.len().saturating_sub(1);
        self.files.insert(at, (extension, file));
    }

    /// The names of auxiliary files that a pack may have, but this one does not.
    pub fn absent(&self) -> Vec<PathBuf> {
        let optional = OPTIONAL_EXTENSIONS.map(|extension| format!(".{extension}"));
        let is_there = |extension: &String| self.files.iter().any(|(other, _)| other == extension);
        let absent = optional.iter().filter(|extension| !is_there(extension));
        absent.map(|extension| self.path(extension)).collect()
    }

    /// Renames the files to their final names. Existing files, of an equal pack, are replaced.
    ///
    /// # Errors
    /// [`crate::Error::Fs`]; then new files are removed again.
    pub fn install(self) -> Result<PackWritten> {
        let checksum = self.written.checksum.to_string();
        let mut named_files: Vec<PathBuf> = Vec::new();
        for (extension, mut file) in self.files {
            let target = named(&self.base, &checksum, extension);
            let is_new = !hedgerow_fs::exists(&target);
            file.set_target(&target);
            if let Err(error) = file.commit(true) {
                for path in named_files.iter().rev() {
                    // The first error is reported.
                    let _ = hedgerow_fs::remove_file(path);
                }
                return Err(error.into());
            }
            if is_new {
                named_files.push(target);
            }
        }
        Ok(self.written)
    }
}

/// The error by the directory of the pack, whose name is not known yet.
fn in_directory_of(base: &Path, error: hedgerow_fs::Error) -> hedgerow_fs::Error {
    match base.parent() {
        Some(directory) if directory != Path::new("") => hedgerow_fs::Error {
            operation: "create a pack in",
            path: directory.to_owned(),
            source: error.source,
        },
        _ => error,
    }
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
        // The path in the error is that of an unnamed file, so it names only the directory.
        written.map_err(|error| io::Error::new(error.kind(), error.to_string()))?;
        self.written += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
