//! What tables hold: references, and entries of their logs.

use bstr::{BStr, BString, ByteSlice};
use gix_hash::ObjectId;

/// A reference as a table has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefRecord {
    /// The full name.
    pub name: BString,
    /// The number of the change that made it this.
    pub update_index: u64,
    /// What it is.
    pub target: RefTarget,
}

/// What a reference is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RefTarget {
    /// It was deleted: what older tables say does not count.
    Deleted,
    /// An object.
    Id(ObjectId),
    /// A tag, and the object that it leads to.
    Peeled(ObjectId, ObjectId),
    /// The full name of another reference.
    Symbolic(BString),
}

/// An entry of the log of a reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogRecord {
    /// The full name of the reference.
    pub name: BString,
    /// The number of the change: a higher one is newer.
    pub update_index: u64,
    /// What happened; `None` if the entry was deleted, whatever older tables say.
    pub update: Option<LogUpdate>,
}

/// A change that a log tells of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogUpdate {
    /// The object it was before; null for none.
    pub old: ObjectId,
    /// The object it became; null for none. If both are null, nothing happened, and the entry says
    /// only that there is a log.
    pub new: ObjectId,
    /// The name of whoever did it.
    pub name: BString,
    /// The mail address, without `<` and `>`.
    pub email: BString,
    /// Seconds since the epoch.
    pub seconds: u64,
    /// The zone as git writes it, a decimal number: -330 is three and a half hours west. (The
    /// document of the format speaks of minutes. No writer of git stores those.)
    pub zone: i16,
    /// Why, with the end of the line.
    pub message: BString,
}

impl LogUpdate {
    /// Whether it only says that there is a log.
    pub fn is_marker(&self) -> bool {
        self.old.is_null() && self.new.is_null()
    }
}

impl LogRecord {
    /// Its place in a table.
    pub(crate) fn key(&self) -> Vec<u8> {
        log_key(self.name.as_bstr(), self.update_index)
    }
}

/// The place of the entry `update_index` of the log of `name`: newer ones come first.
pub(crate) fn log_key(name: &BStr, update_index: u64) -> Vec<u8> {
    [name.as_bytes(), b"\0", &(!update_index).to_be_bytes()].concat()
}

/// The name and the update index in `key`.
pub(crate) fn split_log_key(key: &[u8]) -> Option<(&BStr, u64)> {
    let (rest, index) = key.split_last_chunk::<8>()?;
    let name = rest.strip_suffix(b"\0")?;
    Some((name.as_bstr(), !u64::from_be_bytes(*index)))
}
