//! The images that working trees are mounted over.

use hedgerow_codec::block::{Compressor, Settings};
use hedgerow_engine::Execution;
use hedgerow_git::worktrees::{ImageError, ImageMaker, ImageNodes};
use hedgerow_mounts::ImageKind;
use hedgerow_squashfs::{Image, ImageSource, Uncompressed};
use hedgerow_tree::{Content, Handle, Metadata, Node, NodeError, NodeKind, Xattr};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Makes images of both kinds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Images;

impl ImageMaker for Images {
    fn make(
        &self,
        kind: ImageKind,
        nodes: ImageNodes<'_>,
        target: &Path,
        execution: &Execution,
        tell: &mut dyn FnMut(&[u8], &Metadata),
    ) -> Result<(), ImageError> {
        match kind {
            ImageKind::Erofs => make_erofs(nodes, target, execution, tell),
            ImageKind::Squashfs => make_squashfs(nodes, target, execution, tell),
        }
    }
}

fn make_squashfs(
    nodes: ImageNodes<'_>,
    target: &Path,
    execution: &Execution,
    tell: &mut dyn FnMut(&[u8], &Metadata),
) -> Result<(), ImageError> {
    const BLOCK_BYTES: u32 = 128 << 10;
    let options = hedgerow_squashfs::CreateOptions {
        settings: Settings::default_for(Compressor::Lz4, BLOCK_BYTES),
        block_bytes: BLOCK_BYTES,
        // The kernel reads them through one decompressor; a status asks for all of them.
        uncompressed: Uncompressed {
            inodes: true,
            ids: true,
            ..Uncompressed::default()
        },
        // Overlays remember files by their handles.
        exportable: true,
        xattrs: false,
        replace: true,
        execution: execution.clone(),
        ..hedgerow_squashfs::CreateOptions::default()
    };
    hedgerow_squashfs::create(nodes, target, &options)?;
    let image = Image::open(target, 0)?;
    let source = ImageSource::new(&image)?;
    let omitted = source.entries(&mut |found| {
        if let Some(metadata) = found.entry.metadata {
            tell(found.entry.path, metadata);
        }
        ControlFlow::Continue(())
    });
    match omitted.into_iter().next() {
        Some(omission) => Err(omission.into()),
        None => Ok(()),
    }
}

fn make_erofs(
    nodes: ImageNodes<'_>,
    target: &Path,
    execution: &Execution,
    tell: &mut dyn FnMut(&[u8], &Metadata),
) -> Result<(), ImageError> {
    let options = hedgerow_erofs::CreateOptions {
        xattrs: false,
        replace: true,
        execution: execution.clone(),
        ..hedgerow_erofs::CreateOptions::default()
    };
    let noted = Mutex::new(Vec::new());
    let note = |node: Result<Node, NodeError>| {
        node.map(|node| {
            let (node, sized) = Sized::new(node);
            noted
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(sized);
            node
        })
    };
    let mut numbers = Vec::new();
    hedgerow_erofs::create_numbered(nodes.map(note), target, &options, &mut |path, number| {
        numbers.push((path.to_vec(), number));
    })?;
    let noted = noted.into_inner().unwrap_or_else(PoisonError::into_inner);
    for ((path, number), sized) in numbers.iter().zip(&noted) {
        if !path.is_empty() {
            tell(path, &sized.metadata(*number));
        }
    }
    Ok(())
}

/// The metadata of a node, whose size may only be known when its content was opened.
struct Sized {
    metadata: Metadata,
    size_bytes: Arc<AtomicU64>,
}

impl Sized {
    /// The node whose size is noted.
    fn new(node: Node) -> (Node, Sized) {
        let size_bytes = Arc::new(AtomicU64::new(node.size_bytes));
        let sized = Sized {
            metadata: Metadata {
                mode: node.mode.into(),
                uid: node.uid,
                gid: node.gid,
                mtime_s: node.mtime_s,
                mtime_ns: node.mtime_ns,
                ..Metadata::default()
            },
            size_bytes: size_bytes.clone(),
        };
        if !matches!(node.kind, NodeKind::File | NodeKind::Symlink) {
            return (node, sized);
        }
        let handle = Box::new(SizedHandle {
            inner: node.handle,
            size_bytes,
        });
        (Node { handle, ..node }, sized)
    }

    fn metadata(&self, ino: u64) -> Metadata {
        Metadata {
            ino,
            size_bytes: self.size_bytes.load(Ordering::Acquire),
            ..self.metadata
        }
    }
}

struct SizedHandle {
    inner: Box<dyn Handle>,
    size_bytes: Arc<AtomicU64>,
}

impl Handle for SizedHandle {
    fn target(&mut self) -> Result<Vec<u8>, NodeError> {
        let target = self.inner.target()?;
        self.size_bytes
            .store(target.len() as u64, Ordering::Release);
        Ok(target)
    }

    fn open(&mut self) -> Result<Box<dyn Content>, NodeError> {
        let content = self.inner.open()?;
        self.size_bytes
            .store(content.size_bytes(), Ordering::Release);
        Ok(content)
    }

    fn xattrs(&mut self) -> Result<Vec<Xattr>, NodeError> {
        self.inner.xattrs()
    }
}
