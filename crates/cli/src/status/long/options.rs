//! How the long form is written, by command line and configuration.

use crate::status::colors::Colors;
use crate::status::paths::Shown;
use crate::status::settings::Settings;
use hedgerow_git::repository::Repository;
use hedgerow_git::status::{IgnoredFiles, UntrackedFiles};
use hedgerow_git::Result;

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
    /// `advice.statusHints`: tell what can be done next.
    pub hints: bool,
    /// `status.displayCommentPrefix`: lines begin as comments do.
    pub comment_prefix: bool,
    pub colors: Colors,
}

impl<'a> LongOptions<'a> {
    /// What `settings` and the configuration ask for, with colors or without.
    pub fn resolve(
        repository: &Repository,
        settings: &'a Settings,
        shown: Shown<'a>,
        color: bool,
    ) -> Result<Self> {
        let comments = repository.config().bool("status.displayCommentPrefix")?;
        Ok(LongOptions {
            shown,
            show_stash: settings.show_stash,
            ahead_behind: settings.ahead_behind,
            untracked: settings.options.untracked,
            ignored: settings.options.ignored,
            hints: repository.advises("statusHints")?,
            comment_prefix: comments.unwrap_or(false),
            colors: Colors::of(repository, color)?,
        })
    }
}
