//! Writable trees over read-only images.
//!
//! ```text
//! STORE/NAME.erofs        an image, and beside it what its maker keeps: ImageStore
//!     |                   mounted, read-only
//! MOUNTS/NAME/            one mount for all trees on it: Base
//!     |                   the lower layer of an overlay
//! DIRECTORY/upper         the changes, and DIRECTORY/image, which names the image: LayeredTree
//!     |                   mounted
//! TOP/                    the tree; while it is not mounted, a sign that says so: sign
//! ```
//!
//! This crate knows no Git: names of images are words, and whoever makes an image is a closure.
//! Images are never changed. They are removed by [`ImageStore::prune`] when no tree names them.

mod base;
mod changes;
mod error;
mod kind;
mod lock;
mod lost;
mod news;
mod permission;
mod sign;
mod state;
mod store;
mod tree;

pub use base::{Base, Lower};
pub use changes::LayerChanges;
pub use error::{Error, Result};
pub use kind::ImageKind;
pub use lock::TreeLock;
pub use lost::{lost_trees, LostTree};
pub use news::LayerNews;
pub use permission::{hindrance, Hindrance};
pub use sign::{sign_directory, SIGN_EXTENSION};
pub use state::TreeState;
pub use store::{ImageName, ImageStore, Maker, Making, MountedImages, StoredImage};
pub use tree::LayeredTree;
