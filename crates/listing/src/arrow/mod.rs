//! Listings as Arrow's IPC streams and files, with one record batch for each group of rows.
//!
//! The format is described in Arrow's documentation, "Columnar format", and its messages in the
//! files `Message.fbs`, `Schema.fbs` and `File.fbs` there.

mod flatbuffer;

use crate::columns::{bytes, text, Content, COLUMNS};
use crate::row::{Attributes, Batch, KINDS};
use crate::write::Encoder;
use crate::Result;
use flatbuffer::{Builder, Place, Value};

const MAGIC: &[u8; 6] = b"ARROW1";
/// Begins every message.
const CONTINUATION: [u8; 4] = [0xff; 4];
/// Buffers are aligned to this many bytes, as Arrow recommends.
const ALIGNMENT: usize = 64;

/// Version 5 of the metadata.
const VERSION: i16 = 4;
/// What a message is.
const SCHEMA: u8 = 1;
const RECORD_BATCH: u8 = 3;
/// Types of columns.
const INT: u8 = 2;
const BINARY: u8 = 4;
const UTF8: u8 = 5;
const TIMESTAMP: u8 = 10;
const NANOSECONDS: i16 = 3;

/// Encodes record batches. The state is what the end of a file needs.
pub(crate) struct ArrowEncoder {
    is_file: bool,
    position: u64,
    /// Position, length of the metadata, and length of the body of each batch.
    blocks: Vec<[i64; 3]>,
}

impl ArrowEncoder {
    /// For a file, which has a table of its batches at the end, or for a stream.
    pub(crate) fn new(is_file: bool) -> Self {
        ArrowEncoder {
            is_file,
            position: 0,
            blocks: Vec::new(),
        }
    }
}

impl Encoder for ArrowEncoder {
    fn begin(&mut self, bytes: &mut Vec<u8>) {
        if self.is_file {
            bytes.extend_from_slice(MAGIC);
            bytes.extend_from_slice(&[0; 2]);
        }
        let mut builder = Builder::default();
        let schema = schema(&mut builder);
        append_message(builder, (SCHEMA, schema), &[], bytes);
        self.position = bytes.len() as u64;
    }

    fn group(&mut self, batch: &Batch, bytes: &mut Vec<u8>) -> Result<()> {
        let mut body = Body::default();
        for column in COLUMNS {
            body.column(batch, column.content);
        }
        let mut builder = Builder::default();
        let nodes = builder.structs(&body.nodes);
        let buffers = builder.structs(&body.buffers);
        let header = builder.table(&[
            (0, Value::I64(batch.len() as i64)),
            (1, Value::At(nodes)),
            (2, Value::At(buffers)),
        ]);
        let before = bytes.len();
        append_message(builder, (RECORD_BATCH, header), &body.bytes, bytes);
        let length = bytes.len() - before;
        let metadata = length - body.bytes.len();
        let block = [
            self.position as i64,
            metadata as i64,
            body.bytes.len() as i64,
        ];
        self.blocks.push(block);
        self.position += length as u64;
        Ok(())
    }

    fn finish(&mut self, _: &[(&str, &str)], bytes: &mut Vec<u8>) -> Result<()> {
        bytes.extend_from_slice(&CONTINUATION);
        bytes.extend_from_slice(&[0; 4]);
        if !self.is_file {
            return Ok(());
        }
        let mut builder = Builder::default();
        let batches = builder.structs(&self.blocks);
        let dictionaries = builder.structs::<3>(&[]);
        let schema = schema(&mut builder);
        let footer = builder.table(&[
            (0, Value::I16(VERSION)),
            (1, Value::At(schema)),
            (2, Value::At(dictionaries)),
            (3, Value::At(batches)),
        ]);
        let footer = builder.finish(footer);
        bytes.extend_from_slice(&footer);
        bytes.extend_from_slice(&(footer.len() as u32).to_le_bytes());
        bytes.extend_from_slice(MAGIC);
        Ok(())
    }
}

fn append_message(
    mut builder: Builder,
    (kind, header): (u8, Place),
    body: &[u8],
    bytes: &mut Vec<u8>,
) {
    let message = builder.table(&[
        (0, Value::I16(VERSION)),
        (1, Value::U8(kind)),
        (2, Value::At(header)),
        (3, Value::I64(body.len() as i64)),
    ]);
    let message = builder.finish(message);
    bytes.extend_from_slice(&CONTINUATION);
    bytes.extend_from_slice(&(message.len() as u32).to_le_bytes());
    bytes.extend_from_slice(&message);
    bytes.extend_from_slice(body);
}

