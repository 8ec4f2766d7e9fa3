use crate::{Fault, ObjectHeader};
use gix_hash::{oid, ObjectId};
use hedgerow_codec::StreamInflater;
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
/// length.
pub(crate) fn header(
    inflater: &mut StreamInflater,
    input: &[u8],
) -> Result<(ObjectHeader, usize), Fault> {
    let mut start = [0; ObjectHeader::MAX_BYTES];
    let length = inflater.prefix(input, &mut start)?;
    ObjectHeader::parse(start.get(..length).unwrap_or_default()).ok_or(Fault::LooseHeader)
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
