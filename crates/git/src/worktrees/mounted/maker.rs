use hedgerow_engine::Execution;
use hedgerow_mounts::ImageKind;
use hedgerow_tree::{Entry, Node, NodeError};
use std::path::Path;

/// The cause of a failure of an [`ImageMaker`], which names the image.
pub type ImageError = Box<dyn std::error::Error + Send + Sync>;

/// The nodes of a tree in canonical order, the root first.
pub type ImageNodes<'n> = &'n mut (dyn Iterator<Item = Result<Node, NodeError>> + Send);

/// The nodes that were read from an image.
pub type ReadNodes = Box<dyn Iterator<Item = Result<Node, NodeError>> + Send>;

/// Writes and reads images of one kind.
pub trait ImageMaker: Sync {
    /// The kind.
    fn kind(&self) -> ImageKind;

    /// Writes an image of `nodes` to the file `target`, which gets its name when the image is
    /// complete; one that is there is replaced. The bytes depend on the nodes alone.
    ///
    /// # Errors
    /// If a node cannot be read, or the image not be written.
    fn make(
        &self,
        nodes: ImageNodes<'_>,
        target: &Path,
        execution: &Execution,
    ) -> Result<(), ImageError>;

    /// Calls `visit` for every entry of an image of any known kind, with its metadata as the kernel
    /// shows them.
    ///
    /// # Errors
    /// If part of the image cannot be read.
    fn list(
        &self,
        image: &Path,
        kind: ImageKind,
        visit: &mut (dyn FnMut(Entry<'_>) + Send),
    ) -> Result<(), ImageError>;

    /// The nodes of an image of any known kind, in canonical order, the root first.
    ///
    /// # Errors
    /// If it is none.
    fn nodes(&self, image: &Path, kind: ImageKind) -> Result<ReadNodes, ImageError>;
}
