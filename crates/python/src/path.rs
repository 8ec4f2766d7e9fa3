//! Paths as Python has them (`str` in the encoding of the file system, or `bytes`) and as the system
//! has them.

use crate::error::os_error;
use crate::lock::without_lock;
use hedgerow::plumbing::files::{identity, FileKind};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyString};
use std::borrow::Cow;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// What the names of a tree are for the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flavor {
    Str,
    Bytes,
}

impl Flavor {
    /// That of a `str` or `bytes`; `None` for anything else.
    pub(crate) fn of(path: &Bound<'_, PyAny>) -> Option<Self> {
        if path.is_instance_of::<PyString>() {
            Some(Flavor::Str)
        } else if path.is_instance_of::<PyBytes>() {
            Some(Flavor::Bytes)
        } else {
            None
        }
    }

    /// A name or path for the caller.
    pub(crate) fn object<'py>(self, py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
        match self {
            Flavor::Bytes => Ok(PyBytes::new(py, bytes).into_any()),
            Flavor::Str => {
                if is_utf8(py)? {
                    if let Ok(text) = PyString::from_bytes(py, bytes) {
                        return Ok(text.into_any());
                    }
                }
                py.import(intern!(py, "os"))?
                    .call_method1(intern!(py, "fsdecode"), (PyBytes::new(py, bytes),))
            }
        }
    }
}

/// The bytes of a `str` or `bytes` of the caller, without a check for zero bytes.
pub(crate) fn bytes_of(path: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    borrowed_bytes_of(path).map(Cow::into_owned)
}

/// The same where they are, if they are there in this form.
pub(crate) fn borrowed_bytes_of<'p>(path: &'p Bound<'_, PyAny>) -> PyResult<Cow<'p, [u8]>> {
    if let Ok(bytes) = path.cast::<PyBytes>() {
        return Ok(Cow::Borrowed(bytes.as_bytes()));
    }
    let py = path.py();
    let text = path
        .cast::<PyString>()
        .map_err(|_| PyTypeError::new_err("a path is str or bytes"))?;
    match text.to_str() {
        Ok(text) if is_utf8(py)? => Ok(Cow::Borrowed(text.as_bytes())),
        _ => {
            let encoded = py
                .import(intern!(py, "os"))?
                .call_method1(intern!(py, "fsencode"), (text,))?;
            Ok(Cow::Owned(encoded.cast::<PyBytes>()?.as_bytes().to_vec()))
        }
    }
}

/// The bytes of a path of the caller: `str`, `bytes` or `os.PathLike`.
pub(crate) fn path_bytes(path: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    match Flavor::of(path) {
        Some(_) => bytes_of(path),
        None => bytes_of(&fspath(path)?),
    }
}

/// The same for a path that is given to the system.
pub(crate) fn system_path(path: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    let bytes = bytes_of(path)?;
    if bytes.contains(&0) {
        return Err(PyValueError::new_err("embedded null byte"));
    }
    Ok(bytes)
}

/// `os.fspath(path)`.
pub(crate) fn fspath<'py>(path: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = path.py();
    py.import(intern!(py, "os"))?
        .call_method1(intern!(py, "fspath"), (path,))
}

/// Whether there are no positions in a file of this kind.
fn is_stream(kind: FileKind) -> bool {
    matches!(kind, FileKind::Fifo | FileKind::CharacterDevice)
}

/// Refuses pipes and devices as a file whose parts are read in any order. To open a pipe would wait, without an
/// end, for somebody who writes to it.
pub(crate) fn no_pipe(py: Python<'_>, path: &Path) -> PyResult<()> {
    const ESPIPE: i32 = 29;
    match without_lock(py, || identity(path, true)) {
        Ok(found) if is_stream(found.kind) => {
            let path = Flavor::Str.object(py, path.as_os_str().as_bytes())?;
            let error = io::Error::from_raw_os_error(ESPIPE);
            Err(os_error(py, &error, Some(&path)))
        }
        _ => Ok(()),
    }
}

/// Appends the name `name` to the path `path` as `os.path.join` does.
pub(crate) fn join(path: &[u8], name: &[u8]) -> Vec<u8> {
    if name.starts_with(b"/") {
        return name.to_vec();
    }
    let mut joined = Vec::with_capacity(path.len() + 1 + name.len());
    joined.extend_from_slice(path);
    if !path.is_empty() && !path.ends_with(b"/") {
        joined.push(b'/');
    }
    joined.extend_from_slice(name);
    joined
}

/// Whether Python's encoding of the file system is UTF-8: it is not with a few old settings.
fn is_utf8(py: Python<'_>) -> PyResult<bool> {
    static IS_UTF8: PyOnceLock<bool> = PyOnceLock::new();
    let is_utf8 = IS_UTF8.get_or_try_init(py, || {
        let encoding = py
            .import("sys")?
            .call_method0("getfilesystemencoding")?
            .extract::<String>()?;
        Ok::<bool, PyErr>(encoding.eq_ignore_ascii_case("utf-8"))
    })?;
    Ok(*is_utf8)
}
