//! An entry of a directory.

use super::stat::stat_result;
use crate::error::os_error;
use crate::lock::without_lock;
use crate::path::borrowed_bytes_of;
use hedgerow::walk::{stat_path, FileKind, OpenDirectory, Stat};
use pyo3::exceptions::PyFileNotFoundError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Arc, OnceLock, Weak};

/// The directory of an entry.
pub(super) enum Directory {
    Path {
        /// Its path, with a slash at the end, as the caller has it and as the system has it.
        prefix: Py<PyAny>,
        prefix_bytes: Vec<u8>,
        /// It is open while it is listed.
        open: Weak<OpenDirectory>,
    },
    /// The caller's descriptor.
    Descriptor(i32),
}

/// An entry of a directory, as `os.scandir` yields them.
#[pyclass(frozen, generic, module = "hedgerow.os")]
pub(super) struct DirEntry {
    /// The entry's name relative to the directory, `str` or `bytes`.
    #[pyo3(get)]
    name: Py<PyAny>,
    directory: Arc<Directory>,
    kind: Option<FileKind>,
    inode: u64,
    /// What was statted with the whole directory.
    known: Option<Box<Stat>>,
    path: OnceLock<Py<PyAny>>,
    lstat: OnceLock<Py<PyAny>>,
    stat: OnceLock<Py<PyAny>>,
}

/// What `place` holds; if nothing, what is made now. Threads that come at once may all make it, and get
/// the same: unlike `PyOnceLock`, this does not let go of the interpreter for each entry.
fn held(
    place: &OnceLock<Py<PyAny>>,
    make: impl FnOnce() -> PyResult<Py<PyAny>>,
) -> PyResult<&Py<PyAny>> {
    if let Some(made) = place.get() {
        return Ok(made);
    }
    let made = make()?;
    Ok(place.get_or_init(|| made))
}

/// What any object counts as, as for `os.DirEntry`.
pub(super) fn truth(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    object.is_truthy()
}

impl DirEntry {
    pub(super) fn new(
        name: Py<PyAny>,
        directory: Arc<Directory>,
        kind: Option<FileKind>,
        inode: u64,
        known: Option<Box<Stat>>,
    ) -> Self {
        DirEntry {
            name,
            directory,
            kind,
            inode,
            known,
            path: OnceLock::new(),
            lstat: OnceLock::new(),
            stat: OnceLock::new(),
        }
    }

    fn full_path<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, PyAny>> {
        let path = held(&self.path, || match &*self.directory {
            Directory::Path { prefix, .. } => Ok(prefix.bind(py).add(&self.name)?.unbind()),
            Directory::Descriptor(_) => Ok(self.name.clone_ref(py)),
        })?;
        Ok(path.bind(py))
    }

