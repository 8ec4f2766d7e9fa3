//! Extracts an entry that is not a directory.

use super::batches::{Batch, Job};
use super::links::Further;
use super::place::make;
use super::settings::Settings;
use super::{file, ExtractError, Failed, Run};
use crate::write::stopped_by;
use crate::Problem;
use hedgerow_fs::{Attributes, Dir, FileKind, Timestamp};
use hedgerow_tree::{split_path, Node, NodeError, NodeKind, Xattr};
use std::io;

/// The state of a worker.
#[derive(Default)]
pub(super) struct Worker {
    pub buffer: Vec<u8>,
}

/// The directory to which a worker adds entries.
struct Opened {
    path: Vec<u8>,
    handle: hedgerow_fs::Result<Dir>,
}

impl Run<'_> {
    /// Extracts the entries of a batch. Returns those that failed.
    pub fn work(&self, worker: &mut Worker, batch: Batch) -> Result<Vec<Failed>, ExtractError> {
        let mut failures = batch.failures;
        let mut opened: Option<Opened> = None;
        let mut jobs = batch.jobs;
        jobs.reverse();
        while let Some(job) = jobs.pop() {
            if self.is_cancelled() {
                return Err(ExtractError::Cancelled);
            }
            let Some((job, outcome)) = self.extract(worker, &mut opened, job) else {
                continue;
            };
            let Job {
                directory, node, ..
            } = job;
            if let (Some(key), false) = (node.link, job.is_further_name) {
                let is_made = !matches!(outcome, Outcome::Failed(_));
                if is_made && !directory.stays_reachable(&self.settings) {
                    self.links.hold(&directory);
                }
                jobs.extend(self.links.settle(key, &node.path, is_made));
            }
            match outcome {
                Outcome::Failed(problem) if problem.is_full() => {
                    let path = node.path;
                    return Err(ExtractError::Full { path, problem });
                }
                Outcome::Failed(Problem::Cancelled) => return Err(ExtractError::Cancelled),
                Outcome::Failed(problem) => failures.push(Failed {
                    path: Some(node.path),
                    problem,
                }),
                Outcome::Made(lacking) => {
                    self.count(node.size_bytes);
                    if let Some(problem) = lacking {
                        let path = Some(node.path);
                        failures.push(Failed { path, problem });
                    }
                }
            }
            self.let_go(directory, &mut failures);
        }
        Ok(failures)
    }

    /// Extracts an entry. Returns `None` if it must wait for the first name of its file.
    fn extract(
        &self,
        worker: &mut Worker,
        opened: &mut Option<Opened>,
        job: Job,
    ) -> Option<(Job, Outcome)> {
        let mut job = job;
        let mut first = None;
        if let (Some(key), true) = (job.node.link, job.is_further_name) {
            match self.links.further(key, job) {
                Further::Waits => return None,
                Further::Link(further, path) => (job, first) = (further, Some(path)),
                Further::Fail(job, path) => {
                    let first = String::from_utf8_lossy(&path);
                    let what = format!("it is another name of '{first}', which failed");
                    let problem = Problem::Content(what.into());
                    return Some((job, Outcome::Failed(problem)));
                }
            }
        }
        let directory = &job.directory;
        let (_, name) = split_path(&job.node.path);
        let stopped = |error| {
            let error = stopped_by(error, "write", &job.node.path);
            Outcome::Failed(error.into())
        };
        if let Some(error) = &directory.missing {
            let outcome = stopped(error);
            return Some((job, outcome));
        }
        if opened
            .as_ref()
            .is_none_or(|opened| opened.path != directory.path)
        {
            *opened = Some(Opened {
                path: directory.path.clone(),
                handle: self.root.open_dir(&directory.path),
            });
        }
        let outcome = match opened.as_ref().map(|opened| &opened.handle) {
            Some(Ok(handle)) => match first {
                Some(first) => self.link(handle, name, &first),
                None => {
                    let name = name.to_vec();
                    self.make_entry(worker, handle, &name, &mut job.node)
                }
            }
            .map_or_else(Outcome::Failed, Outcome::Made),
            Some(Err(error)) => stopped(error),
            None => return None,
        };
        Some((job, outcome))
    }

    fn link(&self, directory: &Dir, name: &[u8], first: &[u8]) -> Result<Option<Problem>, Problem> {
        let (from, from_name) = split_path(first);
        let from = self.root.open_dir(from)?;
        let create = |name: &[u8]| directory.link(name, &from, from_name);
        let ((), made) = make(directory, name, self.settings.replace, create)?;
        made.keep_link(directory)?;
        Ok(None)
    }

    /// Creates an entry. Returns a problem if the entry exists but not all attributes could be set.
    fn make_entry(
        &self,
        worker: &mut Worker,
        directory: &Dir,
        name: &[u8],
        node: &mut Node,
    ) -> Result<Option<Problem>, Problem> {
        if node.kind == NodeKind::File {
            return file::write(self, worker, directory, name, node);
        }
        let settings = &self.settings;
        let is_device = matches!(node.kind, NodeKind::BlockDevice | NodeKind::CharacterDevice);
        if is_device && !settings.devices {
            return Err(Problem::Device);
        }
        let target = match node.kind {
            NodeKind::Symlink => node.handle.target().map_err(Problem::of_node)?,
            _ => Vec::new(),
        };
        let xattrs = xattrs_of(settings, node)?;
        let (mode, has_to_change) = settings.first_mode(node, &xattrs);
        let create = |name: &[u8]| match node.kind {
            NodeKind::Symlink => directory.create_symlink(name, &target),
            kind => directory.create_node(name, file_kind(kind), mode, node.device),
        };
        let ((), made) = make(directory, name, settings.replace, create)?;
        let change_mode = has_to_change && node.kind != NodeKind::Symlink;
        let opened = directory.open_node(made.name());
        let lacking = match opened {
            Ok(opened) => {
                let attributes = opened.attributes();
                let set = set_attributes(settings, attributes, node, &xattrs, change_mode);
                set.err().map(|(operation, source)| {
                    hedgerow_fs::Error::new(operation, directory.path_of(name), source)
                })
            }
            Err(error) => Some(error),
        };
        made.keep(directory)?;
        Ok(lacking.map(Problem::Fs))
    }
}

