//! Integers in network order at a position that may be outside the data.

/// The 32-bit integer at `position`.
pub(crate) fn u32_at(data: &[u8], position: usize) -> Option<u32> {
    let bytes = data.get(position..position.checked_add(4)?)?;
    Some(u32::from_be_bytes(bytes.try_into().ok()?))
}

/// The 64-bit integer at `position`.
pub(crate) fn u64_at(data: &[u8], position: usize) -> Option<u64> {
    let bytes = data.get(position..position.checked_add(8)?)?;
    Some(u64::from_be_bytes(bytes.try_into().ok()?))
}
