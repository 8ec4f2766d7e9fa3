//! The columns of a walk.

use arrow_array::{
    ArrayRef, BinaryArray, RecordBatch, StringArray, TimestampNanosecondArray, UInt32Array,
    UInt64Array,
};
use arrow_buffer::{Buffer, OffsetBuffer};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef, TimeUnit};
use hedgerow::walk::{RowBatch, KINDS};
use std::sync::Arc;

/// The columns without a stat, and those with one: the types are those of listings in files, so that
/// tables of both can be joined.
pub(crate) fn schema(stat: bool) -> SchemaRef {
    let time = || DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into()));
    let mut fields = vec![
        Field::new("path", DataType::Utf8, false),
        Field::new("path_bytes", DataType::Binary, true),
        Field::new("type", DataType::Utf8, false),
    ];
    if stat {
        fields.extend([
            Field::new("mode", DataType::UInt32, false),
            Field::new("nlink", DataType::UInt64, false),
            Field::new("uid", DataType::UInt32, false),
            Field::new("gid", DataType::UInt32, false),
            Field::new("size_bytes", DataType::UInt64, false),
            Field::new("mtime", time(), true),
            Field::new("ctime", time(), true),
            Field::new("atime", time(), true),
            Field::new("ino", DataType::UInt64, false),
            Field::new("dev", DataType::UInt64, false),
            Field::new("rdev", DataType::UInt64, false),
            Field::new("blocks", DataType::UInt64, false),
        ]);
    }
    Arc::new(Schema::new(fields))
}

/// The rows as a record batch. Columns are not copied, except paths that are not UTF-8.
pub(crate) fn record_batch(schema: &SchemaRef, rows: RowBatch) -> Result<RecordBatch, ArrowError> {
    let count = rows.len();
    let mut ends = Vec::with_capacity(count + 1);
    ends.push(0);
    ends.extend_from_slice(&rows.ends);
    let offsets = OffsetBuffer::new(ends.into());
    let paths = Buffer::from_vec(rows.paths);
    let (text, bytes): (ArrayRef, ArrayRef) =
        match StringArray::try_new(offsets.clone(), paths.clone(), None) {
            Ok(text) => (Arc::new(text), Arc::new(BinaryArray::new_null(count))),
            Err(_) => {
                let paths = BinaryArray::try_new(offsets, paths, None)?;
                let text = (0..count).map(|row| String::from_utf8_lossy(paths.value(row)));
                let text = StringArray::from_iter_values(text);
                let odd = (0..count).map(|row| {
                    let path = paths.value(row);
                    std::str::from_utf8(path).is_err().then_some(path)
                });
                (Arc::new(text), Arc::new(odd.collect::<BinaryArray>()))
            }
        };
    let kinds = rows.kinds.iter().map(|number| KINDS[*number as usize].1);
    let kinds = StringArray::from_iter_values(kinds);
    let mut columns: Vec<ArrayRef> = vec![text, bytes, Arc::new(kinds)];
    let time = |values: Vec<Option<i64>>| -> ArrayRef {
        Arc::new(TimestampNanosecondArray::from(values).with_timezone("UTC"))
    };
    let stats = rows.stats;
    if schema.fields().len() > columns.len() {
        columns.extend([
            Arc::new(UInt32Array::from(stats.mode)) as ArrayRef,
            Arc::new(UInt64Array::from(stats.nlink)),
            Arc::new(UInt32Array::from(stats.uid)),
            Arc::new(UInt32Array::from(stats.gid)),
            Arc::new(UInt64Array::from(stats.size_bytes)),
            time(stats.mtime),
            time(stats.ctime),
            time(stats.atime),
            Arc::new(UInt64Array::from(stats.ino)),
            Arc::new(UInt64Array::from(stats.dev)),
            Arc::new(UInt64Array::from(stats.rdev)),
            Arc::new(UInt64Array::from(stats.blocks)),
        ]);
    }
    RecordBatch::try_new(schema.clone(), columns)
}
