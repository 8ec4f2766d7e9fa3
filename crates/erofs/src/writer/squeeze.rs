//! Compresses segments: pieces of contents, each into as few clusters as possible. A cluster is some
//! blocks long, and all but the last of a segment are filled.

use super::Compression;
use hedgerow_codec::block::BlockError;
use hedgerow_codec::cluster::ClusterEncoder;
use hedgerow_image::buffers::{Buffer, Buffers};
use hedgerow_image::digest::Digest;
use hedgerow_image::plan::{Batch, Block, Event};
use hedgerow_image::WriteError;

/// What does not become smaller is stored as it is; so many blocks at most before the next attempt
/// to compress.
const MOST_PLAIN: usize = 16;

/// A part of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cluster {
    /// Number of bytes of the content.
    pub length: u32,
    /// Number of blocks.
    pub blocks: u16,
    pub is_compressed: bool,
}

/// A compressed segment: its clusters, and their blocks one behind the other.
pub(super) struct Squeezed {
    pub length: u32,
    pub clusters: Vec<Cluster>,
    pub data: Buffer,
    pub digest: Option<Digest>,
}

/// A worker that compresses.
pub(super) struct Worker {
    encoder: Result<ClusterEncoder, BlockError>,
    cluster_bytes: usize,
    block_bytes: usize,
    room: Vec<u8>,
    buffers: Buffers,
}

impl Worker {
    pub(super) fn new(compression: Compression, block_bytes: usize, buffers: &Buffers) -> Self {
        let cluster_bytes = compression.cluster_bytes as usize;
        Worker {
            encoder: ClusterEncoder::new(compression.settings),
            cluster_bytes,
            block_bytes,
            room: vec![0; cluster_bytes],
            buffers: buffers.clone(),
        }
    }

    /// Compresses the blocks of a batch.
    pub(super) fn work(&mut self, batch: Batch<Block>) -> Result<Vec<Event<Squeezed>>, WriteError> {
        let events = batch.events.into_iter();
        events.map(|event| self.event(event)).collect()
    }

    fn event(&mut self, event: Event<Block>) -> Result<Event<Squeezed>, WriteError> {
        Ok(match event {
            Event::Block(block) => Event::Block(self.block(&block)?),
            Event::Fragment(block) => Event::Fragment(self.squeeze(block.bytes(), false)?),
            Event::Holes { blocks, bytes } => Event::Holes { blocks, bytes },
            Event::Elsewhere => Event::Elsewhere,
            Event::Known { number } => Event::Known { number },
            Event::Run { first } => Event::Run { first },
            Event::File {
                entry,
                stored,
                inline,
            } => Event::File {
                entry,
                stored,
                inline: inline.map(|block| self.block(&block)).transpose()?,
            },
            Event::Other(entry) => Event::Other(entry),
            Event::Skipped(error) => Event::Skipped(error),
        })
    }

    fn block(&mut self, block: &Block) -> Result<Squeezed, WriteError> {
        let squeezed = self.squeeze(block.bytes(), block.uncompressed)?;
        Ok(Squeezed {
            digest: block.digest,
            ..squeezed
        })
    }

    /// Compresses a segment.
    pub(super) fn squeeze(&mut self, content: &[u8], is_raw: bool) -> Result<Squeezed, WriteError> {
        let encoder = match &mut self.encoder {
            Ok(encoder) => encoder,
            Err(error) => return Err((*error).into()),
        };
        let block_bytes = self.block_bytes;
        // No cluster takes more blocks than its content.
        let data = self
            .buffers
            .take(content.len().next_multiple_of(block_bytes));
        let mut filled = Filled {
            data,
            end: 0,
            clusters: Vec::new(),
            block_bytes,
        };
        let (mut position, mut plain) = (0, 1);
        while let Some(rest) = content.get(position..).filter(|rest| !rest.is_empty()) {
            let (consumed, written) = if is_raw {
                (0, 0)
            } else {
                encoder.fill(rest, &mut self.room[..self.cluster_bytes])?
            };
            let blocks = written.div_ceil(block_bytes);
            if is_worth_it(position, consumed, content.len(), blocks, block_bytes) {
                filled.compressed(&self.room[..written], consumed);
                position += consumed;
                plain = 1;
                continue;
            }
            for _ in 0..plain {
                let rest = content.get(position..).unwrap_or_default();
                let length = rest.len().min(block_bytes - position % block_bytes);
                if length > 0 {
                    filled.plain(&rest[..length]);
                }
                position += length;
            }
            plain = (plain * 2).min(MOST_PLAIN);
        }
        filled.data.truncate(filled.end);
        Ok(Squeezed {
            length: content.len() as u32,
            clusters: filled.clusters,
            data: filled.data,
            digest: None,
        })
    }
}

