//! The inputs of reachability queries in a repository: where walks read, which objects are roots,
//! and the notation for commits and objects (gitrevisions(7)).

mod arguments;
mod documents;
mod hindrances;
mod request_options;
mod roots;
mod sources;
mod supply;

pub use arguments::RevisionArguments;
pub use documents::{push_commit, push_marked, push_missing, push_object};
pub use hindrances::Hindrance;
pub use request_options::request_option;
pub use roots::{exists, Roots};
pub use sources::{bitmaps, is_grafted, Sources};
pub use supply::supply;
