use crate::verity::Verity;
use hedgerow_tree::NodeError;

/// What was written.
#[derive(Debug)]
pub struct Created {
    /// Size of the file in bytes, with the offset and padding.
    pub bytes: u64,
    /// Number of inodes; hard links count once.
    pub inodes: u32,
    /// Number of distinct nonempty contents stored.
    pub stored_files: u32,
    /// Number of blocks that hold the tails of several files.
    pub fragments: u32,
    /// Why entries, or their attributes, were left out.
    pub skipped: Vec<NodeError>,
    /// Extended attributes that the format or the kernel cannot hold.
    pub unstored_xattrs: Unstored,
    /// Times that the format cannot hold.
    pub clamped_times: Clamped,
    /// The hash tree behind the image, if there is one.
    pub verity: Option<Verity>,
}

/// Extended attributes that could not be stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unstored {
    /// Number of attributes.
    pub count: u64,
    /// Path and attribute name of the first.
    pub first: Option<(Vec<u8>, Vec<u8>)>,
}

/// Entries whose time the format cannot hold; the nearest representable time is stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clamped {
    /// Number of entries.
    pub count: u64,
    /// The path of the first.
    pub first: Option<Vec<u8>>,
}

impl Unstored {
    /// Counts attributes of the entry at `path` that cannot be stored.
    pub fn add(&mut self, path: &[u8], mut names: Vec<Vec<u8>>) {
        self.count += names.len() as u64;
        if let (None, Some(name)) = (&self.first, names.pop()) {
            self.first = Some((path.to_vec(), name));
        }
    }
}

impl Clamped {
    /// Counts the entry at `path`.
    pub fn add(&mut self, path: &[u8]) {
        self.count += 1;
        self.first.get_or_insert_with(|| path.to_vec());
    }
}
