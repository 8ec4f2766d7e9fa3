//! Loose objects: where they are, their header, and how one is written.

use crate::error::Result;
use crate::fault::Fault;
use crate::format::hashed_file::READ_ONLY;
use crate::object::{ObjectHeader, ObjectKind};
use gix_hash::{oid, ObjectId};
use hedgerow_codec::{Deflater, StreamInflater};
use hedgerow_fs::{OutputFile, Timestamp};
use std::path::{Path, PathBuf};

/// Enough for the longest kind, the most digits and the NUL.
pub(crate) const MAX_HEADER_BYTES: usize = 32;

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
/// length.
pub(crate) fn header(
    inflater: &mut StreamInflater,
    input: &[u8],
) -> Result<(ObjectHeader, usize), Fault> {
    let mut start = [0; MAX_HEADER_BYTES];
    let length = inflater.prefix(input, &mut start)?;
    parse_header(
        start
            .get(..length)
            .expect("no more is inflated than there is room for"),
    )
}

/// Parses `kind SP size NUL` at the start of `data`.
pub(crate) fn parse_header(data: &[u8]) -> Result<(ObjectHeader, usize), Fault> {
    let end = data
        .iter()
        .position(|byte| *byte == 0)
        .ok_or(Fault::LooseHeader)?;
    let (header, _) = data.split_at(end);
    let space = header
        .iter()
        .position(|byte| *byte == b' ')
        .ok_or(Fault::LooseHeader)?;
    let (name, digits) = header.split_at(space);
    let kind = ObjectKind::from_name(name).ok_or(Fault::LooseHeader)?;
    let (_, digits) = digits.split_at(1);
    let size = parse_size(digits).ok_or(Fault::LooseHeader)?;
    Ok((ObjectHeader { kind, size }, end + 1))
}

/// A decimal number without leading zeros, as git demands.
fn parse_size(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || (digits.len() > 1 && digits.first() == Some(&b'0')) {
        return None;
    }
    digits.iter().try_fold(0_u64, |value, digit| {
        let digit = char::from(*digit).to_digit(10)?;
        value.checked_mul(10)?.checked_add(u64::from(digit))
    })
}

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
    let target = path(objects, id);
    if hedgerow_fs::exists(&target) {
        return Ok(());
    }
    if let Some(directory) = target.parent() {
        hedgerow_fs::create_directories(directory)?;
    }
    let mut bytes = format!("{} {}\0", kind.name(), content.len()).into_bytes();
    bytes.extend_from_slice(content);
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_headers_as_git_writes_them_are_accepted() {
        let size = |text: &str| parse_header(text.as_bytes()).map(|(header, _)| header.size);
        assert_eq!(size("blob 0\0"), Ok(0));
        assert_eq!(size("commit 18446744073709551615\0x"), Ok(u64::MAX));
        let (header, length) = parse_header(b"tag 12\0content").unwrap();
        assert_eq!((header.kind, length), (ObjectKind::Tag, 7));
        for bad in [
            "",
            "\0",
            "blob\0",
            "blob \0",
            "blob 01\0",
            "blob 1 \0",
            "blob -1\0",
            "blob +1\0",
            "blob  1\0",
            "Blob 1\0",
            "delta 1\0",
            "blob 1",
            "blob 18446744073709551616\0",
        ] {
            assert_eq!(size(bad), Err(Fault::LooseHeader), "{bad:?}");
        }
    }

    proptest! {
        #[test]
        fn random_bytes_never_panic(data in prop::collection::vec(any::<u8>(), 0..40)) {
            let _ = parse_header(&data);
            let _ = parse_header(&[b"blob ", data.as_slice()].concat());
            let _ = header(&mut StreamInflater::new(), &data);
        }
    }
}
