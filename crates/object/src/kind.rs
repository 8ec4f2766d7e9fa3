use crate::WrongKind;
use gix_hash::oid;

/// The four kinds of object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ObjectKind {
    /// A commit.
    Commit,
    /// A directory.
    Tree,
    /// The content of a file.
    Blob,
    /// An annotated tag.
    Tag,
}

impl ObjectKind {
    /// Checks that the object `id`, which is of this kind, is of the kind `expected`.
    ///
    /// # Errors
    /// [`WrongKind`] if it is not.
    pub fn expect(self, expected: ObjectKind, id: &oid) -> Result<(), WrongKind> {
        if self == expected {
            Ok(())
        } else {
            Err(WrongKind {
                id: id.to_owned(),
                found: self,
                expected,
            })
        }
    }

    /// Its name, which starts a loose object and every hashed object.
    pub fn name(self) -> &'static str {
        match self {
            ObjectKind::Commit => "commit",
            ObjectKind::Tree => "tree",
            ObjectKind::Blob => "blob",
            ObjectKind::Tag => "tag",
        }
    }

    /// The kind of that name.
    pub fn from_name(name: &[u8]) -> Option<Self> {
        match name {
            b"commit" => Some(ObjectKind::Commit),
            b"tree" => Some(ObjectKind::Tree),
            b"blob" => Some(ObjectKind::Blob),
            b"tag" => Some(ObjectKind::Tag),
            _ => None,
        }
    }
}

impl std::fmt::Display for ObjectKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
