//! The option of commands that move a working tree whether submodules move along.

use crate::failure::Failure;
use crate::git_options::GitOption;
use bstr::ByteSlice;
use clap::Args;
use hedgerow::repository::boolean;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

/// `--recurse-submodules`, also with `--no-`.
pub const RECURSE_SUBMODULES: GitOption = GitOption::switch(None, "recurse-submodules")
    .with_optional_value()
    .or_not();

/// Whether submodules move along.
#[derive(Debug, Args)]
pub struct RecurseSubmodules {
    /// Move active submodules along (submodule.recurse)
    #[arg(long, value_name = "yes|no", num_args = 0..=1, require_equals = true)]
    recurse_submodules: Option<Option<OsString>>,
    /// Leave submodules as they are
    #[arg(long, hide = true)]
    no_recurse_submodules: bool,
}

impl RecurseSubmodules {
    /// What the user wishes, if they say so.
    ///
    /// # Errors
    /// A value that is neither yes nor no.
    pub fn wish(&self) -> Result<Option<bool>, Failure> {
        match &self.recurse_submodules {
            _ if self.no_recurse_submodules => Ok(Some(false)),
            None => Ok(None),
            Some(None) => Ok(Some(true)),
            Some(Some(value)) => {
                let value = value.as_bytes().as_bstr();
                let known = boolean(value).map(Some);
                known.ok_or_else(|| {
                    let message = format_args!("bad recurse-submodules argument: {value}");
                    Failure::fatal(message)
                })
            }
        }
    }
}
