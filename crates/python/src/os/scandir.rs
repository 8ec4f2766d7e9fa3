//! The iterator over the entries of a directory.

use super::audit_scandir;
use super::entry::{truth, DirEntry, Directory};
use crate::error::os_error;
use crate::lock::without_lock;
use crate::path::{fspath, system_path, Flavor};
use hedgerow::plumbing::files::until_removed;
use hedgerow::walk::{stat_entries, Listing, OpenDirectory, ReadBuffer, Stat};
use pyo3::exceptions::{PyDeprecationWarning, PyOverflowError, PyResourceWarning, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyInt, PyString, PyTuple};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// The entries of a directory, read when they are asked for.
#[pyclass(frozen, module = "hedgerow.os")]
pub(super) struct ScandirIterator {
    directory: Arc<Directory>,
    flavor: Flavor,
    /// What the caller gave, for errors.
    filename: Option<Py<PyAny>>,
    reading: Mutex<Option<Box<Reading>>>,
}

struct Reading {
    directory: Arc<OpenDirectory>,
    /// Whether the caller has the same directory open.
    is_shared: bool,
    buffer: ReadBuffer,
    listing: Listing,
    inodes: Vec<u64>,
    /// Whether all entries are statted when they are listed, and what was found.
    stats_all: bool,
    stats: Vec<Option<Stat>>,
    next: usize,
}

/// Lists a directory: `os.scandir(path)`. With `stat`, its entries are statted when they are listed:
/// `DirEntry.stat(follow_symlinks=False)` gives what was so then.
#[pyfunction]
#[pyo3(signature = (path=None, *, stat=false))]
pub(super) fn scandir(
    py: Python<'_>,
    path: Option<Bound<'_, PyAny>>,
    #[pyo3(from_py_with = truth)] stat: bool,
) -> PyResult<ScandirIterator> {
    let path = match path {
        Some(path) => operand(path)?,
        None => PyString::new(py, ".").into_any(),
    };
    audit_scandir(&path)?;
    let path = if path.is_instance_of::<PyInt>() {
        match descriptor_of(&path)? {
            NO_DESCRIPTOR => PyString::new(py, ".").into_any(),
            descriptor => return scandir_descriptor(&path, descriptor, stat),
        }
    } else {
        path
    };
    let flavor = Flavor::of(&path).expect("an operand is a number or a path");
    let bytes = system_path(&path)?;
    let opened = {
        let path = PathBuf::from(OsString::from_vec(bytes.clone()));
        without_lock(py, || OpenDirectory::open(&path))
    };
    let opened = opened.map_err(|error| os_error(py, &error, Some(&path)))?;
    let mut prefix_bytes = bytes;
    let prefix = if prefix_bytes.ends_with(b"/") {
        path.clone()
    } else {
        prefix_bytes.push(b'/');
        flavor.object(py, &prefix_bytes)?
    };
    let opened = Arc::new(opened);
    let directory = Directory::Path {
        prefix: prefix.unbind(),
        prefix_bytes,
        open: Arc::downgrade(&opened),
    };
    Ok(ScandirIterator {
        directory: Arc::new(directory),
        flavor,
        filename: Some(path.unbind()),
        reading: Mutex::new(Some(Box::new(Reading::new(opened, false, stat)))),
    })
}

fn scandir_descriptor(
    path: &Bound<'_, PyAny>,
    descriptor: i32,
    stat: bool,
) -> PyResult<ScandirIterator> {
    let opened = OpenDirectory::duplicate(descriptor).map_err(|error| {
        // As in Python, a number that is no descriptor names nothing.
        let named = (error.raw_os_error() != Some(EBADF)).then_some(path);
        os_error(path.py(), &error, named)
    })?;
    Ok(ScandirIterator {
        directory: Arc::new(Directory::Descriptor(descriptor)),
        flavor: Flavor::Str,
        filename: Some(path.clone().unbind()),
        reading: Mutex::new(Some(Box::new(Reading::new(Arc::new(opened), true, stat)))),
    })
}

const EBADF: i32 = 9;

/// For Python, this number stands for no descriptor, and so for the working directory.
const NO_DESCRIPTOR: i32 = -1;

fn descriptor_of(number: &Bound<'_, PyAny>) -> PyResult<i32> {
    number.extract().or_else(|error: PyErr| {
        let py = number.py();
        if !error.is_instance_of::<PyOverflowError>(py) {
            return Err(error);
        }
        let bound = if number.lt(0)? {
            "less than minimum"
        } else {
            "greater than maximum"
        };
        Err(PyOverflowError::new_err(format!("fd is {bound}")))
    })
}

