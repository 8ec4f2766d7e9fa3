//! Cloning: git receives with hedgerow's help, then the first checkout is hedgerow's.
//!
//! [`AssistedGit`] runs git's own `clone --no-checkout`, with everything that a user has configured;
//! [`check_out`] writes the files.

pub use hedgerow_git::checkout::{ReadTreeOutcome, Reason, Rejects};
pub use hedgerow_git::clone::{check_out, has_lost_head, run_hook, Place};
pub use hedgerow_shim::AssistedGit;
