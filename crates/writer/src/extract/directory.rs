//! A directory that is being filled.

use super::settings::Settings;
use super::{entry, Failed, Run};
use crate::write::stopped_by;
use crate::Problem;
use hedgerow_fs::{Dir, FileKind};
use hedgerow_tree::Node;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// A directory of which not everything is extracted yet. Whoever puts something into it holds it;
/// the last one to let go gives it its attributes.
pub(super) struct Directory {
    pub path: Vec<u8>,
    /// The one it is in, which is held as long.
    parent: Option<Arc<Directory>>,
    /// What it is to look like; nothing if the source does not say.
    node: Mutex<Option<Node>>,
    /// Why it is not there.
    pub missing: Option<hedgerow_fs::Error>,
}

impl Directory {
    /// The root, which is there.
    pub fn root() -> Arc<Self> {
        Arc::new(Directory {
            path: Vec::new(),
            parent: None,
            node: Mutex::default(),
            missing: None,
        })
    }

    /// Makes a directory in `parent`, whose handle is `handle`, unless there is one.
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

    /// Takes what the directory is to look like, which came after something that is in it.
    pub fn describe(&self, node: Node) {
        *self.node.lock().unwrap_or_else(PoisonError::into_inner) = Some(node);
    }
}

/// Makes a directory that only this process can use until it has its attributes, if it gets any.
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
    /// Lets go of a directory, and gives it its attributes if nobody else holds it; likewise
    /// those above it.
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
