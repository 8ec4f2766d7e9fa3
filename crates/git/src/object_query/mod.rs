//! Lines about objects, and their contents, for many objects one after the other: the batch modes of
//! git-cat-file(1).
//!
//! An [`ObjectQuery`] says what is written of an object. [`write_all_objects`] writes it of all that a
//! repository has, [`NamedObjects`] of those that somebody names, in turn.

mod all;
mod format;
mod line;
mod named;
mod output;

pub use all::write_all_objects;
pub use format::Format;
pub use named::{find_object, has_object, NamedObjects};
pub use output::{push_hex, push_number, OutputStream};

use hedgerow_pack::ObjectKind;
use hedgerow_reach::Filter;

/// What is written of each object.
#[derive(Debug)]
pub struct ObjectQuery {
    /// The format of the line.
    pub format: Format,
    /// Whether the content follows the line.
    pub contents: bool,
    /// Whether output is written when enough has gathered, not after each object.
    pub is_buffered: bool,
    /// Whether symbolic links in `REVISION:PATH` are followed.
    pub follows_links: bool,
    /// The byte that ends lines and contents.
    pub line_end: u8,
    /// What is left out: a filter of which [`ObjectQuery::supports`] is true.
    pub filter: Option<Filter>,
}

impl ObjectQuery {
    /// Whether `filter` can be judged from an object alone, without what leads to it.
    pub fn supports(filter: &Filter) -> bool {
        matches!(
            filter,
            Filter::BlobNone | Filter::BlobLimit(_) | Filter::Kind(_)
        )
    }

    /// Whether the filter leaves out an object.
    fn leaves_out(&self, kind: ObjectKind, size: u64) -> bool {
        match &self.filter {
            Some(Filter::BlobNone) => kind == ObjectKind::Blob,
            Some(Filter::BlobLimit(limit)) => kind == ObjectKind::Blob && size >= *limit,
            Some(Filter::Kind(wanted)) => kind != *wanted,
            _ => false,
        }
    }

    fn needs_kind(&self) -> bool {
        self.format.needs.kind || self.contents || self.filter.is_some()
    }

    fn needs_size(&self) -> bool {
        self.format.needs.size || matches!(self.filter, Some(Filter::BlobLimit(_)))
    }
}
