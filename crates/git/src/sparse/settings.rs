//! The settings of a sparse checkout, in the configuration of the working tree.

use crate::config::ConfigChange;
use crate::repository::Repository;
use crate::Result;

impl Repository {
    /// Sets `core.sparseCheckout` and, with it, `core.sparseCheckoutCone`. Turned off, there is no
    /// sparse index either. All are set at once: without the second, patterns of the first would be
    /// read as others.
    pub(crate) fn set_sparse(&self, is_on: bool, is_cone: bool) -> Result<()> {
        self.separate_worktree_config()?;
        let mut changes = vec![
            ConfigChange::set("core", "sparseCheckout", word(is_on)),
            ConfigChange::set("core", "sparseCheckoutCone", word(is_cone)),
        ];
        if !is_on {
            changes.push(ConfigChange::set("index", "sparse", word(false)));
        }
        self.set_in_worktree(&changes)
    }

    /// Sets `index.sparse`.
    pub(crate) fn set_sparse_index(&self, is_on: bool) -> Result<()> {
        self.set_in_worktree(&[ConfigChange::set("index", "sparse", word(is_on))])
    }
}

fn word(is_on: bool) -> &'static str {
    if is_on {
        "true"
    } else {
        "false"
    }
}
