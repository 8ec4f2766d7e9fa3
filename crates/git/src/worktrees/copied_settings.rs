//! What a new working tree has from the one that it is added from.

use super::mounted::is_hook;
use crate::config::{Config, ConfigChange, Sharing};
use crate::repository::Repository;
use crate::Result;
use std::path::Path;

const CONFIG_LIMIT_BYTES: u64 = 64 << 20;
const PATTERNS_LIMIT_BYTES: u64 = 100 << 20;

/// The sparse checkout and the settings of this working tree are those of the new one, too.
pub(crate) fn copy_settings(repository: &Repository, admin: &Path) -> Result<()> {
    let own = repository.git_dir();
    let sharing = repository.settings().sharing;
    if repository.settings().sparse_checkout {
        let patterns = own.join("info/sparse-checkout");
        if let Some(content) = hedgerow_fs::read_file(&patterns, PATTERNS_LIMIT_BYTES)? {
            sharing.create_directories(&admin.join("info"))?;
            write_file(&admin.join("info/sparse-checkout"), &content, sharing)?;
        }
    }
    let from = own.join("config.worktree");
    if !repository.has_worktree_config() {
        return Ok(());
    }
    let Some(content) = hedgerow_fs::read_file(&from, CONFIG_LIMIT_BYTES)? else {
        return Ok(());
    };
    let to = admin.join("config.worktree");
    write_file(&to, &content, sharing)?;
    let config = Config::of_file(&content, &from)?;
    let mut changes = Vec::new();
    if config.bool("core.bare")? == Some(true) {
        changes.push(ConfigChange::unset("core", "bare"));
    }
    if config.string("core.worktree").is_some() {
        changes.push(ConfigChange::unset("core", "worktree"));
    }
    // A mounted working tree is known from its layer of changes; the new one has another, or none.
    if config
        .string("core.fsmonitor")
        .is_some_and(|it| is_hook(it.as_ref()))
    {
        changes.push(ConfigChange::unset("core", "fsmonitor"));
        changes.push(ConfigChange::unset("core", "fsmonitorHookVersion"));
        changes.push(ConfigChange::unset("core", "untrackedCache"));
    }
    if !changes.is_empty() {
        repository.prepare_config_file(&to, &changes)?.commit()?;
    }
    Ok(())
}

/// Writes `content` to the file `path`.
fn write_file(path: &Path, content: &[u8], sharing: Sharing) -> Result<()> {
    let mut file = hedgerow_fs::LockFile::acquire(path)?;
    sharing.open_lock(&file)?;
    file.write_all(content)?;
    file.commit()?;
    Ok(())
}
