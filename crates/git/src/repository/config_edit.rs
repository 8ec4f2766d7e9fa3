//! Changing the repository's configuration file.

use super::config::read_file;
use super::Repository;
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use hedgerow_fs::LockFile;
use std::path::PathBuf;

impl Repository {
    /// The repository's own configuration file, which all its working trees share.
    pub fn config_path(&self) -> PathBuf {
        self.common_dir.join("config")
    }

    /// Sets `section.NAME` for each of `settings` in [`Repository::config_path`], under its lock;
    /// every other byte of the file stays. A setting that is there is replaced. What has
    /// been read already, [`Repository::config`], does not change.
    ///
    /// # Errors
    /// Somebody else holds the lock, the file cannot be read or written, or it is none that
    /// git would read.
    pub fn set_config(&self, section: &str, settings: &[(&'static str, BString)]) -> Result<()> {
        self.prepare_config(section, None, settings)?.commit()?;
        Ok(())
    }

    /// Sets `section.subsection.NAME` for each of `settings` in the lock of the repository's
    /// `config`, and leaves everything else there as it is. A setting that is there is replaced.
    pub(super) fn prepare_config(
        &self,
        section: &str,
        subsection: Option<&BStr>,
        settings: &[(&'static str, BString)],
    ) -> Result<LockFile> {
        let path = self.config_path();
        let mut lock = self.lock_reference(&path, &|| false)?;
        if let Some(stat) = hedgerow_fs::stat(&path)? {
            // What only the owner may read may hold secrets.
            lock.set_permissions(stat.mode)?;
        }
        let mut file = read_file(&path)?.unwrap_or_default();
        let refused = |error: gix_error::Error| {
            let subsection = subsection.map(|name| format!(".{name}"));
            let name = format!("{section}{}", subsection.unwrap_or_default());
            Error::Config {
                reason: format!("cannot set '{name}': {}", error.probable_cause()),
            }
        };
        for (name, value) in settings {
            let value = value.as_bstr();
            // In its place, which need not be the last section of that name.
            let replaced = file.set_existing_raw_value_by(section, subsection, name, value);
            if replaced.is_err() {
                file.section_mut_or_create_new(section, subsection)
                    .and_then(|mut body| body.set(name, value).map(drop))
                    .map_err(refused)?;
            }
        }
        lock.write_all(&file.to_bstring())?;
        Ok(lock)
    }
}
