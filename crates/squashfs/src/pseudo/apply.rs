//! Applies definitions to the nodes of a tree.

use super::data::DataFile;
use super::definition::{Action, Body, Definition, Metadata};
use super::PseudoFiles;
use crate::recipe::Labels;
use crate::rules::has_user_xattrs;
use bstr::{BString, ByteSlice};
use hedgerow_tree::{
    canonical_order, split_path, Content, Handle, Node, NodeError, NodeKind, Xattr,
};
use std::collections::hash_map::{Entry, HashMap};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The first half of [`Node::link`] of entries that definitions make; no device has this number.
const PSEUDO_DEVICE: u64 = u64::MAX;

/// Why definitions cannot be applied to a tree.
#[derive(Debug, thiserror::Error)]
pub enum PseudoError {
    /// The directory of a new entry does not exist.
    #[error("'{path}': the parent directory does not exist; define it, or use -pd")]
    NoDirectory {
        /// The path of the entry.
        path: BString,
    },
    /// What should contain a new entry is no directory.
    #[error("'{path}': the parent is not a directory")]
    NotDirectory {
        /// The path of the entry.
        path: BString,
    },
    /// An extended attribute for an entry that does not exist.
    #[error("'{path}' is not in the image and cannot get an extended attribute")]
    NoEntry {
        /// The path.
        path: BString,
    },
    /// A link to an entry that no definition makes.
    #[error("'{path}': no definition makes '{target}', the target of the link")]
    NoTarget {
        /// The path of the link.
        path: BString,
        /// The path of the target.
        target: BString,
    },
    /// The file of a link cannot be examined, or is a directory.
    #[error("'{path}': {reason}")]
    File {
        /// The path of the link.
        path: BString,
        /// The reason.
        reason: String,
    },
}

/// The tree with the definitions applied.
pub struct Applied {
    /// The nodes in canonical order.
    pub nodes: Vec<Node>,
    /// The paths of entries whose owners come from a definition.
    pub owned: HashSet<Vec<u8>>,
    /// Definitions that had no effect, and why.
    pub warnings: Vec<String>,
}

impl PseudoFiles {
    /// Adds the entries that are defined to `nodes`, and changes those that are to be changed.
    /// Entries without a time get `mtime_s`. An entry that exists already stays as it is: leave it
    /// out of the source to replace it. All entries get their `labels`; extended attributes that definitions
    /// set come after these, and no rule holds for them.
    ///
    /// # Errors
    /// See [`PseudoError`].
    pub fn apply(
        self,
        nodes: Vec<Node>,
        mtime_s: i64,
        labels: &Arc<Labels>,
    ) -> Result<Applied, PseudoError> {
        let kinds = nodes.iter().map(|node| (node.path.clone(), node.kind));
        let mut tree = Tree {
            kinds: kinds.collect(),
            nodes,
            made: HashMap::new(),
            owned: HashSet::new(),
            warnings: Vec::new(),
            mtime_s,
        };
        let mut changes = Vec::new();
        let mut links = Vec::new();
        for definition in self.definitions {
            let Definition { path, action } = definition;
            match action {
                Action::Create(metadata, body) => tree.create(path, metadata, body, &self.data),
                Action::LinkToFile { file, follow } => tree.link_to_file(path, &file, follow)?,
                Action::LinkToEntry(target) => links.push((path, target)),
                Action::Modify(metadata) => changes.push((path, metadata)),
                Action::Xattr(xattr) => tree.made.entry(path).or_default().xattrs.push(xattr),
            }
        }
        for (path, target) in links {
            tree.link_to_entry(path, &target)?;
        }
        tree.complete(self.missing_directories, &changes)?;
        tree.modify(changes);
        tree.label(labels);
        tree.set_xattrs()?;
        tree.nodes.sort_by(|a, b| canonical_order(&a.path, &b.path));
        Ok(Applied {
            nodes: tree.nodes,
            owned: tree.owned,
            warnings: tree.warnings,
        })
    }
}

struct Tree {
    nodes: Vec<Node>,
    /// The kinds of all entries by path.
    kinds: HashMap<Vec<u8>, NodeKind>,
    /// What definitions say about a path.
    made: HashMap<Vec<u8>, Made>,
    owned: HashSet<Vec<u8>>,
    warnings: Vec<String>,
    mtime_s: i64,
}

#[derive(Default)]
struct Made {
    /// The entry made, with the number that its links share.
    entry: Option<(Metadata, Body, Option<DataFile>, u64)>,
    xattrs: Vec<Xattr>,
}

