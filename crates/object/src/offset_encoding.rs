//! The encoding of the distances between a delta and its base (gitformat-pack(5), "offset
//! encoding"), also that of numbers in an index of version 4: seven bits a byte, the most
//! significant first, with one added for each continuation so that no number has two spellings.

/// Bytes of the largest number.
pub const MAX_BYTES: usize = 10;

/// Why there is no number to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OffsetFault {
    /// The data ends within it.
    Truncated,
    /// It goes on though what was read so far is the limit or more, or has more than 64 bits.
    TooLarge,
}

/// Reads the number at the start of `data`. Returns it and its length in bytes. One that reaches
/// `limit` may not be continued, but may be larger in the end: the caller has to compare.
#[inline]
pub fn decode(data: &[u8], limit: u64) -> Result<(u64, usize), OffsetFault> {
    let byte_at = |at: usize| data.get(at).copied().ok_or(OffsetFault::Truncated);
    let mut byte = byte_at(0)?;
    let mut length = 1;
    let mut value = u64::from(byte & 0x7f);
    while byte & 0x80 != 0 {
        byte = byte_at(length)?;
        length += 1;
        if value >= limit {
            return Err(OffsetFault::TooLarge);
        }
        let continued = (value + 1).checked_mul(128).ok_or(OffsetFault::TooLarge)?;
        value = continued | u64::from(byte & 0x7f);
    }
    Ok((value, length))
}

/// Writes `value` to the end of `buffer`, and returns its bytes.
pub fn encode(mut value: u64, buffer: &mut [u8; MAX_BYTES]) -> &[u8] {
    let mut first = MAX_BYTES - 1;
    buffer[first] = (value & 0x7f) as u8;
    value >>= 7;
    while value > 0 {
        value -= 1;
        first -= 1;
        buffer[first] = 0x80 | (value & 0x7f) as u8;
        value >>= 7;
    }
    &buffer[first..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn encoded(value: u64) -> Vec<u8> {
        encode(value, &mut [0; MAX_BYTES]).to_vec()
    }

    #[test]
    fn numbers_have_one_spelling() {
        for (value, bytes) in [
            (0, [0].as_slice()),
            (127, &[0x7f]),
            (128, &[0x80, 0]),
            (0x407f, &[0xff, 0x7f]),
            (0x4080, &[0x80, 0x80, 0]),
        ] {
            assert_eq!(encoded(value), bytes);
            assert_eq!(decode(bytes, u64::MAX), Ok((value, bytes.len())));
        }
        assert_eq!(encoded(u64::MAX).len(), MAX_BYTES);
    }

    #[test]
    fn numbers_that_do_not_fit_are_refused() {
        let mut long = [0xff; 11];
        long[10] = 0;
        for data in [[0xff; 12].as_slice(), &long] {
            assert_eq!(decode(data, u64::MAX), Err(OffsetFault::TooLarge));
        }
        assert_eq!(decode(&[0xff, 0], 127), Err(OffsetFault::TooLarge));
        assert_eq!(decode(&[0xff, 0], 128), Ok((0x4000, 2)));
    }

    proptest! {
        #[test]
        fn numbers_come_back(value in any::<u64>(), shift in 0_u32..64) {
            for value in [value >> shift, u64::MAX] {
                let bytes = encoded(value);
                prop_assert_eq!(decode(&bytes, u64::MAX), Ok((value, bytes.len())));
                for end in 0..bytes.len() {
                    prop_assert_eq!(decode(&bytes[..end], u64::MAX), Err(OffsetFault::Truncated));
                }
            }
        }
    }
}
