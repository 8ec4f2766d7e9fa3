//! Images, in SquashFS and in EROFS.

use crate::error::{named, of_image, of_verb};
use crate::lock::without_lock;
use crate::path::{bytes_of, fspath, no_pipe, path_bytes, system_path, Flavor};
use crate::ranges::{Function, Ranges};
use crate::repository::environment;
use crate::run::{execution, run, run_for_file, Watch};
use hedgerow::image::{
    create_with, extract, refuse_fakeroot, verify, AnyImage, Compressor, CreateOptions, Created,
    ExtractOptions, Hooks, NodeKind, Parts, ReadFile, Recipe, Settings, Source, WriteError,
};
use hedgerow::numbers::Shard;
use hedgerow::{Execution, Repository, SystemError};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};
use std::ffi::OsString;
use std::ops::RangeInclusive;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// An open image. Any number of threads may read it.
#[pyclass(frozen, module = "hedgerow", name = "RawImage")]
struct RawImage {
    image: Mutex<Option<AnyImage>>,
    path: Option<PathBuf>,
    execution: Execution,
    /// What the caller reads the image with.
    read_at: Option<Arc<Function>>,
}

impl RawImage {
    fn image(&self) -> PyResult<AnyImage> {
        let image = self.image.lock().unwrap_or_else(PoisonError::into_inner);
        let image = image.clone();
        image.ok_or_else(|| PyValueError::new_err("I/O operation on a closed image"))
    }
}

#[pymethods]
impl RawImage {
    /// Opens a file, or with `read_at` and `length` what that function gives for a position and a
    /// number of bytes.
    #[new]
    #[pyo3(signature = (path, offset, threads, read_at=None, length=0))]
    fn new(
        path: Option<&Bound<'_, PyAny>>,
        offset: u64,
        threads: Option<usize>,
        read_at: Option<Bound<'_, PyAny>>,
        length: u64,
        py: Python<'_>,
    ) -> PyResult<Self> {
        let path = path.map(path_of).transpose()?;
        let read_at = read_at.map(|read_at| Function::new(read_at.unbind()));
        let opened = match &read_at {
            Some(read_at) => {
                let ranges = Ranges::new(read_at.clone(), length, path.clone());
                without_lock(py, || AnyImage::new(Box::new(ranges), offset))
            }
            None => {
                let path = path.as_deref().unwrap_or(Path::new(""));
                no_pipe(py, path)?;
                without_lock(py, || AnyImage::open(path, offset))
            }
        };
        let image = opened.map_err(|error| of_image(py, &error, path.as_deref()))?;
        Ok(RawImage {
            image: Mutex::new(Some(image)),
            path,
            execution: execution(threads)?,
            read_at,
        })
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        match &self.read_at {
            Some(read_at) => read_at.traverse(&visit),
            None => Ok(()),
        }
    }

    fn __clear__(&self) {
        if let Some(read_at) = &self.read_at {
            read_at.clear();
        }
    }

