//! A directory that is being filled.

use super::settings::Settings;
use super::{entry, Failed, Run};
use crate::write::stopped_by;
use crate::Problem;
use hedgerow_fs::{Dir, FileKind};
use hedgerow_tree::Node;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// A directory whose contents are not completely extracted. Each job for an entry in it holds a
/// reference; when the last reference is released, the directory gets its attributes.
pub(super) struct Directory {
    pub path: Vec<u8>,
    /// The parent directory, which is referenced as long.
    parent: Option<Arc<Directory>>,
    /// The attributes to set; `None` if the source does not contain the directory.
    node: Mutex<Option<Node>>,
    /// Why the directory could not be created.
    pub missing: Option<hedgerow_fs::Error>,
}

impl Directory {
    /// The root, which exists.
    pub fn root() -> Arc<Self> {
        Arc::new(Directory {
            path: Vec::new(),
            parent: None,
            node: Mutex::default(),
            missing: None,
        })
    }

    /// Creates a directory in `parent`, whose handle is `handle`, unless it exists.
    pub fn make(
        settings: &Settings,
        parent: &Arc<Directory>,
        handle: Result<&Dir, &hedgerow_fs::Error>,
        path: &[u8],
        node: Option<Node>,
    ) -> Result<Arc<Self>, (Arc<Self>, Problem)> {
        let name = hedgerow_tree::split_path(path).1;
        let made = match handle {
            Ok(handle) => make(
                settings,
                handle,
                name,
                node.is_some() && settings.permissions,
            ),
            Err(error) => Err(stopped_by(error, "create directory", path).into()),
        };
        let mut directory = Directory {
            path: path.to_vec(),
            parent: Some(parent.clone()),
            node: Mutex::new(node),
            missing: None,
        };
        match made {
            Ok(()) => Ok(Arc::new(directory)),
            Err(problem) => {
                directory.node = Mutex::default();
                directory.missing = Some(match &problem {
                    Problem::Fs(error) => stopped_by(error, "create", path),
                    _ => {
                        let reason = io::Error::other(problem.to_string());
                        hedgerow_fs::Error::new(
                            "create",
                            String::from_utf8_lossy(path).as_ref(),
                            reason,
                        )
                    }
                });
                Err((Arc::new(directory), problem))
            }
        }
    }

    /// Whether its contents can surely be reached after it and the directories above have their
    /// attributes.
    pub fn stays_reachable(&self, settings: &Settings) -> bool {
        let node = self.node.lock().unwrap_or_else(PoisonError::into_inner);
        let own = node
            .as_ref()
            .is_none_or(|node| settings.leaves_reachable(node));
        let parent = self.parent.as_ref();
        own && parent.is_none_or(|parent| parent.stays_reachable(settings))
    }

    /// Sets the attributes, if their node comes after the directory was entered.
    pub fn describe(&self, node: Node) {
        *self.node.lock().unwrap_or_else(PoisonError::into_inner) = Some(node);
    }
}

/// Creates a directory. If it gets its attributes later, only this process can use it until then.
fn make(settings: &Settings, handle: &Dir, name: &[u8], described: bool) -> Result<(), Problem> {
    let mode = if described { 0o700 } else { 0o777 };
    let taken = match handle.create_dir_with_mode(name, mode) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => error,
        other => return Ok(other?),
    };
    if handle.stat(name)?.kind == FileKind::Directory {
        return Ok(());
    }
    if !settings.replace {
        drop(taken);
        return Err(Problem::Collided);
    }
    handle.remove_file(name)?;
    Ok(handle.create_dir_with_mode(name, mode)?)
}

impl Run<'_> {
    /// Releases a reference to a directory. If it was the last one, the directory gets its
    /// attributes, and the reference to its parent is released in the same way.
    pub fn let_go(&self, directory: Arc<Directory>, failures: &mut Vec<Failed>) {
        let mut next = Some(directory);
        while let Some(mut directory) = next.and_then(Arc::into_inner) {
            let node = directory.node.get_mut();
            if let Some(node) = node.unwrap_or_else(PoisonError::into_inner).take() {
                if let Err(problem) = self.finish(node) {
                    let path = Some(std::mem::take(&mut directory.path));
                    failures.push(Failed { path, problem });
                }
            }
            next = directory.parent;
        }
    }

    fn finish(&self, mut node: Node) -> Result<(), Problem> {
        let opened = self.root.open_directory_node(&node.path)?;
        let xattrs = entry::xattrs_of(&self.settings, &mut node)?;
        let label = self.root.path_of(&node.path);
        entry::set_attributes(
            &self.settings,
            opened.attributes(),
            &node,
            &xattrs,
            self.settings.permissions,
        )
        .map_err(|(operation, source)| hedgerow_fs::Error::new(operation, label, source).into())
    }
}
