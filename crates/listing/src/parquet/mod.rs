//! Listings as Parquet files, of which one schema and few encodings are needed: written and read
//! here, so that the same rows give the same bytes with every version of other software.
//!
//! The format is described in the repository apache/parquet-format: pages of version 2, each
//! compressed by zstd if that makes it smaller.

mod encoding;
mod metadata;
mod page;
mod read;
mod thrift;

pub(crate) use read::{Notes, PartRows};

use crate::columns::COLUMNS;
use crate::row::Batch;
use crate::write::Encoder;
use crate::{Error, Result};
use hedgerow_codec::block::{BlockCompressor, Compressor, Settings};
use metadata::{file_metadata, Chunk, Group};
use page::{ColumnWriter, PAGE_ROWS};

const MAGIC: &[u8; 4] = b"PAR1";
/// Fast, and the columns are small already.
const LEVEL: &str = "1";

/// Encodes row groups. The state is what the footer needs.
pub(crate) struct ParquetEncoder {
    compressor: BlockCompressor,
    position: u64,
    groups: Vec<Group>,
}

impl ParquetEncoder {
    pub(crate) fn new() -> Result<Self> {
        let settings = Settings::parse(Compressor::Zstd, u32::MAX, Some(LEVEL), [])
            .expect("zstd has this level");
        Ok(ParquetEncoder {
            compressor: BlockCompressor::new(&settings)?,
            position: 0,
            groups: Vec::new(),
        })
    }
}

impl Encoder for ParquetEncoder {
    fn begin(&mut self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(MAGIC);
        self.position = bytes.len() as u64;
    }

    fn group(&mut self, batch: &Batch, bytes: &mut Vec<u8>) -> Result<()> {
        let before = bytes.len();
        let mut chunks = Vec::with_capacity(COLUMNS.len());
        for column in COLUMNS {
            let start = bytes.len();
            let mut writer = ColumnWriter::new(column.content, bytes);
            for first in (0..batch.len()).step_by(PAGE_ROWS) {
                let rows = first..batch.len().min(first + PAGE_ROWS);
                writer.page(batch, rows, &mut self.compressor, bytes)?;
            }
            chunks.push(Chunk {
                position: self.position + (start - before) as u64,
                written: writer.finish(bytes.len() - start),
            });
        }
        self.groups.push(Group {
            rows: batch.len(),
            chunks,
        });
        self.position += (bytes.len() - before) as u64;
        Ok(())
    }

    fn finish(&mut self, notes: &[(&str, &str)], bytes: &mut Vec<u8>) -> Result<()> {
        let footer = file_metadata(&self.groups, notes);
        let length = u32::try_from(footer.len()).map_err(|_| {
            let reason = "its footer would be larger than 4 GiB";
            Error::Write(std::io::Error::other(reason))
        })?;
        bytes.extend(footer);
        bytes.extend_from_slice(&length.to_le_bytes());
        bytes.extend_from_slice(MAGIC);
        Ok(())
    }
}
