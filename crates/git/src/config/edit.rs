//! Changing a configuration file.

use super::read_file;
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use gix_config::File;
use hedgerow_fs::LockFile;
use std::path::Path;

/// What becomes of one setting of a configuration file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConfigChange<'a> {
    pub section: &'a str,
    pub subsection: Option<&'a BStr>,
    pub name: &'static str,
    /// Its values from now on; without any, it is unset.
    pub values: Vec<BString>,
}

impl<'a> ConfigChange<'a> {
    /// `SECTION.NAME` becomes `value`.
    pub(crate) fn set(section: &'a str, name: &'static str, value: impl Into<BString>) -> Self {
        ConfigChange {
            section,
            subsection: None,
            name,
            values: vec![value.into()],
        }
    }

    /// `SECTION.NAME` is unset.
    pub(crate) fn unset(section: &'a str, name: &'static str) -> Self {
        ConfigChange {
            section,
            subsection: None,
            name,
            values: Vec::new(),
        }
    }

    fn refused(&self, error: &gix_error::Error) -> Error {
        let subsection = self.subsection.map(|name| format!(".{name}"));
        let name = format!("{}{}", self.section, subsection.unwrap_or_default());
        Error::Config {
            reason: format!("cannot set '{name}': {}", error.probable_cause()),
        }
    }

    fn make(&self, file: &mut File) -> Result<()> {
        match self.values.as_slice() {
            [value] => self.set_in(file, value.as_ref()),
            values => {
                self.unset_in(file);
                for value in values {
                    file.section_mut_or_create_new(self.section, self.subsection)
                        .and_then(|mut body| body.push(self.name, value.as_bstr()).map(drop))
                        .map_err(|error| self.refused(&error))?;
                }
                Ok(())
            }
        }
    }

    /// A setting that is there is replaced in its place, which need not be the last section of that
    /// name.
    fn set_in(&self, file: &mut File, value: &BStr) -> Result<()> {
        let replaced =
            file.set_existing_raw_value_by(self.section, self.subsection, self.name, value);
        if replaced.is_ok() {
            return Ok(());
        }
        file.section_mut_or_create_new(self.section, self.subsection)
            .and_then(|mut body| body.set(self.name, value).map(drop))
            .map_err(|error| self.refused(&error))
    }

    /// Removes all its values, and sections that have nothing else.
    fn unset_in(&self, file: &mut File) {
        let sections = file.sections_by_name(self.section).into_iter().flatten();
        let fitting = sections.filter(|section| {
            section.header().subsection_name() == self.subsection
                && section.body().contains_value_name(self.name)
        });
        let ids: Vec<_> = fitting.map(|section| section.id()).collect();
        for id in ids {
            let Some(mut section) = file.section_mut_by_id(id) else {
                continue;
            };
            while section.remove(self.name).is_some() {}
            if section.num_values() == 0 && !has_comment(&section.to_bstring()) {
                file.remove_section_by_id(id);
            }
        }
    }
}

fn has_comment(section: &[u8]) -> bool {
    let mut lines = section.lines();
    lines.any(|line| matches!(line.trim_start().first(), Some(b'#' | b';')))
}

/// Sets `section.subsection.NAME` for each of `settings` in `lock`, that of the configuration file
/// `path`, and leaves everything else there as it is. A setting that is there is replaced.
pub(crate) fn prepare_edit(
    path: &Path,
    lock: LockFile,
    (section, subsection): (&str, Option<&BStr>),
    settings: &[(&'static str, BString)],
) -> Result<LockFile> {
    let changes: Vec<ConfigChange<'_>> = settings
        .iter()
        .map(|(name, value)| ConfigChange {
            section,
            subsection,
            name,
            values: vec![value.clone()],
        })
        .collect();
    prepare_changes(path, lock, &changes)
}

/// Makes `changes` in `lock`, that of the configuration file `path`, and leaves everything else there
/// as it is.
pub(crate) fn prepare_changes(
    path: &Path,
    mut lock: LockFile,
    changes: &[ConfigChange<'_>],
) -> Result<LockFile> {
    if let Some(stat) = hedgerow_fs::stat(path)? {
        // What only the owner may read may hold secrets.
        lock.set_permissions(stat.mode)?;
    }
    let mut file = read_file(path)?.unwrap_or_default();
    for change in changes {
        change.make(&mut file)?;
    }
    lock.write_all(&file.to_bstring())?;
    // Without its configuration a repository is none: it is on the disk before it has its name.
    lock.sync()?;
    Ok(lock)
}
