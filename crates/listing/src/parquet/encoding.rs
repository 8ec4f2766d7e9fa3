//! How the values of a page are encoded: integers as packed differences, paths by what they share
//! with the one before, and levels and dictionary indices as runs or packed bits.

use super::thrift::{append_varint, append_zigzag, Reader};

/// Values of a block and of each of its parts that have a bit width of their own.
const BLOCK: usize = 128;
const MINIBLOCK: usize = 32;
const MINIBLOCKS: usize = BLOCK / MINIBLOCK;

/// An integer whose differences are packed. They wrap around, so that all values fit.
pub(super) trait Packed: Copy {
    const BITS: u32;
    fn to_i64(self) -> i64;
    /// Takes the low bits.
    fn from_i64(value: i64) -> Self;
}

impl Packed for i32 {
    const BITS: u32 = 32;

    fn to_i64(self) -> i64 {
        self.into()
    }

    fn from_i64(value: i64) -> Self {
        value as i32
    }
}

impl Packed for i64 {
    const BITS: u32 = 64;

    fn to_i64(self) -> i64 {
        self
    }

    fn from_i64(value: i64) -> Self {
        value
    }
}

/// Appends values as Parquet's `DELTA_BINARY_PACKED`.
pub(super) fn append_deltas<T: Packed>(values: &[T], bytes: &mut Vec<u8>) {
    append_varint(BLOCK as u64, bytes);
    append_varint(MINIBLOCKS as u64, bytes);
    append_varint(values.len() as u64, bytes);
    let first = values.first().map_or(0, |first| first.to_i64());
    append_zigzag(first, bytes);
    let mut previous = first;
    let rest = values.get(1..).unwrap_or_default();
    for block in rest.chunks(BLOCK) {
        let mut deltas = [0i64; BLOCK];
        for (delta, value) in deltas.iter_mut().zip(block) {
            let value = value.to_i64();
            *delta = T::from_i64(value.wrapping_sub(previous)).to_i64();
            previous = value;
        }
        append_block::<T>(&mut deltas[..block.len()], bytes);
    }
}

fn append_block<T: Packed>(deltas: &mut [i64], bytes: &mut Vec<u8>) {
    let least = deltas.iter().copied().min().unwrap_or(0);
    append_zigzag(least, bytes);
    let mut widths = [0u8; MINIBLOCKS];
    for (width, miniblock) in widths.iter_mut().zip(deltas.chunks_mut(MINIBLOCK)) {
        let mut union = 0;
        for delta in miniblock {
            // The difference of two signed numbers fits the unsigned type of the same size.
            let above = delta.wrapping_sub(least) as u64;
            *delta = above as i64;
            union |= above;
        }
        *width = (u64::BITS - union.leading_zeros()) as u8;
        debug_assert!(u32::from(*width) <= T::BITS);
    }
    bytes.extend_from_slice(&widths);
    for (width, miniblock) in widths.iter().zip(deltas.chunks(MINIBLOCK)) {
        let mut values = [0; MINIBLOCK];
        for (value, delta) in values.iter_mut().zip(miniblock) {
            *value = *delta as u64;
        }
        append_bits(&values, (*width).into(), bytes);
    }
}

/// Appends the low `width` bits of each value, the lowest first.
fn append_bits(values: &[u64], width: u32, bytes: &mut Vec<u8>) {
    let (mut held, mut bits) = (0u128, 0);
    for value in values {
        held |= u128::from(*value) << bits;
        bits += width;
        while bits >= 8 {
            bytes.push(held as u8);
            held >>= 8;
            bits -= 8;
        }
    }
    if bits > 0 {
        bytes.push(held as u8);
    }
}

/// Reads `count` values of `width` bits.
fn bits(reader: &mut Reader<'_>, count: usize, width: u32) -> Option<impl Iterator<Item = u64>> {
    let length = (count * width as usize).div_ceil(8);
    let taken = reader.take(length)?.to_vec();
    let mask = u128::from(u64::MAX.checked_shr(u64::BITS - width).unwrap_or(0));
    let (mut held, mut have, mut next) = (0u128, 0, 0);
    Some((0..count).map(move |_| {
        while have < width {
            held |= u128::from(taken[next]) << have;
            have += 8;
            next += 1;
        }
        let value = (held & mask) as u64;
        held >>= width;
        have -= width;
        value
    }))
}

/// Reads exactly `count` values that [`append_deltas`] wrote; `None` if the bytes are malformed.
pub(super) fn deltas<T: Packed>(reader: &mut Reader<'_>, count: usize) -> Option<Vec<T>> {
    let header = [reader.varint()?, reader.varint()?, reader.varint()?];
    if header != [BLOCK as u64, MINIBLOCKS as u64, count as u64] {
        return None;
    }
    let mut value = reader.zigzag()?;
    let mut values = Vec::with_capacity(count);
    if count == 0 {
        return Some(values);
    }
    values.push(T::from_i64(value));
    while values.len() < count {
        let least = reader.zigzag()?;
        let widths = reader.take(MINIBLOCKS)?;
        for width in widths {
            let left = count - values.len();
            if left == 0 {
                break;
            }
            let width = u32::from(*width);
            if width > T::BITS {
                return None;
            }
            for above in bits(reader, MINIBLOCK, width)?.take(left) {
                let delta = least.wrapping_add(above as i64);
                value = T::from_i64(value.wrapping_add(delta)).to_i64();
                values.push(T::from_i64(value));
            }
        }
    }
    Some(values)
}