    /// The names and kinds of the entries of a directory.
    fn list<'py>(&self, py: Python<'py>, path: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        let path = path_bytes(path)?;
        let image = self.image()?;
        let listed = without_lock(py, || image.children(&path));
        let listed = listed.map_err(|error| of_image(py, &error, self.path.as_deref()))?;
        let list = PyList::empty(py);
        for (name, kind) in listed {
            list.append((Flavor::Str.object(py, &name)?, kind.letter()))?;
        }
        Ok(list)
    }

    /// Kind, mode, owner, group, size, time, number of links, inode number, and the target of a link.
    fn stat<'py>(
        &self,
        py: Python<'py>,
        path: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let path = path_bytes(path)?;
        let image = self.image()?;
        let asked = without_lock(py, || {
            let (kind, metadata) = image.find(&path)?;
            let target = match kind {
                NodeKind::Symlink => Some(image.target(&path)?),
                _ => None,
            };
            Ok((kind, metadata, target))
        });
        let (kind, metadata, target) =
            asked.map_err(|error| of_image(py, &error, self.path.as_deref()))?;
        let size = match kind {
            NodeKind::File | NodeKind::Symlink => metadata.size_bytes,
            _ => 0,
        };
        let target = target.map(|target| Flavor::Str.object(py, &target));
        (
            kind.letter(),
            metadata.mode,
            metadata.uid,
            metadata.gid,
            size,
            metadata.mtime_s,
            metadata.nlink,
            metadata.ino,
            target.transpose()?,
        )
            .into_pyobject(py)
    }

    /// Bytes of a file from `start` on, at most `length`.
    fn read<'py>(
        &self,
        py: Python<'py>,
        path: &Bound<'py, PyAny>,
        start: u64,
        length: u64,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let path = path_bytes(path)?;
        let image = self.image()?;
        let range = start..start.saturating_add(length);
        let read = without_lock(py, || image.read_range(&path, range, &self.execution));
        let read = read.map_err(|error| {
            let kind = image.find(&path).map(|(kind, _)| kind);
            match kind {
                Ok(NodeKind::File | NodeKind::Directory) | Err(_) => {
                    of_verb(py, &error, self.path.as_deref())
                }
                Ok(_) => no_file(py, &path),
            }
        })?;
        Ok(PyBytes::new(py, &read))
    }

    fn close(&self) {
        *self.image.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

fn no_file(py: Python<'_>, path: &[u8]) -> PyErr {
    const EINVAL: i32 = 22;
    match Flavor::Str.object(py, path) {
        Ok(path) => PyOSError::new_err((EINVAL, "Not a regular file", path.unbind())),
        Err(error) => error,
    }
}

fn path_of(path: &Bound<'_, PyAny>) -> PyResult<PathBuf> {
    let bytes = system_path(&fspath(path)?)?;
    Ok(PathBuf::from(OsString::from_vec(bytes)))
}

/// Why no image was made.
enum Problem {
    System(SystemError),
    Git(hedgerow::repository::Error),
    Write(WriteError),
}

/// Makes an image of a directory, an archive, or a commit of `repository`; of a directory, also the
/// part of one with a number, from 1, of so many.
#[pyfunction]
#[pyo3(signature = (source, target, *, kind, repository, settings, part, replace, threads, watch))]
#[allow(
    clippy::too_many_arguments,
    reason = "they are those of hedgerow.image.create"
)]
fn image_create<'py>(
    source: &Bound<'py, PyAny>,
    target: &Bound<'py, PyAny>,
    kind: &str,
    repository: Option<Bound<'py, PyAny>>,
    settings: Stored,
    part: Option<(u32, u32)>,
    replace: bool,
    threads: Option<usize>,
    watch: Watch<'py>,
) -> PyResult<Bound<'py, PyTuple>> {
    let py = source.py();
    if kind == "directory" {
        refuse_fakeroot(preloaded(py)?).map_err(|error| of_verb(py, &error, None))?;
    }
    let target = path_of(target)?;
    let options = settings.options(replace, execution(threads)?)?;
    let shard = |(number, count)| {
        let message = "part is a pair of a number from 1 on and the number of parts";
        Shard::new(number, count).ok_or_else(|| PyValueError::new_err(message))
    };
    let (part, note) = (part.map(shard).transpose()?, settings.note());
    let name = fspath(source)?;
    let revision = match repository {
        Some(_) => bytes_of(&name)?,
        None => system_path(&name)?,
    };
    let environment = repository.as_ref().map(environment).transpose()?;
    let path = PathBuf::from(OsString::from_vec(revision.clone()));
    let file = (&*target, replace);
    let made = run_for_file(py, &options.execution, &watch, file, || {
        let create = |source| {
            let hooks = Hooks {
                part: part.map(|shard| (shard, note.as_bytes())),
                ..Hooks::default()
            };
            create_with(source, Recipe::default(), &target, &options, hooks).map_err(Problem::Write)
        };
        let Some(environment) = environment else {
            return create(match kind {
                "archive" => {
                    let file = ReadFile::open(&path).map_err(Problem::System)?;
                    Source::archive_or_image(file.into()).map_err(Problem::Write)?
                }
                _ => Source::directory(&path),
            });
        };
        let repository = Repository::discover(&environment).map_err(Problem::Git)?;
        create(Source::commit(&repository, revision.as_slice().into()))
    })?;
    let made = made.map_err(|problem| match problem {
        Problem::System(error) => of_verb(py, &error, None),
        Problem::Git(error) => of_verb(py, &error, None),
        Problem::Write(error) => of_verb(py, &error, None),
    })?;
    created(py, &made)
}

