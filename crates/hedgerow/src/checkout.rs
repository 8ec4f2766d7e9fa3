//! Moves a working tree: to another branch or commit ([`switch`]), or some of its paths to their
//! state in the index or a tree ([`checkout_paths`]).
//!
//! Nothing is changed before all checks are done. A refused checkout is an [`Outcome`], not an
//! error. See `examples/checkout.rs`.

pub use hedgerow_git::checkout::{
    checkout_paths, short, switch, Done, Failure, LocalChange, Named, Outcome, PathOptions,
    PathOutcome, Reason, Rejects, Request, RequestOptions, RequestedPaths, SwitchOptions, Switched,
    Target,
};
