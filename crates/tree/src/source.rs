use crate::Entry;
use std::fmt;
use std::io;
use std::ops::ControlFlow;

/// Something that can list a tree: a directory, an archive, a commit, an image.
///
/// The entries come in canonical order ([`canonical_order`](crate::canonical_order)), each once, a
/// directory before its contents. The root is not listed. Listing takes memory for what is under
/// way, not for the tree.
pub trait TreeSource {
    /// Why the tree cannot be listed at all.
    type Error: std::error::Error + Send + Sync + 'static;

    /// Calls `visit` for every entry, from any thread but one at a time, until it breaks.
    ///
    /// Returns what could not be listed and was passed over, in canonical order. An entry whose
    /// directory was passed over is not listed either.
    fn list(
        &self,
        visit: &mut (dyn FnMut(Entry<'_>) -> ControlFlow<()> + Send),
    ) -> Result<Vec<Omission>, Self::Error>;
}

/// Something of a tree that was passed over because it could not be had.
#[derive(Debug)]
pub struct Omission {
    /// Its path below the root; empty for the root.
    pub path: Vec<u8>,
    /// What was being done, as the verb of a sentence: `open`, `list`, `stat`.
    pub operation: &'static str,
    /// Why that failed.
    pub source: io::Error,
}

impl fmt::Display for Omission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = bstr::BStr::new(&self.path);
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
    }
}
