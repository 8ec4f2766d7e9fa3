//! Changing a configuration file.

use super::read_file;
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use hedgerow_fs::LockFile;
use std::path::Path;

/// Sets `section.subsection.NAME` for each of `settings` in `lock`, that of the configuration file
/// `path`, and leaves everything else there as it is. A setting that is there is replaced.
pub(crate) fn prepare_edit(
    path: &Path,
    mut lock: LockFile,
    (section, subsection): (&str, Option<&BStr>),
    settings: &[(&'static str, BString)],
) -> Result<LockFile> {
    if let Some(stat) = hedgerow_fs::stat(path)? {
        // What only the owner may read may hold secrets.
        lock.set_permissions(stat.mode)?;
    }
    let mut file = read_file(path)?.unwrap_or_default();
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
