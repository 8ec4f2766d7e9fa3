//! Writes the content of a file of an image.

use bstr::ByteSlice;
use hedgerow_engine::{run_ordered, Execution, Failure, Window};
use hedgerow_squashfs::rules::{Fit, PathRules, Syntax};
use hedgerow_squashfs::{nodes_of_image, Body, Error, Image};
use std::io::{self, Write};
use std::sync::Arc;

/// Limit of decompressed data that waits to be written, in bytes.
const WINDOW: Window = Window { bytes: 16 << 20 };

/// Why the content was not written, or not completely.
#[derive(Debug, thiserror::Error)]
pub enum ContentError {
    /// The image cannot be read, or has no such file.
    #[error(transparent)]
    Image(#[from] Error),
    /// The output cannot be written.
    #[error(transparent)]
    Write(io::Error),
    /// The run was cancelled.
    #[error("interrupted")]
    Cancelled,
    /// A worker panicked: a defect of this program.
    #[error("a worker panicked: {0}")]
    Panicked(String),
}

/// Writes the content of the regular file `path` of `image` to `output`. Blocks are decompressed in
/// parallel; at most 16 MiB of them wait to be written.
///
/// # Errors
/// See [`ContentError`]. Part of the content may have been written.
///
/// ```no_run
/// use hedgerow::image::{write_content, Image};
/// use hedgerow::Execution;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let image = Image::open("tree.sqfs".as_ref(), 0)?;
/// let mut content = Vec::new();
/// write_content(&image, b"README.md", &mut content, &Execution::default())?;
/// # Ok(())
/// # }
/// ```
pub fn write_content(
    image: &Image,
    path: &[u8],
    output: &mut dyn Write,
    execution: &Execution,
) -> Result<(), ContentError> {
    let inode = image.find(path)?;
    let Body::File(file) = &inode.body else {
        return Err(ContentError::Image(Error::Kind {
            path: path.as_bstr().to_owned(),
            expected: "regular file",
        }));
    };
    let pieces = image.pieces(file)?.map(|piece| {
        let piece = piece?;
        let bytes = u64::from(piece.length);
        Ok((piece, bytes))
    });
    write_pieces(pieces, output, execution, |piece, content| {
        image.read_piece(piece, content)
    })
}

/// Writes pieces in order; several workers read them.
pub(super) fn write_pieces<P: Send>(
    pieces: impl Iterator<Item = Result<(P, u64), Error>> + Send,
    output: &mut dyn Write,
    execution: &Execution,
    read: impl Fn(&P, &mut Vec<u8>) -> Result<(), Error> + Sync,
) -> Result<(), ContentError> {
    let ran = run_ordered(
        &execution.options("cat"),
        WINDOW,
        pieces.map(|piece| piece.map_err(ContentError::Image)),
        |_| (),
        |(), piece| {
            let mut content = Vec::new();
            read(&piece, &mut content)?;
            Ok(content)
        },
        |_, content| output.write_all(&content).map_err(ContentError::Write),
    );
    ran.map(drop).map_err(|failure| match failure {
        Failure::Failed(error) => error,
        Failure::Cancelled => ContentError::Cancelled,
        Failure::Panicked(message) => ContentError::Panicked(message),
    })
}

/// The paths of an image that an operand of `unsquashfs -cat` stands for: itself if it is no
/// pattern, or if nothing matches it.
///
/// # Errors
/// The pattern cannot be compiled, or the image cannot be read.
pub fn matching_paths(
    image: &Arc<Image>,
    operand: &[u8],
    syntax: Syntax,
) -> Result<Vec<Vec<u8>>, String> {
    let itself = vec![operand.to_vec()];
    let is_name = match syntax {
        Syntax::Literal => true,
        Syntax::Wildcards => !operand.iter().any(|byte| b"*?[\\(".contains(byte)),
        Syntax::Regex => false,
    };
    if is_name {
        return Ok(itself);
    }
    let mut rules = PathRules::new(syntax);
    let added = rules.add(operand, false);
    added.map_err(|error| error.to_string())?;
    let mut paths = Vec::new();
    for node in nodes_of_image(image, &[]).map_err(|error| error.to_string())? {
        let node = node.map_err(|error| error.to_string())?;
        if rules.fit(&node.path) == Fit::Whole {
            paths.push(node.path);
        }
    }
    Ok(if paths.is_empty() { itself } else { paths })
}
