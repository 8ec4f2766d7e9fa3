//! The settings that a working tree has for itself, in its `config.worktree`.

use crate::config::{Config, ConfigChange};
use crate::repository::Repository;
use crate::Result;
use bstr::BString;

const CONFIG_LIMIT_BYTES: u64 = 64 << 20;

impl Repository {
    /// Changes settings of this working tree alone, all at once; [`Repository::separate_worktree_config`] comes first.
    pub(crate) fn set_in_worktree(&self, changes: &[ConfigChange<'_>]) -> Result<()> {
        let path = self.git_dir().join("config.worktree");
        self.prepare_config_file(&path, changes)?.commit()?;
        Ok(())
    }

    /// Lets each working tree have settings of its own. What the shared configuration says of the
    /// main one alone moves there.
    pub(crate) fn separate_worktree_config(&self) -> Result<()> {
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
