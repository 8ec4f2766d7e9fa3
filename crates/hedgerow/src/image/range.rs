//! Reads a part of a file of an image.

use super::ContentError;
use hedgerow_engine::{run_ordered, Execution, Failure, Window};
use hedgerow_squashfs::{Error, File, Image};
use std::ops::Range;

/// Limit of decompressed data that waits for earlier blocks, in bytes.
const WINDOW: Window = Window { bytes: 16 << 20 };
/// Fewer blocks are decompressed by the calling thread.
const WORTH_THREADS: u64 = 4;

/// The bytes `range` of the content of `file`, as far as it has them. Only the blocks that hold some
/// of them are read, several in parallel.
///
/// # Errors
/// See [`ContentError`].
///
/// ```no_run
/// use hedgerow::image::{read_range, Body, Image};
/// use hedgerow::Execution;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let image = Image::open("tree.sqfs".as_ref(), 0)?;
/// if let Body::File(file) = image.find(b"data.bin")?.body {
///     let header = read_range(&image, &file, 0..512, &Execution::default())?;
///     assert!(header.len() <= 512);
/// }
/// # Ok(())
/// # }
/// ```
pub fn read_range(
    image: &Image,
    file: &File,
    range: Range<u64>,
    execution: &Execution,
) -> Result<Vec<u8>, ContentError> {
    let pieces = image.pieces(file)?.map(|piece| {
        let piece = piece?;
        let bytes = u64::from(piece.length);
        Ok((piece, bytes))
    });
    read_pieces(pieces, file.size, range, execution, |piece, content| {
        image.read_piece(piece, content)
    })
}

/// The bytes `range` of the `size` bytes that these pieces have together, each with its length.
pub(super) fn read_pieces<P: Send>(
    all: impl Iterator<Item = Result<(P, u64), Error>>,
    size: u64,
    range: Range<u64>,
    execution: &Execution,
    read: impl Fn(&P, &mut Vec<u8>) -> Result<(), Error> + Sync,
) -> Result<Vec<u8>, ContentError> {
    let (start, end) = (range.start, range.end.min(size));
    if start >= end {
        return Ok(Vec::new());
    }
    let (mut pieces, mut first, mut position) = (Vec::new(), 0, 0);
    for piece in all {
        let (piece, length) = piece?;
        let next = position + length;
        if next > start {
            if pieces.is_empty() {
                first = position;
            }
            pieces.push((piece, length));
        }
        position = next;
        if position >= end {
            break;
        }
    }
    let mut content = Vec::new();
    if (pieces.len() as u64) < WORTH_THREADS {
        let mut block = Vec::new();
        for (piece, _) in &pieces {
            read(piece, &mut block)?;
            content.extend_from_slice(&block);
        }
    } else {
        let ran = run_ordered(
            &execution.options("read"),
            WINDOW,
            pieces.into_iter().map(Ok),
            |_| (),
            |(), piece| {
                let mut block = Vec::new();
                read(&piece, &mut block)?;
                Ok(block)
            },
            |_, block: Vec<u8>| {
                content.extend_from_slice(&block);
                Ok(())
            },
        );
        ran.map_err(|failure| match failure {
            Failure::Failed(error) => error,
            Failure::Cancelled => ContentError::Cancelled,
            Failure::Panicked(message) => ContentError::Panicked(message),
        })?;
    }
    // The first block may begin before the range, and the last one may end after it.
    let skipped = usize::try_from(start - first).unwrap_or(usize::MAX);
    content.drain(..skipped.min(content.len()));
    content.truncate(usize::try_from(end - start).unwrap_or(usize::MAX));
    Ok(content)
}
