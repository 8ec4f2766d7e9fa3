//! The settings of a sparse checkout, in the configuration of the working tree.

use crate::config::{Config, ConfigChange};
use crate::repository::Repository;
use crate::Result;
use bstr::BString;

const CONFIG_LIMIT_BYTES: u64 = 64 << 20;

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

    fn set_in_worktree(&self, change: ConfigChange<'_>) -> Result<()> {
        let path = self.git_dir().join("config.worktree");
        self.prepare_config_file(&path, &[change])?.commit()?;
        Ok(())
    }

    /// Lets each working tree have settings of its own. What the shared configuration says of the
    /// main one alone moves there.
    fn separate_worktree_config(&self) -> Result<()> {
        if self.has_worktree_config() {
            return Ok(());
        }
        let shared = self.config_path();
        let extension = ConfigChange::set("extensions", "worktreeConfig", "true");
        self.prepare_config_file(&shared, &[extension])?.commit()?;
        let content = hedgerow_fs::read_file(&shared, CONFIG_LIMIT_BYTES)?.unwrap_or_default();
        let config = Config::of_file(&content, &shared)?;
        let bare = (config.bool("core.bare")? == Some(true)).then(|| BString::from("true"));
        let moved = [("bare", bare), ("worktree", config.string("core.worktree"))];
        let own = self.common_dir().join("config.worktree");
        for (name, value) in moved {
            let Some(value) = value else { continue };
            let set = ConfigChange::set("core", name, value);
            self.prepare_config_file(&own, &[set])?.commit()?;
            let unset = ConfigChange::unset("core", name);
            self.prepare_config_file(&shared, &[unset])?.commit()?;
        }
        Ok(())
    }
}
