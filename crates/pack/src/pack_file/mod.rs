//! A pack and the files that belong to it: its entries, its index, its reverse index, the times of
//! its objects.

pub(crate) mod entry;
pub(crate) mod index;
pub(crate) mod index_writer;
pub(crate) mod mtimes;
pub(crate) mod pack;
pub(crate) mod pack_order;
pub(crate) mod raw_entries;
pub(crate) mod reverse;
pub(crate) mod reverse_writer;
pub(crate) mod sidecars;
pub(crate) mod sizes;
mod sort;
