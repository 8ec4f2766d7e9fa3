//! Commands about packs.

pub mod object_list;
pub mod pack_objects;