    fn ask<'py>(&self, py: Python<'py>, follow: bool) -> PyResult<Bound<'py, PyAny>> {
        if let Directory::Path {
            prefix_bytes, open, ..
        } = &*self.directory
        {
            let name = borrowed_bytes_of(self.name.bind(py))?;
            let stat = without_lock(py, || match open.upgrade().filter(|_| !follow) {
                Some(directory) => directory.stat(&name),
                None => {
                    let path = [&prefix_bytes[..], &name].concat();
                    stat_path(Path::new(OsStr::from_bytes(&path)), follow)
                }
            });
            match stat {
                Ok(stat) => {
                    if let Some(made) = stat_result(py, &stat)? {
                        return Ok(made);
                    }
                }
                Err(error) => return Err(os_error(py, &error, Some(self.full_path(py)?))),
            }
        }
        self.ask_python(py, follow)
    }

    /// Python's own stat: its result is what callers expect, also of attributes that few systems have.
    fn ask_python<'py>(&self, py: Python<'py>, follow: bool) -> PyResult<Bound<'py, PyAny>> {
        match &*self.directory {
            Directory::Path { .. } if follow => {
                function(py, &STAT, "stat")?.call1((self.full_path(py)?,))
            }
            Directory::Path { .. } => function(py, &LSTAT, "lstat")?.call1((self.full_path(py)?,)),
            Directory::Descriptor(descriptor) => {
                let options = PyDict::new(py);
                options.set_item(intern!(py, "dir_fd"), descriptor)?;
                options.set_item(intern!(py, "follow_symlinks"), follow)?;
                function(py, &STAT, "stat")?.call((&self.name,), Some(&options))
            }
        }
    }

    fn own_stat<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, PyAny>> {
        let stat = held(&self.lstat, || Ok(self.first_stat(py)?.unbind()))?;
        Ok(stat.bind(py))
    }

    fn first_stat<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        if let Some(known) = &self.known {
            if let Some(made) = stat_result(py, known)? {
                return Ok(made);
            }
        }
        self.ask(py, false)
    }

    fn followed_stat<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, PyAny>> {
        if !self.is_link(py)? {
            return self.own_stat(py);
        }
        let stat = held(&self.stat, || Ok(self.ask(py, true)?.unbind()))?;
        Ok(stat.bind(py))
    }

    fn is_link(&self, py: Python<'_>) -> PyResult<bool> {
        match self.kind {
            Some(kind) => Ok(kind == FileKind::Symlink),
            None => self.has_type(py, false, S_IFLNK),
        }
    }

    /// Whether it is of a kind. What does not exist any more is of none.
    fn is_kind(&self, py: Python<'_>, wanted: FileKind, bits: u32, follow: bool) -> PyResult<bool> {
        match self.kind {
            Some(FileKind::Symlink) if follow => self.has_type(py, true, bits),
            Some(kind) => Ok(kind == wanted),
            None => self.has_type(py, follow, bits),
        }
    }

    fn has_type(&self, py: Python<'_>, follow: bool, bits: u32) -> PyResult<bool> {
        let stat = if follow {
            self.followed_stat(py)
        } else {
            self.own_stat(py)
        };
        match stat {
            Ok(stat) => {
                let mode: u32 = stat.getattr(intern!(py, "st_mode"))?.extract()?;
                Ok(mode & S_IFMT == bits)
            }
            Err(error) if error.is_instance_of::<PyFileNotFoundError>(py) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

static STAT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static LSTAT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// A function of the module os, looked up once.
fn function<'py>(
    py: Python<'py>,
    place: &'static PyOnceLock<Py<PyAny>>,
    name: &str,
) -> PyResult<&'py Bound<'py, PyAny>> {
    let found = place.get_or_try_init(py, || {
        Ok::<_, PyErr>(py.import("os")?.getattr(name)?.unbind())
    });
    Ok(found?.bind(py))
}

/// The bits of `st_mode` that tell the kind, and the kinds.
const S_IFMT: u32 = 0o170_000;
const S_IFDIR: u32 = 0o040_000;
const S_IFREG: u32 = 0o100_000;
const S_IFLNK: u32 = 0o120_000;

#[pymethods]
impl DirEntry {
    /// The entry's path: the path given to `scandir` with the name.
    #[getter]
    fn path<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.full_path(py).cloned()
    }

    /// Whether it is a directory or, unless `follow_symlinks` is false, a link to one. What does not exist
    /// any more is none; raises `OSError` if it cannot be told.
    #[pyo3(signature = (*, follow_symlinks=true))]
    fn is_dir(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = truth)] follow_symlinks: bool,
    ) -> PyResult<bool> {
        self.is_kind(py, FileKind::Directory, S_IFDIR, follow_symlinks)
    }

    /// Whether it is a regular file or, unless `follow_symlinks` is false, a link to one. What does not exist
    /// any more is none; raises `OSError` if it cannot be told.
    #[pyo3(signature = (*, follow_symlinks=true))]
    fn is_file(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = truth)] follow_symlinks: bool,
    ) -> PyResult<bool> {
        self.is_kind(py, FileKind::File, S_IFREG, follow_symlinks)
    }

    /// Whether it is a symbolic link. Raises `OSError` if the directory does not tell, and neither does the
    /// system.
    fn is_symlink(&self, py: Python<'_>) -> PyResult<bool> {
        self.is_link(py)
    }

    /// Whether it is a junction, which Linux does not have.
    fn is_junction(&self) -> bool {
        false
    }

    /// The inode number, as the directory has it.
    fn inode(&self) -> u64 {
        self.inode
    }

    /// An `os.stat_result` for the entry or, unless `follow_symlinks` is false, for what it links to. It is
    /// asked for once. Raises `OSError`, for example `FileNotFoundError` for what does not exist any more.
    #[pyo3(signature = (*, follow_symlinks=true))]
    fn stat<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = truth)] follow_symlinks: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        if follow_symlinks {
            self.followed_stat(py).cloned()
        } else {
            self.own_stat(py).cloned()
        }
    }

    fn __fspath__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.full_path(py).cloned()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("<DirEntry {}>", self.name.bind(py).repr()?))
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(pyo3::exceptions::PyTypeError::new_err(
            "cannot pickle 'DirEntry' object",
        ))
    }
}
