//! Converts an image to an archive.

use super::progress::counted;
use super::AnyImage;
use hedgerow_fs::OutputFile;
use hedgerow_image::Error;
use hedgerow_tar::{write_nodes, Compression, Compressor, SinkError, SinkOptions};
use hedgerow_tree::{Node, NodeError, NodeKind};
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Size of the write buffer in bytes.
const BUFFER_BYTES: usize = 1 << 20;

/// How an image is converted to an archive.
#[derive(Clone, Debug)]
pub struct ArchiveOptions {
    /// The paths to archive, with everything below them; all if empty.
    pub paths: Vec<Vec<u8>>,
    /// The directory of the image that becomes the root of the archive; entries outside of it are
    /// left out.
    pub root: Vec<u8>,
    /// How the archive is compressed.
    pub compression: Compression,
    /// How entries become members, and the number of workers that read them.
    pub sink: SinkOptions,
}

impl Default for ArchiveOptions {
    /// Everything, uncompressed.
    fn default() -> Self {
        ArchiveOptions {
            paths: Vec::new(),
            root: Vec::new(),
            compression: Compression::None,
            sink: SinkOptions::default(),
        }
    }
}

/// The output of an archive.
pub enum ArchiveOutput<'o> {
    /// A file, which gets its name when it is complete.
    File {
        /// The path of the file.
        path: &'o Path,
        /// Whether an existing file may be replaced.
        replace: bool,
    },
    /// Any other output. It is not an error if a pipe is closed early.
    Stream(&'o mut dyn Write),
}

/// Why no archive was created.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The image cannot be read, or has no such path.
    #[error(transparent)]
    Image(Error),
    /// An entry cannot be archived, or writing failed.
    #[error(transparent)]
    Sink(#[from] SinkError),
}

/// Writes the contents of `image` as a tar archive to `output`. The same image gives the same
/// bytes. Returns the reasons for entries left out, if the options allow that.
///
/// # Errors
/// See [`ArchiveError`]. On error, no file is created, and an existing one stays as it is.
///
/// ```no_run
/// use hedgerow::image::{to_archive, AnyImage, ArchiveOptions, ArchiveOutput};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let image = AnyImage::open("tree.sqfs".as_ref(), 0)?;
/// let output = ArchiveOutput::File {
///     path: "tree.tar".as_ref(),
///     replace: false,
/// };
/// to_archive(&image, output, &ArchiveOptions::default())?;
/// # Ok(())
/// # }
/// ```
pub fn to_archive(
    image: impl Into<AnyImage>,
    output: ArchiveOutput<'_>,
    options: &ArchiveOptions,
) -> Result<Vec<SinkError>, ArchiveError> {
    let paths: Vec<&[u8]> = options.paths.iter().map(Vec::as_slice).collect();
    let image = image.into();
    let nodes = image.nodes(&paths).map_err(ArchiveError::Image)?;
    let execution = &options.sink.execution;
    let nodes = counted(nodes, &image, paths.is_empty(), execution);
    let nodes = nodes.filter_map(|node| below(node, &options.root));
    match output {
        ArchiveOutput::File { path, replace } => {
            let writer = ArchiveFile::create(path).map_err(failed)?;
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

/// Writes an archive, compressed according to the options, up to its last byte.
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

/// The node with its path relative to `root`; `None` if it is outside.
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

/// Converts an error of the output file.
fn failed(error: hedgerow_fs::Error) -> SinkError {
    SinkError::Archive(hedgerow_tar::Error::Write(io::Error::other(error)))
}

/// An archive file, which gets its name when it is complete.
pub(crate) struct ArchiveFile {
    file: OutputFile,
    position: u64,
}

impl ArchiveFile {
    pub(crate) fn create(path: &Path) -> Result<Self, hedgerow_fs::Error> {
        let file = OutputFile::create(path)?;
        Ok(ArchiveFile { file, position: 0 })
    }

    pub(crate) fn finish(self, replace: bool) -> Result<(), hedgerow_fs::Error> {
        if replace {
            self.file.take_attributes_of_target()?;
            // Without this, a power failure could leave neither the old archive nor the new one.
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
