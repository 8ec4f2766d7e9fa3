//! Branches of a repository: creating and switching them, what they follow, how far they are from
//! it, and what a switch ends.

mod branch;
mod branch_state;
mod comparisons;
mod current;
mod head;
mod history;
mod remote;

pub(crate) use branch::is_branch_name;
pub use branch::{NewBranch, RemoteMatch};
pub use branch_state::Ended;
pub use comparisons::Comparison;
pub use current::CurrentBranch;
pub use head::HeadTarget;
pub use history::{Orphans, Relation, Tracking};
pub use remote::Upstream;
