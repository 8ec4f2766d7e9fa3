//! An archive as a sink of nodes.

use crate::prepare::{prepare, Prepared, Stored};
use crate::{Builder, Error, Member, MemberKind, WriteOptions};
use hedgerow_engine::{run_ordered, Execution, Failure, Window};
use hedgerow_tree::{Node, NodeError};
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::io::Write;

/// Limit of the contents that are read and not written yet, in bytes.
const WINDOW: Window = Window { bytes: 16 << 20 };

/// Any worker reads a file of up to this many bytes as a whole; larger files are read when they are
/// written.
pub(crate) const WHOLE_BYTES: u64 = 1 << 20;

/// How nodes are archived.
#[derive(Clone, Debug)]
pub struct SinkOptions {
    /// How members are written. With `sparse`, large files are read twice, because the map of their
    /// holes precedes the content.
    pub write: WriteOptions,
    /// The name of the root, below which all other names are. If empty, the root is called `./`,
    /// and names are relative to it.
    pub root_name: Vec<u8>,
    /// Whether the root itself becomes a member.
    pub root: bool,
    /// Whether extended attributes are archived.
    pub xattrs: bool,
    /// Whether further names of a file become hard links; otherwise they become files with the same
    /// content.
    pub hard_links: bool,
    /// Whether unreadable entries are left out and reported instead of failing.
    pub skip_unreadable: bool,
    /// Whether entries that archives cannot store, such as sockets, are left out and reported.
    pub skip_unusable: bool,
    /// Workers, cancellation and progress of the reads.
    pub execution: Execution,
}

impl Default for SinkOptions {
    /// Everything is archived, under the names of the nodes.
    fn default() -> Self {
        SinkOptions {
            write: WriteOptions::default(),
            root_name: Vec::new(),
            root: true,
            xattrs: true,
            hard_links: true,
            skip_unreadable: false,
            skip_unusable: false,
            execution: Execution::default(),
        }
    }
}

/// Why nodes could not be archived.
#[derive(Debug, thiserror::Error)]
pub enum SinkError {
    /// A node or its content cannot be read.
    #[error(transparent)]
    Node(#[from] NodeError),
    /// An archive cannot store the node, or writing failed.
    #[error(transparent)]
    Archive(#[from] Error),
    /// The user cancelled.
    #[error("interrupted")]
    Cancelled,
    /// A worker panicked.
    #[error("a worker panicked: {0}")]
    Panicked(String),
}

impl From<Failure<SinkError>> for SinkError {
    fn from(failure: Failure<SinkError>) -> Self {
        match failure {
            Failure::Failed(SinkError::Node(NodeError::Cancelled)) => SinkError::Cancelled,
            Failure::Failed(error) => error,
            Failure::Cancelled => SinkError::Cancelled,
            Failure::Panicked(message) => SinkError::Panicked(message),
        }
    }
}

/// Archives nodes in their order, and reads contents in parallel. Returns the writer, which is not
/// flushed, and the reasons for entries left out.
///
/// The bytes depend only on the nodes. The first name of a file carries its content.
pub fn write_nodes<W: Write>(
    nodes: impl Iterator<Item = Result<Node, NodeError>> + Send,
    writer: W,
    options: &SinkOptions,
) -> Result<(W, Vec<SinkError>), SinkError> {
    let mut sink = Sink {
        builder: Builder::new(writer, options.write),
        options,
        names: HashMap::new(),
        skipped: Vec::new(),
    };
    let mut seen = HashSet::new();
    let jobs = nodes.map(|node| match node {
        Ok(node) => {
            let is_first = node.link.is_none_or(|link| seen.insert(link));
            let bytes = if is_first && node.size_bytes <= WHOLE_BYTES {
                node.size_bytes
            } else {
                0
            };
            Ok((Job::Read { node, is_first }, bytes))
        }
        Err(error @ NodeError::Entry(_)) if options.skip_unreadable => Ok((Job::Skip(error), 0)),
        Err(error) => Err(SinkError::Node(error)),
    });
    let work = |(): &mut (), job| match job {
        Job::Skip(error) => Ok(Output::Skipped(error.into())),
        Job::Read { node, is_first } if is_first || !options.hard_links => prepared(node, options),
        Job::Read { node, .. } => Ok(Output::Repeated(node)),
    };
    let commit = |_, output| sink.put(output);
    run_ordered(
        &options.execution.options("read"),
        WINDOW,
        jobs,
        |_| (),
        work,
        commit,
    )?;
    Ok((sink.builder.finish()?, sink.skipped))
}

enum Job {
    Read { node: Node, is_first: bool },
    Skip(NodeError),
}

enum Output {
    Prepared(Prepared),
    /// A further name of a file.
    Repeated(Node),
    Skipped(SinkError),
}

fn prepared(node: Node, options: &SinkOptions) -> Result<Output, SinkError> {
    match prepare(node, options) {
        Ok(prepared) => Ok(Output::Prepared(prepared)),
        Err(error @ NodeError::Entry(_)) if options.skip_unreadable => {
            Ok(Output::Skipped(error.into()))
        }
        Err(error) => Err(error.into()),
    }
}

struct Sink<'o, W> {
    builder: Builder<W>,
    options: &'o SinkOptions,
    /// The paths of the first names of files with several names.
    names: HashMap<(u64, u64), Vec<u8>>,
    skipped: Vec<SinkError>,
}

impl<W: Write> Sink<'_, W> {
    fn put(&mut self, output: Output) -> Result<(), SinkError> {
        match output {
            Output::Skipped(error) => self.skipped.push(error),
            Output::Prepared(prepared) => self.write(prepared)?,
            Output::Repeated(node) => {
                let first = node.link.and_then(|link| self.names.get(&link));
                match first {
                    Some(first) => {
                        let link = hard_link(&node, first, self.options);
                        self.builder.begin(&link)?;
                    }
                    // The first name was left out, so this one carries the content.
                    None => {
                        let output = prepared(node, self.options)?;
                        self.put(output)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn write(&mut self, prepared: Prepared) -> Result<(), SinkError> {
        let Prepared {
            member,
            link,
            content,
        } = prepared;
        if member.path == self.options.root_name && !self.options.root {
            return Ok(());
        }
        match self.builder.begin(&member) {
            Err(error @ Error::Unusable { .. }) if self.options.skip_unusable => {
                self.skipped.push(error.into());
                return Ok(());
            }
            begun => begun?,
        }
        if let Some(Entry::Vacant(name)) = link.map(|link| self.names.entry(link)) {
            name.insert(member.path);
        }
        match content {
            Stored::Nothing => {}
            Stored::Bytes(bytes) => self.builder.write(&bytes)?,
            Stored::Large(content) => content.write(|bytes| Ok(self.builder.write(bytes)?))?,
        }
        Ok(())
    }
}

/// A hard link to the file at `first`.
fn hard_link(node: &Node, first: &[u8], options: &SinkOptions) -> Member {
    let mut member = crate::prepare::described(node, options);
    member.kind = MemberKind::HardLink;
    member.link_target = first.to_vec();
    member.metadata.size_bytes = 0;
    member.metadata.rdev = 0;
    member
}