impl Tree {
    fn create(&mut self, path: Vec<u8>, metadata: Metadata, body: Body, data: &[DataFile]) {
        if !self.is_new(&path) {
            return;
        }
        let data = match &body {
            Body::Data { file, .. } => data.get(*file).cloned(),
            _ => None,
        };
        let number = self.nodes.len() as u64;
        self.made.entry(path.clone()).or_default().entry =
            Some((metadata, body.clone(), data.clone(), number));
        self.push(path, metadata, body, data, number);
    }

    /// Whether no entry has this path. If one has, says so.
    fn is_new(&mut self, path: &[u8]) -> bool {
        let Some(kind) = self.kinds.get(path) else {
            return true;
        };
        let is_made = self.made.get(path).is_some_and(|made| made.entry.is_some());
        // The root of a tree always exists.
        if !path.is_empty() || *kind != NodeKind::Directory || is_made {
            let why = if is_made {
                "is defined already"
            } else {
                "is in the source already"
            };
            self.warnings.push(format!(
                "'{}' {why}: the definition is ignored",
                path.as_bstr()
            ));
        }
        false
    }

    fn push(
        &mut self,
        path: Vec<u8>,
        metadata: Metadata,
        body: Body,
        data: Option<DataFile>,
        number: u64,
    ) {
        let mut node = Node {
            path,
            kind: NodeKind::Directory,
            mode: metadata.mode,
            uid: metadata.uid,
            gid: metadata.gid,
            mtime_s: metadata.mtime_s.map_or(self.mtime_s, i64::from),
            mtime_ns: 0,
            size_bytes: 0,
            device: (0, 0),
            link: Some((PSEUDO_DEVICE, number)),
            content_id: None,
            handle: Box::new(Nothing),
        };
        match body {
            Body::Directory => node.link = None,
            Body::Ipc(kind) => node.kind = kind,
            Body::Device(kind, device) => (node.kind, node.device) = (kind, device),
            Body::Symlink(target) => {
                node.kind = NodeKind::Symlink;
                node.handle = Box::new(Target(target));
            }
            Body::Data { start, bytes, .. } => {
                node.kind = NodeKind::File;
                node.size_bytes = bytes;
                if let Some(data) = data {
                    node.handle = Box::new(InData { data, start, bytes });
                }
            }
        }
        self.kinds.insert(node.path.clone(), node.kind);
        self.owned.insert(node.path.clone());
        self.nodes.push(node);
    }

    fn link_to_file(
        &mut self,
        path: Vec<u8>,
        file: &Path,
        follow: bool,
    ) -> Result<(), PseudoError> {
        let failed = |reason: String| PseudoError::File {
            path: path.clone().into(),
            reason,
        };
        let file: PathBuf = if follow {
            hedgerow_fs::real_path(file).map_err(|error| failed(error.to_string()))?
        } else {
            file.to_owned()
        };
        let node = hedgerow_walk::node_at(&file).map_err(|error| failed(error.to_string()))?;
        if node.kind == NodeKind::Directory {
            return Err(failed(format!("'{}' is a directory", file.display())));
        }
        if !self.is_new(&path) {
            return Ok(());
        }
        self.kinds.insert(path.clone(), node.kind);
        self.owned.insert(path.clone());
        self.nodes.push(Node { path, ..node });
        Ok(())
    }

    fn link_to_entry(&mut self, path: Vec<u8>, target: &[u8]) -> Result<(), PseudoError> {
        let made = self.made.get(target).and_then(|made| made.entry.clone());
        let made = made.filter(|(_, body, ..)| *body != Body::Directory);
        let Some((metadata, body, data, number)) = made else {
            return Err(PseudoError::NoTarget {
                path: path.into(),
                target: target.into(),
            });
        };
        if self.is_new(&path) {
            self.push(path, metadata, body, data, number);
        }
        Ok(())
    }

    /// Checks that every entry, and everything that is to be changed, is in a directory, and adds missing
    /// ones with the given attributes.
    fn complete(
        &mut self,
        missing: Option<Metadata>,
        changes: &[(Vec<u8>, Metadata)],
    ) -> Result<(), PseudoError> {
        let paths = self.nodes.iter().map(|node| &node.path);
        let paths = paths.chain(changes.iter().map(|(path, _)| path));
        let paths: Vec<Vec<u8>> = paths.cloned().collect();
        for path in paths {
            let mut inner = path.as_slice();
            while !inner.is_empty() {
                inner = split_path(inner).0;
                match self.kinds.get(inner) {
                    Some(NodeKind::Directory) => break,
                    Some(_) => return Err(PseudoError::NotDirectory { path: path.into() }),
                    None => {}
                }
                let Some(metadata) = missing else {
                    return Err(PseudoError::NoDirectory { path: path.into() });
                };
                let number = self.nodes.len() as u64;
                self.push(inner.to_vec(), metadata, Body::Directory, None, number);
            }
        }
        Ok(())
    }

