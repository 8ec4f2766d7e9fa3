//! Moves a working tree: to another branch or commit ([`switch`]), or some of its paths to their
//! state in the index or a tree ([`checkout_paths`]).
//!
//! Nothing is changed before all checks are done. A refused checkout is an [`Outcome`], not an
//! error. See `examples/checkout.rs`.
//!
//! ```no_run
//! use hedgerow::checkout::{
//!     checkout_paths, switch, Outcome, PathOptions, PathOutcome, Request, RequestOptions, SwitchOptions,
//!     Target,
//! };
//!
//! # use hedgerow::{Environment, Repository};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = std::path::absolute(".")?;
//! # let environment = Environment::from_vars(std::env::vars_os(), directory)?;
//! # let repository = Repository::discover(&environment)?;
//! // To another commit.
//! let target = Target::of_revision(&repository, "v1.2".into())?;
//! let switched = switch(&repository, &target, &SwitchOptions::default())?;
//! assert!(matches!(switched.outcome, Outcome::Done(_)));
//!
//! // Some paths, back to their state in the index.
//! let options = PathOptions {
//!     pathspecs: vec!["src".into()],
//!     ..PathOptions::default()
//! };
//! let outcome = checkout_paths(&repository, &options)?;
//! assert!(matches!(outcome, PathOutcome::Done(_)));
//!
//! // What the words of a command line mean.
//! let words = ["main".into(), "--".into(), "src".into()];
//! let warn = &mut |warning| eprintln!("warning: {warning}");
//! let request = Request::parse(&repository, &words, &RequestOptions::default(), warn)?;
//! assert!(matches!(request, Request::Paths(_)));
//! # Ok(())
//! # }
//! ```

pub use hedgerow_git::checkout::{
    check_pathspecs, checkout_paths, short, switch, Autostash, BranchStart, Done, Failure,
    Followed, Form, LocalChange, MergeSide, Named, Outcome, PathOptions, PathOutcome, Reason,
    Rejects, Request, RequestOptions, RequestedPaths, Share, Start, StartKind, SwitchOptions,
    Switched, Target, TargetTree, Track, Unmerged,
};
pub use hedgerow_git::merge::{check_conflict_style, ConflictStyle};
