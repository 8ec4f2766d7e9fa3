//! Compares blobs that are too large for memory with those of the repository, in pieces.

use super::build::input;
use super::check::Findings;
use super::examine::Examination;
use super::existing::Comparison;
use super::record::Record;
use crate::Result;
use hedgerow_codec::StreamInflater;

/// Compares the large blobs that already exist in the repository.
pub(crate) fn compare(
    data: &[u8],
    records: &[Record],
    findings: &Findings,
    examination: Examination<'_>,
) -> Result<()> {
    let Some(existing) = examination.existing else {
        return Ok(());
    };
    let mut comparison = Comparison::new(existing);
    for (id, offset, size) in &findings.large {
        let found = records.binary_search_by_key(offset, |record| record.offset);
        let Some(record) = found.ok().and_then(|at| records.get(at)) else {
            continue;
        };
        let mut rest = input(data, record);
        let mut stream = StreamInflater::new();
        comparison.compare_pieces(id, *size, &mut |piece| {
            is_next(&mut stream, &mut rest, piece)
        })?;
    }
    Ok(())
}

/// Whether the next bytes that `stream` inflates from `input` equal `piece`.
fn is_next(stream: &mut StreamInflater, input: &mut &[u8], piece: &[u8]) -> bool {
    let mut own = vec![0; piece.len()];
    let mut filled = 0;
    while filled < own.len() {
        let Some(room) = own.get_mut(filled..) else {
            return false;
        };
        let Ok(step) = stream.step(input, room) else {
            return false;
        };
        *input = input.get(step.consumed..).unwrap_or_default();
        filled += step.written;
        if step.written == 0 && (step.finished || step.consumed == 0) {
            return false;
        }
    }
    own == piece
}
