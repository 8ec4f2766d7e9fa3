//! Writes a tree behind an image.

use super::format::{Block, Hasher, Shape, Superblock, BLOCK_BYTES, DIGEST_BYTES, SALT_BYTES};
use super::{Digest, Verity, VerityOptions};
use crate::{stages, uuid, WriteError};
use hedgerow_engine::{run_ordered, Execution, Jobs};
use hedgerow_fs::OutputFile;
use std::ops::Range;

/// Appends the tree of an image, which is hashed by all workers. `image` is the place of the image
/// in `file`: it ends at the end of the file, and is a multiple of [`BLOCK_BYTES`] long. Returns the
/// end of the tree.
///
/// # Errors
/// The file cannot be read or written, the salt is too long, the run was cancelled, or a worker
/// panicked.
pub fn append(
    file: &OutputFile,
    image: Range<u64>,
    options: &VerityOptions,
    execution: &Execution,
) -> Result<(u64, Verity), WriteError> {
    let image_bytes = image.end - image.start;
    assert!(image_bytes > 0 && image_bytes.is_multiple_of(BLOCK_BYTES));
    if options.salt.len() > SALT_BYTES {
        return Err(WriteError::Limit {
            reason: format!("a salt of {} bytes is too long", options.salt.len()),
        });
    }
    let hasher = Hasher::new(&options.salt);
    let mut tree = Tree {
        file,
        start: image.end + BLOCK_BYTES,
        shape: Shape::of(image_bytes / BLOCK_BYTES),
        hasher: &hasher,
        levels: Vec::new(),
        root: None,
    };
    tree.levels
        .resize_with(tree.shape.levels(), Filling::default);
    let shape = tree.shape.clone();
    let workers = execution.with_jobs(Jobs::Fixed(execution.threads()));
    let workers = workers.options("hash");
    let groups = (0..shape.groups()).map(|group| {
        let blocks = shape.group(group);
        let bytes = (blocks.end - blocks.start) * BLOCK_BYTES;
        Ok(((image.start + blocks.start * BLOCK_BYTES, bytes), bytes))
    });
    run_ordered(
        &workers,
        stages::window(&workers),
        groups,
        |_| Vec::new(),
        |data: &mut Vec<u8>, (position, bytes)| {
            data.resize(bytes as usize, 0);
            file.read_exact_at(data, position)?;
            Ok(Box::new(hasher.hash_block(data)))
        },
        |_, digests: Box<Block>| tree.add(&digests),
    )?;
    let root_hash = tree.finish()?;
    let superblock = Superblock {
        uuid: uuid::from_hash(&root_hash),
        data_blocks: shape.data_blocks,
        salt: options.salt.clone(),
    };
    let mut block = [0; BLOCK_BYTES as usize];
    let bytes = superblock.to_bytes();
    block[..bytes.len()].copy_from_slice(&bytes);
    file.write_at(&block, image.end)?;
    let end = image.end + (1 + shape.blocks()) * BLOCK_BYTES;
    let verity = Verity {
        root_hash,
        hash_offset: image_bytes,
        data_blocks: shape.data_blocks,
        salt: superblock.salt,
        uuid: superblock.uuid,
    };
    Ok((end, verity))
}

/// A tree that is being written. Of each level, one block is in memory.
struct Tree<'t> {
    file: &'t OutputFile,
    /// Where it starts in the file.
    start: u64,
    shape: Shape,
    hasher: &'t Hasher,
    levels: Vec<Filling>,
    root: Option<Digest>,
}

/// A level of which some blocks are written.
#[derive(Default)]
struct Filling {
    written: u64,
    /// The digests of the next block.
    digests: Vec<u8>,
}

impl Tree<'_> {
    /// Adds the digests of the next group of data blocks.
    fn add(&mut self, digests: &Block) -> Result<(), WriteError> {
        if self.levels.is_empty() {
            return self.push(0, digests.first_chunk().expect("a block has digests"));
        }
        self.write(0, digests)
    }

    /// Writes the next block of a level, and adds its digest to the level above.
    fn write(&mut self, level: usize, block: &Block) -> Result<(), WriteError> {
        let filling = self.levels.get_mut(level).expect("it is a level");
        let position = self.start + self.shape.position(level, filling.written);
        filling.written += 1;
        self.file.write_at(block, position)?;
        self.push(level + 1, &self.hasher.digest(block))
    }

    /// Adds a digest to a level. Above the highest one, it is the root hash.
    fn push(&mut self, level: usize, digest: &Digest) -> Result<(), WriteError> {
        let Some(filling) = self.levels.get_mut(level) else {
            assert!(self.root.replace(*digest).is_none(), "a tree has one root");
            return Ok(());
        };
        filling.digests.extend_from_slice(digest);
        if filling.digests.len() == BLOCK_BYTES as usize {
            return self.flush(level);
        }
        Ok(())
    }

    /// Writes the digests that a level has, with zeros behind them.
    fn flush(&mut self, level: usize) -> Result<(), WriteError> {
        let filling = self.levels.get_mut(level).expect("it is a level");
        let mut block = [0; BLOCK_BYTES as usize];
        block[..filling.digests.len()].copy_from_slice(&filling.digests);
        filling.digests.clear();
        self.write(level, &block)
    }

    /// Writes the last block of each level. Returns the root hash.
    fn finish(mut self) -> Result<Digest, WriteError> {
        for level in 0..self.levels.len() {
            let is_open = |filling: &Filling| filling.digests.len() >= DIGEST_BYTES;
            if self.levels.get(level).is_some_and(is_open) {
                self.flush(level)?;
            }
        }
        Ok(self.root.expect("there was a group of blocks"))
    }
}
