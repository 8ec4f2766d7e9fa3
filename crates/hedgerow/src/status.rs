//! The status of a working tree: of Git ([`status`]) and of Mercurial ([`mercurial::status`]). See
//! `examples/status.rs`.

pub use hedgerow_git::status::rename::Score;
pub use hedgerow_git::status::{
    ignored_in_submodules, status, untracked_mode, Change, ChangeKind, Colors, Configuration,
    Conflict, ConflictKind, IgnoreSubmodules, IgnoredFiles, Options, Remark, Rename, RenameWish,
    Sparse, Status, SubmoduleState, UntrackedFiles, Version,
};

/// The operation in progress in a repository, as shown by `git status`: a merge, a rebase, a
/// bisection.
pub mod ongoing {
    pub use hedgerow_git::status::operation::{Bisect, Rebase, Replay, Steps};
    pub use hedgerow_git::status::{operation, Operation};
}

/// The status of Mercurial working copies.
pub mod mercurial {
    pub use hedgerow_hg::status::{status, Options, State, States, Status, STATES};
    pub use hedgerow_hg::{find_root, Display, Environment, Error, Repository};
}
