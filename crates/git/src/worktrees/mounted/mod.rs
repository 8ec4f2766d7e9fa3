//! Working trees that are mounted: an image of a tree below, a layer for the changes above.
//!
//! An image holds what a checkout writes (`images`), named by the tree and by all settings that this
//! depends on (`fingerprint`). Its index is made of the numbers that it holds (`index`). The layers
//! of a working tree are in its administrative directory, which is locked, so that neither
//! `git worktree prune` nor `git worktree remove` takes the changes for leftovers (`attach`).

mod ahead;
mod attach;
mod compare;
mod fill;
mod fingerprint;
mod held;
mod images;
mod index;
mod maker;
mod plain;
mod store;
mod watch;
mod wish;

pub(crate) use attach::{
    drop_plain_link, move_top, point_to_top, refuse_within_unmounted, release, release_image,
    release_unused, remove_held,
};
pub(crate) use fill::{fill, put_on_image, take_off_image, Checkout, OnImage};
pub(crate) use held::{
    changes, hold, layers_of, lock_admin, lock_half_made, lock_place, unmounted_top, Held,
    INITIALIZING, LAYERS, LOCK_REASON,
};
pub(crate) use images::{read_index, recorded_store, stored_index};
pub(crate) use watch::is_hook;
pub(crate) use wish::{mount_wish, required, Wish};

pub use attach::{mount, unmount, Attached, VisitAttached};
pub use maker::{ImageError, ImageMaker, ImageNodes};
pub use plain::{mount_revision, unmount_revision};
pub use store::{list_images, make_images, prune_images, verify_images, ImageCheck, ImageUse};