    /// Changes entries with all their hard links.
    fn modify(&mut self, changes: Vec<(Vec<u8>, Metadata)>) {
        let mut by_path: HashMap<Vec<u8>, Metadata> = HashMap::new();
        for (path, metadata) in changes {
            let shown = path.as_bstr().to_string();
            let is_known = self.kinds.contains_key(&path) && !path.is_empty();
            let problem = match by_path.entry(path) {
                Entry::Vacant(free) if is_known => {
                    free.insert(metadata);
                    continue;
                }
                Entry::Vacant(_) => "is not in the source: the change is ignored",
                Entry::Occupied(_) => "is changed already: the definition is ignored",
            };
            self.warnings.push(format!("'{shown}' {problem}"));
        }
        let links = self.by_link(|path| by_path.get(path).copied());
        for node in &mut self.nodes {
            let link = node.link.and_then(|link| links.get(&link));
            let Some(metadata) = by_path.get(&node.path).or(link) else {
                continue;
            };
            node.mode = metadata.mode;
            node.uid = metadata.uid;
            node.gid = metadata.gid;
            node.mtime_s = metadata.mtime_s.map_or(node.mtime_s, i64::from);
            self.owned.insert(node.path.clone());
        }
    }

    /// What `value` gives for the entries that have several names.
    fn by_link<T>(&self, value: impl Fn(&[u8]) -> Option<T>) -> HashMap<(u64, u64), T> {
        let pairs = self
            .nodes
            .iter()
            .filter_map(|node| Some((node.link?, value(&node.path)?)));
        pairs.collect()
    }

    fn label(&mut self, labels: &Arc<Labels>) {
        let labelled = |node: Node| {
            let path = node.path.clone();
            labels.applied(node, &path)
        };
        let nodes = std::mem::take(&mut self.nodes).into_iter();
        self.nodes = nodes.map(labelled).collect();
    }

    fn set_xattrs(&mut self) -> Result<(), PseudoError> {
        let made = std::mem::take(&mut self.made);
        let xattrs: HashMap<Vec<u8>, Vec<Xattr>> = made
            .into_iter()
            .filter(|(_, made)| !made.xattrs.is_empty())
            .map(|(path, made)| (path, made.xattrs))
            .collect();
        let mut missing = xattrs.keys().filter(|path| !self.kinds.contains_key(*path));
        if let Some(path) = missing.next() {
            return Err(PseudoError::NoEntry {
                path: path.clone().into(),
            });
        }
        let links = self.by_link(|path| xattrs.get(path).cloned());
        for node in &mut self.nodes {
            let link = node.link.and_then(|link| links.get(&link));
            let Some(set) = xattrs.get(&node.path).or(link) else {
                continue;
            };
            let mut set = set.clone();
            if !has_user_xattrs(node.kind) {
                // The kernel would list their names, but not read them.
                set.retain(|xattr| {
                    let is_user = xattr.name.starts_with(b"user.");
                    if is_user {
                        self.warnings.push(format!(
                            "'{}' is neither a regular file nor a directory: '{}' is not stored",
                            node.path.as_bstr(),
                            xattr.name
                        ));
                    }
                    !is_user
                });
            }
            let handle = std::mem::replace(&mut node.handle, Box::new(Nothing));
            node.handle = Box::new(WithXattrs { handle, set });
        }
        Ok(())
    }
}

struct Nothing;

struct Target(Vec<u8>);

struct InData {
    data: DataFile,
    start: u64,
    bytes: u64,
}

/// An entry with further attributes, which replace those of the same names.
struct WithXattrs {
    handle: Box<dyn Handle>,
    set: Vec<Xattr>,
}

impl Handle for Nothing {
    fn target(&mut self) -> Result<Vec<u8>, NodeError> {
        Err(NodeError::entry("it is no symbolic link"))
    }

    fn open(&mut self) -> Result<Box<dyn Content>, NodeError> {
        Err(NodeError::entry("it is no regular file"))
    }
}

impl Handle for Target {
    fn target(&mut self) -> Result<Vec<u8>, NodeError> {
        Ok(self.0.clone())
    }

    fn open(&mut self) -> Result<Box<dyn Content>, NodeError> {
        Nothing.open()
    }
}

impl Handle for InData {
    fn target(&mut self) -> Result<Vec<u8>, NodeError> {
        Nothing.target()
    }

