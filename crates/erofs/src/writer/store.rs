//! Stores contents in the order of the plan.

use super::extents::{Extents, HOLE};
use super::index::{self, Form, Mapped};
use super::squeeze::{Cluster, Squeezed, Worker};
use super::tree::{FileContent, Tree};
use super::{block_number, CreateOptions};
use blake3::Hasher;
use hedgerow_image::buffers::Buffers;
use hedgerow_image::fragments::Tail;
use hedgerow_image::plan::{Block, Content, Event, Stored};
use hedgerow_image::runs::KNOWN_BLOCKS;
use hedgerow_image::{Output, WriteError};
use std::collections::HashMap;
use std::iter::once;

/// What was stored.
#[derive(Default)]
pub(super) struct Contents {
    layouts: Vec<(Extents, Option<Tail>)>,
    /// Where stored blocks are, by the number that the plan gives them: the numbers of blocks of the
    /// image, or of segments.
    places: Vec<u32>,
    /// Compressed pieces of contents.
    segments: Vec<Segment>,
    /// The segments of zeros, by their length.
    zeros: HashMap<u32, u32>,
    /// The segments of the packed inode, and where each begins in it.
    packed: Vec<(u32, u64)>,
    packed_bytes: u64,
    /// Number of contents that consist of a tail only, and the last of them; new ones come in
    /// ascending order.
    tails: u32,
    last_tail: Option<Tail>,
    /// Number of stored blocks, including those whose places are not kept.
    count: u64,
    current: Option<Current>,
}

/// A compressed piece of a content.
struct Segment {
    length: u32,
    /// The first of its blocks.
    first: u32,
    clusters: Box<[Cluster]>,
}

/// What the plan stores as a block.
pub(super) trait Piece {
    /// Its bytes, if it is stored with an inode.
    fn inline(&self) -> &[u8];

    /// Writes it. Returns its place.
    fn write(self, block_bytes: usize, segments: &mut Segments<'_>) -> Result<u32, WriteError>;
}

/// Where pieces are written.
pub(super) struct Segments<'s> {
    all: &'s mut Vec<Segment>,
    output: &'s mut Output,
    /// What tells the image from others.
    hasher: &'s mut Hasher,
}

impl Piece for Block {
    fn inline(&self) -> &[u8] {
        self.bytes()
    }

    fn write(self, block_bytes: usize, to: &mut Segments<'_>) -> Result<u32, WriteError> {
        let number = block_number(to.output.position(), block_bytes)?;
        to.identify(self.digest.as_ref(), self.bytes());
        to.output.append(self.bytes())?;
        to.output.pad(block_bytes as u64)?;
        Ok(number)
    }
}

impl Piece for Squeezed {
    fn inline(&self) -> &[u8] {
        // Nothing compressed is stored with an inode.
        &[]
    }

    fn write(self, block_bytes: usize, to: &mut Segments<'_>) -> Result<u32, WriteError> {
        let first = block_number(to.output.position(), block_bytes)?;
        to.identify(self.digest.as_ref(), &self.data);
        to.output.append(&self.data)?;
        let number = u32::try_from(to.all.len()).map_err(|_| lost())?;
        to.all.push(Segment {
            length: self.length,
            first,
            clusters: self.clusters.into(),
        });
        Ok(number)
    }
}

impl Segments<'_> {
    /// The digests of contents stand for them in the identifier of the image.
    fn identify(&mut self, digest: Option<&hedgerow_image::digest::Digest>, bytes: &[u8]) {
        match digest {
            Some(digest) => digest.iter().for_each(|word| {
                self.hasher.update(&word.to_le_bytes());
            }),
            None => {
                self.hasher.update(bytes);
            }
        }
    }
}

/// The file whose blocks are being stored.
struct Current {
    extents: Extents,
    /// Number of segments before it.
    segments: usize,
    /// Where the first of its blocks was written.
    start: u64,
    /// The number of that block.
    first: u64,
    /// The hash of its blocks. They count for the image only if they stay in it: whether a file is
    /// written and given up, or found to be known before, depends on the time that its reader takes.
    hasher: Box<Hasher>,
}

impl Contents {
    /// Number of distinct contents that are shared, or could be.
    pub(super) fn len(&self) -> u32 {
        self.layouts.len() as u32 + self.tails
    }

