//! Changing the repository's configuration file.

use super::config::read_file;
use super::Repository;
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use hedgerow_fs::LockFile;

impl Repository {
    /// Sets `section.subsection.NAME` for each of `settings` in the repository's `config`, under
    /// its lock, and leaves everything else there as it is. A setting that is there is replaced.
    pub(super) fn edit_config(
        &self,
        section: &str,
        subsection: &BStr,
        settings: &[(&'static str, BString)],
    ) -> Result<()> {
        let path = self.common_dir.join("config");
        let mut lock = LockFile::acquire(&path)?;
        if let Some(stat) = hedgerow_fs::stat(&path)? {
            // What only the owner may read may hold secrets.
            lock.set_permissions(stat.mode)?;
        }
        let mut file = read_file(&path)?.unwrap_or_default();
        let refused = |error: gix_error::Error| Error::Config {
            reason: format!(
                "cannot set '{section}.{subsection}': {}",
                error.probable_cause()
            ),
        };
        let mut body = file
            .section_mut_or_create_new(section, Some(subsection))
            .map_err(refused)?;
        for (name, value) in settings {
            body.set(name, value.as_bstr()).map_err(refused)?;
        }
        lock.write_all(&file.to_bstring())?;
        lock.commit()?;
        Ok(())
    }
}
