//! Moves a branch forward to another commit, and shows what that changed: git-merge(1) as far as no
//! commit has to be made.
//!
//! Nothing is changed before all checks are done. A merge that is refused is a [`MergeOutcome`], not
//! an error.
//!
//! ```no_run
//! use hedgerow::merge::{merge, FastForward, MergeOptions, MergeOutcome, MergeRequest};
//!
//! # use hedgerow::{Environment, Repository};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = std::path::absolute(".")?;
//! # let environment = Environment::from_vars(std::env::vars_os(), directory)?;
//! # let repository = Repository::discover(&environment)?;
//! let Ok(request) = MergeRequest::parse(&repository, &["origin/main".into()])? else {
//!     return Ok(());
//! };
//! let options = MergeOptions {
//!     fast_forward: FastForward::Only,
//!     ..MergeOptions::default()
//! };
//! match merge(&repository, &request, &options)? {
//!     MergeOutcome::Done(merged) => println!("now at {}", merged.new),
//!     MergeOutcome::UpToDate(_) => println!("nothing to do"),
//!     _ => println!("refused"),
//! }
//! # Ok(())
//! # }
//! ```

pub use hedgerow_git::branches::Ended;
pub use hedgerow_git::checkout::{Done, Reason, Rejects};
pub use hedgerow_git::diffstat::{
    check as check_diffstat, colors as diffstat_colors, diffstat, DiffstatOptions, Widths,
};
pub use hedgerow_git::fast_forward::{
    merge, merge_hindrance, FastForward, FastForwarded, MergeHead, MergeHindrance, MergeOptions,
    MergeOutcome, MergeRequest, Unmergeable,
};