    /// Carries out a batch of the plan.
    pub(super) fn store<P: Piece>(
        &mut self,
        events: Vec<Event<P>>,
        options: &CreateOptions,
        output: &mut Output,
        tree: &mut Tree,
    ) -> Result<(), WriteError> {
        for event in events {
            match event {
                Event::Block(piece) => {
                    let hasher = &mut self.current(output.position()).hasher;
                    let mut hasher = std::mem::take(hasher);
                    let place = self.write(piece, options, output, &mut hasher)?;
                    let current = self.current(output.position());
                    current.hasher = hasher;
                    current.extents.push(place);
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
                        segments: self.segments.len(),
                        start: output.position(),
                        first: self.count,
                        hasher: Box::default(),
                    });
                }
                Event::Fragment(piece) => {
                    let hasher = &mut tree.metadata.hasher;
                    let place = self.write(piece, options, output, hasher)?;
                    let segment = self.segments.get(place as usize).ok_or_else(lost)?;
                    self.packed.push((place, self.packed_bytes));
                    self.packed_bytes += u64::from(segment.length);
                }
                Event::File {
                    entry,
                    stored,
                    inline,
                } => {
                    let known = self.settle(stored, output, tree)?;
                    if let Some(entry) = entry {
                        if options.compression.is_some() {
                            self.compressed(entry, known, options, output, tree)?;
                        } else {
                            let tail = inline.as_ref().map_or(&[][..], P::inline);
                            self.file(entry, known.0, tail, output, tree)?;
                        }
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
        let extents = match known {
            Some(number) => &self.layouts.get(number).ok_or_else(lost)?.0,
            None => &none,
        };
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
        let segments = self.segments.len();
        self.current.get_or_insert_with(|| Current {
            extents: Extents::default(),
            segments,
            start: position,
            first,
            hasher: Box::default(),
        })
    }

    /// Writes a block of the plan, which has the next number.
    fn write<P: Piece>(
        &mut self,
        piece: P,
        options: &CreateOptions,
        output: &mut Output,
        hasher: &mut Hasher,
    ) -> Result<u32, WriteError> {
        let mut segments = Segments {
            all: &mut self.segments,
            output,
            hasher,
        };
        let place = piece.write(options.block_bytes as usize, &mut segments)?;
        if self.places.len() < KNOWN_BLOCKS {
            self.places.push(place);
        }
        self.count += 1;
        Ok(place)
    }

    /// Adds a compressed file with its content.
    fn compressed(
        &mut self,
        entry: hedgerow_image::Entry,
        known: (Option<usize>, Option<Tail>),
        options: &CreateOptions,
        output: &mut Output,
        tree: &mut Tree,
    ) -> Result<(), WriteError> {
        let form = form(options)?;
        let (layout, tail) = known;
        let offset = tail.map(|tail| self.packed_place(tail));
        let Some(number) = layout else {
            let map = offset.map(|offset| once(index::in_packed(offset)));
            return tree.compressed(entry, map, 0, output);
        };
        let size = entry.size_bytes;
        let (extents, tail) = self.layouts.get(number).ok_or_else(lost)?;
        let offset = tail.map(|tail| self.packed_place(tail));
        let segment_bytes = options.segment_bytes();
        let in_blocks = match offset {
            Some(_) => size - size % segment_bytes,
            None => size,
        };
        let extents = extents.clone();
        let mapped = self.mapped(&extents, in_blocks, options, output, tree)?;
        let blocks = mapped.iter().map(|cluster| u64::from(cluster.blocks)).sum();
        let tail = offset.map(|offset| (in_blocks, offset));
        let map = index::map(form, mapped, size, tail);
        tree.compressed(entry, Some(map), blocks, output)
    }

    /// Where a tail is in the packed inode. That its block may not be written yet does not matter:
    /// all before it are.
    fn packed_place(&self, tail: Tail) -> u64 {
        let block = self.packed.get(tail.fragment as usize);
        block.map_or(self.packed_bytes, |(_, start)| *start) + u64::from(tail.offset)
    }

    /// The clusters of the blocks of a content.
    fn mapped(
        &mut self,
        extents: &Extents,
        size: u64,
        options: &CreateOptions,
        output: &mut Output,
        tree: &mut Tree,
    ) -> Result<Vec<Mapped>, WriteError> {
        let (mut mapped, mut position) = (Vec::new(), 0);
        for run in extents.runs() {
            for number in 0..run.count {
                let length = options.segment_bytes().min(size.saturating_sub(position));
                let segment = match run.first {
                    HOLE => self.zeros(length as u32, options, output, tree)?,
                    first => first + number,
                };
                let segment = self.segments.get(segment as usize).ok_or_else(lost)?;
                if u64::from(segment.length) != length {
                    return Err(lost());
                }
                segment.map(position, &mut mapped);
                position += length;
            }
        }
        Ok(mapped)
    }

    /// The segment of so many zeros, which is written when it is first needed.
    fn zeros(
        &mut self,
        length: u32,
        options: &CreateOptions,
        output: &mut Output,
        tree: &mut Tree,
    ) -> Result<u32, WriteError> {
        if let Some(known) = self.zeros.get(&length) {
            return Ok(*known);
        }
        let block_bytes = options.block_bytes as usize;
        let compression = options.compression.ok_or_else(lost)?;
        let content = vec![0; length as usize];
        let zeros =
            Worker::new(compression, block_bytes, &Buffers::default()).squeeze(&content, false)?;
        let mut segments = Segments {
            all: &mut self.segments,
            output,
            hasher: &mut tree.metadata.hasher,
        };
        let number = zeros.write(block_bytes, &mut segments)?;
        self.zeros.insert(length, number);
        Ok(number)
    }

    /// The map of the packed inode, its size and its number of blocks, if there is one.
    pub(super) fn packed(
        &self,
        options: &CreateOptions,
    ) -> Result<Option<(impl Iterator<Item = [u8; 8]> + use<>, u64, u64)>, WriteError> {
        if self.packed.is_empty() {
            return Ok(None);
        }
        let mut mapped = Vec::new();
        for (segment, position) in &self.packed {
            let segment = self.segments.get(*segment as usize).ok_or_else(lost)?;
            segment.map(*position, &mut mapped);
        }
        let blocks = mapped.iter().map(|cluster| u64::from(cluster.blocks)).sum();
        let map = index::map(form(options)?, mapped, self.packed_bytes, None);
        Ok(Some((map, self.packed_bytes, blocks)))
    }

    /// Finishes the content of a file, whose blocks have all come. Returns the number of its
    /// layout, if it has blocks, or its only tail.
    fn settle(
        &mut self,
        stored: Stored,
        output: &mut Output,
        tree: &mut Tree,
    ) -> Result<(Option<usize>, Option<Tail>), WriteError> {
        let current = self.current.take();
        match stored {
            Stored::Here { tail } => {
                let current = current.ok_or_else(lost)?;
                let hash = current.hasher.finalize();
                tree.metadata.hasher.update(hash.as_bytes());
                self.layouts.push((current.extents, tail));
                Ok((Some(self.layouts.len() - 1), None))
            }
            Stored::There(content) => {
                self.give_up(current.as_ref(), output)?;
                Ok(match content {
                    Content::Empty => (None, None),
                    Content::Blocks(number) => (Some(number as usize), None),
                    Content::Tail(tail) => {
                        if self.last_tail < Some(tail) {
                            self.last_tail = Some(tail);
                            self.tails += 1;
                        }
                        (None, Some(tail))
                    }
                })
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
        self.segments.truncate(current.segments);
        output.go_back_to(current.start)
    }
}

impl Segment {
    /// Adds the clusters to those of a content, in which the segment begins at `start`.
    fn map(&self, start: u64, mapped: &mut Vec<Mapped>) {
        let (mut position, mut address) = (start, self.first);
        for cluster in &self.clusters {
            mapped.push(Mapped {
                start: position,
                address,
                blocks: cluster.blocks,
                is_compressed: cluster.is_compressed,
            });
            position += u64::from(cluster.length);
            address += u32::from(cluster.blocks);
        }
    }
}

fn form(options: &CreateOptions) -> Result<Form, WriteError> {
    let compression = options.compression.ok_or_else(lost)?;
    Ok(Form {
        block_bytes: options.block_bytes.into(),
        algorithm: compression.settings.algorithm().id(),
        is_big: compression.cluster_bytes > options.block_bytes,
    })
}

/// The error if the plan and the stored blocks disagree, which must not happen.
fn lost() -> WriteError {
    WriteError::Limit {
        reason: "a block has no place that was stored before".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hedgerow_fs::OutputFile;

    fn block(byte: u8) -> Event<Block> {
        Event::Block(Block::copied(&[byte; 4096], &Buffers::default()))
    }

    fn file(stored: Stored) -> Event<Block> {
        let (entry, inline) = (None, None);
        Event::File {
            entry,
            stored,
            inline,
        }
    }

    /// The hash and the length of an image after these events.
    fn image(events: Vec<Event<Block>>) -> (blake3::Hash, u64) {
        let directory = tempfile::tempdir().unwrap();
        let target = OutputFile::create(&directory.path().join("image")).unwrap();
        let (options, mut output) = (CreateOptions::default(), Output::new(target, 0));
        let (mut contents, mut tree) = (Contents::default(), Tree::new(&options));
        let stored = contents.store(events, &options, &mut output, &mut tree);
        stored.unwrap();
        (tree.metadata.hasher.finalize(), output.position())
    }

    #[test]
    fn what_is_given_up_leaves_no_trace() {
        let first = || [block(1), block(2), file(Stored::Here { tail: None })];
        let again = || file(Stored::There(Content::Blocks(0)));
        let known = image(first().into_iter().chain([again()]).collect());
        let given_up = [block(1), block(2), again()];
        assert!(image(first().into_iter().chain(given_up).collect()) == known);
        let run = [block(1), Event::Run { first: 0 }, again()];
        assert!(image(first().into_iter().chain(run).collect()) == known);
        let other = [block(1), block(3), file(Stored::Here { tail: None })];
        assert!(image(first().into_iter().chain(other).collect()).0 != known.0);
    }
}
