//! Limits of the kernel's driver that the format does not have.

/// The possible device block sizes in which the driver reads an image, in bytes.
const DEVICE_BLOCKS: [u64; 3] = [1024, 2048, 4096];
/// The driver passes data to the decompressor in pieces of this many bytes.
const PAGE_BYTES: u64 = 4096;
/// Size of the checksum after a zstd frame, in bytes.
const CHECKSUM_BYTES: u64 = 4;

/// Whether the Linux driver (`zstd_uncompress` in fs/squashfs/zstd_wrapper.c, seen up to 6.18) can
/// read a zstd block of `bytes` bytes at `position` with its checksum. It fails if the whole
/// content is decompressed before the last piece is fed, which has a part of the checksum, because
/// then it has no output page left. So no piece may begin within the checksum.
pub(super) fn reads_checksum(position: u64, bytes: u64) -> bool {
    let end = position + bytes;
    DEVICE_BLOCKS.iter().all(|device_block| {
        let start = position / device_block * device_block;
        let last = start + (end - 1 - start) / PAGE_BYTES * PAGE_BYTES;
        last <= position || last + CHECKSUM_BYTES < end
    })
}

#[cfg(test)]
mod tests {
    use super::reads_checksum;

    #[test]
    fn no_page_may_begin_in_the_checksum() {
        for (position, bytes, expected) in [
            (4096, 4096, true),
            (4096, 4097, false),
            (4096, 4100, false),
            (4096, 4101, true),
            (5120, 4100, false),
            (5121, 4099, false),
            (5121, 4100, true),
            (96, 100, true),
        ] {
            let found = reads_checksum(position, bytes);
            assert_eq!(found, expected, "{position} {bytes}");
        }
    }
}
