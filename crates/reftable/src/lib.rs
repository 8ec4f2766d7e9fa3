//! Tables of references: the reftable format of git's Documentation/technical/reftable.
//!
//! A *table* is an immutable file of references and of entries of their logs, sorted by name. A
//! *stack* is a list of tables, of which the newest that has a name wins; a table may say that a
//! name is deleted. This crate reads tables ([`Table`]), merges stacks of them ([`merged_refs`],
//! [`merged_logs`]), writes tables ([`TableWriter`]) and decides which are to become one
//! ([`tables_to_compact`]).
//!
//! It knows no file and makes no system call: bytes come through [`TableBytes`]. It trusts none of
//! them. Reading a table of n bytes, once or for one name, costs at most [`COST_LIMIT`] times n, in
//! bytes that are looked at, made or held.

mod block;
mod cursor;
mod error;
mod header;
mod merged;
mod record;
mod stack;
mod table;
#[cfg(test)]
mod tests;
mod writer;

pub use cursor::{LogCursor, RefCursor};
pub use error::{Error, Result};
pub use merged::{merged_logs, merged_refs, MergedLogs, MergedRefs};
pub use record::{LogRecord, LogUpdate, RefRecord, RefTarget};
pub use stack::{parse_list, table_name, tables_to_compact};
pub use table::{Table, TableBytes};
pub use writer::{TableWriter, WriterOptions, LARGEST_BLOCK_SIZE};

/// The longest name of a reference, in bytes; a table with a longer one is refused. git writes no
/// name that is longer than a block, of 4096 bytes where nothing else is set; nor is there a path
/// of that length in which the file of a reference could be.
pub const NAME_LIMIT: usize = 4096;

/// What a table of one byte may cost: three bytes of a block that inflates by at most 1032 make the
/// name of a record, which has at most [`NAME_LIMIT`] bytes.
pub const COST_LIMIT: u64 = 1032 * NAME_LIMIT as u64 / 3;
