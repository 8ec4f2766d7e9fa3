//! Stores contents in the order of the plan.

use super::extents::Extents;
use super::tree::{FileContent, Tree};
use super::{block_number, CreateOptions};
use hedgerow_image::plan::{Batch, Block, Content, Event, Stored};
use hedgerow_image::runs::KNOWN_BLOCKS;
use hedgerow_image::{Output, WriteError};

/// What was stored.
#[derive(Default)]
pub(super) struct Contents {
    layouts: Vec<Extents>,
    /// The places of stored blocks, by the number that the plan gives them.
    places: Vec<u32>,
    /// Number of stored blocks, including those whose places are not kept.
    count: u64,
    current: Option<Current>,
}

/// The file whose blocks are being stored.
struct Current {
    extents: Extents,
    /// Where the first of its blocks was written.
    start: u64,
    /// The number of that block.
    first: u64,
}

impl Contents {
    /// Number of distinct contents with blocks.
    pub(super) fn len(&self) -> usize {
        self.layouts.len()
    }

    /// Carries out a batch of the plan.
    pub(super) fn store(
        &mut self,
        batch: Batch<Block>,
        options: &CreateOptions,
        output: &mut Output,
        tree: &mut Tree,
    ) -> Result<(), WriteError> {
        let block_bytes = options.block_bytes as usize;
        for event in batch.events {
            match event {
                Event::Block(block) => {
                    let place = append(&block, block_bytes, output, tree)?;
                    let position = place.1;
                    self.current(position).extents.push(place.0);
                    if self.places.len() < KNOWN_BLOCKS {
                        self.places.push(place.0);
                    }
                    self.count += 1;
                }
                Event::Holes { blocks, .. } => {
                    self.current(output.position()).extents.push_holes(blocks);
                }
                // Its place follows with the run.
                Event::Elsewhere => self.current(output.position()).extents.push(0),
                Event::Known { number } => {
                    let place = *self.places.get(number as usize).ok_or_else(lost)?;
                    self.current(output.position()).extents.push(place);
                }
                Event::Run { first } => {
                    let own = self.current.take().ok_or_else(lost)?;
                    self.give_up(Some(&own), output)?;
                    let mut extents = own.extents;
                    let run = self.places.get(first as usize..).ok_or_else(lost)?;
                    extents.replace(run.iter().copied());
                    self.current = Some(Current {
                        extents,
                        start: output.position(),
                        first: self.count,
                    });
                }
                Event::Fragment(_) => return Err(lost()),
                Event::File {
                    entry,
                    stored,
                    inline,
                } => {
                    let extents = self.settle(stored, output)?;
                    if let Some(entry) = entry {
                        let tail = inline.as_ref().map_or(&[][..], Block::bytes);
                        self.file(entry, extents, tail, output, tree)?;
                    }
                }
                Event::Other(entry) => tree.other(entry, output)?,
                Event::Skipped(error) => {
                    let current = self.current.take();
                    self.give_up(current.as_ref(), output)?;
                    tree.skipped.push(error);
                }
            }
        }
        Ok(())
    }

    /// Adds a file with its content. A tail that does not fit behind its inode gets a block.
    fn file(
        &self,
        entry: hedgerow_image::Entry,
        known: Option<usize>,
        tail: &[u8],
        output: &mut Output,
        tree: &mut Tree,
    ) -> Result<(), WriteError> {
        let none = Extents::default();
        let extents = known.map_or(Some(&none), |number| self.layouts.get(number));
        let extents = extents.ok_or_else(lost)?;
        // Chunks are addressed behind the inode, where a tail would be.
        let fits = tree.tail_fits(&entry, tail.len()) && extents.contiguous().is_some();
        if tail.is_empty() || fits {
            return tree.file(entry, &FileContent { extents, tail }, output);
        }
        let block_bytes = tree.block_bytes();
        let mut extents = extents.clone();
        extents.push(block_number(output.position(), block_bytes)?);
        tree.metadata.hasher.update(tail);
        output.append(tail)?;
        output.pad(block_bytes as u64)?;
        let content = FileContent {
            extents: &extents,
            tail: &[],
        };
        tree.file(entry, &content, output)
    }

    fn current(&mut self, position: u64) -> &mut Current {
        let first = self.count;
        self.current.get_or_insert_with(|| Current {
            extents: Extents::default(),
            start: position,
            first,
        })
    }

    /// Finishes the content of a file, whose blocks have all come. Returns the number of its
    /// layout, if it has blocks.
    fn settle(&mut self, stored: Stored, output: &mut Output) -> Result<Option<usize>, WriteError> {
        let current = self.current.take();
        match stored {
            Stored::Here { .. } => {
                let current = current.ok_or_else(lost)?;
                self.layouts.push(current.extents);
                Ok(Some(self.layouts.len() - 1))
            }
            Stored::There(content) => {
                self.give_up(current.as_ref(), output)?;
                match content {
                    Content::Empty => Ok(None),
                    Content::Blocks(number) => Ok(Some(number as usize)),
                    Content::Tail(_) => Err(lost()),
                }
            }
        }
    }

    /// Discards the blocks of a file that are not needed.
    fn give_up(
        &mut self,
        current: Option<&Current>,
        output: &mut Output,
    ) -> Result<(), WriteError> {
        let Some(current) = current.filter(|current| self.count > current.first) else {
            return Ok(());
        };
        self.count = current.first;
        let kept = usize::try_from(current.first).unwrap_or(usize::MAX);
        self.places.truncate(kept);
        output.go_back_to(current.start)
    }
}

/// Writes a block. Returns its number and its position.
fn append(
    block: &Block,
    block_bytes: usize,
    output: &mut Output,
    tree: &mut Tree,
) -> Result<(u32, u64), WriteError> {
    let position = output.position();
    let number = block_number(position, block_bytes)?;
    // The digests of the blocks stand for the blocks in the identifier of the image.
    match block.digest {
        Some(digest) => digest.iter().for_each(|word| {
            tree.metadata.hasher.update(&word.to_le_bytes());
        }),
        None => {
            tree.metadata.hasher.update(block.bytes());
        }
    }
    output.append(block.bytes())?;
    output.pad(block_bytes as u64)?;
    Ok((number, position))
}

/// The error if the plan and the stored blocks disagree, which must not happen.
fn lost() -> WriteError {
    WriteError::Limit {
        reason: "a block has no place that was stored before".into(),
    }
}
