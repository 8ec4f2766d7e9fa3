//! The images that working trees are mounted over.

use hedgerow_codec::block::{Compressor, Settings};
use hedgerow_engine::Execution;
use hedgerow_git::worktrees::{ImageError, ImageMaker, ImageNodes, ReadNodes};
use hedgerow_mounts::ImageKind;
use hedgerow_squashfs::{create, nodes_of_image, CreateOptions, Image, ImageSource, Uncompressed};
use hedgerow_tree::{Entry, TreeSource};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

/// Makes and reads images of the best kind that this kernel mounts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Images;

impl ImageMaker for Images {
    fn kind(&self) -> ImageKind {
        ImageKind::Squashfs
    }

    fn make(
        &self,
        nodes: ImageNodes<'_>,
        target: &Path,
        execution: &Execution,
    ) -> Result<(), ImageError> {
        const BLOCK_BYTES: u32 = 128 << 10;
        let options = CreateOptions {
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
            ..CreateOptions::default()
        };
        create(nodes, target, &options)?;
        Ok(())
    }

    fn list(
        &self,
        image: &Path,
        _: ImageKind,
        visit: &mut (dyn FnMut(Entry<'_>) + Send),
    ) -> Result<(), ImageError> {
        let image = Image::open(image, 0)?;
        let omitted = ImageSource::new(&image)?.list(&mut |entry| {
            visit(entry);
            ControlFlow::Continue(())
        })?;
        match omitted.into_iter().next() {
            Some(omission) => Err(omission.into()),
            None => Ok(()),
        }
    }

    fn nodes(&self, image: &Path, _: ImageKind) -> Result<ReadNodes, ImageError> {
        let image = Arc::new(Image::open(image, 0)?);
        Ok(Box::new(nodes_of_image(&image, &[])?))
    }
}
