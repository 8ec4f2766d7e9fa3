//! Compresses segments: pieces of contents, each into as few clusters as possible. A cluster is some
//! blocks long, and all but the last of a segment are filled.

use super::Compression;
use hedgerow_codec::block::BlockError;
use hedgerow_codec::cluster::ClusterEncoder;
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
    pub data: Vec<u8>,
    pub digest: Option<Digest>,
}

/// A worker that compresses.
pub(super) struct Worker {
    encoder: Result<ClusterEncoder, BlockError>,
    cluster_bytes: usize,
    block_bytes: usize,
    room: Vec<u8>,
}

impl Worker {
    pub(super) fn new(compression: Compression, block_bytes: usize) -> Self {
        let cluster_bytes = compression.cluster_bytes as usize;
        Worker {
            encoder: ClusterEncoder::new(compression.settings),
            cluster_bytes,
            block_bytes,
            room: vec![0; cluster_bytes],
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
            Event::Fragment(block) => {
                // The next one begins at a block.
                let mut content = block.bytes().to_vec();
                content.resize(content.len().next_multiple_of(self.block_bytes), 0);
                Event::Fragment(self.squeeze(&content, false)?)
            }
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
        let mut squeezed = Squeezed {
            length: content.len() as u32,
            clusters: Vec::new(),
            data: Vec::new(),
            digest: None,
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
                let start = squeezed.data.len();
                squeezed
                    .data
                    .resize(start + blocks * block_bytes - written, 0);
                // A cluster ends at the end of its blocks.
                squeezed.data.extend_from_slice(&self.room[..written]);
                squeezed.clusters.push(Cluster {
                    length: consumed as u32,
                    blocks: blocks as u16,
                    is_compressed: true,
                });
                position += consumed;
                plain = 1;
                continue;
            }
            for _ in 0..plain {
                let rest = content.get(position..).unwrap_or_default();
                let length = rest.len().min(block_bytes - position % block_bytes);
                if length > 0 {
                    squeezed.plain(&rest[..length], block_bytes);
                }
                position += length;
            }
            plain = (plain * 2).min(MOST_PLAIN);
        }
        Ok(squeezed)
    }
}

impl Squeezed {
    /// Adds a cluster of one block, which is not compressed.
    fn plain(&mut self, content: &[u8], block_bytes: usize) {
        self.data.extend_from_slice(content);
        self.data
            .resize(self.data.len().next_multiple_of(block_bytes), 0);
        self.clusters.push(Cluster {
            length: content.len() as u32,
            blocks: 1,
            is_compressed: false,
        });
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
        let mut worker = Worker::new(compression, 4096);
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
