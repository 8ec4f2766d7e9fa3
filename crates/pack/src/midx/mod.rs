//! The multi-pack-index: one sorted table of ids for many packs, in the format of
//! gitformat-pack(5).

mod bitmapped;
mod chunks;
mod encode;
mod expire;
mod layers;
mod order;
mod read;
mod refusal;
mod remove;
mod repack;
mod select;
mod source;
mod split;
mod verify;
mod write;

pub(crate) use bitmapped::PseudoPackOrder;
pub use expire::expire_midx_packs;
pub(crate) use layers::{failed, Layers, Loaded, PLAIN_NAME};
pub(crate) use order::pseudo_pack_order;
pub(crate) use read::MultiPackIndex;
pub use remove::{midx_packs, remove_midx};
pub use repack::midx_objects_to_repack;
pub(crate) use select::Row;
pub use verify::{verify_midx, MidxComplaint};
pub use write::{write_midx, MidxOptions, WrittenMidx};
