//! Prepares nodes for archiving: makes members with their contents.

use crate::sink::{SinkError, SinkOptions, WHOLE_BYTES};
use crate::{acl, device, Member, MemberKind, Segment, SparseMap};
use hedgerow_engine::CancelToken;
use hedgerow_tree::{Content, Metadata, Node, NodeError, NodeKind};

/// A member ready to be written.
pub(crate) struct Prepared {
    pub(crate) member: Member,
    pub(crate) link: Option<(u64, u64)>,
    pub(crate) content: Stored,
}

/// The content of a member as the archive stores it.
pub(crate) enum Stored {
    Nothing,
    Bytes(Vec<u8>),
    Large(Large),
}

/// Receives the pieces of a content with their offsets in the file.
type Take<'t, E> = &'t mut dyn FnMut(u64, &[u8]) -> Result<(), E>;

/// The content of a large file, read while it is written.
pub(crate) struct Large {
    content: Box<dyn Content>,
    path: Vec<u8>,
    /// Whether holes are left out.
    without_holes: bool,
    size_bytes: u64,
    cancel: CancelToken,
}

/// Reads everything that the header depends on.
pub(crate) fn prepare(mut node: Node, options: &SinkOptions) -> Result<Prepared, NodeError> {
    let mut member = described(&node, options);
    let content = match node.kind {
        NodeKind::File => content(&mut node, &mut member, options)?,
        NodeKind::Symlink => {
            member.link_target = node.handle.target()?;
            member.metadata.size_bytes = member.link_target.len() as u64;
            Stored::Nothing
        }
        _ => Stored::Nothing,
    };
    if options.xattrs {
        let xattrs = node.handle.xattrs()?;
        let pairs = xattrs
            .into_iter()
            .map(|xattr| (xattr.name.into(), xattr.value));
        member.xattrs = pairs.collect();
        // Other programs know access control lists only as texts.
        for (name, list) in [
            (acl::ACCESS, &mut member.acl_access),
            (acl::DEFAULT, &mut member.acl_default),
        ] {
            *list = member.xattrs.get(name).and_then(|it| acl::to_text(it));
            if list.is_some() {
                member.xattrs.remove(name);
            }
        }
    }
    Ok(Prepared {
        member,
        link: node.link,
        content,
    })
}

/// The member for a node, as far as it is known without reading anything.
pub(crate) fn described(node: &Node, options: &SinkOptions) -> Member {
    let path = match (&options.root_name[..], &node.path[..]) {
        (b"", path) | (path, b"") => path.to_vec(),
        (root, path) => [root, b"/", path].concat(),
    };
    let mut member = Member::new(path, MemberKind::Node(node.kind));
    member.metadata = Metadata {
        mode: u32::from(node.mode),
        uid: node.uid,
        gid: node.gid,
        mtime_s: node.mtime_s,
        mtime_ns: node.mtime_ns,
        rdev: device(node.device.0, node.device.1),
        ..Metadata::default()
    };
    member
}

fn content(
    node: &mut Node,
    member: &mut Member,
    options: &SinkOptions,
) -> Result<Stored, NodeError> {
    let mut content = node.handle.open()?;
    let size_bytes = content.size_bytes();
    member.metadata.size_bytes = size_bytes;
    let without_holes = options.write.sparse;
    let mut large = Large {
        content,
        path: node.path.clone(),
        without_holes,
        size_bytes,
        cancel: options.execution.cancel.clone(),
    };
    if size_bytes > WHOLE_BYTES {
        if without_holes {
            member.sparse = large.measure()?;
            content = node.handle.open()?;
            large = Large { content, ..large };
        }
        return Ok(Stored::Large(large));
    }
    let mut bytes = Vec::with_capacity(size_bytes as usize);
    let mut segments = Segments::default();
    large.read(&mut |offset, piece| {
        segments.add(offset, piece.len());
        bytes.extend_from_slice(piece);
        Ok::<(), NodeError>(())
    })?;
    member.sparse = segments.map(size_bytes).filter(|_| without_holes);
    Ok(Stored::Bytes(bytes))
}

/// The segments of a file that have data.
#[derive(Default)]
struct Segments(Vec<Segment>);

impl Segments {
    fn add(&mut self, offset: u64, len: usize) {
        let len = len as u64;
        match self.0.last_mut() {
            Some(last) if last.end() == offset => last.len += len,
            _ => self.0.push(Segment { offset, len }),
        }
    }

    /// The map of the file; `None` if it has no holes.
    fn map(self, size_bytes: u64) -> Option<SparseMap> {
        let map = SparseMap::new(&self.0, size_bytes)?;
        (map.stored_bytes() < size_bytes).then_some(map)
    }
}

impl Large {
    fn measure(&mut self) -> Result<Option<SparseMap>, NodeError> {
        let mut segments = Segments::default();
        self.read(&mut |offset, piece| {
            segments.add(offset, piece.len());
            Ok::<(), NodeError>(())
        })?;
        Ok(segments.map(self.size_bytes))
    }

    /// Passes to `write` the bytes that the archive stores.
    pub(crate) fn write(
        mut self,
        mut write: impl FnMut(&[u8]) -> Result<(), SinkError>,
    ) -> Result<(), SinkError> {
        self.read(&mut |_, piece| write(piece))
    }

    /// Reads the content to its end.
    fn read<E: From<NodeError>>(&mut self, take: Take<'_, E>) -> Result<(), E> {
        let mut buffer = vec![0; self.size_bytes.min(128 << 10) as usize];
        let mut position = 0;
        while position < self.size_bytes {
            let mut hole = self.content.skip_hole()?.min(self.size_bytes - position);
            if self.without_holes {
                position += hole;
                hole = 0;
            }
            if hole > 0 {
                buffer.fill(0);
            }
            while hole > 0 {
                self.check()?;
                let len = hole.min(buffer.len() as u64);
                take(position, &buffer[..len as usize])?;
                position += len;
                hole -= len;
            }
            self.check()?;
            let left = self.size_bytes - position;
            let len = left.min(buffer.len() as u64) as usize;
            if len == 0 {
                break;
            }
            match self.content.read(&mut buffer[..len])? {
                0 => return Err(self.shorter().into()),
                count => {
                    take(position, &buffer[..count])?;
                    position += count as u64;
                }
            }
        }
        Ok(())
    }

    /// Called for each piece: a small image can contain a file that takes days to write.
    fn check(&self) -> Result<(), NodeError> {
        if self.cancel.is_cancelled() {
            Err(NodeError::Cancelled)
        } else {
            Ok(())
        }
    }

    fn shorter(&self) -> NodeError {
        let path = bstr::BStr::new(&self.path);
        NodeError::entry(format!("'{path}' has become shorter while it was read"))
    }
}
