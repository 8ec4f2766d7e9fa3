//! Applies deltas.

use crate::fault::Fault;
use hedgerow_object::pack_entry::widen;

/// The two lengths a delta starts with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DeltaHeader {
    /// Bytes of the base it is for.
    pub source: u64,
    /// Bytes of what it makes.
    pub result: u64,
}

/// Git takes no shorter delta: two lengths and an instruction.
pub(super) const LEAST_BYTES: usize = 4;

/// Splits a delta, or the first 20 bytes of one, into its lengths and its instructions.
pub(crate) fn parse_header(delta: &[u8]) -> Result<(DeltaHeader, &[u8]), Fault> {
    if delta.len() < LEAST_BYTES {
        return Err(Fault::DeltaTruncated);
    }
    let (source, rest) = length(delta)?;
    let (result, rest) = length(rest)?;
    Ok((DeltaHeader { source, result }, rest))
}

fn length(data: &[u8]) -> Result<(u64, &[u8]), Fault> {
    let mut value = 0;
    for (index, byte) in data.iter().enumerate() {
        value |= widen(*byte, index as u32 * 7).ok_or(Fault::LengthOverflow)?;
        if byte & 0x80 == 0 {
            return Ok((value, data.split_at(index + 1).1));
        }
    }
    Err(Fault::DeltaTruncated)
}

/// How many bytes `instructions` make, without making them.
pub(crate) fn result_length(mut instructions: &[u8]) -> Result<u64, Fault> {
    let mut total = 0_u64;
    while let Some((instruction, rest)) = next(instructions)? {
        instructions = rest;
        total += match instruction {
            Instruction::Copy { size, .. } => size as u64,
            Instruction::Insert(bytes) => bytes.len() as u64,
        };
    }
    Ok(total)
}

/// Makes `result`, whose length is the declared one, out of `source` by `instructions`.
pub(crate) fn apply(
    source: &[u8],
    mut instructions: &[u8],
    result: &mut [u8],
) -> Result<(), Fault> {
    let declared = result.len() as u64;
    let wrong_length = || Fault::DeltaResult { declared };
    let mut rest_of_result = result;
    while let Some((instruction, rest)) = next(instructions)? {
        instructions = rest;
        let piece = match instruction {
            Instruction::Copy { offset, size } => {
                source.get(offset..offset + size).ok_or(Fault::DeltaCopy)?
            }
            Instruction::Insert(bytes) => bytes,
        };
        let (target, after) = rest_of_result
            .split_at_mut_checked(piece.len())
            .ok_or_else(wrong_length)?;
        target.copy_from_slice(piece);
        rest_of_result = after;
    }
    if rest_of_result.is_empty() {
        Ok(())
    } else {
        Err(wrong_length())
    }
}

/// What `delta` makes out of `source`.
///
/// # Errors
/// A [`Fault`] if it is damaged or made for another source. No more memory is asked for than its
/// instructions fill.
pub fn apply_delta(source: &[u8], delta: &[u8]) -> Result<Vec<u8>, Fault> {
    let (header, instructions) = parse_header(delta)?;
    if header.source != source.len() as u64 {
        return Err(Fault::DeltaSource {
            declared: header.source,
            actual: source.len() as u64,
        });
    }
    if result_length(instructions)? != header.result {
        let declared = header.result;
        return Err(Fault::DeltaResult { declared });
    }
    let mut result = vec![0; header.result as usize];
    apply(source, instructions, &mut result)?;
    Ok(result)
}

enum Instruction<'d> {
    Copy { offset: usize, size: usize },
    Insert(&'d [u8]),
}

/// The first of `instructions` and those after it.
#[inline]
fn next(instructions: &[u8]) -> Result<Option<(Instruction<'_>, &[u8])>, Fault> {
    let Some((&code, rest)) = instructions.split_first() else {
        return Ok(None);
    };
    if code == 0 {
        return Err(Fault::DeltaInstruction);
    }
    if code & 0x80 == 0 {
        let (bytes, rest) = rest
            .split_at_checked(usize::from(code))
            .ok_or(Fault::DeltaTruncated)?;
        return Ok(Some((Instruction::Insert(bytes), rest)));
    }
    let (offset, rest) = sparse(rest, code & 15)?;
    let (size, rest) = sparse(rest, code >> 4 & 7)?;
    let size = if size == 0 { 0x10000 } else { size };
    Ok(Some((Instruction::Copy { offset, size }, rest)))
}

