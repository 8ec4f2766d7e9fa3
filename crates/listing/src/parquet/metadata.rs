//! The footer of a file.

use super::page::WrittenColumn;
use super::thrift::Fields;
use crate::columns::{Content, COLUMNS};

/// Numbers of the format.
pub(super) mod numbers {
    pub(in super::super) const INT32: i32 = 1;
    pub(in super::super) const INT64: i32 = 2;
    pub(in super::super) const BYTE_ARRAY: i32 = 6;

    pub(in super::super) const PLAIN: i32 = 0;
    pub(in super::super) const RLE: i32 = 3;
    pub(in super::super) const DELTA_BINARY_PACKED: i32 = 5;
    pub(in super::super) const DELTA_BYTE_ARRAY: i32 = 7;
    pub(in super::super) const RLE_DICTIONARY: i32 = 8;

    pub(in super::super) const UNCOMPRESSED: i32 = 0;
    pub(in super::super) const ZSTD: i32 = 6;
}

use numbers::*;

/// The program that wrote the file; no version, so that the same rows give the same bytes.
const CREATED_BY: &str = "hedgerow";

/// A row group.
#[derive(Debug)]
pub(super) struct Group {
    pub rows: usize,
    pub chunks: Vec<Chunk>,
}

/// A column of a row group.
#[derive(Debug)]
pub(super) struct Chunk {
    /// Where it starts, in bytes from the start of the file.
    pub position: u64,
    pub written: WrittenColumn,
}

/// The footer of a file of these groups, with notes by name.
pub(super) fn file_metadata(groups: &[Group], notes: &[(&str, &str)]) -> Vec<u8> {
    let mut root = Fields::default();
    root.binary(4, b"schema");
    root.i32(5, COLUMNS.len() as i32);
    let columns = COLUMNS
        .iter()
        .map(|column| schema(column.name, column.content));
    let schema: Vec<Fields> = std::iter::once(root).chain(columns).collect();
    let rows: usize = groups.iter().map(|group| group.rows).sum();
    let mut file = Fields::default();
    file.i32(1, 2);
    file.structs(2, schema.into_iter());
    file.i64(3, rows as i64);
    file.structs(4, groups.iter().map(row_group));
    if !notes.is_empty() {
        file.structs(
            5,
            notes.iter().map(|(name, text)| {
                let mut note = Fields::default();
                note.binary(1, name.as_bytes());
                note.binary(2, text.as_bytes());
                note
            }),
        );
    }
    file.binary(6, CREATED_BY.as_bytes());
    // The order of a column's values, which its least and greatest follow, is that of its type.
    let orders = COLUMNS.map(|_| {
        let mut order = Fields::default();
        order.fields(1, Fields::default());
        order
    });
    file.structs(7, orders.into_iter());
    file.finish()
}

fn schema(name: &str, content: Content) -> Fields {
    let (kind, converted, logical) = types(content);
    let mut element = Fields::default();
    element.i32(1, kind);
    element.i32(3, content.may_be_missing().into());
    element.binary(4, name.as_bytes());
    if let Some(converted) = converted {
        element.i32(6, converted);
    }
    if let Some(logical) = logical {
        element.fields(10, logical);
    }
    element
}

/// The physical type, the old and the new name of the logical one.
fn types(content: Content) -> (i32, Option<i32>, Option<Fields>) {
    const UTF8: i32 = 0;
    const UINT_32: i32 = 13;
    const UINT_64: i32 = 14;
    let mut logical = Fields::default();
    match content {
        Content::Path | Content::Kind => {
            logical.fields(1, Fields::default());
            (BYTE_ARRAY, Some(UTF8), Some(logical))
        }
        Content::PathBytes => (BYTE_ARRAY, None, None),
        Content::U32(_) => {
            logical.fields(10, unsigned(32));
            (INT32, Some(UINT_32), Some(logical))
        }
        Content::U64(_) => {
            logical.fields(10, unsigned(64));
            (INT64, Some(UINT_64), Some(logical))
        }
        Content::Time(_) => {
            let mut unit = Fields::default();
            unit.fields(3, Fields::default());
            let mut timestamp = Fields::default();
            timestamp.bool(1, true);
            timestamp.fields(2, unit);
            logical.fields(8, timestamp);
            (INT64, None, Some(logical))
        }
    }
}