/// The result for an entry.
enum Outcome {
    /// It exists, but may lack some attributes.
    Made(Option<Problem>),
    /// It does not exist.
    Failed(Problem),
}

/// The extended attributes that the entry gets.
pub(super) fn xattrs_of(settings: &Settings, node: &mut Node) -> Result<Vec<Xattr>, Problem> {
    if !settings.wants_xattrs() {
        return Ok(Vec::new());
    }
    let xattrs = node.handle.xattrs().map_err(Problem::of_node)?;
    Ok(settings.wanted(xattrs))
}

/// Sets all attributes of an entry in an order in which none changes one set before. Continues
/// after a failure, except for what depends on the failed attribute. Returns the first failure.
pub(super) fn set_attributes(
    settings: &Settings,
    attributes: Attributes<'_>,
    node: &Node,
    xattrs: &[Xattr],
    change_mode: bool,
) -> Result<(), (&'static str, io::Error)> {
    let mut first = Ok(());
    let mut keep = |outcome: Result<(), (&'static str, io::Error)>| {
        if first.is_ok() {
            first = outcome;
        }
    };
    let mut mode = settings.mode(node);
    if let Some((uid, gid)) = settings.owner(node) {
        if let Err(error) = attributes.set_owner(uid, gid) {
            // With a wrong owner, setuid and setgid would give users the rights of the wrong user.
            mode &= 0o1777;
            keep(Err(("set the owner of", error)));
        }
    }
    for xattr in xattrs {
        let set = attributes.set_xattr(&xattr.name, &xattr.value);
        keep(set.map_err(|error| ("set an extended attribute of", error)));
    }
    if change_mode {
        let set = attributes.set_mode(mode);
        keep(set.map_err(|error| ("set the permissions of", error)));
    }
    if !settings.times {
        return first;
    }
    let set = attributes.set_mtime(Timestamp {
        seconds: node.mtime_s,
        nanoseconds: node.mtime_ns,
    });
    keep(set.map_err(|error| ("set the time of", error)));
    first
}

fn file_kind(kind: NodeKind) -> FileKind {
    match kind {
        NodeKind::File => FileKind::File,
        NodeKind::Directory => FileKind::Directory,
        NodeKind::Symlink => FileKind::Symlink,
        NodeKind::Fifo => FileKind::Fifo,
        NodeKind::Socket => FileKind::Socket,
        NodeKind::BlockDevice => FileKind::BlockDevice,
        NodeKind::CharacterDevice => FileKind::CharacterDevice,
    }
}

impl Problem {
    pub(super) fn of_node(error: NodeError) -> Self {
        match error {
            NodeError::Entry(error) | NodeError::Source(error) => Problem::Content(error),
            NodeError::Cancelled => Problem::Cancelled,
        }
    }
}
