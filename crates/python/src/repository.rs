//! Git repositories: walking history, reading objects.

use crate::error::{named, of_verb, os_error};
use crate::lock::without_lock;
use crate::path::{bytes_of, fspath, system_path, Flavor};
use crate::run::{execution, run, Watch};
use hedgerow::pack::PackError;
use hedgerow::plumbing::engine::{run_ordered, Failure, Window};
use hedgerow::plumbing::git::object_query::find_object;
use hedgerow::plumbing::git::reachability::{supply, RevisionArguments, Sources};
use hedgerow::plumbing::object::{Malformed, TreeEntries};
use hedgerow::plumbing::pack::{ObjectId, ObjectKind, Reader};
use hedgerow::plumbing::reach::{Objects, Request, Visitor, Walk, WalkedCommit};
use hedgerow::{repository, Environment, Execution, Repository};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use std::error::Error;
use std::ffi::OsString;
use std::io;
use std::ops::ControlFlow;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// Limit of objects that wait for earlier ones, in bytes.
const WINDOW: Window = Window { bytes: 64 << 20 };

type Result<T> = std::result::Result<T, repository::Error>;

pub(crate) fn failed(py: Python<'_>) -> impl Fn(repository::Error) -> PyErr + '_ {
    move |error| of_verb(py, &error as &(dyn Error + 'static), None)
}

/// The environment that git's settings come from: that of the interpreter, as it is now.
pub(crate) fn environment(path: &Bound<'_, PyAny>) -> PyResult<Environment> {
    let py = path.py();
    let given = fspath(path)?;
    let directory = PathBuf::from(OsString::from_vec(system_path(&given)?));
    let directory = if directory.as_os_str().is_empty() {
        const ENOENT: i32 = 2;
        Err(io::Error::from_raw_os_error(ENOENT))
    } else {
        std::path::absolute(directory)
    };
    let directory = directory.map_err(|error| os_error(py, &error, Some(&given)))?;
    let variables = py.import("os")?.getattr("environb")?;
    let variables = variables.call_method0("items")?;
    let mut pairs = Vec::new();
    for pair in variables.try_iter()? {
        let (name, value): (Vec<u8>, Vec<u8>) = pair?.extract()?;
        pairs.push((OsString::from_vec(name), OsString::from_vec(value)));
    }
    Environment::from_vars(pairs, directory).map_err(failed(py))
}

/// A repository. Any number of threads may use it: each call opens it for itself, and sees what others
/// have changed since.
#[pyclass(frozen, module = "hedgerow", name = "RawRepository")]
struct RawRepository {
    environment: Environment,
    git_dir: PathBuf,
    work_tree: Option<PathBuf>,
}

impl RawRepository {
    /// Opens the repository without the interpreter's lock, and uses it.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Repository) -> Result<T> + Send,
    ) -> PyResult<T> {
        let done = without_lock(py, || work(&Repository::discover(&self.environment)?));
        done.map_err(failed(py))
    }
}

#[pymethods]
impl RawRepository {
    #[new]
    fn new(path: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = path.py();
        let environment = environment(path)?;
        let opened = without_lock(py, || {
            let found = Repository::discover(&environment)?;
            let work_tree = found.work_tree().map(PathBuf::from);
            Ok((found.git_dir().to_owned(), work_tree))
        });
        let (git_dir, work_tree) = opened.map_err(failed(py))?;
        Ok(RawRepository {
            environment,
            git_dir,
            work_tree,
        })
    }

    #[getter]
    fn git_dir<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Flavor::Str.object(py, self.git_dir.as_os_str().as_bytes())
    }

    #[getter]
    fn work_tree<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let path = self.work_tree.as_ref();
        path.map(|path| Flavor::Str.object(py, path.as_os_str().as_bytes()))
            .transpose()
    }

    /// The id of an object.
    fn resolve(&self, py: Python<'_>, revision: &Bound<'_, PyAny>) -> PyResult<String> {
        let revision = bytes_of(revision)?;
        let found = self.with(py, |repository| {
            Ok(find_object(repository, revision.as_slice().into())?.0)
        });
        Ok(found?.to_string())
    }

    /// Commits as ids, or objects as ids, kinds and paths.
    #[pyo3(signature = (revisions, *, objects, max_count, first_parent, reverse, watch))]
    #[allow(
        clippy::too_many_arguments,
        reason = "they are those of hedgerow.Repository.rev_list"
    )]
    fn rev_list<'py>(
        &self,
        py: Python<'py>,
        revisions: Vec<Bound<'py, PyAny>>,
        objects: bool,
        max_count: Option<u64>,
        first_parent: bool,
        reverse: bool,
        watch: Watch<'py>,
    ) -> PyResult<Bound<'py, PyList>> {
        let words = revisions
            .iter()
            .map(bytes_of)
            .collect::<PyResult<Vec<_>>>()?;
        let request = Request {
            objects: if objects { Objects::All } else { Objects::None },
            max_count,
            first_parent,
            is_reversed: reverse,
            ..Request::default()
        };
        let execution = Execution::default();
        let cancel = execution.cancel.clone();
        let listed = run(py, &execution, &watch, || {
            let mut found = Found {
                rows: Vec::new(),
                is_cancelled: &|| cancel.is_cancelled(),
            };
            let repository = Repository::discover(&self.environment)?;
            list(&repository, &words, request, &mut found)?;
            Ok::<_, repository::Error>(found.rows)
        })?;
        let list = PyList::empty(py);
        for (id, kind, name) in listed.map_err(failed(py))? {
            if objects {
                let name = Flavor::Str.object(py, &name)?;
                list.append((id.to_string(), kind.name(), name))?;
            } else {
                list.append(id.to_string())?;
            }
        }
        Ok(list)
    }

    /// Objects as ids, kinds and contents, in the order of their names.
    fn cat_file<'py>(
        &self,
        py: Python<'py>,
        names: Vec<Bound<'py, PyAny>>,
        threads: Option<usize>,
        watch: Watch<'py>,
    ) -> PyResult<Bound<'py, PyList>> {
        let names = names.iter().map(bytes_of).collect::<PyResult<Vec<_>>>()?;
        let execution = execution(threads)?;
        let read = run(py, &execution, &watch, || {
            read_objects(&self.environment, names, &execution)
        })?;
        let list = PyList::empty(py);
        for (id, kind, content) in read.map_err(|failure| ended(py, failure))? {
            list.append((id.to_string(), kind.name(), PyBytes::new(py, &content)))?;
        }
        Ok(list)
    }

    /// The entries of a tree, or the one with a name: names, modes, ids, and the sizes of files, which cost a
    /// look each, and in a partial clone all the files.
    #[pyo3(signature = (spec, sizes, only=None))]
    fn tree<'py>(
        &self,
        py: Python<'py>,
        spec: &Bound<'py, PyAny>,
        sizes: bool,
        only: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let spec = bytes_of(spec)?;
        let only = only.map(bytes_of).transpose()?;
        let rows = self.with(py, |repository| {
            // This fetches what is on the way, where a remote has promised it.
            let (found, _) = find_object(repository, spec.as_slice().into())?;
            repository.fetch_missing(&[found])?;
            let id = repository.resolve_tree(spec.as_slice().into())?;
            tree_rows(repository, &id, sizes, only.as_deref())
        })?;
        let list = PyList::empty(py);
        for (name, mode, id, size) in rows {
            let name = Flavor::Str.object(py, &name)?;
            list.append((name, mode, id.to_string(), size))?;
        }
        Ok(list)
    }

    /// The packs: paths, numbers of objects, bytes of all entries, and of the largest.
    fn packs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let packs = self.with(py, |repository| {
            let store = repository.objects();
            let pack = |(number, path, _): (u32, &std::path::Path, _)| {
                let stored = store.sizes_in_pack(number);
                let bytes = stored.iter().map(|entry| entry.size_bytes);
                let largest = bytes.clone().max().unwrap_or(0);
                let objects = store.pack_object_count(number);
                (path.to_owned(), objects, bytes.sum::<u64>(), largest)
            };
            Ok(store.pack_files().map(pack).collect::<Vec<_>>())
        })?;
        let list = PyList::empty(py);
        for (path, objects, bytes, largest) in packs {
            let path = Flavor::Str.object(py, path.as_os_str().as_bytes())?;
            list.append((path, objects, bytes, largest))?;
        }
        Ok(list)
    }
}

