//! Finds how much fits into a cluster, for compressors that cannot be asked.

use super::Result;

/// Maximum number of attempts.
const TRIES: usize = 5;
/// A cluster that has less than one part in so many free is full.
const FULL: usize = 32;

/// Compresses as much of the start of `input` as fits into `output`. `compress` returns `None` if
/// the output is too short.
pub(super) fn fill(
    input: &[u8],
    output: &mut [u8],
    mut compress: impl FnMut(&[u8], &mut [u8]) -> Result<Option<usize>>,
) -> Result<(usize, usize)> {
    let room = output.len();
    if let Some(written) = compress(input, output)? {
        return Ok((input.len(), written));
    }
    // Nothing is known yet about what is compressed; an attempt has as much room as it may need.
    let mut attempt = vec![0; room * 2];
    let mut best = (0, 0);
    let mut most = input.len();
    let mut wanted = most.min(room * 2);
    for _ in 0..TRIES {
        let Some(part) = input.get(..wanted).filter(|part| !part.is_empty()) else {
            break;
        };
        let written = compress(part, &mut attempt)?;
        if let Some(written) = written.filter(|written| *written <= room) {
            if wanted > best.0 {
                best = (wanted, written);
                if let (Some(to), Some(from)) = (output.get_mut(..written), attempt.get(..written))
                {
                    to.copy_from_slice(from);
                }
            }
            if room - written < room / FULL {
                break;
            }
        } else {
            most = wanted;
        }
        // What a part of another length would take, with a little less so that it fits.
        let taken = written.unwrap_or(room * 2).max(1);
        let scaled = wanted as u64 * (room - room / 64) as u64 / taken as u64;
        let next = usize::try_from(scaled).unwrap_or(usize::MAX);
        let next = next.clamp(best.0 + 1, most.saturating_sub(1).max(best.0 + 1));
        if next >= most || next <= best.0 {
            break;
        }
        wanted = next;
    }
    Ok(best)
}
