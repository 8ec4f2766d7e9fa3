use hedgerow_engine::Execution;
use hedgerow_mounts::ImageKind;
use hedgerow_tree::{Metadata, Node, NodeError};
use std::path::Path;

/// The cause of a failure of an [`ImageMaker`].
pub type ImageError = Box<dyn std::error::Error + Send + Sync>;

/// The nodes of a tree in canonical order, the root first.
pub type ImageNodes<'n> = &'n mut (dyn Iterator<Item = Result<Node, NodeError>> + Send);

/// Writes images.
pub trait ImageMaker: Sync {
    /// Writes an image of `nodes` to the file `target`, which gets its name when the image is
    /// complete; one that is there is replaced. The bytes depend on the nodes alone. `tell` is told the
    /// metadata of each entry but the root as the kernel shows them when the image is mounted.
    ///
    /// # Errors
    /// If a node cannot be read, or the image not be written.
    fn make(
        &self,
        kind: ImageKind,
        nodes: ImageNodes<'_>,
        target: &Path,
        execution: &Execution,
        tell: &mut dyn FnMut(&[u8], &Metadata),
    ) -> Result<(), ImageError>;
}
