//! The options of `hedgerow status`: those of git-status(1).

use clap::Args;
use std::ffi::OsString;

/// Show the working tree status
///
/// If options contradict each other, the last one wins. Options listed without a counterpart are
/// negated by a no- prefix, as in --no-short or --no-ignored.
#[derive(Debug, Args)]
#[command(args_override_self = true, infer_long_args = true)]
pub struct Status {
    /// Use the short format: two letters and a path per line
    #[arg(short, long, overrides_with_all = ["long", "porcelain", "no_form"])]
    pub short: bool,
    /// Use the long format (default)
    #[arg(long, overrides_with_all = ["short", "porcelain", "no_form"])]
    pub long: bool,
    /// Use a stable format for programs: v1 or v2
    #[arg(long, value_name = "VERSION", num_args = 0..=1, require_equals = true,
        default_missing_value = "v1", overrides_with_all = ["short", "long", "no_form"])]
    pub porcelain: Option<OsString>,
    /// Use the default format, unless status.short selects another
    #[arg(long = "no-short", aliases = ["no-long", "no-porcelain"], hide = true)]
    pub no_form: bool,
    /// Show the branch and its relation to the upstream, in the short formats
    #[arg(short, long, overrides_with = "no_branch")]
    pub branch: bool,
    /// Do not show the branch, even if status.branch is set
    #[arg(long)]
    pub no_branch: bool,
    /// Show the number of stash entries
    #[arg(long, overrides_with = "no_show_stash")]
    pub show_stash: bool,
    /// Do not show the stash, even if status.showStash is set
    #[arg(long)]
    pub no_show_stash: bool,
    /// Count the commits between the branch and its upstream (default)
    #[arg(long, overrides_with = "no_ahead_behind")]
    pub ahead_behind: bool,
    /// Only say whether the branch and its upstream differ
    #[arg(long)]
    pub no_ahead_behind: bool,
    /// End entries with NUL instead of a newline, and do not quote paths
    #[arg(short = 'z', long, overrides_with = "no_null")]
    pub null: bool,
    /// End entries with a newline
    #[arg(long, hide = true)]
    pub no_null: bool,
    /// Which untracked files to show: no, normal (a directory as one entry) or all; without MODE,
    /// all. MODE is attached to the short option: -uno
    #[arg(short, long, value_name = "MODE", num_args = 0..=1, default_missing_value = "all",
        require_equals = true, overrides_with = "no_untracked_files")]
    pub untracked_files: Option<OsString>,
    /// Show untracked files as configured
    #[arg(long, hide = true)]
    pub no_untracked_files: bool,
    /// Show ignored files too: traditional, matching or no; without MODE, traditional
    #[arg(long, value_name = "MODE", num_args = 0..=1, require_equals = true,
        default_missing_value = "traditional", overrides_with = "no_ignored")]
    pub ignored: Option<OsString>,
    /// Show no ignored files
    #[arg(long, hide = true)]
    pub no_ignored: bool,
    /// Which submodule changes to ignore: none, untracked, dirty or all; without WHEN, all
    #[arg(long, value_name = "WHEN", num_args = 0..=1, require_equals = true,
        default_missing_value = "all", overrides_with = "no_ignore_submodules")]
    pub ignore_submodules: Option<OsString>,
    /// Ignore submodule changes as configured
    #[arg(long, hide = true)]
    pub no_ignore_submodules: bool,
    /// Lay out untracked and ignored files in columns, in the long format. MODES is a
    /// comma-separated list of: always, never or auto; column, row or plain; dense or nodense.
    /// --no-column: one path per line
    #[arg(long, value_name = "MODES", num_args = 0..=1, require_equals = true,
        default_missing_value = "", action = clap::ArgAction::Append)]
    pub column: Vec<OsString>,
    /// Detect renames, regardless of the configuration
    #[arg(long, alias = "no-no-renames", overrides_with = "no_renames")]
    pub renames: bool,
    /// Do not detect renames
    #[arg(long)]
    pub no_renames: bool,
    /// Detect renames of files with at least N similarity; without N, 50%. N is attached to the
    /// short option: -M90%
    #[arg(short = 'M', long, value_name = "N", num_args = 0..=1, require_equals = true)]
    pub find_renames: Option<Option<OsString>>,
    /// Do not lock the index to store refreshed stat data
    #[arg(long)]
    pub no_optional_locks: bool,
    /// Be no more verbose than usual
    #[arg(long, hide = true)]
    pub no_verbose: bool,
    /// Show only these paths
    #[arg(value_name = "PATHSPEC")]
    pub paths: Vec<OsString>,
}