/// The argument of `scandir` as `str`, `bytes` or `int`.
fn operand(path: Bound<'_, PyAny>) -> PyResult<Bound<'_, PyAny>> {
    if Flavor::of(&path).is_some() {
        return Ok(path);
    }
    let py = path.py();
    if path.hasattr("__fspath__")? {
        return fspath(&path);
    }
    if path.hasattr("__index__")? && !path.is_instance_of::<PyBool>() {
        return path.call_method0("__index__");
    }
    // Python 3.12 takes them no more.
    let may_be_bytes_like = py.version_info() < (3, 12);
    if may_be_bytes_like && path.is_instance(&bytes_like(py)?)? {
        let category = py.get_type::<PyDeprecationWarning>();
        let words = c"scandir: path should be string, bytes, os.PathLike, integer or None, not a bytes-like object";
        PyErr::warn(py, &category, words, 1)?;
        return py.get_type::<PyBytes>().call1((path,));
    }
    let class = path.get_type();
    Err(PyTypeError::new_err(format!(
        "scandir: path should be string, bytes, os.PathLike, integer or None, not {}",
        class.name()?
    )))
}

fn bytes_like(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    let builtins = py.import("builtins")?;
    let classes = ["bytearray", "memoryview"].map(|name| builtins.getattr(name));
    let [first, second] = classes;
    Ok(PyTuple::new(py, [first?, second?])?.into_any())
}

impl Reading {
    fn new(directory: Arc<OpenDirectory>, is_shared: bool, stats_all: bool) -> Self {
        Reading {
            directory,
            is_shared,
            buffer: ReadBuffer::default(),
            listing: Listing::default(),
            inodes: Vec::new(),
            stats_all,
            stats: Vec::new(),
            next: 0,
        }
    }

    /// Reads on, until there is an entry; `false` at the end.
    fn fill(&mut self) -> std::io::Result<bool> {
        self.listing.clear();
        self.inodes.clear();
        self.next = 0;
        while until_removed(self.directory.read_with_inodes(
            &mut self.buffer,
            &mut self.listing,
            &mut self.inodes,
        ))? {
            if !self.listing.is_empty() {
                if self.stats_all {
                    self.stats = stat_entries(&self.directory, &self.listing);
                }
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        if self.is_shared {
            // As Python does, so that the caller may list it again.
            let _ = self.directory.rewind();
        }
    }
}

#[pymethods]
impl ScandirIterator {
    fn __iter__(this: Bound<'_, Self>) -> Bound<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<DirEntry>> {
        // Who takes entries in a loop of C is interrupted here alone.
        py.check_signals()?;
        // It is taken out while the interpreter's lock is released.
        let Some(mut reading) = self.take() else {
            return Ok(None);
        };
        if reading.next >= reading.listing.len() {
            let (filled, back) = without_lock(py, move || (reading.fill(), reading));
            reading = back;
            match filled {
                Ok(true) => {}
                Ok(false) => return Ok(None),
                Err(error) => {
                    let filename = self.filename.as_ref().map(|name| name.bind(py));
                    return Err(os_error(py, &error, filename));
                }
            }
        }
        let number = reading.next;
        reading.next += 1;
        let listed = reading.listing.entries()[number];
        let name = reading.listing.name(&listed);
        let entry = DirEntry::new(
            self.flavor.object(py, name)?.unbind(),
            self.directory.clone(),
            listed.kind,
            reading.inodes[number],
            reading
                .stats
                .get_mut(number)
                .and_then(Option::take)
                .map(Box::new),
        );
        self.put_back(reading);
        Ok(Some(entry))
    }

    /// Closes the directory. Nothing more is listed.
    fn close(&self) {
        drop(self.take());
    }

    fn __enter__(this: Bound<'_, Self>) -> Bound<'_, Self> {
        this
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, _exception: &Bound<'_, PyTuple>) {
        self.close();
    }
}

impl ScandirIterator {
    fn take(&self) -> Option<Box<Reading>> {
        let mut reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        reading.take()
    }

    fn put_back(&self, reading: Box<Reading>) {
        let mut place = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        *place = Some(reading);
    }
}

impl Drop for ScandirIterator {
    fn drop(&mut self) {
        if self.take().is_none() {
            return;
        }
        Python::attach(|py| {
            let category = py.get_type::<PyResourceWarning>();
            let kept = PyErr::take(py);
            if let Err(error) = PyErr::warn(py, &category, c"unclosed scandir iterator", 1) {
                error.write_unraisable(py, None);
            }
            if let Some(kept) = kept {
                kept.restore(py);
            }
        });
    }
}
