//! An image of a directory.

use super::super::arguments::Create;
use super::exclude;
use hedgerow_engine::Options;
use hedgerow_squashfs::{CreateOptions, Created, WriteError};
use hedgerow_tree::{Node, NodeError};
use hedgerow_walk::{nodes_of_directory, Selection, WalkOptions};
use std::path::Path;

pub fn create(
    source: &Path,
    command: &Create,
    target: &Path,
    options: &CreateOptions,
    change: impl Fn(Node) -> Node + Sync,
) -> Result<Created, WriteError> {
    let change = |node: Result<Node, NodeError>| node.map(&change);
    nodes_of_directory(source, walk(command, options), |nodes| {
        hedgerow_squashfs::create(nodes.map(change), target, options)
    })?
}

fn walk(command: &Create, options: &CreateOptions) -> WalkOptions {
    WalkOptions {
        engine: Options {
            name: "walk",
            ..options.readers.clone()
        },
        one_file_system: command.one_file_system,
        metadata: true,
        selection: Selection {
            exclude: exclude(command),
            ..Selection::default()
        },
    }
}
