//! Packs and what belongs to them: the commands about them, in git's words.

pub mod bitmap;
pub mod cat_file;
pub mod index_pack;
pub mod maintenance;
pub mod multi_pack_index;
pub mod pack_objects;
mod pack_progress;
pub mod repack;
pub mod rev_list;
pub mod reverse_index;
pub mod upload_pack_hook;
pub mod verify_pack;
mod watcher;
