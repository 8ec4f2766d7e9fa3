//! What the formats of several files have in common: mapping, numbers, the table of ids, the hash at
//! the end, and the notes of what was found right.

pub(crate) mod big_endian;
pub(crate) mod hashed_file;
pub(crate) mod id_table;
pub(crate) mod verified;
