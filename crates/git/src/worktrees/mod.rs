//! The working trees of a repository: git-worktree(1).
//!
//! Each has its administrative directory below `worktrees` in the common one. A file there names
//! the `.git` file of the working tree, which names that directory (`links`).

mod add;
mod candidate;
mod copied_settings;
mod half_made;
mod links;
mod list;
mod lock;
pub(crate) mod mounted;
mod own_settings;
mod populate;
mod prune;
mod relocate;
mod remove;
mod repair;
mod request;
pub(crate) mod tree_removal;
mod words;

pub(crate) use links::write_line;
pub(crate) use mounted::unmounted_top;
pub(crate) use words::relative;

pub use add::{add, add_with_images, AddFailure, AddOptions, AddStage, Added, NewBranchName};
pub use list::{WorkingTree, WorktreeHead};
pub use lock::{lock, unlock};
pub use mounted::{
    list_images, make_images, mount, mount_revision, prune_images, unmount, unmount_revision,
    verify_images, Attached, ImageCheck, ImageError, ImageMaker, ImageNodes, ImageUse,
    VisitAttached,
};
pub use prune::{prune, Pruned};
pub use relocate::{relocate, MoveOptions};
pub use remove::{remove, RemoveOptions};
pub use repair::{repair, Repair};
pub use request::{Notice, Preparing};
pub use words::GivenPath;
