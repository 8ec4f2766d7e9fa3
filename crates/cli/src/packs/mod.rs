//! Packs: the commands about them, in git's words.

pub mod fsync;
pub mod index_pack;
pub mod index_progress;
pub mod reverse_index;
pub mod strict;
pub mod surroundings;
pub mod verify_pack;
