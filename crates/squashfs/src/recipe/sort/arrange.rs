//! Arranges nodes by the order of their contents.

use super::SortRules;
use bstr::ByteSlice;
use hedgerow_image::{Item, Role, Treatment};
use hedgerow_tree::{Content, Handle, Node, NodeError, NodeKind, Xattr};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Nodes with the order and treatment of their contents.
pub struct Arranged {
    /// First the contents that are stored out of turn, then all nodes in canonical order.
    pub items: std::vec::IntoIter<Result<Item, NodeError>>,
    /// Messages about rules that match no file, with file and line.
    pub unused: Vec<String>,
}

/// A regular file, which may have several names.
struct Filed {
    /// The index of the node with its first name.
    first: usize,
    priority: i64,
    rule: Option<usize>,
}

impl SortRules {
    /// Arranges nodes, which are in canonical order, and sets the treatment of their contents by
    /// the rules. All nodes are held in memory until they are taken: some hundred bytes each,
    /// without contents.
    ///
    /// # Errors
    /// The source as a whole cannot be read. An error about a single entry stays in its place in
    /// the items.
    pub fn arrange(
        &self,
        nodes: impl Iterator<Item = Result<Node, NodeError>>,
    ) -> Result<Arranged, NodeError> {
        let mut all = Vec::new();
        let mut files: Vec<Filed> = Vec::new();
        let mut links: HashMap<(u64, u64), usize> = HashMap::new();
        // The index of each node's file in `files`.
        let mut owner: Vec<Option<usize>> = Vec::new();
        for node in nodes {
            if let Err(NodeError::Source(_) | NodeError::Cancelled) = &node {
                return Err(node.err().unwrap_or(NodeError::Cancelled));
            }
            let file = node
                .as_ref()
                .ok()
                .filter(|node| node.kind == NodeKind::File);
            owner.push(file.map(|node| {
                let known = node
                    .link
                    .map(|link| *links.entry(link).or_insert(files.len()));
                let number = known.unwrap_or(files.len());
                if number == files.len() {
                    files.push(Filed {
                        first: all.len(),
                        priority: 0,
                        rule: None,
                    });
                }
                if let Some(filed) = files.get_mut(number) {
                    filed.rule = filed.rule.or_else(|| self.first_for(&node.path));
                }
                number
            }));
            all.push(node);
        }
        let unused = self.settle(&mut files);
        let early = out_of_turn(&files);
        Ok(Arranged {
            items: self.items(all, &owner, &files, &early).into_iter(),
            unused,
        })
    }

    /// Gives files their priorities. Returns messages about the rules that match no file.
    fn settle(&self, files: &mut [Filed]) -> Vec<String> {
        let mut is_used = vec![false; self.rules.len()];
        for file in files {
            let Some(number) = file.rule else { continue };
            if let (Some(rule), Some(is_used)) = (self.rules.get(number), is_used.get_mut(number)) {
                file.priority = rule.priority;
                *is_used = true;
            }
        }
        let unused = self
            .rules
            .iter()
            .zip(is_used)
            .filter(|(_, is_used)| !is_used);
        let said = |rule: &super::Rule| format!("no file for '{}'", rule.path.as_bstr());
        unused
            .map(|(rule, _)| self.about(rule, &said(rule)))
            .collect()
    }

    /// Builds the items: first the contents of `early` in that order, then all nodes. The first
    /// name of an early file gives its handle to the content and keeps a share of it for its
    /// attributes.
    fn items(
        &self,
        nodes: Vec<Result<Node, NodeError>>,
        owner: &[Option<usize>],
        files: &[Filed],
        early: &[usize],
    ) -> Vec<Result<Item, NodeError>> {
        let mut number_of = HashMap::new();
        let mut contents: Vec<Option<Result<Item, NodeError>>> = Vec::new();
        for (number, file) in early.iter().enumerate() {
            number_of.insert(*file, number);
            contents.push(None);
        }
        let mut names = Vec::with_capacity(nodes.len());
        for ((place, node), owner) in nodes.into_iter().enumerate().zip(owner) {
            let (mut node, file, owner) = match (node, owner) {
                (Ok(node), Some(owner)) => match files.get(*owner) {
                    Some(file) => (node, file, owner),
                    None => continue,
                },
                (node, _) => {
                    names.push(node.map(Item::from));
                    continue;
                }
            };
            let rule = file.rule.and_then(|rule| self.rules.get(rule));
            let treatment = rule.map_or(Treatment::default(), |rule| rule.treatment);
            let role = match number_of.get(owner) {
                None => Role::Whole,
                Some(number) => {
                    if file.first == place {
                        if let Some(content) = contents.get_mut(*number) {
                            let role = Role::Content(*number as u32);
                            *content = Some(Ok(content_of(&mut node, treatment, role)));
                        }
                    }
                    Role::Name(*number as u32)
                }
            };
            names.push(Ok(Item {
                node,
                treatment,
                role,
            }));
        }
        contents.into_iter().flatten().chain(names).collect()
    }
}

/// The files whose contents cannot be stored along with their names, in the order of storage. That
/// is all files but the longest suffix of that order that is also in the order of the names.
fn out_of_turn(files: &[Filed]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..files.len()).collect();
    order.sort_by_key(|number| files.get(*number).map(|file| file.priority));
    let in_turn = order
        .windows(2)
        .rev()
        .take_while(|pair| pair.first() < pair.last())
        .count();
    order.truncate(order.len().saturating_sub(in_turn + 1));
    order
}

/// Splits off the content of a file as an item of its own. It shares the handle with the node.
fn content_of(node: &mut Node, treatment: Treatment, role: Role) -> Item {
    let nothing: Box<dyn Handle> = Box::new(Nothing);
    let shared = Shared(Arc::new(Mutex::new(Source {
        handle: std::mem::replace(&mut node.handle, nothing),
        xattrs: None,
    })));
    node.handle = Box::new(shared.clone());
    Item {
        node: Node {
            path: node.path.clone(),
            handle: Box::new(shared),
            ..*node
        },
        treatment,
        role,
    }
}

struct Nothing;

impl Handle for Nothing {
    fn target(&mut self) -> Result<Vec<u8>, NodeError> {
        Err(NodeError::entry("it has been taken"))
    }

    fn open(&mut self) -> Result<Box<dyn Content>, NodeError> {
        Err(NodeError::entry("it has been taken"))
    }
}

#[derive(Clone)]
struct Shared(Arc<Mutex<Source>>);

struct Source {
    handle: Box<dyn Handle>,
    xattrs: Option<Vec<Xattr>>,
}

impl Handle for Shared {
    fn target(&mut self) -> Result<Vec<u8>, NodeError> {
        let mut source = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        source.handle.target()
    }

    fn open(&mut self) -> Result<Box<dyn Content>, NodeError> {
        let mut source = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let content = source.handle.open()?;
        // Attributes are read now: the item with the name comes much later, and reading them then
        // would keep the file open until that time.
        source.xattrs = source.handle.xattrs().ok();
        Ok(content)
    }

    fn xattrs(&mut self) -> Result<Vec<Xattr>, NodeError> {
        let mut source = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match source.xattrs.take() {
            Some(xattrs) => Ok(xattrs),
            None => source.handle.xattrs(),
        }
    }
}
