//! Replaces packs by others: git-repack(1). A repack is a [`Plan`], made before anything is
//! changed, and its execution, which deletes the replaced packs when the new ones, with their
//! indexes and bitmaps, are in place.

mod cruft;
mod existing;
mod finish;
mod geometric;
mod midx;
mod plan;
mod prune;
mod race;
mod request;
mod server_info;
mod settings;

pub use cruft::Ages;
pub use existing::{count_loose, ExistingPack, ExistingPacks, Role};
pub use finish::carry_out;
pub use geometric::{divide, members};
pub use plan::{has_promisor_remote, NewPack, NewRole, PackFate, Plan};
pub use request::Request;
pub use settings::{Extent, Settings, Unreachable, WriteBitmaps};
