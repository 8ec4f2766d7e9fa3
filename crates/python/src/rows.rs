//! A walk as record batches, in Arrow's C interfaces.

use crate::columns::{record_batch, schema};
use crate::error::{named, of_verb, os_error};
use crate::lock::{try_with_lock, without_lock};
use crate::path::{fspath, system_path, Flavor};
use crate::run::execution;
use crate::signals::handler_raised;
use arrow_array::ffi::{to_ffi, FFI_ArrowSchema};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{Array, RecordBatch, RecordBatchReader, StructArray};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use hedgerow::statistics::{draw, Statistics};
use hedgerow::walk::{
    rows, Next, OpenDirectory, Patterns, RowOptions, RowStream, Selection, WalkOptions,
};
use hedgerow::{Execution, Recorder};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList, PyTuple};
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How often the interpreter is asked for signals.
const POLL_TIME: Duration = Duration::from_millis(20);

/// Starts a walk.
#[pyfunction]
#[pyo3(signature = (path, *, stat, exclude, gitignore, sort, one_file_system, max_depth, batch_rows, threads, errors, record))]
#[allow(clippy::too_many_arguments, reason = "they are those of hedgerow.walk")]
fn walk_rows(
    path: &Bound<'_, PyAny>,
    stat: bool,
    exclude: Vec<Bound<'_, PyAny>>,
    gitignore: bool,
    sort: bool,
    one_file_system: bool,
    max_depth: Option<usize>,
    batch_rows: usize,
    threads: Option<usize>,
    errors: &str,
    record: bool,
) -> PyResult<Rows> {
    let py = path.py();
    let object = fspath(path)?;
    let root_path = PathBuf::from(OsString::from_vec(system_path(&object)?));
    let exclude = exclude
        .iter()
        .map(crate::path::bytes_of)
        .collect::<PyResult<Vec<_>>>()?;
    let recorder = record.then(Arc::<Recorder>::default);
    let options = RowOptions {
        walk: WalkOptions {
            execution: Execution {
                statistics: recorder.clone(),
                ..execution(threads)?
            },
            one_file_system,
            metadata: stat,
            selection: Selection {
                exclude: Patterns::of(exclude.iter().map(Vec::as_slice)),
                gitignore,
                max_depth,
                ..Selection::default()
            },
            ..WalkOptions::default()
        },
        sorted: sort,
        batch_rows,
    };
    let root = without_lock(py, || OpenDirectory::open(&root_path))
        .map_err(|error| os_error(py, &error, Some(&object)))?;
    let stream = rows(root, &root_path, options).map_err(|error| of_verb(py, &error, None))?;
    let schema = schema(stat);
    Ok(Rows {
        schema: schema.clone(),
        errors: Arc::default(),
        recorder,
        reader: Mutex::new(Place::Unread(Box::new(Reader {
            schema,
            stream: Some(stream),
            process: std::process::id(),
            asked: Instant::now(),
            path: root_path,
            errors: Arc::default(),
            raises: errors == "raise",
        }))),
    }
    .sharing())
}

type Errors = Arc<Mutex<Vec<(Vec<u8>, std::io::Error)>>>;

/// The rows of a walk, which is under way.
#[pyclass(frozen, module = "hedgerow")]
struct Rows {
    schema: SchemaRef,
    /// What could not be read, if that is collected.
    errors: Errors,
    recorder: Option<Arc<Recorder>>,
    reader: Mutex<Place>,
}

/// Where the reader is.
enum Place {
    /// Here, and nothing was read.
    Unread(Box<Reader>),
    /// Here, between two batches.
    Begun(Box<Reader>),
    /// A thread waits for a batch.
    InUse,
    /// Read to the end, or up to an error.
    Read,
    /// With who reads the stream.
    Given,
    Closed,
}

/// Why there is nothing to iterate, or no stream.
const TAKEN: &str = "the rows of a walk can be taken once, by one reader";
const CLOSED: &str = "the walk is closed";

impl Rows {
    /// Lets the reader add to the same list of errors.
    fn sharing(self) -> Self {
        if let Place::Unread(reader) = &mut *self.lock() {
            reader.errors = self.errors.clone();
        }
        self
    }

