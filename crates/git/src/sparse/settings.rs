//! The settings of a sparse checkout, in the configuration of the working tree.

use crate::config::ConfigChange;
use crate::repository::Repository;
use crate::Result;

impl Repository {
    /// Sets `core.sparseCheckout` and, with it, `core.sparseCheckoutCone`. Turned off, there is no
    /// sparse index either.
    pub(crate) fn set_sparse(&self, is_on: bool, is_cone: bool) -> Result<()> {
        self.separate_worktree_config()?;
        let word = |is_on: bool| if is_on { "true" } else { "false" };
        self.set_in_worktree(ConfigChange::set("core", "sparseCheckout", word(is_on)))?;
        let cone = ConfigChange::set("core", "sparseCheckoutCone", word(is_cone));
        self.set_in_worktree(cone)?;
        if is_on {
            return Ok(());
        }
        self.set_sparse_index(false)
    }

    /// Sets `index.sparse`.
    pub(crate) fn set_sparse_index(&self, is_on: bool) -> Result<()> {
        let word = if is_on { "true" } else { "false" };
        self.set_in_worktree(ConfigChange::set("index", "sparse", word))
    }
}