/// Appends strings as Parquet's `DELTA_BYTE_ARRAY`: how many bytes each shares with the one before,
/// and the others.
pub(super) fn append_strings<'s>(strings: impl Iterator<Item = &'s [u8]>, bytes: &mut Vec<u8>) {
    let (mut shared, mut lengths, mut rests) = (Vec::new(), Vec::new(), Vec::new());
    let mut previous: &[u8] = &[];
    for string in strings {
        let common = previous.iter().zip(string).take_while(|(a, b)| a == b);
        let common = common.count();
        let rest = string.get(common..).unwrap_or_default();
        shared.push(common as i32);
        lengths.push(rest.len() as i32);
        rests.extend_from_slice(rest);
        previous = string;
    }
    append_deltas(&shared, bytes);
    append_deltas(&lengths, bytes);
    bytes.extend(rests);
}

/// Reads exactly `count` strings, joined, with the end of each, and at most `limit` bytes.
pub(super) fn strings(
    reader: &mut Reader<'_>,
    count: usize,
    limit: usize,
) -> Option<(Vec<u8>, Vec<usize>)> {
    let shared: Vec<i32> = deltas(reader, count)?;
    let lengths: Vec<i32> = deltas(reader, count)?;
    let (mut joined, mut ends) = (Vec::new(), Vec::with_capacity(count));
    let mut previous = 0..0usize;
    for (shared, length) in shared.into_iter().zip(lengths) {
        let shared = usize::try_from(shared).ok()?;
        let rest = reader.take(usize::try_from(length).ok()?)?;
        if shared > previous.len() || joined.len() + shared + rest.len() > limit {
            return None;
        }
        let start = joined.len();
        joined.extend_from_within(previous.start..previous.start + shared);
        joined.extend_from_slice(rest);
        previous = start..joined.len();
        ends.push(joined.len());
    }
    Some((joined, ends))
}

/// Appends small numbers of `width` bits as one run: repeated if they are equal, else packed.
pub(super) fn append_run(values: &[u8], width: u32, bytes: &mut Vec<u8>) {
    let Some(first) = values.first() else {
        return;
    };
    if values.iter().all(|value| value == first) {
        append_varint((values.len() as u64) << 1, bytes);
        bytes.push(*first);
        return;
    }
    let groups = values.len().div_ceil(8);
    append_varint((groups as u64) << 1 | 1, bytes);
    let mut padded: Vec<u64> = values.iter().map(|value| (*value).into()).collect();
    padded.resize(groups * 8, 0);
    append_bits(&padded, width, bytes);
}

/// Reads exactly `count` numbers that [`append_run`] wrote.
pub(super) fn run(reader: &mut Reader<'_>, count: usize, width: u32) -> Option<Vec<u8>> {
    if count == 0 {
        return Some(Vec::new());
    }
    let header = reader.varint()?;
    let length = usize::try_from(header >> 1).ok()?;
    if header & 1 == 0 {
        let value = reader.byte()?;
        return (length == count).then(|| vec![value; count]);
    }
    if length != count.div_ceil(8) {
        return None;
    }
    let values = bits(reader, length * 8, width)?.take(count);
    Some(values.map(|value| value as u8).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn again<T: Packed + PartialEq + std::fmt::Debug>(values: &[T]) {
        let mut bytes = Vec::new();
        append_deltas(values, &mut bytes);
        let mut reader = Reader::new(&bytes);
        assert_eq!(deltas::<T>(&mut reader, values.len()).unwrap(), values);
        assert_eq!(reader.left(), 0);
        for end in 0..bytes.len() {
            assert!(deltas::<T>(&mut Reader::new(&bytes[..end]), values.len()).is_none());
        }
    }

    #[test]
    fn extreme_integers_are_packed() {
        again::<i64>(&[]);
        again(&[i64::MIN, i64::MAX, 0, -1, i64::MAX, i64::MIN]);
        again(&[i32::MIN, i32::MAX, 0, -1, i32::MAX, i32::MIN]);
        again(&vec![5i64; 1000]);
    }

    proptest! {
        #[test]
        fn integers_are_packed(longs in prop::collection::vec(any::<i64>(), 0..300),
                               shorts in prop::collection::vec(any::<i32>(), 0..300),
                               near in prop::collection::vec(0i64..100, 0..300)) {
            again(&longs);
            again(&shorts);
            again(&near);
        }

        #[test]
        fn strings_and_runs_are_read_again(
            words in prop::collection::vec("[ab/]{0,9}", 0..200),
            small in prop::collection::vec(0u8..7, 0..200),
        ) {
            let mut bytes = Vec::new();
            append_strings(words.iter().map(String::as_bytes), &mut bytes);
            let mut reader = Reader::new(&bytes);
            let (joined, ends) = strings(&mut reader, words.len(), 1 << 20).unwrap();
            prop_assert_eq!(reader.left(), 0);
            prop_assert_eq!(joined, words.concat().into_bytes());
            prop_assert_eq!(ends.len(), words.len());
            let mut bytes = Vec::new();
            append_run(&small, 3, &mut bytes);
            prop_assert_eq!(run(&mut Reader::new(&bytes), small.len(), 3).unwrap(), small);
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = deltas::<i64>(&mut Reader::new(&bytes), 100);
            let _ = strings(&mut Reader::new(&bytes), 100, 1000);
            let _ = run(&mut Reader::new(&bytes), 100, 3);
            let _ = Reader::new(&bytes).fields();
        }
    }
}
