//! The options of `checkout`, `switch` and `restore` about three-way merges.

use crate::environment;
use crate::failure::Failure;
use bstr::ByteSlice;
use clap::Args;
use hedgerow::checkout::ConflictStyle;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

/// Options about merges.
#[derive(Debug, Args)]
pub struct MergeOptions {
    /// Merge local changes into the new branch; with paths, recreate their conflicts
    #[arg(short, long)]
    merge: bool,
    /// Do not
    #[arg(long, hide = true)]
    no_merge: bool,
    /// Like --merge, with conflicts shown as merge, diff3 or zdiff3 (merge.conflictStyle)
    #[arg(long, value_name = "STYLE")]
    conflict: Option<OsString>,
}

/// The value of `--conflict`.
pub fn conflict_style(name: &OsStr) -> Result<ConflictStyle, Failure> {
    let name = name.as_bytes().as_bstr();
    let style = ConflictStyle::from_name(name);
    style.ok_or_else(|| Failure::usage(format_args!("unknown conflict style '{name}'")))
}

/// A merge that is wanted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Merging {
    /// How conflicts are shown, if not as configured.
    pub style: Option<ConflictStyle>,
}

impl MergeOptions {
    /// The merge that is wanted, if one is. A style after `--no-merge` asks for one, one before it does
    /// not.
    ///
    /// # Errors
    /// An unknown style.
    pub fn wanted(&self) -> Result<Option<Merging>, Failure> {
        let style = self.conflict.as_deref().map(conflict_style).transpose()?;
        let is_wanted = self.merge || style.is_some() && !(self.no_merge && self.is_taken_back());
        Ok(is_wanted.then_some(Merging { style }))
    }

    /// Whether `--no-merge` is the last word on merging.
    fn is_taken_back(&self) -> bool {
        let words = environment::words();
        let last = |start: &[u8]| {
            words
                .iter()
                .rposition(|it| it.as_bytes().starts_with(start))
        };
        last(b"--no-m") > last(b"--conf")
    }
}
