//! What every source and sink of hedgerow speaks: kinds of entries, the rules that a name must
//! keep before it may become a path on disk, the canonical order, and the grouping of an ordered
//! list of paths by directory.
//!
//! This crate knows no format and makes no system call.

mod dot_git;
mod entry;
mod kind;
mod layout;
mod name;
mod node;
mod order;
mod source;
mod split;

pub use dot_git::{is_any_dot_git, is_dot_file, DotFile};
pub use entry::{Entry, Metadata, NodeKind};
pub use kind::EntryKind;
pub use layout::{Directory, Layout};
pub use name::{check_name, check_path, NameError, NameRules};
pub use node::{Content, Defaults, Handle, Node, NodeError, Xattr};
pub use order::canonical_order;
pub use source::{Omission, TreeSource};
pub use split::split_path;
