//! What the configuration leaves to the real git where hedgerow was called in its place.

use super::Repository;
use crate::config::{boolean, InPlaceOf};
use crate::{Error, Result};
use bstr::ByteSlice;

/// Settings with which git writes a trace.
const TRACES: [&str; 3] = [
    "trace2.normalTarget",
    "trace2.perfTarget",
    "trace2.eventTarget",
];

impl InPlaceOf {
    /// # Errors
    /// [`Error::NotBuilt`]: the call is the real git's, because of `hedgerow.shim.<command>`,
    /// `pager.<command>`, a trace that git is to write, what a partial clone asks for, or a
    /// contradiction that git warns of.
    pub(crate) fn check(self, repository: &Repository) -> Result<()> {
        let config = repository.config();
        let says = |text: Option<bstr::BString>| text.and_then(|text| boolean(text.as_bstr()));
        // It can only leave more to git, so a repository may say it.
        let own = says(config.string(&format!("hedgerow.shim.{}", self.command)));
        let pager = config.string(&format!("pager.{}", self.command));
        let is_paged = pager.is_some_and(|pager| boolean(pager.as_bstr()) != Some(false));
        let traced = TRACES.iter().find(|key| {
            let target = config.string(key);
            target.is_some_and(|target| boolean(target.as_bstr()) != Some(false))
        });
        let reason = if own == Some(false) {
            format!("hedgerow.shim.{} is off", self.command)
        } else if self.is_paged && is_paged {
            format!("pager.{} is on", self.command)
        } else if repository.contradicts_itself() {
            "core.bare and core.worktree are set".to_owned()
        } else if self.command == "cat-file" && !repository.promisor_remotes().is_empty() {
            "a partial clone may lack what is asked for".to_owned()
        } else if self.command == "index-pack"
            && self.is_promised
            && repository.has_own_objects()?
        {
            "objects that promised ones refer to are to be repacked".to_owned()
        } else if let Some(key) = traced {
            format!("{key} is set")
        } else {
            return Ok(());
        };
        Err(Error::NotBuilt { reason })
    }
}
