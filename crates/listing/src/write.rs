//! Writes the rows of a listing in one of the formats.

use crate::arrow::ArrowEncoder;
use crate::output::Output;
use crate::parquet::ParquetEncoder;
use crate::row::{Batch, Row};
use crate::Result;

/// A group of rows that is encoded together has at most this many rows, and is not begun with more
/// bytes of paths than this: so memory is bounded, and the bytes depend on the rows alone.
const GROUP_ROWS: usize = 128 << 10;
const GROUP_BYTES: usize = 16 << 20;

/// A format of listings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A Parquet file.
    Parquet,
    /// A file of Arrow's IPC format, also called Feather V2.
    Arrow,
    /// A stream of Arrow's IPC format, for pipes.
    ArrowStream,
}

/// Encodes groups of rows; every call appends what comes next in the file.
pub(crate) trait Encoder: Send {
    fn begin(&mut self, bytes: &mut Vec<u8>);
    fn group(&mut self, batch: &Batch, bytes: &mut Vec<u8>) -> Result<()>;
    /// The end, with notes by name where the format has a place for them.
    fn finish(&mut self, notes: &[(&str, &str)], bytes: &mut Vec<u8>) -> Result<()>;
}

/// Writes a listing, row by row, in at most some ten megabytes of memory.
pub struct Writer {
    output: Output,
    encoder: Box<dyn Encoder>,
    batch: Batch,
    bytes: Vec<u8>,
    rows: u64,
}

impl Writer {
    /// Begins a listing.
    pub fn new(output: Output, format: Format) -> Result<Self> {
        let mut encoder: Box<dyn Encoder> = match format {
            Format::Parquet => Box::new(ParquetEncoder::new()?),
            Format::Arrow => Box::new(ArrowEncoder::new(true)),
            Format::ArrowStream => Box::new(ArrowEncoder::new(false)),
        };
        let mut bytes = Vec::new();
        encoder.begin(&mut bytes);
        Ok(Writer {
            output,
            encoder,
            batch: Batch::default(),
            bytes,
            rows: 0,
        })
    }

    /// Adds a row. Rows must come in canonical order.
    pub fn push(&mut self, row: &Row<'_>) -> Result<()> {
        self.batch.push(row);
        self.rows += 1;
        if self.batch.len() >= GROUP_ROWS || self.batch.path_bytes() >= GROUP_BYTES {
            self.write_group()?;
        }
        Ok(())
    }

    /// Writes the end, and gives the file its name. Returns the number of rows.
    pub fn finish(self) -> Result<u64> {
        self.finish_with(&[])
    }

    pub(crate) fn finish_with(mut self, notes: &[(&str, &str)]) -> Result<u64> {
        if !self.batch.is_empty() {
            self.write_group()?;
        }
        self.encoder.finish(notes, &mut self.bytes)?;
        self.output.append(&self.bytes)?;
        self.output.finish()?;
        Ok(self.rows)
    }

    fn write_group(&mut self) -> Result<()> {
        self.encoder.group(&self.batch, &mut self.bytes)?;
        self.output.append(&self.bytes)?;
        self.bytes.clear();
        self.batch.clear();
        Ok(())
    }
}
