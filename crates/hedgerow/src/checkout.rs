//! Moving a working tree: to another branch or commit ([`switch`]), or paths of it to what the index
//! or a tree has ([`checkout_paths`]).
//!
//! Nothing is touched before everything that can be refused has been refused; what is refused is an
//! [`Outcome`] like others and no error. See `examples/checkout.rs`.

pub use hedgerow_git::checkout::{
    checkout_paths, short, switch, Done, Failure, LocalChange, Named, Outcome, PathOptions,
    PathOutcome, Reason, Rejects, Request, RequestOptions, RequestedPaths, SwitchOptions, Switched,
    Target,
};