    fn open(&mut self) -> Result<Box<dyn Content>, NodeError> {
        Ok(self.data.content(self.start, self.bytes))
    }
}

impl Handle for WithXattrs {
    fn target(&mut self) -> Result<Vec<u8>, NodeError> {
        self.handle.target()
    }

    fn open(&mut self) -> Result<Box<dyn Content>, NodeError> {
        self.handle.open()
    }

    fn xattrs(&mut self) -> Result<Vec<Xattr>, NodeError> {
        let mut xattrs = self.handle.xattrs()?;
        for xattr in &self.set {
            xattrs.retain(|other| other.name != xattr.name);
            xattrs.push(xattr.clone());
        }
        Ok(xattrs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apply(definitions: &[&str], missing: Option<&str>) -> Result<Applied, PseudoError> {
        let mut files = PseudoFiles::default();
        for definition in ["/ d 700 0 0", "a d 755 0 0", "a/f i 600 0 0 f", "a/g L a/f"] {
            files.add(definition.as_bytes()).unwrap();
        }
        let source = files.apply(Vec::new(), 5, &Arc::default());
        let source = source.unwrap().nodes;
        let mut files = PseudoFiles::default();
        for definition in definitions {
            files.add(definition.as_bytes()).unwrap();
        }
        if let Some(text) = missing {
            files.set_missing_directories(text.as_bytes()).unwrap();
        }
        files.apply(source, 9, &Arc::default())
    }

    fn shown(applied: &Applied) -> String {
        let line = |node: &Node| {
            let path = String::from_utf8_lossy(&node.path);
            format!(
                "{path}:{}:{:o}:{}",
                node.kind.letter(),
                node.mode,
                node.mtime_s
            )
        };
        applied.nodes.iter().map(line).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn entries_are_added_in_order_and_changed_with_their_links() {
        let applied = apply(&["z s 1 0 0 t", "a-b d 711 1 1", "a/g M 7 640 1 1"], None).unwrap();
        let expected = ":d:700:5 a:d:755:5 a/f:p:640:7 a/g:p:640:7 a-b:d:711:9 z:l:777:9";
        let mut words: Vec<&str> = expected.split(' ').collect();
        words.sort_unstable();
        let found = shown(&applied);
        let mut found: Vec<&str> = found.split(' ').collect();
        found.sort_unstable();
        assert_eq!(found, words);
        let is_sorted = |pair: &[Node]| canonical_order(&pair[0].path, &pair[1].path).is_lt();
        assert!(applied.nodes.windows(2).all(is_sorted));
        let applied = apply(&["x/y i 600 0 0 s"], Some("D 3 711 2 2")).unwrap();
        assert!(shown(&applied).contains("x:d:711:3 x/y:s:600:9"));
        let applied = apply(&["x/y m 600 0 0"], Some("d 711 2 2")).unwrap();
        assert!(shown(&applied).contains("x:d:711"));
        assert!(applied.warnings[0].starts_with("'x/y' is not in the source"));
    }

    #[test]
    fn what_cannot_be_applied_is_an_error_or_a_warning() {
        let warned = |definitions: &[&str]| apply(definitions, None).unwrap().warnings.join("; ");
        assert_eq!(
            warned(&["a d 700 0 0"]),
            "'a' is in the source already: the definition is ignored"
        );
        assert_eq!(
            warned(&["b d 1 0 0", "b d 1 0 0"]),
            "'b' is defined already: the definition is ignored"
        );
        assert_eq!(
            warned(&["b m 1 0 0"]),
            "'b' is not in the source: the change is ignored"
        );
        assert_eq!(
            warned(&["s s 777 0 0 t", "s x user.a=1", "s x trusted.a=1"]),
            "'s' is neither a regular file nor a directory: 'user.a' is not stored"
        );
        assert_eq!(warned(&["/ d 700 0 0"]), "");
        for (definition, said) in [
            ("b/c d 700 0 0", "the parent directory does not exist"),
            ("a/f/c d 700 0 0", "the parent is not a directory"),
            ("b x user.a=1", "cannot get an extended attribute"),
            ("b L a/f", "no definition makes 'a/f'"),
            ("b l no-such-file", "no-such-file"),
            ("a l no-such-file", "no-such-file"),
            ("b/c m 1 0 0", "the parent directory does not exist"),
            ("a/f/c M 7 1 0 0", "the parent is not a directory"),
            ("b l /usr", "is a directory"),
        ] {
            let error = apply(&[definition], None).err().unwrap().to_string();
            assert!(error.contains(said), "{definition}: {error}");
        }
    }
}