    fn lock(&self) -> MutexGuard<'_, Place> {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn statistics(&self, py: Python<'_>) -> PyResult<Statistics> {
        let recorder = self.recorder.as_ref();
        let recorder =
            recorder.ok_or_else(|| named(py, "Error", "the walk was not asked to record"))?;
        Ok(recorder.snapshot())
    }

    /// The reader with all rows, for who reads the stream.
    fn give(&self, py: Python<'_>) -> PyResult<Box<Reader>> {
        let mut place = self.lock();
        match std::mem::replace(&mut *place, Place::Given) {
            Place::Unread(reader) => Ok(reader),
            other => {
                let message = match other {
                    Place::Closed => CLOSED,
                    _ => TAKEN,
                };
                *place = other;
                drop(place);
                Err(named(py, "Error", message))
            }
        }
    }

    /// The reader for the next batch; `None` after the last.
    fn borrow(&self, py: Python<'_>) -> PyResult<Option<Box<Reader>>> {
        let mut place = self.lock();
        let other = match std::mem::replace(&mut *place, Place::InUse) {
            Place::Unread(reader) | Place::Begun(reader) => return Ok(Some(reader)),
            other => other,
        };
        let message = match other {
            Place::Given => Some(TAKEN),
            Place::Closed => Some(CLOSED),
            _ => None,
        };
        let is_in_use = matches!(other, Place::InUse);
        *place = other;
        drop(place);
        if is_in_use {
            let message = "the rows are being read by another thread";
            return Err(PyValueError::new_err(message));
        }
        message.map_or(Ok(None), |message| Err(named(py, "Error", message)))
    }

    /// Waits for the next batch. Afterwards the reader is where it was, unless that was the end.
    fn next_of(&self, py: Python<'_>, mut reader: Box<Reader>) -> PyResult<Option<Batch>> {
        if reader.is_of_parent() {
            return Err(named(py, "Error", OF_PARENT));
        }
        loop {
            let (next, back) = without_lock(py, move || (reader.next_rows(), reader));
            reader = back;
            match next {
                Next::Batch(rows) => {
                    let batch = record_batch(&reader.schema, *rows);
                    let batch = batch.map_err(|error| of_verb(py, &error, None))?;
                    reader.keep_errors();
                    let mut place = self.lock();
                    if matches!(*place, Place::InUse) {
                        *place = Place::Begun(reader);
                    } else {
                        drop(place);
                        without_lock(py, || drop(reader));
                    }
                    return Ok(Some(Batch(batch)));
                }
                Next::Pending => py.check_signals()?,
                Next::End => {
                    reader.keep_errors();
                    return match reader.first_error() {
                        Some((path, error)) => {
                            let path = Flavor::Str.object(py, &path)?;
                            Err(os_error(py, &error, Some(&path)))
                        }
                        None => Ok(None),
                    };
                }
                Next::Failed(message) => return Err(crate::error::internal(py, &message)),
            }
        }
    }
}

#[pymethods]
impl Rows {
    /// The batches as a capsule `arrow_array_stream`.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // Other schemas may be refused: the consumer casts.
        let _ = requested_schema;
        let reader = self.give(py)?;
        let stream = FFI_ArrowArrayStream::new(reader);
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// The columns as a capsule `arrow_schema`.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &self.schema)
    }

    fn __iter__(this: Bound<'_, Self>) -> Bound<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Batch>> {
        // Who takes batches in a loop of C is interrupted here alone, if they come fast.
        py.check_signals()?;
        let Some(reader) = self.borrow(py)? else {
            return Ok(None);
        };
        let next = self.next_of(py, reader);
        if !matches!(next, Ok(Some(_))) {
            let mut place = self.lock();
            if matches!(*place, Place::InUse) {
                *place = Place::Read;
            }
        }
        next
    }

    /// What could not be read so far, each as an `OSError`.
    #[getter]
    fn errors<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        let list = PyList::empty(py);
        for (path, error) in errors.iter() {
            let path = Flavor::Str.object(py, path)?;
            list.append(os_error(py, error, Some(&path)).into_value(py))?;
        }
        Ok(list)
    }

    /// With `record`: for many moments, seconds since the beginning, the number of directories and
    /// chunks that waited, and the numbers of workers at work and allowed.
    fn queue(&self, py: Python<'_>) -> PyResult<Vec<(f64, usize, usize, usize)>> {
        let statistics = self.statistics(py)?;
        let points = statistics.series.iter();
        let seconds = |at_us: u64| at_us as f64 / 1e6;
        Ok(points
            .map(|point| {
                (
                    seconds(point.at_us),
                    point.queue,
                    point.workers,
                    point.target,
                )
            })
            .collect())
    }

    /// With `record`: the same as a plot, in SVG.
    fn plot(&self, py: Python<'_>) -> PyResult<String> {
        Ok(draw(&self.statistics(py)?))
    }

    /// Ends the walk.
    fn close(&self, py: Python<'_>) {
        let place = std::mem::replace(&mut *self.lock(), Place::Closed);
        without_lock(py, || drop(place));
    }

    fn __enter__(this: Bound<'_, Self>) -> Bound<'_, Self> {
        this
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) {
        self.close(py);
    }
}

