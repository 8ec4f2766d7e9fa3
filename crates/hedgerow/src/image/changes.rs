//! Changes of each entry of a new image.

use hedgerow_squashfs::rules::ModeChange;
use hedgerow_tree::{Node, NodeKind};

/// What the options of mksquashfs about owners, permissions and times ask for.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// The owner of the root.
    pub root_uid: Option<u32>,
    /// The group of the root.
    pub root_gid: Option<u32>,
    /// The permissions of the root.
    pub root_mode: Option<ModeChange>,
    /// The owner of everything.
    pub uid: Option<u32>,
    /// The group of everything.
    pub gid: Option<u32>,
    /// The permissions of everything but directories.
    pub file_mode: Option<ModeChange>,
    /// The permissions of directories.
    pub directory_mode: Option<ModeChange>,
    /// Whether each hard link becomes a file of its own.
    pub no_hard_links: bool,
    /// The latest time that an entry may have.
    pub epoch: Option<u32>,
}

impl Changes {
    /// The entry with the changes.
    pub fn applied(&self, mut node: Node) -> Node {
        let is_directory = node.kind == NodeKind::Directory;
        if node.path.is_empty() {
            node.uid = self.root_uid.unwrap_or(node.uid);
            node.gid = self.root_gid.unwrap_or(node.gid);
            if let Some(change) = &self.root_mode {
                node.mode = change.applied(node.mode, true);
            }
        }
        node.uid = self.uid.unwrap_or(node.uid);
        node.gid = self.gid.unwrap_or(node.gid);
        let mode = if is_directory {
            &self.directory_mode
        } else {
            &self.file_mode
        };
        if let Some(change) = mode {
            node.mode = change.applied(node.mode, is_directory);
        }
        if self.no_hard_links {
            node.link = None;
        }
        if let Some(epoch) = self.epoch {
            node.limit_mtime(epoch.into());
        }
        node
    }
}

/// Parses a number, or the name of a user or group of this system.
///
/// # Errors
/// The word is neither.
pub fn parse_owner(word: &str, is_group: bool) -> Result<u32, String> {
    let digits = word.bytes().all(|byte| byte.is_ascii_digit());
    let number = word.parse().ok().filter(|_| digits);
    let known = || {
        if is_group {
            hedgerow_fs::group_by_name(word.as_bytes()).map(|group| group.gid)
        } else {
            hedgerow_fs::account_by_name(word.as_bytes()).map(|account| account.uid)
        }
    };
    let what = if is_group { "group" } else { "user" };
    number.or_else(known).ok_or_else(|| {
        format!("'{word}' is neither a {what} of this system nor a number of 32 bits")
    })
}
