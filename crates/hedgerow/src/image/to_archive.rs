//! What is in an image, as an archive.

use super::progress::counted;
use hedgerow_fs::OutputFile;
use hedgerow_squashfs::{nodes_of_image, Error, Image};
use hedgerow_tar::{write_nodes, Compression, Compressor, SinkError, SinkOptions};
use hedgerow_tree::{Node, NodeError, NodeKind};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

/// So much is collected before it is written, in bytes.
const BUFFER_BYTES: usize = 1 << 20;

/// How an image becomes an archive.
#[derive(Clone, Debug)]
pub struct ArchiveOptions {
    /// The paths to archive, with what is below them; all if there are none.
    pub paths: Vec<Vec<u8>>,
    /// The directory of the image that becomes the root of the archive; what is outside is left out.
    pub root: Vec<u8>,
    /// How the archive is compressed.
    pub compression: Compression,
    /// How entries become members, and by how many workers they are read.
    pub sink: SinkOptions,
}

impl Default for ArchiveOptions {
    /// Everything, not compressed.
    fn default() -> Self {
        ArchiveOptions {
            paths: Vec::new(),
            root: Vec::new(),
            compression: Compression::None,
            sink: SinkOptions::default(),
        }
    }
}

/// Where an archive goes.
pub enum ArchiveOutput<'o> {
    /// A file, which gets its name when it is whole.
    File {
        /// Its name.
        path: &'o Path,
        /// Whether a file of that name may be replaced.
        replace: bool,
    },
    /// Anything else; nobody to read the rest of it is no error.
    Stream(&'o mut dyn Write),
}

/// Why there is no archive.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The image cannot be read, or has no such path.
    #[error(transparent)]
    Image(Error),
    /// An entry cannot be archived, or the output failed.
    #[error(transparent)]
    Sink(#[from] SinkError),
}

/// Writes what is in `image` as a tar archive to `output`: the same bytes for the same image. Returns
/// why entries were left out, if the options allow for that.
///
/// # Errors
/// See [`ArchiveError`]. A file is not there then, or as it was.
///
/// ```no_run
/// use hedgerow::image::{to_archive, ArchiveOptions, ArchiveOutput, Image};
/// use std::sync::Arc;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let image = Arc::new(Image::open("tree.sqfs".as_ref(), 0)?);
/// let output = ArchiveOutput::File {
///     path: "tree.tar".as_ref(),
///     replace: false,
/// };
/// to_archive(&image, output, &ArchiveOptions::default())?;
/// # Ok(())
/// # }
/// ```
pub fn to_archive(
    image: &Arc<Image>,
    output: ArchiveOutput<'_>,
    options: &ArchiveOptions,
) -> Result<Vec<SinkError>, ArchiveError> {
    let paths: Vec<&[u8]> = options.paths.iter().map(Vec::as_slice).collect();
    let nodes = nodes_of_image(image, &paths).map_err(ArchiveError::Image)?;
    let execution = &options.sink.execution;
    let nodes = counted(nodes, image, paths.is_empty(), execution);
    let nodes = nodes.filter_map(|node| below(node, &options.root));
    match output {
        ArchiveOutput::File { path, replace } => {
            let file = OutputFile::create(path).map_err(failed)?;
            let writer = ArchiveFile { file, position: 0 };
            let (writer, skipped) = write(nodes, writer, options)?;
            writer.finish(replace).map_err(failed)?;
            Ok(skipped)
        }
        ArchiveOutput::Stream(stream) => match write(nodes, stream, options) {
            Ok((_, skipped)) => Ok(skipped),
            Err(SinkError::Archive(hedgerow_tar::Error::Write(error)))
                if error.kind() == io::ErrorKind::BrokenPipe =>
            {
                Ok(Vec::new())
            }
            Err(error) => Err(error.into()),
        },
    }
}

/// Writes an archive, compressed if it is to be, up to its last byte.
fn write<W: Write>(
    nodes: impl Iterator<Item = Result<Node, NodeError>> + Send,
    output: W,
    options: &ArchiveOptions,
) -> Result<(W, Vec<SinkError>), SinkError> {
    let failed = |error| SinkError::Archive(hedgerow_tar::Error::Write(error));
    let writer = BufWriter::with_capacity(BUFFER_BYTES, output);
    let compressor = Compressor::new(writer, options.compression).map_err(failed)?;
    let (compressor, skipped) = write_nodes(nodes, compressor, &options.sink)?;
    let writer = compressor.finish().map_err(failed)?;
    let output = writer.into_inner();
    Ok((output.map_err(|error| failed(error.into_error()))?, skipped))
}

/// A node as it is called below `root`, if it is there.
fn below(node: Result<Node, NodeError>, root: &[u8]) -> Option<Result<Node, NodeError>> {
    let mut node = match node {
        Ok(node) if !root.is_empty() => node,
        other => return Some(other),
    };
    let rest = node.path.strip_prefix(root)?;
    node.path = match rest {
        [] if node.kind != NodeKind::Directory => {
            let name = String::from_utf8_lossy(root);
            return Some(Err(NodeError::source(format!(
                "'{name}' is not a directory"
            ))));
        }
        [] => Vec::new(),
        [b'/', rest @ ..] => rest.to_vec(),
        _ => return None,
    };
    Some(Ok(node))
}

/// What the system said of the output.
fn failed(error: hedgerow_fs::Error) -> SinkError {
    SinkError::Archive(hedgerow_tar::Error::Write(io::Error::other(error)))
}

/// An archive that gets its name when it is whole.
struct ArchiveFile {
    file: OutputFile,
    position: u64,
}

impl ArchiveFile {
    fn finish(self, replace: bool) -> Result<(), hedgerow_fs::Error> {
        if replace {
            self.file.take_attributes_of_target()?;
            // Else a power cut could leave neither the archive that was there nor this one.
            self.file.sync()?;
        }
        self.file.commit(replace)
    }
}

impl Write for ArchiveFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write_at(bytes, self.position);
        written.map_err(|error| error.source)?;
        self.position += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
