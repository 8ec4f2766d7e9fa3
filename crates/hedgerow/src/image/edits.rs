//! Changes of a whole tree before it is stored: pseudo definitions, and times that depend on all
//! entries.

use hedgerow_squashfs::pseudo::PseudoFiles;
use hedgerow_squashfs::recipe::Labels;
use hedgerow_squashfs::WriteError;
use hedgerow_tree::{Node, NodeError};
use std::sync::Arc;

/// A modification time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Time {
    /// In seconds since 1970.
    At(u32),
    /// That of the newest entry.
    Newest,
}

impl Time {
    fn seconds(self, newest: i64) -> i64 {
        match self {
            Time::At(seconds) => seconds.into(),
            Time::Newest => newest,
        }
    }
}

/// Changes of a whole tree. If there are any, all nodes are held in memory until the first content
/// is read.
#[derive(Default)]
pub struct Edits {
    /// Entries that are added or changed.
    pub pseudo: PseudoFiles,
    /// Whether the owners in pseudo definitions stay as they are, whatever
    /// [`Hooks::change`](super::Hooks::change) does.
    pub keep_pseudo_owners: bool,
    /// The time of entries that are added without one; `None` for that of the newest entry.
    pub implied_mtime_s: Option<u32>,
    /// Added to all owners and groups.
    pub owner_offset: Option<u32>,
    /// The time of all entries.
    pub all_time: Option<Time>,
    /// The time of the root.
    pub root_time: Option<Time>,
}

impl Edits {
    /// Whether nothing is changed.
    pub(super) fn is_empty(&self) -> bool {
        let has_times = self.all_time.is_some() || self.root_time.is_some();
        self.pseudo.is_empty() && !has_times && self.owner_offset.is_none()
    }

    /// The nodes after the changes, in canonical order; `change` is applied to each, and each
    /// gets its `labels`.
    pub(super) fn apply(
        self,
        nodes: Vec<Node>,
        labels: &Arc<Labels>,
        change: &dyn Fn(Node) -> Node,
        warn: &dyn Fn(String),
    ) -> Result<Vec<Node>, WriteError> {
        let implied = self.implied_mtime_s.map(i64::from);
        let implied = implied.unwrap_or_else(|| newest(&nodes));
        let applied = self
            .pseudo
            .apply(nodes, implied, labels)
            .map_err(NodeError::source)?;
        applied.warnings.into_iter().for_each(warn);
        let changed = |node: Node| {
            let (uid, gid) = (node.uid, node.gid);
            let is_owned = self.keep_pseudo_owners && applied.owned.contains(&node.path);
            let node = change(node);
            if is_owned {
                Node { uid, gid, ..node }
            } else {
                node
            }
        };
        let mut nodes: Vec<Node> = applied.nodes.into_iter().map(changed).collect();
        let newest = newest(&nodes);
        for node in &mut nodes {
            if let Some(offset) = self.owner_offset {
                let sum = |id: u32| id.checked_add(offset).ok_or_else(too_large);
                (node.uid, node.gid) = (sum(node.uid)?, sum(node.gid)?);
            }
            let root_time = self.root_time.filter(|_| node.path.is_empty());
            if let Some(time) = self.all_time.or(root_time) {
                node.set_mtime(time.seconds(newest));
            }
        }
        Ok(nodes)
    }
}

/// The newest time that an image can store, of all nodes.
fn newest(nodes: &[Node]) -> i64 {
    let times = nodes
        .iter()
        .map(|node| node.mtime_s.clamp(0, u32::MAX.into()));
    times.max().unwrap_or_default()
}

fn too_large() -> WriteError {
    WriteError::Limit {
        reason: "an owner or a group would be over 4294967295".into(),
    }
}