/// The libraries that are preloaded into the interpreter.
fn preloaded(py: Python<'_>) -> PyResult<Option<OsString>> {
    let variables = py.import("os")?.getattr("environb")?;
    let name = PyBytes::new(py, b"LD_PRELOAD");
    let value: Option<Vec<u8>> = variables.call_method1("get", (name,))?.extract()?;
    Ok(value.map(OsString::from_vec))
}

/// Merges the parts of an image that [`image_create`] made. Also returns what the parts left out.
#[pyfunction]
#[pyo3(signature = (parts, target, *, replace, threads, watch))]
fn image_merge<'py>(
    parts: Vec<Bound<'py, PyAny>>,
    target: &Bound<'py, PyAny>,
    replace: bool,
    threads: Option<usize>,
    watch: Watch<'py>,
) -> PyResult<Bound<'py, PyTuple>> {
    let py = target.py();
    let paths = parts.iter().map(path_of).collect::<PyResult<Vec<_>>>()?;
    let target = path_of(target)?;
    if paths.is_empty() {
        return Err(PyValueError::new_err("there are no parts"));
    }
    let execution = execution(threads)?;
    paths.iter().try_for_each(|path| no_pipe(py, path))?;
    let parts = run(py, &execution, &watch, || Parts::open(&paths))?;
    let parts = parts.map_err(|error| of_verb(py, &error, None))?;
    let settings = Stored::of_note(parts.made()).ok_or_else(|| {
        let message = "the parts were not made by hedgerow.image.create of this version: \
            those of the command line are merged with 'hedgerow image merge'";
        named(py, "Error", message)
    })?;
    let options = settings.options(replace, execution)?;
    let file = (&*target, replace);
    let merged = run_for_file(py, &options.execution, &watch, file, || {
        parts.merge(&target, &options)
    })?;
    let merged = merged.map_err(|error| of_verb(py, &error, None))?;
    (created(py, &merged.created)?, merged.skipped).into_pyobject(py)
}

fn created<'py>(py: Python<'py>, made: &Created) -> PyResult<Bound<'py, PyTuple>> {
    (made.bytes, made.inodes, made.stored_files, made.fragments).into_pyobject(py)
}

/// How contents are stored: a compressor, its level, and the size of blocks in bytes.
#[derive(FromPyObject)]
struct Stored(String, Option<u32>, u32);

impl Stored {
    fn options(&self, replace: bool, execution: Execution) -> PyResult<CreateOptions> {
        let wrong = |error: hedgerow::plumbing::codec::block::SettingsError| {
            PyValueError::new_err(error.to_string())
        };
        let Stored(compressor, level, block_bytes) = self;
        if !block_bytes.is_power_of_two() || !BLOCK_BYTES.contains(block_bytes) {
            let message = "block_size is a power of two from 4096 to 1048576";
            return Err(PyValueError::new_err(message));
        }
        let compressor = Compressor::from_name(compressor).map_err(wrong)?;
        let level = level.map(|level| level.to_string());
        let settings = Settings::parse(compressor, *block_bytes, level.as_deref(), []);
        Ok(CreateOptions {
            settings: settings.map_err(wrong)?,
            block_bytes: *block_bytes,
            replace,
            execution,
            ..CreateOptions::default()
        })
    }

    /// What a part keeps for the merge.
    fn note(&self) -> String {
        let Stored(compressor, level, block_bytes) = self;
        let level = level.map(|level| level.to_string()).unwrap_or_default();
        format!("{NOTE}\t{compressor}\t{level}\t{block_bytes}")
    }

