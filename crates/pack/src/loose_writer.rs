//! Writes loose objects.

use crate::{loose, ObjectHeader, ObjectKind, Result};
use gix_hash::oid;
use hedgerow_codec::Deflater;
use hedgerow_fs::{OutputFile, Timestamp};
use std::path::Path;

/// Objects are never changed in place.
const READ_ONLY: u32 = 0o444;

/// Writes the object `id`, whose content is `content`, as a file of its own below the object
/// directory `objects`, changed last at `mtime`: that decides when an object that nothing reaches
/// is too old. One that is there already stays as it is.
///
/// # Errors
/// If it cannot be written; then there is no new file.
pub fn write_loose(
    objects: &Path,
    id: &oid,
    kind: ObjectKind,
    content: &[u8],
    deflater: &mut Deflater,
    mtime: Timestamp,
) -> Result<()> {
    let target = loose::path(objects, id);
    if hedgerow_fs::exists(&target) {
        return Ok(());
    }
    if let Some(directory) = target.parent() {
        hedgerow_fs::create_directories(directory)?;
    }
    let size = content.len() as u64;
    let header = ObjectHeader { kind, size }.encode();
    let bytes = [header.as_bytes(), content].concat();
    let file = OutputFile::create(&target)?;
    file.write_at(&deflater.zlib(&bytes), 0)?;
    file.set_permissions(READ_ONLY)?;
    file.set_mtime(mtime)?;
    file.sync()?;
    match file.commit(false) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        outcome => Ok(outcome?),
    }
}
