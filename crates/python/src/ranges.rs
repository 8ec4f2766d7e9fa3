//! An image that a Python function reads by ranges: from an object store, or through fsspec.

use crate::lock::with_lock;
use hedgerow::image::ReadAt;
use hedgerow::SystemError;
use pyo3::exceptions::PyValueError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// What is asked for at a time, in bytes: metadata is read a few hundred bytes at a time.
const CHUNK_BYTES: u64 = 128 << 10;
/// Number of chunks that are kept.
const KEPT: usize = 128;

/// A function of the caller; `None` once the garbage collector has taken it.
pub(crate) struct Function(Mutex<Option<Py<PyAny>>>);

impl Function {
    pub(crate) fn new(function: Py<PyAny>) -> Arc<Self> {
        Arc::new(Function(Mutex::new(Some(function))))
    }

    fn get(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let function = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let function = function.as_ref().map(|function| function.clone_ref(py));
        function.ok_or_else(|| PyValueError::new_err("I/O operation on a closed image"))
    }

    pub(crate) fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        match self.0.try_lock() {
            Ok(function) => visit.call(&*function),
            // In use: it is no garbage.
            Err(_) => Ok(()),
        }
    }

    pub(crate) fn clear(&self) {
        let function = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(function);
    }
}

/// Bytes that a function gives for a position and a number.
pub(crate) struct Ranges {
    read_at: Arc<Function>,
    length: u64,
    path: PathBuf,
    /// The chunks that were read last, the latest at the end.
    kept: Mutex<VecDeque<(u64, Arc<[u8]>)>>,
}

impl Ranges {
    pub(crate) fn new(read_at: Arc<Function>, length: u64, path: Option<PathBuf>) -> Self {
        Ranges {
            read_at,
            length,
            path: path.unwrap_or_default(),
            kept: Mutex::default(),
        }
    }

    fn ask(&self, position: u64, count: u64) -> Result<Vec<u8>, SystemError> {
        let asked = with_lock(|py| {
            let function = self.read_at.get(py)?;
            let read = function.call1(py, (position, count))?;
            let bytes = read.bind(py).cast::<PyBytes>()?;
            Ok::<_, PyErr>(bytes.as_bytes().to_vec())
        });
        // The caller gets the exception as it is, above all that of an interruption.
        asked.map_err(|error| SystemError::new("read", &self.path, io::Error::other(error)))
    }

    fn chunk(&self, number: u64) -> Result<Arc<[u8]>, SystemError> {
        let lock = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        {
            let mut kept = lock();
            let found = kept.iter().position(|(other, _)| *other == number);
            if let Some(chunk) = found.and_then(|at| kept.remove(at)) {
                let content = chunk.1.clone();
                kept.push_back(chunk);
                return Ok(content);
            }
        }
        // Two threads may ask for the same chunk: that costs less than to wait for each other.
        let start = number * CHUNK_BYTES;
        let count = CHUNK_BYTES.min(self.length.saturating_sub(start));
        let content: Arc<[u8]> = self.ask(start, count)?.into();
        let mut kept = lock();
        if kept.len() >= KEPT {
            kept.pop_front();
        }
        kept.push_back((number, content.clone()));
        Ok(content)
    }
}

impl ReadAt for Ranges {
    fn read_at(&self, buffer: &mut [u8], position: u64) -> Result<usize, SystemError> {
        let mut done = 0;
        while done < buffer.len() {
            let at = position + done as u64;
            let chunk = if at < self.length {
                self.chunk(at / CHUNK_BYTES)?
            } else {
                break;
            };
            let from = (at % CHUNK_BYTES) as usize;
            let available = chunk.get(from..).unwrap_or_default();
            let count = available.len().min(buffer.len() - done);
            if count == 0 {
                break;
            }
            buffer[done..done + count].copy_from_slice(&available[..count]);
            done += count;
        }
        Ok(done)
    }

    fn length(&self) -> Result<u64, SystemError> {
        Ok(self.length)
    }
}
