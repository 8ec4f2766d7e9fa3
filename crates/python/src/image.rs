//! SquashFS images.

use crate::error::{named, of_image, of_verb};
use crate::path::{bytes_of, fspath, system_path, Flavor};
use crate::ranges::Ranges;
use crate::repository::environment;
use crate::run::{execution, run};
use hedgerow::image::{
    create, extract, read_range, verify, Body, Compressor, CreateOptions, ExtractOptions, Image,
    Inode, ReadFile, Settings, Source, WriteError,
};
use hedgerow::{Execution, Repository, SystemError};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// An open image. Any number of threads may read it.
#[pyclass(frozen, module = "hedgerow", name = "RawImage")]
struct RawImage {
    image: Mutex<Option<Arc<Image>>>,
    path: Option<PathBuf>,
    execution: Execution,
}

impl RawImage {
    fn image(&self) -> PyResult<Arc<Image>> {
        let image = self.image.lock().unwrap_or_else(PoisonError::into_inner);
        let image = image.clone();
        image.ok_or_else(|| PyValueError::new_err("I/O operation on a closed image"))
    }

    fn inode(&self, py: Python<'_>, path: &[u8]) -> PyResult<(Arc<Image>, Inode)> {
        let image = self.image()?;
        let found = py.detach(|| image.find(path));
        let inode = found.map_err(|error| of_image(py, &error, self.path.as_deref()))?;
        Ok((image, inode))
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
        let opened = match read_at {
            Some(read_at) => {
                let ranges = Ranges::new(read_at.unbind(), length, path.clone());
                py.detach(|| Image::new(Box::new(ranges), offset))
            }
            None => {
                let path = path.as_deref().unwrap_or(Path::new(""));
                py.detach(|| Image::open(path, offset))
            }
        };
        let image = opened.map_err(|error| of_image(py, &error, path.as_deref()))?;
        Ok(RawImage {
            image: Mutex::new(Some(Arc::new(image))),
            path,
            execution: execution(threads)?,
        })
    }

