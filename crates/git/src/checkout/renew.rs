//! Filling a working tree that nobody has used yet, over files of another commit.

use super::carry_out::{carry_out, Before};
use super::examine::trusted_states;
use super::obstacles::Untracked;
use super::outcome::Done;
use super::rows::kept_out;
use super::session::Session;
use super::transition::{transition, Effect, Rules, Start};
use super::update::cache_tree;
use crate::index::Index;
use crate::repository::Repository;
use crate::tree::Difference;
use crate::Result;
use bstr::{BStr, BString};
use gix_hash::ObjectId;
use hedgerow_engine::Execution;

/// A working tree that nobody has used yet.
pub(crate) struct Unused<'a> {
    pub repository: &'a Repository,
    /// The index of its files: no file is looked at.
    pub index: Index,
    /// What makes that index the tree of `commit`.
    pub changes: &'a Difference,
    /// What filters are told: the commit, and the full name of its branch.
    pub commit: ObjectId,
    pub branch: Option<BString>,
    /// With fewer files than this to write, a single worker writes them.
    pub threshold: Option<u64>,
}

impl Unused<'_> {
    /// Writes what changes. Returns what was done, and the new index as it is to be written; `None` if a
    /// file could not be written.
    pub(crate) fn renew(self, execution: &Execution) -> Result<(Done, Option<Index>)> {
        let mut session = Session::begin(self.repository, self.threshold, execution)?;
        session.recurse(None);
        session.set_source(self.branch, Some(self.commit));
        let old = session.unused_index(self.index)?;
        let states = trusted_states(&old.index);
        let sparse = session.sparse_patterns()?;
        let top = self.repository.work_tree();
        let excludes = |path: &BStr| {
            let sparse = sparse.as_ref();
            sparse.is_some_and(|sparse| sparse.excludes_entry(path, top))
        };
        let rules = Rules::OneWay { complete: false };
        let mut next = transition(&Start {
            index: &old.index,
            states: &states,
            changes: self.changes,
            rules,
            is_excluded: &excludes,
            is_free: &|path| Ok(!kept_out(&session.root, path)?),
            sparse: sparse.is_some(),
            effect: Effect::Both,
        })?;
        let before = Before {
            old: &old,
            states: &states,
            refreshed: &[],
            rules,
            untracked: Untracked::Overwrite,
            sparse: sparse.is_some(),
            moves_submodules: true,
            only_tries_submodules: false,
            dry_run: false,
        };
        let Some(mut done) = carry_out(&session, &before, &mut next)? else {
            return Ok((Done::default(), None));
        };
        done.warnings.extend(session.sparse_warnings()?);
        if done.unwritten > 0 {
            return Ok((done, None));
        }
        next.index
            .set_cache_tree(cache_tree(&session, &old.index, &next.index));
        let collapsed = session.collapsed(&next.index)?;
        Ok((done, Some(collapsed.unwrap_or(next.index))))
    }
}
