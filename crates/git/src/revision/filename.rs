//! Whether a word that could be a revision is a file as well: what both are is refused.

use crate::repository::Repository;
use crate::Result;
use bstr::{BStr, ByteSlice};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

impl Repository {
    /// Whether the word names something that exists, relative to the user's directory: checked as git
    /// does, without most of the pathspec magic.
    ///
    /// # Errors
    /// It cannot be looked at.
    pub fn names_file(&self, word: &BStr) -> Result<bool> {
        let Some(top) = self.work_tree() else {
            return Ok(false);
        };
        let (prefix, rest) = match word.as_bytes() {
            [b':', b'/', rest @ ..] => (BStr::new(""), rest),
            [b':', b'!' | b'^', rest @ ..] => (self.prefix(), rest),
            _ => (self.prefix(), word.as_bytes()),
        };
        if rest.is_empty() {
            return Ok(!word.is_empty() || !prefix.is_empty());
        }
        let path = top
            .join(OsStr::from_bytes(prefix))
            .join(OsStr::from_bytes(rest));
        Ok(hedgerow_fs::lstat(&path)?.is_some())
    }

    /// Whether the word, which is no revision, is taken for a pathspec: it names something that
    /// exists, or has magic or a wildcard.
    ///
    /// # Errors
    /// It cannot be looked at.
    pub fn names_pathspec(&self, word: &BStr) -> Result<bool> {
        Ok(is_pattern(word) || self.names_file(word)?)
    }
}

/// Whether a word is a pathspec with magic or a wildcard.
fn is_pattern(word: &BStr) -> bool {
    let mut bytes = word.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => drop(bytes.next()),
            b'*' | b'?' | b'[' => return true,
            _ => {}
        }
    }
    word.starts_with(b":(")
}
