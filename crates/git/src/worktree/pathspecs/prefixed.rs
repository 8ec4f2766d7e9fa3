//! A pathspec as it is shown and handed on: with the directory in which it was given spelled out.

use super::magic;
use super::pathspec::Pathspec;
use crate::repository::Repository;
use bstr::{BString, ByteSlice};

/// A pathspec as git passes it on to a command at the top of the working tree.
pub fn prefixed(repository: &Repository, spec: &BString) -> BString {
    let settings = &repository.environment().pathspecs;
    let prefix = repository.prefix();
    let prefix = prefix.trim_end_with(|character| character == '/').as_bstr();
    let root = repository.work_tree().unwrap_or(repository.git_dir());
    match Pathspec::read(spec.as_bstr(), settings, prefix, root) {
        Ok(read) if !settings.literal => {
            let mut words = magic::long_form(spec.as_bstr());
            if !words.is_empty() {
                words.push(b',');
            }
            let length = read.prefix();
            let prefix = format!("prefix:{length})");
            let parts = [b":(", &words[..], prefix.as_bytes(), read.path()];
            parts.concat().into()
        }
        _ => spec.clone(),
    }
}
