//! Unpacking, through the same writer as `hedgerow image extract`.

use super::{Arguments, CONSOLE};
use hedgerow::image::{nodes_of_image, Body, Image};
use hedgerow::numbers::counted;
use hedgerow::plumbing::tree::{split_path, Content, Handle, Node, NodeError, NodeKind, Xattr};
use hedgerow::plumbing::writer::{extract, ExtractOptions, XattrRule};
use hedgerow::{CancelToken, Execution};
use hedgerow_fs::Dir;
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

/// Unpacks the contents of the directory at `path`, or the file itself.
pub fn unpack(image: &Arc<Image>, path: &[u8], arguments: &Arguments) -> Result<(), String> {
    let text = |error: hedgerow_fs::Error| error.to_string();
    let failed = |error: hedgerow::image::Error| error.to_string();
    let interrupted = hedgerow_fs::catch_interrupts().map_err(text)?;
    let names: Vec<&[u8]> = path
        .split(|byte| *byte == b'/')
        .filter(|name| !name.is_empty())
        .collect();
    let path = names.join(&b'/');
    // The contents of a directory are unpacked without its name, a file under its own name.
    let prefix = match image.find(&path).map_err(failed)?.body {
        Body::Directory(_) => path.clone(),
        _ => split_path(&path).0.to_vec(),
    };
    let root = Path::new(arguments.unpack_root.as_deref().unwrap_or(".".as_ref()));
    hedgerow_fs::create_directories(root).map_err(text)?;
    let root = Dir::open(root).map_err(text)?;
    let wanted = if arguments.no_empty_dir {
        Some(directories_with_something(image, &path, arguments)?)
    } else {
        None
    };
    let options = arguments.extract_options(CancelToken::from_static(interrupted));
    let nodes = nodes_of_image(image, &[&path]).map_err(failed)?;
    let nodes = nodes.filter_map(|node| match node {
        Ok(node) => {
            let is_wanted = match (node.kind, &wanted) {
                (NodeKind::Directory, Some(wanted)) => wanted.contains(&node.path),
                (kind, _) => arguments.unpacks(kind),
            };
            relative(node, &prefix)
                .filter(|_| is_wanted)
                .map(|node| Ok(arguments.changed(node)))
        }
        error => Some(error),
    });
    let mut first = None;
    let extracted = extract(&root, nodes, &options, |failed| {
        let path = failed.path.as_deref().map(String::from_utf8_lossy);
        let problem = match path {
            Some(path) => format!("'{path}': {}", failed.problem),
            None => failed.problem.to_string(),
        };
        first.get_or_insert_with(|| problem.clone());
        CONSOLE.complain(problem);
    });
    let extracted = extracted.map_err(|error| error.to_string())?;
    if !arguments.quiet {
        CONSOLE.say(format_args!(
            "{}, {}",
            counted(extracted.entries, "entry"),
            counted(extracted.bytes, "byte")
        ));
    }
    match extracted.failed {
        0 => Ok(()),
        count => Err(format!("{} could not be unpacked", counted(count, "entry"))),
    }
}

/// A node with its path relative to `prefix`; `None` if it is not below it.
fn relative(mut node: Node, prefix: &[u8]) -> Option<Node> {
    if !prefix.is_empty() {
        let rest = node.path.strip_prefix(prefix)?;
        node.path = rest.strip_prefix(b"/")?.to_vec();
    }
    Some(node)
}

/// The paths of directories that contain something to unpack.
fn directories_with_something(
    image: &Arc<Image>,
    path: &[u8],
    arguments: &Arguments,
) -> Result<HashSet<Vec<u8>>, String> {
    let mut found = HashSet::new();
    let nodes = nodes_of_image(image, &[path]).map_err(|error| error.to_string())?;
    for node in nodes.filter_map(Result::ok) {
        if node.kind == NodeKind::Directory || !arguments.unpacks(node.kind) {
            continue;
        }
        let mut directory = split_path(&node.path).0;
        while !directory.is_empty() && found.insert(directory.to_vec()) {
            directory = split_path(directory).0;
        }
    }
    Ok(found)
}

impl Arguments {
    fn extract_options(&self, cancel: CancelToken) -> ExtractOptions {
        ExtractOptions {
            execution: Execution {
                cancel,
                ..Execution::default()
            },
            owners: self.chown,
            setuid_anyway: true,
            devices: true,
            xattrs: if self.set_xattr {
                XattrRule::All
            } else {
                XattrRule::None
            },
            permissions: self.chmod,
            times: self.set_times,
            replace: false,
            root_attributes: false,
        }
    }

    /// Whether entries of this kind are unpacked.
    fn unpacks(&self, kind: NodeKind) -> bool {
        match kind {
            NodeKind::File | NodeKind::Directory => true,
            NodeKind::Symlink => !self.no_slink,
            NodeKind::Fifo => !self.no_fifo,
            NodeKind::Socket => !self.no_sock,
            NodeKind::BlockDevice | NodeKind::CharacterDevice => !self.no_dev,
        }
    }

    fn changed(&self, node: Node) -> Node {
        // The tool unpacks each hard link as a file of its own.
        let node = Node { link: None, ..node };
        if self.no_sparse {
            Node {
                handle: Box::new(WithoutHoles(node.handle)),
                ..node
            }
        } else {
            node
        }
    }
}

/// An entry whose content reports no holes.
struct WithoutHoles(Box<dyn Handle>);

/// A content whose holes are read as zeros.
struct Filled {
    content: Box<dyn Content>,
}

impl Handle for WithoutHoles {
    fn target(&mut self) -> Result<Vec<u8>, NodeError> {
        self.0.target()
    }

    fn open(&mut self) -> Result<Box<dyn Content>, NodeError> {
        let content = self.0.open()?;
        Ok(Box::new(Filled { content }))
    }

    fn xattrs(&mut self) -> Result<Vec<Xattr>, NodeError> {
        self.0.xattrs()
    }
}

impl Content for Filled {
    fn size_bytes(&self) -> u64 {
        self.content.size_bytes()
    }

    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, NodeError> {
        self.content.read(buffer)
    }
}
