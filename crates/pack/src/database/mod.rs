//! The object database: which packs and object directories there are, and where an object is.

pub(crate) mod alternates;
mod directory_state;
pub(crate) mod generation;
mod locate;
mod loose_objects;
pub(crate) mod main_pack;
mod on_disk;
pub(crate) mod options;
mod packs;
mod prefix;
mod relist;
pub(crate) mod store;
