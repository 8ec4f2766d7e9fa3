//! The options of `hedgerow status`: those of git-status(1).

use clap::Args;
use std::ffi::OsString;

/// Show the working tree status
///
/// Of options that contradict each other the last one counts. Those that are listed without a
/// counterpart are taken back by no- before their long name, as in --no-short or --no-ignored.
#[derive(Debug, Args)]
#[command(args_override_self = true, infer_long_args = true)]
pub struct Status {
    /// Two letters and a path a line
    #[arg(short, long, overrides_with_all = ["long", "porcelain", "no_form"])]
    pub short: bool,
    /// The long form, for people; the default
    #[arg(long, overrides_with_all = ["short", "porcelain", "no_form"])]
    pub long: bool,
    /// A form for programs that never changes: v1 or v2
    #[arg(long, value_name = "VERSION", num_args = 0..=1, require_equals = true,
        default_missing_value = "v1", overrides_with_all = ["short", "long", "no_form"])]
    pub porcelain: Option<OsString>,
    /// Whatever form is the default, unless status.short asks for another one
    #[arg(long = "no-short", aliases = ["no-long", "no-porcelain"], hide = true)]
    pub no_form: bool,
    /// Show the branch and how it stands to its upstream, in the short forms
    #[arg(short, long, overrides_with = "no_branch")]
    pub branch: bool,
    /// Show no branch, even if status.branch asks for it
    #[arg(long)]
    pub no_branch: bool,
    /// Show how many entries the stash has
    #[arg(long, overrides_with = "no_show_stash")]
    pub show_stash: bool,
    /// Show nothing of the stash, even if status.showStash asks for it
    #[arg(long)]
    pub no_show_stash: bool,
    /// Count the commits between the branch and its upstream; the default
    #[arg(long, overrides_with = "no_ahead_behind")]
    pub ahead_behind: bool,
    /// Only say whether the branch and its upstream differ
    #[arg(long)]
    pub no_ahead_behind: bool,
    /// End entries with NUL instead of a newline, and quote no path
    #[arg(short = 'z', long, overrides_with = "no_null")]
    pub null: bool,
    /// End entries with a newline
    #[arg(long, hide = true)]
    pub no_null: bool,
    /// Which untracked files to show: no, normal (directories as one) or all; without MODE, all.
    /// After the letter MODE stands alone: -uno
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
    /// Compare submodules as configured
    #[arg(long, hide = true)]
    pub no_ignore_submodules: bool,
    /// Lay untracked and ignored files out in columns, in the long form. MODES, with commas between
    /// them: always, never or auto; column, row or plain; dense or nodense. --no-column: one path a
    /// line
    #[arg(long, value_name = "MODES", num_args = 0..=1, require_equals = true,
        default_missing_value = "", action = clap::ArgAction::Append)]
    pub column: Vec<OsString>,
    /// Look for renames, whatever the configuration says
    #[arg(long, alias = "no-no-renames", overrides_with = "no_renames")]
    pub renames: bool,
    /// Look for no renames
    #[arg(long)]
    pub no_renames: bool,
    /// Look for renames of files of which at least N is the same; without N, 50%. After the letter N
    /// stands alone: -M90%
    #[arg(short = 'M', long, value_name = "N", num_args = 0..=1, require_equals = true)]
    pub find_renames: Option<Option<OsString>>,
    /// Do not lock the index to write down what was found out about its files
    #[arg(long)]
    pub no_optional_locks: bool,
    /// Say no more than usual
    #[arg(long, hide = true)]
    pub no_verbose: bool,
    /// Only these paths
    #[arg(value_name = "PATHSPEC")]
    pub paths: Vec<OsString>,
}
