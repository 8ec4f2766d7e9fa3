//! The walk through a tree. Who walks sees what `os.walk` shows; directories are listed ahead.

use super::{audit_scandir, fork};
use crate::error::os_error;
use crate::lock::{with_lock, without_lock};
use crate::path::{bytes_of, join, system_path, Flavor};
use hedgerow::walk::{Ahead, AheadOptions, Contents, Entered, Position};
use pyo3::exceptions::{PyRuntimeError, PyStopIteration, PyTypeError, PyValueError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Yields what `os.walk` yields.
#[pyclass(frozen, module = "hedgerow.os")]
pub(super) struct Walker {
    top_down: bool,
    flavor: Flavor,
    onerror: Mutex<Option<Py<PyAny>>>,
    follow_links: bool,
    /// `None` while it is in use, and after the end.
    walk: Mutex<Place>,
}

enum Place {
    Here(Box<Walk>),
    InUse,
    Over,
}

struct Walk {
    /// `None` before the first directory.
    ahead: Option<Arc<Ahead>>,
    top: Vec<u8>,
    /// From the top down to the directory that is walked.
    stack: Vec<Frame>,
}

/// A directory on the way.
struct Frame {
    /// Where it is in what is listed ahead, unless the caller added it.
    position: Option<Position>,
    path: Vec<u8>,
    contents: Arc<Contents>,
    /// Top-down: what the caller got, and may have changed since.
    directories: Py<PyList>,
    /// Bottom-up: what the caller will get.
    yielded: Option<Py<PyTuple>>,
    /// The number of the next subdirectory.
    next: usize,
    /// The index of the subdirectory that is next if the caller changes nothing.
    expected: u32,
    /// How many of those listed ahead were entered.
    entered: usize,
    /// Where each name is, if the caller changed something.
    indexes: Option<HashMap<Vec<u8>, u32>>,
}

/// What follows from trying to enter a directory.
enum Step {
    Yield(Py<PyTuple>),
    Next,
}

#[pymethods]
impl Walker {
    #[new]
    fn new(
        top: &Bound<'_, PyAny>,
        topdown: bool,
        onerror: Option<Py<PyAny>>,
        followlinks: bool,
    ) -> PyResult<Self> {
        let flavor =
            Flavor::of(top).ok_or_else(|| PyTypeError::new_err("the path must be str or bytes"))?;
        Ok(Walker {
            top_down: topdown,
            flavor,
            onerror: Mutex::new(onerror),
            follow_links: followlinks,
            walk: Mutex::new(Place::Here(Box::new(Walk {
                ahead: None,
                top: system_path(top)?,
                stack: Vec::new(),
            }))),
        })
    }

    fn __iter__(this: Bound<'_, Self>) -> Bound<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Py<PyTuple>>> {
        self.next_yielded(py).map_err(|error| no_end(py, error))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        // What is in use is no garbage.
        if let Ok(onerror) = self.onerror.try_lock() {
            visit.call(&*onerror)?;
        }
        if let Ok(place) = self.walk.try_lock() {
            if let Place::Here(walk) = &*place {
                for frame in &walk.stack {
                    visit.call(&frame.directories)?;
                    visit.call(&frame.yielded)?;
                }
            }
        }
        Ok(())
    }

    fn __clear__(&self) {
        let onerror = self.onerror.lock();
        let onerror = onerror.unwrap_or_else(PoisonError::into_inner).take();
        let place = std::mem::replace(&mut *self.lock(), Place::Over);
        drop((onerror, place));
    }

    /// Ends the walk: there are no more threads when this returns.
    fn close(&self, py: Python<'_>) {
        let place = std::mem::replace(&mut *self.lock(), Place::Over);
        if let Place::Here(mut walk) = place {
            walk.end(py);
        }
    }
}

impl Walker {
    fn onerror(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        let onerror = self.onerror.lock().unwrap_or_else(PoisonError::into_inner);
        onerror.as_ref().map(|onerror| onerror.clone_ref(py))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Place> {
        self.walk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next_yielded(&self, py: Python<'_>) -> PyResult<Option<Py<PyTuple>>> {
        // Who takes directories in a loop of C is interrupted here alone.
        py.check_signals()?;
        let place = std::mem::replace(&mut *self.lock(), Place::InUse);
        let mut walk = match place {
            Place::Here(walk) => walk,
            Place::InUse => return Err(PyValueError::new_err("generator already executing")),
            Place::Over => {
                *self.lock() = Place::Over;
                return Ok(None);
            }
        };
        let step = self.advance(py, &mut walk);
        let mut place = self.lock();
        // A function of the caller may have closed it meanwhile.
        if matches!(step, Ok(Some(_))) && matches!(*place, Place::InUse) {
            *place = Place::Here(walk);
        } else {
            *place = Place::Over;
            drop(place);
            walk.end(py);
        }
        step
    }

    /// Goes on to the next directory to yield; `None` at the end.
    fn advance(&self, py: Python<'_>, walk: &mut Walk) -> PyResult<Option<Py<PyTuple>>> {
        if walk.ahead.is_none() {
            let ahead = Arc::new(Ahead::new(AheadOptions {
                follow_links: self.follow_links,
                skip_new_links: self.top_down && !self.follow_links,
                ..AheadOptions::default()
            }));
            fork::register(&ahead);
            walk.ahead = Some(ahead);
            let top = walk.top.clone();
            if let Step::Yield(yielded) = self.enter(py, walk, Some(Vec::new()), top)? {
                return Ok(Some(yielded));
            }
        }
        loop {
            let Some(frame) = walk.stack.last_mut() else {
                return Ok(None);
            };
            let ahead = walk.ahead.as_ref().expect("the walk has begun");
            let child = if self.top_down {
                frame.next_of_caller(py, ahead, self.flavor)?
            } else {
                frame.next_listed()
            };
            let Some((name, index)) = child else {
                frame.leave(ahead);
                let frame = walk.stack.pop().expect("it was the last");
                match frame.yielded {
                    Some(yielded) => return Ok(Some(yielded)),
                    None => continue,
                }
            };
            let position = index.and_then(|index| frame.position_of(index));
            let path = join(&frame.path, &name);
            if let Step::Yield(yielded) = self.enter(py, walk, position, path)? {
                return Ok(Some(yielded));
            }
        }
    }

    /// Lists a directory and puts it on the stack.
    fn enter(
        &self,
        py: Python<'_>,
        walk: &mut Walk,
        position: Option<Position>,
        path: Vec<u8>,
    ) -> PyResult<Step> {
        let path_object = self.flavor.object(py, &path)?;
        audit_scandir(&path_object)?;
        let ahead = walk.ahead.as_ref().expect("the walk has begun");
        let contents = match listed(py, ahead, position.as_ref(), &path)? {
            Entered::Contents(contents) => contents,
            Entered::Failed(error) => {
                if let Some(onerror) = self.onerror(py) {
                    let error = os_error(py, &error, Some(&path_object));
                    onerror.call1(py, (error.into_value(py),))?;
                }
                return Ok(Step::Next);
            }
            Entered::Link | Entered::Interrupted => return Ok(Step::Next),
        };
        let (directories, others) = self.lists(py, &contents)?;
        let yielded = PyTuple::new(
            py,
            [
                path_object,
                directories.clone().into_any(),
                others.into_any(),
            ],
        )?;
        let yielded = yielded.unbind();
        let is_last = contents.directories().is_empty();
        if is_last && !self.top_down {
            return Ok(Step::Yield(yielded));
        }
        walk.stack.push(Frame {
            position,
            path,
            contents,
            directories: directories.unbind(),
            yielded: (!self.top_down).then(|| yielded.clone_ref(py)),
            next: 0,
            expected: 0,
            entered: 0,
            indexes: None,
        });
        Ok(if self.top_down {
            Step::Yield(yielded)
        } else {
            Step::Next
        })
    }

    /// The names of the directories and of everything else.
    fn lists<'py>(
        &self,
        py: Python<'py>,
        contents: &Contents,
    ) -> PyResult<(Bound<'py, PyList>, Bound<'py, PyList>)> {
        let listing = contents.listing();
        let mut directories = contents.directories().iter().copied().peekable();
        let mut own = Vec::with_capacity(contents.directories().len());
        let mut others = Vec::with_capacity(listing.len() - contents.directories().len());
        for (number, entry) in (0..).zip(listing.entries()) {
            let name = self.flavor.object(py, listing.name(entry))?;
            if directories.next_if_eq(&number).is_some() {
                own.push(name);
            } else {
                others.push(name);
            }
        }
        Ok((PyList::new(py, own)?, PyList::new(py, others)?))
    }
}

/// An exception that came up within a step: a `StopIteration` is not the end of the walk. A generator
/// raises the same in its place.
fn no_end(py: Python<'_>, error: PyErr) -> PyErr {
    if !error.is_instance_of::<PyStopIteration>(py) {
        return error;
    }
    let raised = PyRuntimeError::new_err("generator raised StopIteration");
    let context = error.value(py).clone();
    raised.set_cause(py, Some(error));
    match raised.value(py).setattr("__context__", context) {
        Ok(()) => raised,
        Err(error) => error,
    }
}

/// Lists a directory without the interpreter's lock. Waiting for a thread ends with the exception of a
/// signal.
fn listed(
    py: Python<'_>,
    ahead: &Ahead,
    position: Option<&Position>,
    path: &[u8],
) -> PyResult<Entered> {
    let interruption = Mutex::new(None);
    let is_interrupted = || match with_lock(|py| py.check_signals()) {
        Ok(()) => false,
        Err(error) => {
            let mut interruption = interruption.lock().unwrap_or_else(PoisonError::into_inner);
            *interruption = Some(error);
            true
        }
    };
    let entered = without_lock(py, || {
        let path = Path::new(OsStr::from_bytes(path));
        match position {
            Some(position) => ahead.enter(position, path, &is_interrupted),
            None => ahead.enter_unknown(path),
        }
    });
    let interruption = interruption.into_inner();
    match interruption.unwrap_or_else(PoisonError::into_inner) {
        Some(error) => Err(error),
        None => Ok(entered),
    }
}

impl Walk {
    /// Ends the threads; other threads of the interpreter run meanwhile.
    fn end(&mut self, py: Python<'_>) {
        let ahead = self.ahead.take();
        without_lock(py, || drop(ahead));
    }
}

type Child = Option<(Vec<u8>, Option<u32>)>;

impl Frame {
    fn position_of(&self, index: u32) -> Option<Position> {
        let position = self.position.as_ref()?;
        Some([&position[..], &[index]].concat())
    }

    /// The next subdirectory of a walk from the bottom up.
    fn next_listed(&mut self) -> Child {
        let index = self.expected;
        let name = self.contents.entered_name(index)?.to_vec();
        self.expected += 1;
        self.entered += 1;
        Some((name, Some(index)))
    }

    /// The next name in the list that the caller got, and may have changed.
    fn next_of_caller(&mut self, py: Python<'_>, ahead: &Ahead, flavor: Flavor) -> PyResult<Child> {
        let directories = self.directories.bind(py);
        if self.next == 0 {
            if self.path_is_root() && self.is_sorted_by_caller(py)? {
                let path = Path::new(OsStr::from_bytes(&self.path));
                self.contents = ahead.expect_sorted(path, &self.contents);
            }
            if directories.len() < self.contents.directories().len() {
                self.forget_removed(py, ahead)?;
            }
        }
        let directories = self.directories.bind(py);
        if self.next >= directories.len() {
            return Ok(None);
        }
        let name = directories.get_item(self.next)?;
        let name = if Flavor::of(&name).is_some() {
            name
        } else {
            crate::path::fspath(&name)?
        };
        if Flavor::of(&name) != Some(flavor) {
            let message = "Can't mix strings and bytes in path components";
            return Err(PyTypeError::new_err(message));
        }
        let name = system_path(&name)?;
        self.next += 1;
        let index = self.index_of(&name);
        self.entered += usize::from(index.is_some());
        Ok(Some((name, index)))
    }

    fn path_is_root(&self) -> bool {
        self.position.as_ref().is_some_and(Vec::is_empty)
    }

    /// Whether the caller has put the names in their order, and they were in another.
    fn is_sorted_by_caller(&self, py: Python<'_>) -> PyResult<bool> {
        let contents = &self.contents;
        let names = |index| contents.entered_name(index);
        let count = contents.entered().len() as u32;
        if (1..count).all(|index| names(index - 1) <= names(index)) {
            return Ok(false);
        }
        let mut before = Vec::new();
        for name in self.directories.bind(py) {
            let name = match Flavor::of(&name) {
                Some(_) => bytes_of(&name)?,
                None => return Ok(false),
            };
            if name < before {
                return Ok(false);
            }
            before = name;
        }
        Ok(true)
    }

    /// The index of a name in what is listed ahead.
    fn index_of(&mut self, name: &[u8]) -> Option<u32> {
        if self.indexes.is_none() && self.contents.entered_name(self.expected) == Some(name) {
            self.expected += 1;
            return Some(self.expected - 1);
        }
        let contents = &self.contents;
        let indexes = self.indexes.get_or_insert_with(|| {
            let names = (0..contents.entered().len() as u32)
                .filter_map(|index| Some((contents.entered_name(index)?.to_vec(), index)));
            names.collect()
        });
        indexes.get(name).copied()
    }

    /// What the caller took out of the list need not be listed.
    fn forget_removed(&mut self, py: Python<'_>, ahead: &Ahead) -> PyResult<()> {
        let Some(position) = self.position.clone() else {
            return Ok(());
        };
        let mut kept = Vec::new();
        for name in self.directories.bind(py) {
            if Flavor::of(&name).is_some() {
                kept.push(bytes_of(&name)?);
            }
        }
        kept.sort();
        without_lock(py, || {
            for index in 0..self.contents.entered().len() as u32 {
                let name = self.contents.entered_name(index).unwrap_or_default();
                if kept
                    .binary_search_by(|kept| kept.as_slice().cmp(name))
                    .is_err()
                {
                    ahead.forget(&[&position[..], &[index]].concat());
                    self.entered += 1;
                }
            }
        });
        Ok(())
    }

    /// The caller is through with it: what was listed ahead in vain is forgotten.
    fn leave(&self, ahead: &Ahead) {
        let Some(position) = &self.position else {
            return;
        };
        if self.entered < self.contents.entered().len() {
            ahead.forget_below(position);
        }
    }
}