fn schema(builder: &mut Builder) -> Place {
    let fields = COLUMNS.map(|column| {
        let (kind, of_kind) = column_type(builder, column.content);
        let children = builder.objects(&[]);
        let name = builder.string(column.name);
        builder.table(&[
            (0, Value::At(name)),
            (1, Value::U8(column.content.may_be_missing().into())),
            (2, Value::U8(kind)),
            (3, Value::At(of_kind)),
            (5, Value::At(children)),
        ])
    });
    let fields = builder.objects(&fields);
    builder.table(&[(0, Value::I16(0)), (1, Value::At(fields))])
}

fn column_type(builder: &mut Builder, content: Content) -> (u8, Place) {
    let mut unsigned = |bits| builder.table(&[(0, Value::I32(bits)), (1, Value::U8(0))]);
    match content {
        Content::U32(_) => (INT, unsigned(32)),
        Content::U64(_) => (INT, unsigned(64)),
        Content::Path | Content::Kind => (UTF8, builder.table(&[])),
        Content::PathBytes => (BINARY, builder.table(&[])),
        Content::Time(_) => {
            let zone = builder.string("UTC");
            let unit = Value::I16(NANOSECONDS);
            (TIMESTAMP, builder.table(&[(0, unit), (1, Value::At(zone))]))
        }
    }
}

/// The body of a record batch.
#[derive(Debug, Default)]
struct Body {
    bytes: Vec<u8>,
    /// Length and number of missing values of each column.
    nodes: Vec<[i64; 2]>,
    /// Position and length of each buffer.
    buffers: Vec<[i64; 2]>,
}

impl Body {
    fn column(&mut self, batch: &Batch, content: Content) {
        let rows = || (0..batch.len()).map(|number| batch.row(number));
        match content {
            Content::Path => {
                let texts = rows().map(|row| Some(text(&row).into_owned().into_bytes()));
                self.strings(texts);
            }
            Content::PathBytes => self.strings(rows().map(|row| bytes(&row).map(<[u8]>::to_vec))),
            Content::Kind => self.strings(rows().map(|row| {
                let kind = row.attributes.kind;
                let found = KINDS.iter().find(|(other, _)| *other == kind);
                found.map(|(_, word)| word.as_bytes().to_vec())
            })),
            Content::U32(field) => {
                self.numbers(batch, |row| Some((field.get)(row)), u32::to_le_bytes)
            }
            Content::U64(field) => {
                self.numbers(batch, |row| Some((field.get)(row)), u64::to_le_bytes)
            }
            Content::Time(field) => self.numbers(batch, field.get, i64::to_le_bytes),
        }
    }

    fn numbers<T: Default, const N: usize>(
        &mut self,
        batch: &Batch,
        get: impl Fn(&Attributes) -> Option<T>,
        encode: fn(T) -> [u8; N],
    ) {
        let values = || (0..batch.len()).map(|number| get(&batch.row(number).attributes));
        self.levels(values().map(|value| value.is_some()));
        let start = self.bytes.len();
        for value in values() {
            self.bytes.extend(encode(value.unwrap_or_default()));
        }
        self.end_buffer(start);
    }

    fn strings(&mut self, strings: impl Iterator<Item = Option<Vec<u8>>>) {
        let strings: Vec<Option<Vec<u8>>> = strings.collect();
        self.levels(strings.iter().map(Option::is_some));
        let start = self.bytes.len();
        let mut end = 0i32;
        self.bytes.extend(end.to_le_bytes());
        for string in &strings {
            end += string.as_ref().map_or(0, Vec::len) as i32;
            self.bytes.extend(end.to_le_bytes());
        }
        self.end_buffer(start);
        let start = self.bytes.len();
        for string in strings.iter().flatten() {
            self.bytes.extend_from_slice(string);
        }
        self.end_buffer(start);
    }

    /// Appends which values are there; nothing if all are.
    fn levels(&mut self, present: impl Iterator<Item = bool>) {
        let present: Vec<bool> = present.collect();
        let missing = present.iter().filter(|present| !**present).count();
        self.nodes.push([present.len() as i64, missing as i64]);
        let start = self.bytes.len();
        if missing > 0 {
            for group in present.chunks(8) {
                let bits = group.iter().zip(0..);
                self.bytes
                    .push(bits.fold(0, |byte, (present, bit)| byte | u8::from(*present) << bit));
            }
        }
        self.end_buffer(start);
    }

    fn end_buffer(&mut self, start: usize) {
        self.buffers
            .push([start as i64, (self.bytes.len() - start) as i64]);
        self.bytes
            .resize(self.bytes.len().next_multiple_of(ALIGNMENT), 0);
    }
}
