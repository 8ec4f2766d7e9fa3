//! Counts the entries that pass from a source to a sink.

use super::AnyImage;
use hedgerow_engine::{Execution, Stage};
use hedgerow_tree::{Node, NodeError};

/// Counts an entry as done, with the bytes of its content.
pub(super) fn count(node: &Node, execution: &Execution) {
    let steps = execution.progress.stage(Stage::Entries);
    steps.step(1);
    steps.add_bytes(node.size_bytes);
}

/// Counts the nodes of `image` as they pass. If `is_all`, the expected total is its number of
/// inodes.
pub(super) fn counted<'p>(
    nodes: impl Iterator<Item = Result<Node, NodeError>> + Send + 'p,
    image: &AnyImage,
    is_all: bool,
    execution: &'p Execution,
) -> impl Iterator<Item = Result<Node, NodeError>> + Send + 'p {
    if is_all {
        let total = image.inodes();
        execution.progress.stage(Stage::Entries).expect(total);
    }
    nodes.inspect(|node| node.iter().for_each(|node| count(node, execution)))
}
