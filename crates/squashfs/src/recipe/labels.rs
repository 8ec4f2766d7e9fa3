use super::{FileContexts, XattrFile};
use crate::rules::XattrRules;
use hedgerow_tree::{Content, Handle, Node, NodeError, NodeKind, Xattr};
use std::sync::Arc;

/// Extended attributes that are added to those of the source, or replace them.
#[derive(Debug, Default)]
pub struct Labels {
    /// Whether the attributes of the source are kept.
    pub keep: bool,
    /// Attributes by path in the image.
    pub xattrs: Option<XattrFile>,
    /// Security contexts by path in the image and kind.
    pub contexts: Option<FileContexts>,
    /// Changes of the attributes of the source.
    pub rules: XattrRules,
}

impl Labels {
    /// The node with its attributes, which are looked up under the path `known_as`. For a file with
    /// several names, that is the first one, or the one that the description gives.
    pub fn applied(self: &Arc<Self>, node: Node, known_as: &[u8]) -> Node {
        let is_changed = self.xattrs.is_some() || self.contexts.is_some() || !self.rules.is_empty();
        if self.keep && !is_changed {
            return node;
        }
        Node {
            handle: Box::new(Labelled {
                labels: self.clone(),
                path: known_as.into(),
                kind: node.kind,
                handle: node.handle,
            }),
            ..node
        }
    }
}

struct Labelled {
    labels: Arc<Labels>,
    path: Box<[u8]>,
    kind: NodeKind,
    handle: Box<dyn Handle>,
}

impl Handle for Labelled {
    fn target(&mut self) -> Result<Vec<u8>, NodeError> {
        self.handle.target()
    }

    fn open(&mut self) -> Result<Box<dyn Content>, NodeError> {
        self.handle.open()
    }

    fn xattrs(&mut self) -> Result<Vec<Xattr>, NodeError> {
        let mut all = if self.labels.keep {
            self.handle.xattrs()?
        } else {
            Vec::new()
        };
        if !self.labels.rules.is_empty() {
            all = self.labels.rules.applied(self.kind, all);
        }
        let mut set = |xattr: Xattr| {
            all.retain(|other| other.name != xattr.name);
            all.push(xattr);
        };
        if let Some(file) = &self.labels.xattrs {
            file.of(&self.path).iter().cloned().for_each(&mut set);
        }
        if let Some(contexts) = &self.labels.contexts {
            set(Xattr {
                name: "security.selinux".into(),
                value: contexts.of(&self.path, self.kind).to_vec(),
            });
        }
        Ok(all)
    }
}
