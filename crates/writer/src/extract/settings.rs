use super::{ExtractOptions, XattrRule};
use hedgerow_engine::CancelToken;
use hedgerow_fs::{effective_ids, umask, Dir, Result};
use hedgerow_tree::{Node, NodeKind, Xattr};

const SETUID_SETGID: u32 = 0o6000;
const SETGID: u32 = 0o2000;
/// Mode bits that not every system sets when an entry is created.
const SPECIAL: u32 = 0o7000;

/// The settings for all entries.
pub(super) struct Settings {
    pub cancel: CancelToken,
    pub replace: bool,
    pub root_attributes: bool,
    pub permissions: bool,
    pub times: bool,
    pub devices: bool,
    owners: bool,
    setuid: bool,
    xattrs: XattrRule,
    /// The effective user and group of this process.
    own: (u32, u32),
    /// Permission bits that new entries do not get; all bits if that is not known.
    umask: u32,
    /// Whether new entries get the group of this process.
    own_group: bool,
}

impl Settings {
    pub fn of(root: &Dir, options: &ExtractOptions) -> Result<Self> {
        let own = effective_ids();
        let stat = root.stat_self()?;
        let acl = b"system.posix_acl_default";
        let has_acl = root.xattrs_of(b"")?.iter().any(|(name, _)| name == acl);
        // Existing directories may have rules of their own for new entries, such as default ACLs.
        let known = !options.replace && !has_acl;
        Ok(Settings {
            cancel: options.execution.cancel.clone(),
            replace: options.replace,
            root_attributes: options.root_attributes,
            permissions: options.permissions,
            times: options.times,
            devices: options.devices,
            owners: options.owners,
            setuid: options.owners || options.setuid_anyway,
            xattrs: options.xattrs,
            own,
            umask: umask().filter(|_| known).unwrap_or(0o777),
            own_group: !options.replace && stat.mode & SETGID == 0 && stat.gid == own.1,
        })
    }

    /// The owner and group to set on a new entry; `None` if it need not be changed.
    pub fn owner(&self, node: &Node) -> Option<(u32, u32)> {
        let owner = (node.uid, node.gid);
        let has_it = self.own_group && owner == self.own;
        (self.owners && !has_it).then_some(owner)
    }

    /// The mode of an entry.
    pub fn mode(&self, node: &Node) -> u32 {
        let mode = u32::from(node.mode) & 0o7777;
        if self.setuid {
            mode
        } else {
            mode & !SETUID_SETGID
        }
    }

    /// Whether this process can surely reach what is in a directory after it has its attributes.
    pub fn leaves_reachable(&self, directory: &Node) -> bool {
        let wanted = match self.owner(directory) {
            Some((uid, _)) if uid != self.own.0 => 0o111,
            _ => 0o100,
        };
        !self.permissions || self.mode(directory) & wanted == wanted
    }

    /// The mode with which an entry is created, and whether its final mode must be set later. Other
    /// users must not be able to use the entry before it has its owner.
    pub fn first_mode(&self, node: &Node, xattrs: &[Xattr]) -> (u32, bool) {
        if !self.permissions {
            return match node.kind {
                NodeKind::File => (0o666, false),
                _ => (0o600, false),
            };
        }
        let mode = self.mode(node);
        let at_once = self.owner(node).is_none() && xattrs.is_empty();
        if at_once && mode & (self.umask | SPECIAL) == 0 {
            (mode, false)
        } else {
            (0o600, true)
        }
    }

    /// Keeps only the extended attributes that the entry gets.
    pub fn wanted(&self, mut xattrs: Vec<Xattr>) -> Vec<Xattr> {
        match self.xattrs {
            XattrRule::None => xattrs.clear(),
            XattrRule::User => xattrs.retain(|xattr| xattr.name.starts_with(b"user.")),
            XattrRule::All => {}
        }
        xattrs
    }

    /// Whether entries get any extended attributes.
    pub fn wants_xattrs(&self) -> bool {
        self.xattrs != XattrRule::None
    }
}
