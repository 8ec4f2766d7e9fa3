use super::model::{IgnoreSubmodules, IgnoredFiles, UntrackedFiles};
use super::rename::Score;
use bstr::BString;
use hedgerow_engine::Execution;

/// What a status is to tell.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Which untracked files are listed.
    pub untracked: UntrackedFiles,
    /// Which ignored files are listed.
    pub ignored: IgnoredFiles,
    /// Which submodule changes to ignore; `None` leaves it to the configuration.
    pub ignore_submodules: Option<IgnoreSubmodules>,
    /// Whether and how renames are looked for.
    pub renames: RenameWish,
    /// Whether the index may be locked to write down what was found out about its files.
    pub optional_locks: bool,
    /// Only paths that these pathspecs mean, given relative to where the user is; all if there
    /// are none.
    pub pathspecs: Vec<BString>,
    /// How it is run.
    pub execution: Execution,
}

/// Whether and how renames are looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RenameWish {
    /// As `status.renames` or `diff.renames` says.
    #[default]
    FromConfiguration,
    /// Not at all.
    No,
    /// Renames; copies only if the configuration asks for them.
    AtLeastRenames {
        /// The least similarity; `None` for git's half.
        minimum: Option<Score>,
    },
    /// Renames, but no copies.
    Renames {
        /// The least similarity; `None` for git's half.
        minimum: Option<Score>,
    },
}
