//! Loose objects: where they are, their header, and how one is written.

use crate::error::Result;
use crate::fault::Fault;
use gix_hash::{oid, ObjectId};
use hedgerow_codec::{Deflater, StreamInflater};
use hedgerow_fs::{OutputFile, Timestamp};
use hedgerow_object::{ObjectHeader, ObjectKind};
use std::path::{Path, PathBuf};

/// The file of the loose object `id` in the object directory `objects`.
pub(crate) fn path(objects: &Path, id: &oid) -> PathBuf {
    let mut hex = gix_hash::Kind::hex_buf();
    let hex = id.hex_to_buf(hex.as_mut());
    let (directory, file) = hex.split_at(2);
    let mut path = PathBuf::with_capacity(objects.as_os_str().len() + hex.len() + 2);
    path.push(objects);
    path.push(directory);
    path.push(file);
    path
}

/// The loose objects in `objects` whose ids start with `byte`, in no order.
pub(crate) fn list(
    objects: &Path,
    byte: u8,
    hash: gix_hash::Kind,
) -> hedgerow_fs::Result<Vec<ObjectId>> {
    let directory = format!("{byte:02x}");
    let listing = hedgerow_fs::list_directory(&objects.join(&directory))?.unwrap_or_default();
    let parse = |name: &[u8]| {
        let hex = [directory.as_bytes(), name].concat();
        let id = ObjectId::from_hex(&hex).ok()?;
        (id.kind() == hash).then_some(id)
    };
    Ok(listing
        .iter()
        .filter_map(|entry| parse(&entry.name))
        .collect())
}

/// Reads the header of the loose object whose file starts with `input`. Returns it and its own
/// length. The end of the stream may be missing.
pub(crate) fn header(
    inflater: &mut StreamInflater,
    input: &[u8],
) -> Result<(ObjectHeader, usize), Fault> {
    let mut start = [0; ObjectHeader::MAX_BYTES];
    let (length, _) = inflater.leading(input, &mut start)?;
    let start = start.get(..length);
    let start = start.expect("no more is inflated than there is room for");
    ObjectHeader::parse(start).ok_or_else(|| match ObjectHeader::is_of_unknown_kind(start) {
        true => Fault::LooseKind,
        false => Fault::LooseHeader,
    })
}

/// How a loose object is written.
#[derive(Clone, Copy, Debug)]
pub struct LooseOptions {
    /// When it was changed last: that decides when an object that nothing reaches is too old. Now if
    /// `None`.
    pub mtime: Option<Timestamp>,
    /// The permissions of its file. If `None`, those may read it who may read new files.
    pub mode: Option<u32>,
    /// Whether it is on the disk before it counts.
    pub sync: bool,
    /// Takes the place of a file that is there already.
    pub replace: bool,
}

impl Default for LooseOptions {
    fn default() -> Self {
        LooseOptions {
            mtime: None,
            mode: None,
            sync: true,
            replace: false,
        }
    }
}

/// Writes the object `id`, whose content is `content`, as a file of its own below the object
/// directory `objects`. One that is there already stays as it is, unless `options` say otherwise.
///
/// # Errors
/// If it cannot be written; then there is no new file.
pub fn write_loose(
    objects: &Path,
    id: &oid,
    (kind, content): (ObjectKind, &[u8]),
    deflater: &mut Deflater,
    options: &LooseOptions,
) -> Result<()> {
    let target = path(objects, id);
    // Not `exists`: an object that only may be there must not be left out.
    if !options.replace && hedgerow_fs::is_there(&target)? {
        return Ok(());
    }
    if let Some(directory) = target.parent() {
        hedgerow_fs::create_directories(directory)?;
    }
    let size = content.len() as u64;
    let header = ObjectHeader { kind, size }.encode();
    let bytes = [header.as_bytes(), content].concat();
    let file = OutputFile::create_read_only(&target)?;
    file.write_at(&deflater.zlib(&bytes), 0)?;
    if let Some(mode) = options.mode {
        file.set_permissions(mode)?;
    }
    if let Some(mtime) = options.mtime {
        file.set_mtime(mtime)?;
    }
    if options.sync {
        file.sync()?;
    }
    match file.commit(options.replace) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        outcome => Ok(outcome?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn random_bytes_never_panic(data in prop::collection::vec(any::<u8>(), 0..40)) {
            let _ = header(&mut StreamInflater::new(), &data);
        }
    }
}