fn unsigned(bits: i8) -> Fields {
    let mut integer = Fields::default();
    integer.i8(1, bits);
    integer.bool(2, false);
    integer
}

fn row_group(group: &Group) -> Fields {
    let sizes = group.chunks.iter().map(|chunk| &chunk.written);
    let uncompressed: usize = sizes
        .clone()
        .map(|written| written.uncompressed_bytes)
        .sum();
    let stored: usize = sizes.map(|written| written.stored_bytes).sum();
    let position = group.chunks.first().map_or(0, |chunk| chunk.position);
    let chunks = group.chunks.iter().zip(COLUMNS);
    let mut fields = Fields::default();
    fields.structs(
        1,
        chunks.map(|(chunk, column)| {
            let mut fields = Fields::default();
            fields.i64(2, 0);
            fields.fields(
                3,
                column_metadata(chunk, column.name, column.content, group.rows),
            );
            fields
        }),
    );
    fields.i64(2, uncompressed as i64);
    fields.i64(3, group.rows as i64);
    // Readers compare paths by their bytes: in that order, "a!" is before "a/x".
    let sorted = group
        .chunks
        .iter()
        .zip(COLUMNS)
        .position(|(chunk, column)| {
            matches!(column.content, Content::Path) && chunk.written.is_sorted
        });
    if let Some(column) = sorted {
        let mut sorting = Fields::default();
        sorting.i32(1, column as i32);
        sorting.bool(2, false);
        sorting.bool(3, false);
        fields.structs(4, std::iter::once(sorting));
    }
    fields.i64(5, position as i64);
    fields.i64(6, stored as i64);
    fields
}

fn column_metadata(chunk: &Chunk, name: &str, content: Content, rows: usize) -> Fields {
    let written = &chunk.written;
    let mut fields = Fields::default();
    fields.i32(1, types(content).0);
    fields.i32s(2, encodings(content));
    fields.binaries(3, &[name.as_bytes()]);
    fields.i32(4, codec(content));
    fields.i64(5, rows as i64);
    fields.i64(6, written.uncompressed_bytes as i64);
    fields.i64(7, written.stored_bytes as i64);
    fields.i64(9, (chunk.position + written.dictionary_bytes as u64) as i64);
    if written.dictionary_bytes > 0 {
        fields.i64(11, chunk.position as i64);
    }
    let mut statistics = Fields::default();
    if content.may_be_missing() {
        statistics.i64(3, written.missing as i64);
    } else {
        statistics.i64(3, 0);
    }
    if let Some(bounds) = &written.bounds {
        statistics.binary(5, &bounds.greatest);
        statistics.binary(6, &bounds.least);
        statistics.bool(7, bounds.greatest_is_exact);
        statistics.bool(8, bounds.least_is_exact);
    }
    fields.fields(12, statistics);
    fields
}

/// How the values of a column are encoded; the first is that of the data pages.
pub(super) fn encodings(content: Content) -> &'static [i32] {
    match content {
        Content::Path => &[DELTA_BYTE_ARRAY],
        Content::PathBytes => &[PLAIN, RLE],
        Content::Kind => &[RLE_DICTIONARY, PLAIN],
        Content::U32(_) | Content::U64(_) => &[DELTA_BINARY_PACKED],
        Content::Time(_) => &[DELTA_BINARY_PACKED, RLE],
    }
}

/// How the pages of a column are compressed.
pub(super) fn codec(content: Content) -> i32 {
    match content {
        // A dictionary could only be compressed together with the others.
        Content::Kind => UNCOMPRESSED,
        _ => ZSTD,
    }
}
