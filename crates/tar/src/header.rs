//! The header block of 512 bytes before every member.
//!
//! Fields and types: POSIX.1-2017, utility `pax`, "ustar Interchange Format"; for GNU tar, its
//! manual, "Basic Tar Format".

use crate::numbers;

/// The block size in bytes; everything in an archive is padded to a multiple of it.
pub(crate) const BLOCK: usize = 512;

/// One block.
pub(crate) type Block = [u8; BLOCK];

/// The byte range of a field.
type Field = std::ops::Range<usize>;

pub(crate) const NAME: Field = 0..100;
pub(crate) const MODE: Field = 100..108;
pub(crate) const UID: Field = 108..116;
pub(crate) const GID: Field = 116..124;
pub(crate) const SIZE: Field = 124..136;
pub(crate) const MTIME: Field = 136..148;
pub(crate) const CHECKSUM: Field = 148..156;
pub(crate) const TYPE: usize = 156;
pub(crate) const LINK_NAME: Field = 157..257;
pub(crate) const MAGIC: Field = 257..265;
pub(crate) const DEVICE_MAJOR: Field = 329..337;
pub(crate) const DEVICE_MINOR: Field = 337..345;
pub(crate) const PREFIX: Field = 345..500;

/// Magic and version of ustar, which pax uses too.
pub(crate) const USTAR: &[u8; 8] = b"ustar\x0000";

/// Types of members and of the headers before them.
pub(crate) mod types {
    pub(crate) const FILE: u8 = b'0';
    /// A file in archives from before POSIX.
    pub(crate) const OLD_FILE: u8 = 0;
    pub(crate) const HARD_LINK: u8 = b'1';
    pub(crate) const SYMLINK: u8 = b'2';
    pub(crate) const CHARACTER_DEVICE: u8 = b'3';
    pub(crate) const BLOCK_DEVICE: u8 = b'4';
    pub(crate) const DIRECTORY: u8 = b'5';
    pub(crate) const FIFO: u8 = b'6';
    /// A file that should be contiguous on disk.
    pub(crate) const CONTIGUOUS: u8 = b'7';
    /// Records about the next member.
    pub(crate) const EXTENDED: u8 = b'x';
    /// The same, as Solaris wrote it before POSIX chose a letter.
    pub(crate) const SOLARIS_EXTENDED: u8 = b'X';
    /// Records about all following members.
    pub(crate) const GLOBAL: u8 = b'g';
    /// The name of the next member.
    pub(crate) const GNU_LONG_NAME: u8 = b'L';
    /// The link target of the next member.
    pub(crate) const GNU_LONG_LINK: u8 = b'K';
    /// A sparse file with its map in the header.
    pub(crate) const GNU_SPARSE: u8 = b'S';
    /// A directory with a list of its entries.
    pub(crate) const GNU_DUMP_DIRECTORY: u8 = b'D';
    pub(crate) const GNU_VOLUME_LABEL: u8 = b'V';
    /// The rest of a file that starts in another volume.
    pub(crate) const GNU_CONTINUATION: u8 = b'M';
}

/// A header with a correct checksum.
#[derive(Clone)]
pub(crate) struct Header {
    block: Block,
    /// Its byte offset in the archive.
    pub(crate) position: u64,
}

impl Header {
    /// `None` if the checksum is wrong.
    pub(crate) fn new(block: Block, position: u64) -> Option<Header> {
        let stored = numbers::parse(&block[CHECKSUM])?;
        let (unsigned, signed) = checksums(&block);
        let right = stored == i64::from(unsigned) || stored == i64::from(signed);
        right.then_some(Header { block, position })
    }

    pub(crate) fn kind(&self) -> u8 {
        self.block[TYPE]
    }

    pub(crate) fn field(&self, field: Field) -> &[u8] {
        &self.block[field]
    }

    /// The name, including the prefix in ustar headers; other formats use that field differently.
    pub(crate) fn name(&self) -> Vec<u8> {
        let name = text(&self.block[NAME]);
        let is_ustar = self.block[MAGIC].starts_with(b"ustar\0");
        let prefix = text(&self.block[PREFIX]);
        if !is_ustar || prefix.is_empty() {
            return name.to_vec();
        }
        [prefix, b"/", name].concat()
    }

    pub(crate) fn link_name(&self) -> &[u8] {
        text(&self.block[LINK_NAME])
    }
}

/// The sum of all bytes of a header, with the checksum field counted as blanks; for unsigned bytes,
/// and for signed bytes as in some old programs.
pub(crate) fn checksums(block: &Block) -> (u32, i32) {
    let mut summed = *block;
    summed[CHECKSUM].fill(b' ');
    let unsigned: u32 = summed.iter().map(|byte| u32::from(*byte)).sum();
    let negative: u32 = summed.iter().map(|byte| u32::from(byte >> 7)).sum();
    (unsigned, unsigned as i32 - 256 * negative as i32)
}

/// The bytes of a field before the first NUL.
pub(crate) fn text(field: &[u8]) -> &[u8] {
    let end = field.iter().position(|byte| *byte == 0);
    &field[..end.unwrap_or(field.len())]
}

/// The number of padding bytes after `len` bytes of content.
pub(crate) fn padding(len: u64) -> u64 {
    len.wrapping_neg() % BLOCK as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summed(mut block: Block, sum: u64) -> Option<Header> {
        assert!(numbers::write_octal(&mut block[CHECKSUM], sum));
        Header::new(block, 0)
    }

    #[test]
    fn both_ways_to_sum_are_accepted_and_no_other() {
        let mut block = [0; BLOCK];
        block[..4].copy_from_slice(b"na\xefv");
        let (unsigned, signed) = checksums(&block);
        assert_eq!(i64::from(unsigned) - i64::from(signed), 256);
        assert!(summed(block, unsigned.into()).is_some());
        assert!(summed(block, signed as u64).is_some());
        assert!(summed(block, u64::from(unsigned) + 1).is_none());
        assert!(Header::new([0; BLOCK], 0).is_none());
    }

    #[test]
    fn only_ustar_headers_have_a_prefix() {
        let mut block = [0; BLOCK];
        block[NAME].fill(b'n');
        block[PREFIX].fill(b'p');
        let name = |block: Block| summed(block, checksums(&block).0.into()).unwrap().name();
        assert_eq!(name(block), [b'n'; 100]);
        block[MAGIC].copy_from_slice(b"ustar  \0");
        assert_eq!(name(block), [b'n'; 100]);
        block[MAGIC].copy_from_slice(USTAR);
        assert_eq!(name(block), [&[b'p'; 155][..], b"/", &[b'n'; 100]].concat());
    }

    #[test]
    fn padding_fills_the_block() {
        for (len, expected) in [(0, 0), (1, 511), (512, 0), (513, 511), (u64::MAX, 1)] {
            assert_eq!(padding(len), expected);
        }
    }
}