    /// The names and kinds of the entries of a directory.
    fn list<'py>(&self, py: Python<'py>, path: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        let path = bytes_of(path)?;
        let (image, inode) = self.inode(py, &path)?;
        let Body::Directory(directory) = &inode.body else {
            const ENOTDIR: i32 = 20;
            return Err(PyOSError::new_err((
                ENOTDIR,
                "Not a directory",
                Flavor::Str.object(py, &path)?.unbind(),
            )));
        };
        let listed = py.detach(|| image.listing(directory));
        let listed = listed.map_err(|error| of_image(py, &error, self.path.as_deref()))?;
        let list = PyList::empty(py);
        for (name, entry) in listed.iter() {
            let kind = entry.kind.letter();
            list.append((Flavor::Str.object(py, name)?, kind))?;
        }
        Ok(list)
    }

    /// Kind, mode, owner, group, size, time, number of links, inode number, and the target of a link.
    fn stat<'py>(
        &self,
        py: Python<'py>,
        path: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let (image, inode) = self.inode(py, &bytes_of(path)?)?;
        let id = |index: u16| image.ids().get(usize::from(index)).copied();
        let size = match &inode.body {
            Body::File(file) => file.size,
            Body::Symlink(target) => target.len() as u64,
            _ => 0,
        };
        let target = match &inode.body {
            Body::Symlink(target) => Some(Flavor::Str.object(py, target)?),
            _ => None,
        };
        (
            inode.kind.letter(),
            inode.mode & 0o7777,
            id(inode.uid_index),
            id(inode.gid_index),
            size,
            inode.mtime,
            inode.nlink,
            inode.number,
            target,
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
        let path = bytes_of(path)?;
        let (image, inode) = self.inode(py, &path)?;
        let Body::File(file) = inode.body else {
            const EISDIR: i32 = 21;
            const EINVAL: i32 = 22;
            let is_directory = matches!(inode.body, Body::Directory(_));
            let (number, words) = if is_directory {
                (EISDIR, "Is a directory")
            } else {
                (EINVAL, "Not a regular file")
            };
            return Err(PyOSError::new_err((
                number,
                words,
                Flavor::Str.object(py, &path)?.unbind(),
            )));
        };
        let end = start.saturating_add(length);
        let read = py.detach(|| read_range(&image, &file, start..end, &self.execution));
        let read = read.map_err(|error| of_verb(py, &error, self.path.as_deref()))?;
        Ok(PyBytes::new(py, &read))
    }

    fn close(&self) {
        *self.image.lock().unwrap_or_else(PoisonError::into_inner) = None;
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

/// Makes an image of a directory, an archive, or a commit of `repository`.
#[pyfunction]
#[pyo3(signature = (source, target, *, kind, repository, compressor, level, block_bytes, replace, threads, progress))]
#[allow(
    clippy::too_many_arguments,
    reason = "they are those of hedgerow.image.create"
)]
fn image_create<'py>(
    source: &Bound<'py, PyAny>,
    target: &Bound<'py, PyAny>,
    kind: &str,
    repository: Option<Bound<'py, PyAny>>,
    compressor: &str,
    level: Option<u32>,
    block_bytes: u32,
    replace: bool,
    threads: Option<usize>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyTuple>> {
    let py = source.py();
    let target = path_of(target)?;
    let wrong = |error: hedgerow::plumbing::codec::block::SettingsError| {
        PyValueError::new_err(error.to_string())
    };
    let compressor = Compressor::from_name(compressor).map_err(wrong)?;
    let level = level.map(|level| level.to_string());
    let settings = Settings::parse(compressor, block_bytes, level.as_deref(), []).map_err(wrong)?;
    let options = CreateOptions {
        settings,
        block_bytes,
        replace,
        execution: execution(threads)?,
        ..CreateOptions::default()
    };
    let revision = bytes_of(&fspath(source)?)?;
    let environment = repository.as_ref().map(environment).transpose()?;
    let path = PathBuf::from(OsString::from_vec(revision.clone()));
    let made = run(py, &options.execution, progress.as_ref(), || {
        let Some(environment) = environment else {
            let source = match kind {
                "archive" => Source::archive(ReadFile::open(&path).map_err(Problem::System)?),
                _ => Source::directory(&path),
            };
            return create(source, &target, &options).map_err(Problem::Write);
        };
        let repository = Repository::discover(&environment).map_err(Problem::Git)?;
        let source = Source::commit(&repository, revision.as_slice().into());
        create(source, &target, &options).map_err(Problem::Write)
    })?;
    let made = made.map_err(|problem| match problem {
        Problem::System(error) => of_verb(py, &error, None),
        Problem::Git(error) => of_verb(py, &error, None),
        Problem::Write(error) => of_verb(py, &error, None),
    })?;
    (made.bytes, made.inodes, made.stored_files, made.fragments).into_pyobject(py)
}

/// Extracts an image. Returns the number of entries, and what failed as pairs of path and words.
#[pyfunction]
#[pyo3(signature = (image, target, *, paths, replace, strip_components, threads, progress))]
fn image_extract<'py>(
    image: &Bound<'py, PyAny>,
    target: &Bound<'py, PyAny>,
    paths: Vec<Bound<'py, PyAny>>,
    replace: bool,
    strip_components: usize,
    threads: Option<usize>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyTuple>> {
    let py = image.py();
    let (image, target) = (path_of(image)?, path_of(target)?);
    let options = ExtractOptions {
        paths: paths.iter().map(bytes_of).collect::<PyResult<Vec<_>>>()?,
        replace,
        strip_components,
        execution: execution(threads)?,
        ..ExtractOptions::default()
    };
    let mut failed = Vec::new();
    let done = run(py, &options.execution, progress.as_ref(), || {
        let opened = Image::open(&image, 0).map_err(hedgerow::image::ExtractError::Image)?;
        extract(&Arc::new(opened), &target, &options, |failure| {
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
#[pyo3(signature = (image, *, threads, progress))]
fn image_verify<'py>(
    image: &Bound<'py, PyAny>,
    threads: Option<usize>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyTuple>> {
    let py = image.py();
    let path = path_of(image)?;
    let execution = execution(threads)?;
    let file = py.detach(|| ReadFile::open(&path));
    let file = file.map_err(|error: SystemError| crate::error::system(py, &error))?;
    let checked = run(py, &execution, progress.as_ref(), || {
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
    run(py, &Execution::default(), None, work)?
        .map_err(|error| named(py, "Error", &error.to_string()))
}

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<RawImage>()?;
    module.add_function(wrap_pyfunction!(image_create, module)?)?;
    module.add_function(wrap_pyfunction!(image_extract, module)?)?;
    module.add_function(wrap_pyfunction!(image_verify, module)?)?;
    module.add_function(wrap_pyfunction!(panic_for_tests, module)?)
}
