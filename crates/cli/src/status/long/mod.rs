//! The long format, for people: what `git status` prints, word for word.

mod options;
mod progress;
mod sections;

pub use options::LongOptions;

use crate::tracking;
use bstr::{BString, ByteSlice};
use hedgerow::display::ColoredLines;
use hedgerow::numbers::counted;
use hedgerow::repository::{CurrentBranch, Repository, Result};
use hedgerow::status::ongoing::{operation, Operation, Rebase};
use hedgerow::status::{Sparse, Status, UntrackedFiles};

/// The status of `repository`. `warn` receives warnings about invalid settings.
pub fn long(
    repository: &Repository,
    status: &Status,
    options: &LongOptions<'_>,
    warn: &mut dyn FnMut(String),
) -> Result<Vec<u8>> {
    let branch = CurrentBranch::read(repository, options.ahead_behind)?;
    let operation = operation(repository)?;
    let mut text = Long {
        lines: ColoredLines::new(options.comment.unwrap_or_default()),
        status,
        options,
        is_initial: branch.id.is_none(),
        has_conflicts: status.changes.iter().any(|c| c.conflict.is_some()),
        operation: &operation,
    };
    text.branch(repository, &branch, warn)?;
    text.in_progress(repository)?;
    text.sparse();
    if text.is_initial {
        for line in ["", "No commits yet", ""] {
            text.lines.line(&options.colors.header, line);
        }
    }
    text.staged();
    text.unmerged();
    text.unstaged();
    text.submodule_commits();
    text.others();
    text.closing();
    if options.show_stash {
        text.stash(repository)?;
    }
    Ok(text.lines.into_text())
}

/// The commit that a rebase goes onto. Git prints "(null)" if it is unknown.
fn onto(rebase: &Rebase) -> BString {
    rebase.onto.clone().unwrap_or_else(|| "(null)".into())
}

/// State shared by all parts of the text.
struct Long<'a> {
    lines: ColoredLines<'a>,
    status: &'a Status,
    options: &'a LongOptions<'a>,
    operation: &'a Operation,
    /// Whether there is no commit yet.
    is_initial: bool,
    has_conflicts: bool,
}

impl Long<'_> {
    /// The current branch and its relation to the upstream.
    fn branch(
        &mut self,
        repository: &Repository,
        branch: &CurrentBranch,
        warn: &mut dyn FnMut(String),
    ) -> Result<()> {
        let colors = &self.options.colors;
        let (color, words, name) = match branch.short_name() {
            Some(name) => (&colors.header, "On branch ", name.to_owned()),
            None => {
                let (words, name) = self.detached();
                (&colors.no_branch, words, name)
            }
        };
        self.lines.start(&colors.header, "");
        self.lines.more(color, words);
        self.lines
            .more(&colors.branch, [name.as_bytes(), b"\n"].concat());
        let Some(name) = branch.name.as_ref().filter(|_| !self.is_initial) else {
            return Ok(());
        };
        let (upstream, counted) = (branch.tracking.as_ref(), !branch.uncounted);
        let words = tracking::words(repository, name.as_bstr(), upstream, counted, warn)?;
        for line in words.lines() {
            self.lines.tracking(&colors.header, line);
        }
        if !words.is_empty() {
            self.lines.tracking(&colors.header, "");
        }
        Ok(())
    }

    fn detached(&self) -> (&'static str, BString) {
        let operation = self.operation;
        if let Some(rebase) = &operation.rebase {
            let words = match rebase.steps {
                Some(_) => "interactive rebase in progress; onto ",
                None => "rebase in progress; onto ",
            };
            return (words, onto(rebase));
        }
        match &operation.detached {
            Some(detached) if detached.is_at => ("HEAD detached at ", detached.from.clone()),
            Some(detached) => ("HEAD detached from ", detached.from.clone()),
            None => ("Not currently on any branch.", BString::default()),
        }
    }

    fn sparse(&mut self) {
        let header = &self.options.colors.header;
        let words = match self.status.sparse {
            None => return,
            Some(Sparse::Index) => "You are in a sparse checkout.".to_owned(),
            Some(Sparse::Percent(percent)) => {
                format!("You are in a sparse checkout with {percent}% of tracked files present.")
            }
        };
        self.lines.line(header, words);
        self.lines.line(header, "");
    }

    /// The summary of what a commit would do now.
    fn closing(&mut self) {
        let untracked = self.options.untracked != UntrackedFiles::No;
        let hints = self.options.hints;
        if self.is_committable() {
            if !untracked {
                self.lines.line(
                    "",
                    if hints {
                        "Untracked files not listed (use -u option to show untracked files)"
                    } else {
                        "Untracked files not listed"
                    },
                );
            }
            return;
        }
        let (words, hint) = if self.is_dirty() {
            (
                "no changes added to commit",
                " (use \"git add\" and/or \"git commit -a\")",
            )
        } else if !self.status.untracked.is_empty() {
            (
                "nothing added to commit but untracked files present",
                " (use \"git add\" to track)",
            )
        } else if self.is_initial {
            (
                "nothing to commit",
                " (create/copy files and use \"git add\" to track)",
            )
        } else if !untracked {
            ("nothing to commit", " (use -u to show untracked files)")
        } else {
            self.lines.plain("nothing to commit, working tree clean");
            return;
        };
        self.lines
            .plain(&[words, if hints { hint } else { "" }].concat());
    }

    /// Whether a commit would record anything.
    fn is_committable(&self) -> bool {
        let staged = self.status.changes.iter().any(|c| c.staged.is_some());
        let conflict_of_nothing = self.is_initial && self.has_conflicts;
        staged || conflict_of_nothing || self.operation.merge && !self.has_conflicts
    }

    /// Whether a tracked file in the working tree differs from the index.
    fn is_dirty(&self) -> bool {
        let changes = &self.status.changes;
        self.has_conflicts || changes.iter().any(|change| change.unstaged.is_some())
    }

    fn stash(&mut self, repository: &Repository) -> Result<()> {
        let count = repository.reflog("refs/stash".into())?.len();
        if count > 0 {
            self.lines.line(
                "",
                format!("Your stash currently has {}", counted(count, "entry")),
            );
        }
        Ok(())
    }
}