    fn of_note(note: &[u8]) -> Option<Self> {
        let note = std::str::from_utf8(note).ok()?;
        let fields: Vec<&str> = note.split('\t').collect();
        let [NOTE, compressor, level, block_bytes] = fields[..] else {
            return None;
        };
        let level = match level {
            "" => None,
            level => Some(level.parse().ok()?),
        };
        Some(Stored(
            compressor.to_owned(),
            level,
            block_bytes.parse().ok()?,
        ))
    }
}

/// The sizes that blocks may have.
const BLOCK_BYTES: RangeInclusive<u32> = 4 << 10..=1 << 20;
/// Begins the note of a part.
const NOTE: &str = "hedgerow.python.part.v1";

/// Extracts an image. Returns the number of entries, and what failed as pairs of path and words.
#[pyfunction]
#[pyo3(signature = (image, target, *, paths, replace, strip_components, threads, watch))]
fn image_extract<'py>(
    image: &Bound<'py, PyAny>,
    target: &Bound<'py, PyAny>,
    paths: Vec<Bound<'py, PyAny>>,
    replace: bool,
    strip_components: usize,
    threads: Option<usize>,
    watch: Watch<'py>,
) -> PyResult<Bound<'py, PyTuple>> {
    let py = image.py();
    let (image, target) = (path_of(image)?, path_of(target)?);
    no_pipe(py, &image)?;
    let options = ExtractOptions {
        paths: paths.iter().map(path_bytes).collect::<PyResult<Vec<_>>>()?,
        replace,
        strip_components,
        execution: execution(threads)?,
        ..ExtractOptions::default()
    };
    let mut failed = Vec::new();
    let done = run(py, &options.execution, &watch, || {
        let opened = AnyImage::open(&image, 0).map_err(hedgerow::image::ExtractError::Image)?;
        extract(&opened, &target, &options, |failure| {
            failed.push((
                failure.path.unwrap_or_default(),
                failure.problem.to_string(),
            ));
        })
    })?;
    let done = done.map_err(|error| of_verb(py, &error, Some(&image)))?;
    let failures = PyList::empty(py);
    for (path, words) in failed {
        failures.append((Flavor::Str.object(py, &path)?, words))?;
    }
    (done.entries, failures).into_pyobject(py)
}

/// Checks an image. Returns findings as part, position, path and words; and the number of those that
/// are only counted, of inodes, and of bytes of content.
#[pyfunction]
#[pyo3(signature = (image, *, threads, watch))]
fn image_verify<'py>(
    image: &Bound<'py, PyAny>,
    threads: Option<usize>,
    watch: Watch<'py>,
) -> PyResult<Bound<'py, PyTuple>> {
    let py = image.py();
    let path = path_of(image)?;
    no_pipe(py, &path)?;
    let execution = execution(threads)?;
    let file = without_lock(py, || ReadFile::open(&path));
    let file = file.map_err(|error: SystemError| crate::error::system(py, &error))?;
    let checked = run(py, &execution, &watch, || {
        verify(Box::new(file), 0, &execution)
    })?;
    let report = checked.map_err(|error| of_verb(py, &error, Some(&path)))?;
    let findings = PyList::empty(py);
    for finding in &report.findings {
        findings.append(finding.to_string())?;
    }
    (
        findings,
        report.omitted,
        report.inodes,
        report.content_bytes,
    )
        .into_pyobject(py)
}

/// A panic of a worker, for tests: it must arrive as an exception.
#[pyfunction]
fn panic_for_tests(py: Python<'_>) -> PyResult<()> {
    let work = || -> Result<(), SystemError> { panic!("as the test asked") };
    run(py, &Execution::default(), &Watch::default(), work)?
        .map_err(|error| named(py, "Error", &error.to_string()))
}

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<RawImage>()?;
    module.add_function(wrap_pyfunction!(image_create, module)?)?;
    module.add_function(wrap_pyfunction!(image_merge, module)?)?;
    module.add_function(wrap_pyfunction!(image_extract, module)?)?;
    module.add_function(wrap_pyfunction!(image_verify, module)?)?;
    module.add_function(wrap_pyfunction!(panic_for_tests, module)?)
}
