use super::model::{IgnoreSubmodules, IgnoredFiles, UntrackedFiles};
use super::rename::Score;
use bstr::BString;
use hedgerow_engine::Execution;

/// The options of a status.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Which untracked files are listed.
    pub untracked: UntrackedFiles,
    /// Which ignored files are listed.
    pub ignored: IgnoredFiles,
    /// Which submodule changes to ignore; `None` leaves it to the configuration.
    pub ignore_submodules: Option<IgnoreSubmodules>,
    /// Whether and how renames are detected.
    pub renames: RenameWish,
    /// Whether the index may be locked to store refreshed stat data.
    pub optional_locks: bool,
    /// Only paths that match these pathspecs, relative to the user's current directory; all paths
    /// if empty.
    pub pathspecs: Vec<BString>,
    /// How to run.
    pub execution: Execution,
}

/// Whether and how renames are detected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RenameWish {
    /// As `status.renames` or `diff.renames` says.
    #[default]
    FromConfiguration,
    /// No detection.
    No,
    /// Renames; copies only if the configuration asks for them.
    AtLeastRenames {
        /// The minimum similarity; `None` for git's default of half.
        minimum: Option<Score>,
    },
    /// Renames, but no copies.
    Renames {
        /// The minimum similarity; `None` for git's default of half.
        minimum: Option<Score>,
    },
}