/// A little-endian number of which only the bytes marked in `present` are stored.
#[inline]
fn sparse(mut data: &[u8], present: u8) -> Result<(usize, &[u8]), Fault> {
    let mut value = 0;
    for index in 0..4 {
        if present & 1 << index != 0 {
            let (byte, rest) = data.split_first().ok_or(Fault::DeltaTruncated)?;
            value |= usize::from(*byte) << (index * 8);
            data = rest;
        }
    }
    Ok((value, data))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A piece of a result: copied from the base, or new.
    #[derive(Clone, Debug)]
    enum Piece {
        Copy(usize, usize),
        Insert(Vec<u8>),
    }

    fn number(mut value: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        while value >= 0x80 {
            bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        bytes.push(value as u8);
        bytes
    }

    fn encode(piece: &Piece, out: &mut Vec<u8>) {
        match piece {
            Piece::Insert(bytes) => {
                out.push(bytes.len() as u8);
                out.extend_from_slice(bytes);
            }
            Piece::Copy(offset, size) => {
                let at = out.len();
                out.push(0x80);
                let size = if *size == 0x10000 { 0 } else { *size };
                for (value, bit) in [(*offset, 0), (size, 4)] {
                    for index in 0..4 {
                        let byte = (value >> (index * 8)) as u8;
                        if byte != 0 {
                            out[at] |= 1 << (bit + index);
                            out.push(byte);
                        }
                    }
                }
            }
        }
    }

    fn piece() -> impl Strategy<Value = Piece> {
        prop_oneof![
            (
                any::<usize>(),
                prop_oneof![1_usize..2000, Just(0x10000_usize)]
            )
                .prop_map(|(offset, size)| Piece::Copy(offset, size)),
            prop::collection::vec(any::<u8>(), 1..128).prop_map(Piece::Insert),
        ]
    }

    #[test]
    fn a_delta_of_no_instruction_is_none() {
        assert_eq!(parse_header(&[5, 0]), Err(Fault::DeltaTruncated));
        assert_eq!(
            apply_delta(b"hello", &[5, 0, 0]),
            Err(Fault::DeltaTruncated)
        );
        assert_eq!(apply_delta(b"hello", &[5, 1, 0x90, 1]), Ok(b"h".to_vec()));
    }

    proptest! {
        #[test]
        fn a_delta_makes_what_it_was_made_from(
            seed in any::<u8>(), pieces in prop::collection::vec(piece(), 1..20),
        ) {
            let source: Vec<u8> =
                (0..80_000_usize).map(|n| (n * 31 / 7) as u8 ^ seed).collect();
            let (mut expected, mut instructions) = (Vec::new(), Vec::new());
            for piece in pieces {
                let piece = match piece {
                    Piece::Copy(offset, size) => Piece::Copy(offset % (80_000 - size), size),
                    insert => insert,
                };
                encode(&piece, &mut instructions);
                match piece {
                    Piece::Copy(offset, size) => {
                        expected.extend_from_slice(&source[offset..offset + size]);
                    }
                    Piece::Insert(bytes) => expected.extend_from_slice(&bytes),
                }
            }
            let lengths = [number(source.len()), number(expected.len())].concat();
            let delta = [lengths, instructions].concat();
            let (header, instructions) = parse_header(&delta).unwrap();
            let declared = (header.source, header.result);
            prop_assert_eq!(declared, (source.len() as u64, expected.len() as u64));
            prop_assert_eq!(result_length(instructions).unwrap(), header.result);
            let mut result = vec![0; expected.len()];
            apply(&source, instructions, &mut result).unwrap();
            prop_assert_eq!(result, expected);
        }

        #[test]
        fn random_bytes_never_panic(
            delta in prop::collection::vec(any::<u8>(), 0..60), length in 0_usize..200,
        ) {
            let mut result = vec![0; length];
            if let Ok((_, instructions)) = parse_header(&delta) {
                let made = apply(&[7; 100], instructions, &mut result);
                if made.is_ok() {
                    prop_assert_eq!(result_length(instructions), Ok(length as u64));
                }
            }
        }
    }
}