/// Clusters that are added one behind the other.
struct Filled {
    data: Buffer,
    end: usize,
    clusters: Vec<Cluster>,
    block_bytes: usize,
}

impl Filled {
    /// Adds what `length` bytes became. A cluster ends at the end of its blocks.
    fn compressed(&mut self, bytes: &[u8], length: usize) {
        let blocks = bytes.len().div_ceil(self.block_bytes);
        let place = self.place(blocks);
        let (before, room) = place.split_at_mut(place.len() - bytes.len());
        before.fill(0);
        room.copy_from_slice(bytes);
        self.clusters.push(Cluster {
            length: length as u32,
            blocks: blocks as u16,
            is_compressed: true,
        });
    }

    /// Adds a cluster of one block, which is not compressed.
    fn plain(&mut self, content: &[u8]) {
        let (room, after) = self.place(1).split_at_mut(content.len());
        room.copy_from_slice(content);
        after.fill(0);
        self.clusters.push(Cluster {
            length: content.len() as u32,
            blocks: 1,
            is_compressed: false,
        });
    }

    fn place(&mut self, blocks: usize) -> &mut [u8] {
        let start = self.end;
        self.end += blocks * self.block_bytes;
        &mut self.data[start..self.end]
    }
}

/// Whether a cluster takes fewer blocks than its content. Then it also begins in another logical
/// block than the next one, and there is a block between them, whose place in the index tells the
/// size of the cluster.
fn is_worth_it(
    position: usize,
    consumed: usize,
    length: usize,
    blocks: usize,
    block_bytes: usize,
) -> bool {
    let end = position + consumed;
    let next = if end >= length {
        length.div_ceil(block_bytes)
    } else {
        end / block_bytes
    };
    blocks > 0 && next - position / block_bytes > blocks
}

#[cfg(test)]
mod tests {
    use super::*;
    use hedgerow_codec::cluster::ClusterSettings;

    #[test]
    fn clusters_hold_the_content_in_fewer_blocks() {
        let mut content = Vec::new();
        for number in 0..20_000u32 {
            content.extend_from_slice(format!("line {}\n", number % 771).as_bytes());
        }
        // What cannot be compressed stands in the middle.
        let mut state = 1u64;
        for byte in &mut content[50_000..90_000] {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            *byte = (state >> 56) as u8;
        }
        let compression = Compression {
            settings: ClusterSettings::Lz4,
            cluster_bytes: 16_384,
            ..Compression::default()
        };
        let mut worker = Worker::new(compression, 4096, &Buffers::default());
        let squeezed = worker.squeeze(&content, false).unwrap();
        let length: u32 = squeezed.clusters.iter().map(|cluster| cluster.length).sum();
        assert_eq!(length as usize, content.len());
        let blocks: u16 = squeezed.clusters.iter().map(|cluster| cluster.blocks).sum();
        assert_eq!(usize::from(blocks) * 4096, squeezed.data.len());
        assert!(squeezed.data.len() < content.len() * 9 / 10);
        let (mut position, mut last) = (0, None);
        for cluster in &squeezed.clusters {
            let head = position / 4096;
            assert!(last < Some(head));
            last = Some(head + usize::from(cluster.is_compressed));
            position += cluster.length as usize;
        }
        let raw = worker.squeeze(&content, true).unwrap();
        assert_eq!(raw.data[..content.len()], content);
    }
}
