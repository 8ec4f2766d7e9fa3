use crate::Entry;
use std::fmt;
use std::io;
use std::ops::ControlFlow;

/// A tree that can be listed: a directory, an archive, a commit, an image.
///
/// Entries come in canonical order ([`canonical_order`](crate::canonical_order)), each once, and
/// each directory before its entries. The root is not listed. Memory use does not grow with the
/// tree.
pub trait TreeSource {
    /// Why the tree cannot be listed at all.
    type Error: std::error::Error + Send + Sync + 'static;

    /// Calls `visit` for every entry until it breaks: on any thread, but never concurrently.
    ///
    /// Returns what could not be listed and was left out, in canonical order. Entries below a
    /// directory that was left out are not listed either.
    fn list(
        &self,
        visit: &mut (dyn FnMut(Entry<'_>) -> ControlFlow<()> + Send),
    ) -> Result<Vec<Omission>, Self::Error>;
}

/// A part of a tree that was left out because it could not be read.
#[derive(Debug)]
pub struct Omission {
    /// The path relative to the root; empty for the root.
    pub path: Vec<u8>,
    /// The failed operation, as a verb for messages: `open`, `list`, `stat`.
    pub operation: &'static str,
    /// The cause.
    pub source: io::Error,
}

impl fmt::Display for Omission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = crate::shown_path(&self.path);
        write!(f, "cannot {} '{path}': {}", self.operation, self.source)
    }
}

impl std::error::Error for Omission {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_omission_reads_as_one_sentence() {
        let omission = Omission {
            path: b"a/b".to_vec(),
            operation: "list",
            source: io::ErrorKind::PermissionDenied.into(),
        };
        assert_eq!(omission.to_string(), "cannot list 'a/b': permission denied");
        let of_root = Omission {
            path: Vec::new(),
            ..omission
        };
        assert_eq!(of_root.to_string(), "cannot list '/': permission denied");
    }
}
