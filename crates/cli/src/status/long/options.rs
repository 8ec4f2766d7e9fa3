//! Options of the long format.

use crate::environment;
use crate::status::settings::Settings;
use bstr::BStr;
use hedgerow::display::PathStyle;
use hedgerow::display::Table;
use hedgerow::status::Colors;
use hedgerow::status::{IgnoredFiles, UntrackedFiles};

/// Options of the long format.
#[derive(Debug)]
pub struct LongOptions<'a> {
    pub shown: PathStyle<'a>,
    pub show_stash: bool,
    /// Whether to count the commits between the branch and its upstream.
    pub ahead_behind: bool,
    /// Which untracked and ignored files were searched for.
    pub untracked: UntrackedFiles,
    pub ignored: IgnoredFiles,
    /// The commits of changed submodules, as lines.
    pub submodule_commits: &'a [u8],
    /// Whether to say so if the search for untracked files was slow.
    pub advises_when_slow: bool,
    /// Whether a monitor is to tell what changed.
    pub is_monitored: bool,
    /// Whether to show hints.
    pub hints: bool,
    /// The comment prefix, if lines are to be comments.
    pub comment: Option<&'a BStr>,
    pub colors: Colors,
    /// Whether colors are used, even if all of them are the default color.
    pub is_colored: bool,
    /// The layout of untracked and ignored paths; `None`: one per line.
    pub table: Option<Table>,
}

impl<'a> LongOptions<'a> {
    pub fn new(settings: &'a Settings, shown: PathStyle<'a>) -> Self {
        LongOptions {
            shown,
            show_stash: settings.show_stash,
            ahead_behind: settings.ahead_behind,
            untracked: settings.options.untracked,
            ignored: settings.options.ignored,
            submodule_commits: b"",
            advises_when_slow: settings.advises_when_slow,
            is_monitored: settings.is_monitored,
            hints: settings.hints,
            comment: settings.comment.as_ref().map(|mark| mark.as_ref()),
            colors: settings.colors.clone().unwrap_or_default(),
            is_colored: settings.colors.is_some(),
            table: settings.columns.map(|columns| Table {
                layout: columns.layout,
                dense: columns.dense,
                // The last column stays free: some terminals break the line there.
                width: environment::output_width().saturating_sub(1),
            }),
        }
    }
}
