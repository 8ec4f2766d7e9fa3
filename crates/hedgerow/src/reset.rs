//! Moves HEAD to a commit, with the index and the working tree as asked, or sets paths of the index:
//! git-reset(1).
//!
//! Nothing is changed before all checks are done. A refused reset is a [`ResetOutcome`], not an
//! error.
//!
//! ```no_run
//! use hedgerow::reset::{reset, ResetMode, ResetOptions, ResetOutcome, ResetRequest};
//!
//! # use hedgerow::{Environment, Repository};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = std::path::absolute(".")?;
//! # let environment = Environment::from_vars(std::env::vars_os(), directory)?;
//! # let repository = Repository::discover(&environment)?;
//! // HEAD, the index and the working tree, to the parent commit.
//! let warn = &mut |warning| eprintln!("warning: {warning}");
//! let request = ResetRequest::parse(&repository, &["HEAD^".into()], None, warn)?;
//! let options = ResetOptions {
//!     mode: ResetMode::Hard,
//!     ..ResetOptions::default()
//! };
//! match reset(&repository, &request, &options)? {
//!     ResetOutcome::Done(reset) => println!("{} files written", reset.done.written),
//!     ResetOutcome::Incomplete(_) => println!("files could not be written"),
//!     ResetOutcome::Rejected(_) | ResetOutcome::NoHead => println!("refused"),
//! }
//!
//! // Paths of the index, to their state in HEAD.
//! let words = ["--".into(), "src".into()];
//! let request = ResetRequest::parse(&repository, &words, None, warn)?;
//! reset(&repository, &request, &ResetOptions::default())?;
//! # Ok(())
//! # }
//! ```

pub use hedgerow_git::branches::Ended;
pub use hedgerow_git::checkout::{
    reset, Reset, ResetMode, ResetOptions, ResetOutcome, ResetRequest, ResetTarget,
};
pub use hedgerow_git::checkout::{Done, LocalChange, Reason, Rejects};
