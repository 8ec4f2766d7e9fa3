//! Operations in progress, and how to continue or abort them.

use super::{onto, Long};
use bstr::{BString, ByteSlice};
use hedgerow::repository::Repository;
use hedgerow::repository::Result;
use hedgerow::status::ongoing::{Bisect, Rebase, Replay, Steps};
use std::path::Path;

impl Long<'_> {
    pub(super) fn in_progress(&mut self, repository: &Repository) -> Result<()> {
        let operation = self.operation;
        if operation.merge {
            if let Some(steps) = operation.rebase.as_ref().and_then(|r| r.steps.as_ref()) {
                self.steps(repository, steps);
                self.lines.plain("");
            }
            self.merge();
        } else if let Some(am) = &operation.am {
            self.am(am.is_empty);
        } else if let Some(rebase) = &operation.rebase {
            self.rebase(repository, rebase);
        } else if let Some(replay) = &operation.cherry_pick {
            self.replay(repository, replay, &CHERRY_PICK)?;
        } else if let Some(replay) = &operation.revert {
            self.replay(repository, replay, &REVERT)?;
        }
        if let Some(bisect) = &operation.bisect {
            self.bisect(bisect);
        }
        Ok(())
    }

    fn merge(&mut self) {
        if self.has_conflicts {
            self.header("You have unmerged paths.");
            self.hint("  (fix conflicts and run \"git commit\")");
            self.hint("  (use \"git merge --abort\" to abort the merge)");
        } else {
            self.header("All conflicts fixed but you are still merging.");
            self.hint("  (use \"git commit\" to conclude merge)");
        }
        self.trailer();
    }

    fn am(&mut self, is_empty: bool) {
        self.header("You are in the middle of an am session.");
        if is_empty {
            self.header("The current patch is empty.");
        } else {
            self.hint("  (fix conflicts and then run \"git am --continue\")");
        }
        self.hint("  (use \"git am --skip\" to skip this patch)");
        if is_empty {
            self.hint("  (use \"git am --allow-empty\" to record this patch as an empty commit)");
        }
        self.hint("  (use \"git am --abort\" to restore the original branch)");
        self.trailer();
    }

    fn rebase(&mut self, repository: &Repository, rebase: &Rebase) {
        if let Some(steps) = &rebase.steps {
            self.steps(repository, steps);
        }
        if self.has_conflicts {
            self.rebased(rebase, "rebasing", "");
            self.hint("  (fix conflicts and then run \"git rebase --continue\")");
            self.hint("  (use \"git rebase --skip\" to skip this patch)");
            self.hint("  (use \"git rebase --abort\" to check out the original branch)");
        } else if rebase.steps.is_none() || rebase.has_message {
            self.rebased(rebase, "rebasing", "");
            self.hint("  (all conflicts fixed: run \"git rebase --continue\")");
        } else if rebase.is_split && self.is_dirty() {
            self.rebased(rebase, "splitting a commit", "while rebasing ");
            self.hint("  (Once your working directory is clean, run \"git rebase --continue\")");
        } else {
            self.rebased(rebase, "editing a commit", "while rebasing ");
            self.hint("  (use \"git commit --amend\" to amend the current commit)");
            self.hint("  (use \"git rebase --continue\" once you are satisfied with your changes)");
        }
        self.trailer();
    }

    /// The operation and its branch; `link` joins the two.
    fn rebased(&mut self, rebase: &Rebase, doing: &str, link: &str) {
        let mut text = format!("You are currently {doing}").into_bytes();
        match &rebase.branch {
            Some(branch) => {
                text.extend_from_slice(format!(" {link}branch '").as_bytes());
                text.extend_from_slice(branch);
                text.extend_from_slice(b"' on '");
                text.extend_from_slice(&onto(rebase));
                text.extend_from_slice(b"'.");
            }
            None if link.is_empty() => text.push(b'.'),
            None => text.extend_from_slice(b" during a rebase."),
        }
        self.lines.line(&self.options.colors.header, text);
    }

    /// The commands of an interactive rebase.
    fn steps(&mut self, repository: &Repository, steps: &Steps) {
        if steps.todo_is_missing {
            self.header("git-rebase-todo is missing.");
        }
        match steps.done {
            0 => self.header("No commands done."),
            1 => self.header("Last command done (1 command done):"),
            done => self.header(&format!("Last commands done ({done} commands done):")),
        }
        self.commands(&steps.last);
        if steps.done > steps.last.len() && self.options.hints {
            let mut text = b"  (see more in file ".to_vec();
            text.extend_from_slice(&git_path(repository, "rebase-merge/done"));
            text.push(b')');
            self.lines.line(&self.options.colors.header, text);
        }
        match steps.remaining {
            0 => return self.header("No commands remaining."),
            1 => self.header("Next command to do (1 remaining command):"),
            remaining => self.header(&format!(
                "Next commands to do ({remaining} remaining commands):"
            )),
        }
        self.commands(&steps.next);
        self.hint("  (use \"git rebase --edit-todo\" to view and edit)");
    }

    fn commands(&mut self, commands: &[BString]) {
        for command in commands {
            let text = [b"   ", command.as_bytes()].concat();
            self.lines.line(&self.options.colors.header, text);
        }
    }

    fn replay(
        &mut self,
        repository: &Repository,
        replay: &Replay,
        words: &ReplayWords,
    ) -> Result<()> {
        let ReplayWords {
            title,
            doing,
            command,
        } = words;
        match &replay.commit {
            None => self.header(&format!("{title} currently in progress.")),
            Some(id) => {
                let id = repository.short_id(id)?;
                self.header(&format!("You are currently {doing} commit {id}."));
            }
        }
        self.hint(&match (self.has_conflicts, replay.commit) {
            (true, _) => format!("  (fix conflicts and run \"git {command} --continue\")"),
            (_, None) => format!("  (run \"git {command} --continue\" to continue)"),
            _ => format!("  (all conflicts fixed: run \"git {command} --continue\")"),
        });
        self.hint(&format!(
            "  (use \"git {command} --skip\" to skip this patch)"
        ));
        self.hint(&format!(
            "  (use \"git {command} --abort\" to cancel the {command} operation)"
        ));
        self.trailer();
        Ok(())
    }

    fn bisect(&mut self, bisect: &Bisect) {
        let mut text = b"You are currently bisecting".to_vec();
        if let Some(from) = &bisect.from {
            text.extend_from_slice(b", started from branch '");
            text.extend_from_slice(from);
            text.push(b'\'');
        }
        text.push(b'.');
        self.lines.line(&self.options.colors.header, text);
        self.hint("  (use \"git bisect reset\" to get back to the original branch)");
        self.trailer();
    }
}

struct ReplayWords {
    title: &'static str,
    doing: &'static str,
    /// The command, which is also the word for the operation.
    command: &'static str,
}

const CHERRY_PICK: ReplayWords = ReplayWords {
    title: "Cherry-pick",
    doing: "cherry-picking",
    command: "cherry-pick",
};

const REVERT: ReplayWords = ReplayWords {
    title: "Revert",
    doing: "reverting",
    command: "revert",
};

/// The path of a file in the Git directory as git shows it: relative to the top of the working tree
/// if the Git directory is its `.git`, else in full.
fn git_path(repository: &Repository, name: &str) -> Vec<u8> {
    let directory = repository.git_dir();
    let is_usual = repository
        .work_tree()
        .is_some_and(|top| directory == top.join(".git"));
    let shown = if is_usual {
        Path::new(".git").join(name)
    } else {
        directory.join(name)
    };
    shown.into_os_string().into_encoded_bytes()
}
