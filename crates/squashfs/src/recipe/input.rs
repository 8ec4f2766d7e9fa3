//! The files that provide the contents of a description.

use hedgerow_fs::{Dir, FileKind, ReadFile};
use hedgerow_tree::{split_path, Content, Handle, NodeError};
use hedgerow_walk::FileContent;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file, as a path relative to the directory of the inputs.
#[derive(Clone, Debug)]
pub(super) struct Input {
    pub path: Box<[u8]>,
    /// Whether the path was found by a glob, and is no link, rather than named in a line.
    pub is_found: bool,
}

impl Input {
    fn below(&self, inputs: &Path) -> PathBuf {
        inputs.join(OsStr::from_bytes(&self.path))
    }

    /// The size of the file in bytes.
    pub(super) fn size_bytes(&self, inputs: &Path) -> Result<u64, String> {
        let path = self.below(inputs);
        let wrong = |reason: String| format!("cannot read '{}': {reason}", path.display());
        let stat = hedgerow_fs::stat(&path).map_err(|error| wrong(error.reason()))?;
        let stat = stat.ok_or_else(|| wrong("No such file or directory".into()))?;
        match stat.kind {
            FileKind::File => Ok(stat.size),
            _ => Err(wrong("it is not a regular file".into())),
        }
    }
}

/// The handle of an entry of a description.
pub(super) enum InputHandle {
    Target(Box<[u8]>),
    File(Input, Arc<PathBuf>),
    Nothing,
}

impl Handle for InputHandle {
    fn target(&mut self) -> Result<Vec<u8>, NodeError> {
        match self {
            InputHandle::Target(target) => Ok(target.to_vec()),
            _ => Err(NodeError::entry("it is no symbolic link")),
        }
    }

    fn open(&mut self) -> Result<Box<dyn Content>, NodeError> {
        let InputHandle::File(input, inputs) = self else {
            return Err(NodeError::entry("it is no regular file"));
        };
        let path = input.below(inputs);
        let file = if !input.is_found {
            ReadFile::open(&path)
        } else {
            let (parent, name) = split_path(path.as_os_str().as_bytes());
            let parent = match parent {
                b"" if path.is_absolute() => Path::new("/"),
                b"" => Path::new("."),
                parent => Path::new(OsStr::from_bytes(parent)),
            };
            Dir::open(parent).and_then(|parent| parent.open_file(name))
        };
        let file = file.map_err(NodeError::entry)?;
        let stat = file.stat().map_err(NodeError::entry)?;
        let has_holes = stat.blocks.saturating_mul(512) < stat.size;
        let content = FileContent::new(Arc::new(file), stat.size, has_holes);
        Ok(Box::new(content))
    }
}