fn schema_capsule<'py>(py: Python<'py>, schema: &Schema) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = FFI_ArrowSchema::try_from(schema).map_err(|error| of_verb(py, &error, None))?;
    PyCapsule::new_with_value(py, schema, c"arrow_schema")
}

/// Some rows.
#[pyclass(frozen, module = "hedgerow")]
struct Batch(RecordBatch);

#[pymethods]
impl Batch {
    /// Number of rows.
    #[getter]
    fn num_rows(&self) -> usize {
        self.0.num_rows()
    }

    fn __len__(&self) -> usize {
        self.0.num_rows()
    }

    /// The rows as capsules `arrow_schema` and `arrow_array`.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        let _ = requested_schema;
        let rows = StructArray::from(self.0.clone());
        let (array, _) = to_ffi(&rows.to_data()).map_err(|error| of_verb(py, &error, None))?;
        Ok((
            schema_capsule(py, &self.0.schema())?,
            PyCapsule::new_with_value(py, array, c"arrow_array")?,
        ))
    }
}

/// The batches for who reads the stream, on any thread.
struct Reader {
    schema: SchemaRef,
    /// There until it is dropped.
    stream: Option<RowStream>,
    /// The process that began the walk: a child has none of its threads.
    process: u32,
    /// When the interpreter was asked for signals, by who reads the stream.
    asked: Instant,
    path: PathBuf,
    errors: Errors,
    raises: bool,
}

/// Why a child cannot read.
const OF_PARENT: &str = "the walk is under way in the process that forked";

impl Drop for Reader {
    fn drop(&mut self) {
        // In a child, the end would be waited for without an end.
        if self.is_of_parent() {
            std::mem::forget(self.stream.take());
        }
    }
}

impl Reader {
    /// The next rows, or what else there is to tell within a short time.
    fn next_rows(&mut self) -> Next {
        let stream = self.stream.as_mut();
        stream.map_or(Next::End, |stream| stream.next(POLL_TIME))
    }

    fn is_of_parent(&self) -> bool {
        std::process::id() != self.process
    }

    fn keep_errors(&self) {
        let mut errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        let omissions = self.stream.as_ref().map(RowStream::omissions);
        for omission in omissions.unwrap_or_default() {
            let path = crate::path::join(self.path.as_os_str().as_bytes(), &omission.path);
            errors.push((path, omission.source));
        }
    }

    /// The error to raise at the end, if there was any and they are not collected.
    fn first_error(&self) -> Option<(Vec<u8>, std::io::Error)> {
        if !self.raises {
            return None;
        }
        let mut errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        (!errors.is_empty()).then(|| errors.remove(0))
    }
}

impl Iterator for Reader {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_of_parent() {
            return Some(Err(ArrowError::ExternalError(OF_PARENT.into())));
        }
        // Batches may come so fast that none is waited for.
        if self.asked.elapsed() >= POLL_TIME {
            self.asked = Instant::now();
            if let Some(error) = interruption() {
                return Some(Err(error));
            }
        }
        loop {
            match self.next_rows() {
                Next::Batch(rows) => {
                    self.keep_errors();
                    return Some(record_batch(&self.schema, *rows));
                }
                Next::Pending => {
                    if let Some(error) = interruption() {
                        return Some(Err(error));
                    }
                }
                Next::End => {
                    self.keep_errors();
                    let (path, error) = self.first_error()?;
                    let message = format!("{}: {error}", String::from_utf8_lossy(&path));
                    return Some(Err(ArrowError::IoError(message, error)));
                }
                Next::Failed(message) => {
                    return Some(Err(ArrowError::ExternalError(message.into())))
                }
            }
        }
    }
}

/// Whether the user has interrupted. The stream can only end with an error of its library: the
/// exception follows as soon as the interpreter runs again.
fn interruption() -> Option<ArrowError> {
    // There is nobody to ask once the interpreter ends.
    let interrupted = try_with_lock(handler_raised).unwrap_or_default();
    interrupted.then(|| {
        let error = std::io::ErrorKind::Interrupted.into();
        ArrowError::IoError("interrupted".into(), error)
    })
}

impl RecordBatchReader for Reader {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Rows>()?;
    module.add_class::<Batch>()?;
    module.add_function(wrap_pyfunction!(walk_rows, module)?)
}
