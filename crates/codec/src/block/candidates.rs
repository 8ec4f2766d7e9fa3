use super::error::Result;

/// Runs `compress` with each candidate and leaves the smallest result in `output`; if several are
/// equally small, that of the first. `scratch` is a buffer for the others.
pub(super) fn smallest<C>(
    candidates: &mut [C],
    scratch: &mut Vec<u8>,
    output: &mut [u8],
    mut compress: impl FnMut(&mut C, &mut [u8]) -> Result<Option<usize>>,
) -> Result<Option<usize>> {
    let mut best: Option<usize> = None;
    for candidate in candidates {
        let Some(length) = best else {
            best = compress(candidate, output)?;
            continue;
        };
        scratch.resize(output.len(), 0);
        // Room only for a smaller result.
        let room = &mut scratch[..length.saturating_sub(1)];
        if let Some(smaller) = compress(candidate, room)? {
            output[..smaller].copy_from_slice(&scratch[..smaller]);
            best = Some(smaller);
        }
    }
    Ok(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn winner(lengths: &[Option<usize>]) -> Option<(usize, u8)> {
        let mut candidates: Vec<_> = lengths.iter().copied().zip(1..).collect();
        let mut output = [0; 10];
        let found = smallest(
            &mut candidates,
            &mut Vec::new(),
            &mut output,
            |&mut (length, mark), output| {
                let room = length.and_then(|length| output.get_mut(..length));
                Ok(room.map(|room| {
                    room.fill(mark);
                    room.len()
                }))
            },
        );
        let length = found.unwrap()?;
        assert!(output[..length].iter().all(|&mark| mark == output[0]));
        Some((length, output[0]))
    }

    #[test]
    fn only_a_smaller_outcome_replaces_the_first() {
        assert_eq!(winner(&[None, None]), None);
        assert_eq!(winner(&[None, Some(8), Some(8)]), Some((8, 2)));
        assert_eq!(
            winner(&[Some(9), Some(9), Some(5), None, Some(6)]),
            Some((5, 3))
        );
        assert_eq!(winner(&[Some(11), Some(10)]), Some((10, 2)));
    }
}
