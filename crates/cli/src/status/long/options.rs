//! How the long form is written.

use super::table::Table;
use crate::environment;
use crate::status::colors::Colors;
use crate::status::paths::Shown;
use crate::status::settings::Settings;
use bstr::BStr;
use hedgerow::status::{IgnoredFiles, UntrackedFiles};

/// How the long form is written.
#[derive(Debug)]
pub struct LongOptions<'a> {
    pub shown: Shown<'a>,
    pub show_stash: bool,
    /// Count the commits between the branch and its upstream.
    pub ahead_behind: bool,
    /// Which untracked and ignored files were looked for.
    pub untracked: UntrackedFiles,
    pub ignored: IgnoredFiles,
    /// Tell what can be done next.
    pub hints: bool,
    /// What lines begin with, if they are to begin as comments do.
    pub comment: Option<&'a BStr>,
    pub colors: Colors,
    /// There are colors, even if none of them differs from that of other text.
    pub is_colored: bool,
    /// The layout of untracked and ignored paths; `None`: one a line.
    pub table: Option<Table>,
}

impl<'a> LongOptions<'a> {
    pub fn new(settings: &'a Settings, shown: Shown<'a>) -> Self {
        LongOptions {
            shown,
            show_stash: settings.show_stash,
            ahead_behind: settings.ahead_behind,
            untracked: settings.options.untracked,
            ignored: settings.options.ignored,
            hints: settings.hints,
            comment: settings.comment.as_ref().map(|mark| mark.as_ref()),
            colors: settings.colors.clone().unwrap_or_default(),
            is_colored: settings.colors.is_some(),
            table: settings.columns.map(|columns| Table {
                layout: columns.layout,
                dense: columns.dense,
                // The last place stays free: some terminals start a new line there.
                width: environment::output_width().saturating_sub(1),
            }),
        }
    }
}