/// Collects what a walk finds.
struct Found<'f> {
    rows: Vec<(ObjectId, ObjectKind, Vec<u8>)>,
    is_cancelled: &'f dyn Fn() -> bool,
}

impl Found<'_> {
    fn add(&mut self, id: ObjectId, kind: ObjectKind, name: &[u8]) -> ControlFlow<()> {
        self.rows.push((id, kind, name.to_vec()));
        if (self.is_cancelled)() {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

impl Visitor for Found<'_> {
    fn edge(&mut self, _: &ObjectId) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn commit(&mut self, walk: &Walk<'_>, found: WalkedCommit) -> ControlFlow<()> {
        let id = walk.commits().id(found.commit);
        self.add(id, ObjectKind::Commit, b"")
    }

    fn object(&mut self, id: &ObjectId, kind: ObjectKind, name: &[u8]) -> ControlFlow<()> {
        self.add(*id, kind, name)
    }
}

fn list(
    repository: &Repository,
    words: &[Vec<u8>],
    mut request: Request,
    found: &mut Found<'_>,
) -> Result<()> {
    let sources = Sources::read(repository)?;
    let source = sources.of(repository);
    let mut revisions = RevisionArguments::new(repository, source, true, &|_| {});
    let all = words.iter().any(|word| word == b"--all");
    if all {
        let none = &mut [].iter();
        revisions.option(b"--all".as_slice().into(), none)?;
    }
    for word in words.iter().filter(|word| *word != b"--all") {
        revisions.add(word.as_slice().into())?;
    }
    request.tips = revisions.tips;
    supply(repository, &request)?;
    Walk::new(source, request)?.list(found)?;
    Ok(())
}

type Object = (ObjectId, ObjectKind, Vec<u8>);

fn read_objects(
    environment: &Environment,
    names: Vec<Vec<u8>>,
    execution: &Execution,
) -> std::result::Result<Vec<Object>, Failure<repository::Error>> {
    let repository = Repository::discover(environment).map_err(Failure::Failed)?;
    let mut ids = Vec::with_capacity(names.len());
    for name in names {
        if execution.cancel.is_cancelled() {
            return Err(Failure::Cancelled);
        }
        let found = find_object(&repository, name.as_slice().into());
        ids.push(found.map_err(Failure::Failed)?.0);
    }
    let shared = repository.shared_objects();
    let replaced = ids.iter().map(|id| repository.replacement(id));
    let replaced = replaced.collect::<Result<Vec<_>>>();
    let replaced = replaced.map_err(Failure::Failed)?;
    repository
        .fetch_missing(&replaced)
        .map_err(Failure::Failed)?;
    let mut objects = Vec::with_capacity(ids.len());
    run_ordered(
        &execution.options("read"),
        WINDOW,
        ids.into_iter().map(|id| Ok((id, 1))),
        |_| (),
        |(), id| {
            let replaced = shared.replacement(&id)?;
            let (kind, content) = shared.store.read(&replaced)?;
            Ok((id, kind, content))
        },
        |_, object: Object| {
            objects.push(object);
            Ok(())
        },
    )?;
    Ok(objects)
}

fn ended(py: Python<'_>, failure: Failure<repository::Error>) -> PyErr {
    match failure {
        Failure::Failed(error) => failed(py)(error),
        Failure::Cancelled => named(py, "Error", "interrupted"),
        Failure::Panicked(message) => crate::error::internal(py, &message),
    }
}

type TreeRow = (Vec<u8>, u32, ObjectId, Option<u64>);

fn tree_rows(
    repository: &Repository,
    id: &ObjectId,
    sizes: bool,
    only: Option<&[u8]>,
) -> Result<Vec<TreeRow>> {
    repository.fetch_missing(&[*id])?;
    let (_, content) = repository.read_object(id)?;
    let (mut rows, mut blobs) = (Vec::new(), Vec::new());
    let mut entries = TreeEntries::new(&content, id.kind());
    let corrupt = |error: Malformed| repository::Error::Setup {
        reason: error.to_string(),
    };
    while let Some(entry) = entries.next_of(id).map_err(corrupt)? {
        if only.is_some_and(|only| entry.name != only) {
            continue;
        }
        let id = entry.id.to_owned();
        if sizes && entry.object_kind() == Some(ObjectKind::Blob) {
            blobs.push((rows.len(), repository.replacement(&id)?));
        }
        rows.push((entry.name.to_vec(), entry.mode, id, None));
    }
    let ids: Vec<ObjectId> = blobs.iter().map(|(_, id)| *id).collect();
    repository.fetch_missing(&ids)?;
    let mut reader = Reader::new(repository.objects());
    for (row, id) in blobs {
        let location = repository.objects().locate(&id)?;
        let location = location.ok_or(PackError::Missing { id })?;
        rows[row].3 = Some(reader.header(&id, location)?.size);
    }
    Ok(rows)
}

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<RawRepository>()
}
