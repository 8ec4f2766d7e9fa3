//! What a switch ends: a merge, a cherry-pick or a revert under way on the old branch.

use crate::refs::{follow, problem, Expected, Reference, ReferenceProblem};
use crate::repository::Repository;
use crate::{Error, Result};
use bstr::ByteSlice;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// What was ended.
#[derive(Debug, Default)]
pub struct Ended {
    /// What was given up: a cherry-pick, a revert.
    pub operations: Vec<&'static str>,
    /// The changes that a merge had put aside are in the stash now.
    pub stashed: bool,
    /// What could not be removed or kept. Each failure leaves the rest to be done, as in git.
    pub failures: Vec<Error>,
}

impl Ended {
    /// The value of `result`; a failure is noted.
    fn note<T>(&mut self, result: Result<T>) -> Option<T> {
        result.map_err(|error| self.failures.push(error)).ok()
    }
}

/// Files of a merge that are no references.
const MERGE_FILES: [&str; 4] = ["MERGE_HEAD", "MERGE_RR", "MERGE_MSG", "MERGE_MODE"];
/// A list of picks that is larger has more than one of them left.
const STEPS_LIMIT_BYTES: u64 = 64 << 20;

impl Repository {
    /// Removes what describes a merge, cherry-pick or revert under way: switching ends it. What a
    /// merge had put aside is kept in the stash.
    pub fn remove_branch_state(&self) -> Ended {
        let mut ended = Ended::default();
        let mut picking = false;
        for (name, words) in [
            ("CHERRY_PICK_HEAD", "cherry picking"),
            ("REVERT_HEAD", "revert"),
        ] {
            let deleted = self.delete_reference(name.into(), Expected::Anything);
            // One that could not be deleted was there.
            picking |= *deleted.as_ref().unwrap_or(&true);
            if ended.note(deleted) == Some(true) {
                ended.operations.push(words);
            }
        }
        if picking {
            ended.note(self.end_last_pick());
        }
        let removed = hedgerow_fs::remove_file(&self.git_dir().join("SQUASH_MSG"));
        ended.note(removed.map_err(Error::from));
        self.end_merge(&mut ended);
        ended
    }

    /// Removes what describes a merge under way, as a merge that is done does.
    pub fn remove_merge_state(&self) -> Ended {
        let mut ended = Ended::default();
        self.end_merge(&mut ended);
        ended
    }

    fn end_merge(&self, ended: &mut Ended) {
        for name in MERGE_FILES {
            let removed = hedgerow_fs::remove_file(&self.git_dir().join(name));
            ended.note(removed.map_err(Error::from));
        }
        ended.note(self.delete_reference("AUTO_MERGE".into(), Expected::Anything));
        ended.stashed = ended.note(self.stash_changes_put_aside()) == Some(true);
    }

    /// Removes the list of picks if only one was left: a longer series goes on elsewhere.
    fn end_last_pick(&self) -> Result<()> {
        if self.is_last_pick()? {
            self.remove_sequencer()?;
        }
        Ok(())
    }

    fn is_last_pick(&self) -> Result<bool> {
        let path = self.git_dir().join("sequencer/todo");
        let Some(todo) = hedgerow_fs::read_file(&path, STEPS_LIMIT_BYTES)? else {
            return Ok(false);
        };
        let end = todo.find_byte(b'\n');
        Ok(end.is_none_or(|end| end + 1 == todo.len()))
    }

    fn remove_sequencer(&self) -> Result<()> {
        let directory = self.git_dir().join("sequencer");
        for entry in hedgerow_fs::list_directory(&directory)?.unwrap_or_default() {
            hedgerow_fs::remove_file(&directory.join(OsStr::from_bytes(&entry.name)))?;
        }
        hedgerow_fs::remove_empty_directories(&directory)?;
        Ok(())
    }

    /// `git merge --autostash` has put local changes into a commit that nothing else names.
    fn stash_changes_put_aside(&self) -> Result<bool> {
        const NAME: &str = "MERGE_AUTOSTASH";
        let id = match follow(self.refs(), NAME.into()) {
            Ok(Some(Reference { id: Some(id), .. })) => id,
            // What is there and cannot be read must not be left behind in silence.
            Ok(None) if self.refs().contains(NAME.into())? => {
                return Err(problem(NAME.into(), ReferenceProblem::Unreadable));
            }
            Ok(_) | Err(Error::Reference { .. }) => return Ok(false),
            Err(error) => return Err(error),
        };
        let committer = self.committer()?;
        self.set_reference("refs/stash".into(), id, &committer, "autostash".into())?;
        // What somebody else has put aside meanwhile is not in the stash.
        self.delete_reference(NAME.into(), Expected::Id(id))
    }
}
