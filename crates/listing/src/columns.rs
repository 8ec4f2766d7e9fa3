//! The columns of a listing, the same in both formats.

use crate::row::{Attributes, Row};
use std::borrow::Cow;

/// A column: its name, and what is in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    pub name: &'static str,
    pub content: Content,
}

/// What is in a column.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Content {
    /// The path as text; bytes that are not UTF-8 are replaced.
    Path,
    /// The path in bytes, only where it is not UTF-8.
    PathBytes,
    /// The kind, as a word.
    Kind,
    U32(Field<u32>),
    U64(Field<u64>),
    /// A time in nanoseconds since the epoch, in UTC.
    Time(Field<Option<i64>>),
}

/// How a value is taken out of the attributes, and put there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field<T> {
    pub get: fn(&Attributes) -> T,
    pub set: fn(&mut Attributes, T),
}

macro_rules! field {
    ($name:ident) => {
        Field {
            get: |attributes| attributes.$name,
            set: |attributes, value| attributes.$name = value,
        }
    };
}

impl Content {
    pub(crate) fn may_be_missing(self) -> bool {
        matches!(self, Content::PathBytes | Content::Time(_))
    }
}

pub(crate) const COLUMNS: [Column; 15] = [
    column("path", Content::Path),
    column("path_bytes", Content::PathBytes),
    column("type", Content::Kind),
    column("mode", Content::U32(field!(mode))),
    column("nlink", Content::U64(field!(nlink))),
    column("uid", Content::U32(field!(uid))),
    column("gid", Content::U32(field!(gid))),
    column("size_bytes", Content::U64(field!(size_bytes))),
    column("mtime", Content::Time(field!(mtime_ns))),
    column("ctime", Content::Time(field!(ctime_ns))),
    column("atime", Content::Time(field!(atime_ns))),
    column("ino", Content::U64(field!(ino))),
    column("dev", Content::U64(field!(dev))),
    column("rdev", Content::U64(field!(rdev))),
    column("blocks", Content::U64(field!(blocks))),
];

const fn column(name: &'static str, content: Content) -> Column {
    Column { name, content }
}

/// The path of a row as text.
pub(crate) fn text<'a>(row: &Row<'a>) -> Cow<'a, str> {
    String::from_utf8_lossy(row.path)
}

/// The path of a row, if it is not UTF-8.
pub(crate) fn bytes<'a>(row: &Row<'a>) -> Option<&'a [u8]> {
    std::str::from_utf8(row.path).is_err().then_some(row.path)
}
