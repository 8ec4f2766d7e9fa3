//! `hedgerow image extract`.

use super::arguments::Extract;
use super::{open, unreadable};
use crate::environment::from_directory;
use crate::failure::{Failure, PARTIAL};
use crate::global::Global;
use crate::output::Output;
use crate::progress::Meter;
use crate::statistics;
use crate::walk::{interrupted_by_user, not_started};
use bstr::ByteSlice;
use hedgerow_engine::{CancelToken, Options};
use hedgerow_fs::Dir;
use hedgerow_squashfs::nodes_of_image;
use hedgerow_tree::{Node, NodeError};
use hedgerow_writer::XattrRule;
use hedgerow_writer::{extract, ExtractError, ExtractOptions, Extracted, Failed, Problem};
use serde::Serialize;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

pub fn run(command: &Extract, global: &Global, output: &Output) -> Result<u8, Failure> {
    let interrupted = hedgerow_fs::catch_interrupts().map_err(Failure::fatal)?;
    let started = Instant::now();
    let image = Arc::new(open(&command.place, global)?);
    let paths: Vec<&[u8]> = command.paths.iter().map(|path| path.as_bytes()).collect();
    let nodes = nodes_of_image(&image, &paths);
    let nodes = nodes.map_err(|error| unreadable(&command.place.image, error))?;
    let is_root = hedgerow_fs::effective_uid() == 0;
    let foreign = if is_root && !command.keep_privileges {
        foreign_directory(&from_directory(global, &command.target))?
    } else {
        None
    };
    if let Some((directory, owner)) = foreign.as_ref().filter(|_| !command.no_owner) {
        return Err(refused(directory, *owner));
    }
    let (root, is_new) = target(&from_directory(global, &command.target), command)?;
    let options = ExtractOptions {
        engine: Options {
            jobs: global.jobs(),
            cancel: CancelToken::from_static(interrupted),
            name: "extract",
            recorder: statistics::recorder(global),
            ..Default::default()
        },
        owners: is_root && !command.no_owner,
        setuid_anyway: false,
        devices: foreign.is_none(),
        xattrs: match (command.no_xattrs, is_root) {
            (true, _) => XattrRule::None,
            (false, true) if command.no_owner => XattrRule::User,
            (false, true) => XattrRule::All,
            (false, false) => XattrRule::User,
        },
        permissions: true,
        times: true,
        replace: command.force,
        root_attributes: is_new && command.strip_components == 0,
    };
    let strip = command.strip_components;
    let passed = super::passed_nodes(&image, command.paths.is_empty());
    let meter = Meter::start(global, "Extracting", &passed);
    let nodes = nodes.inspect(|node| node.iter().for_each(|node| passed.add(node)));
    let nodes = nodes.filter_map(|node| stripped(node, strip));
    let extracted = extract(&root, nodes, &options, |failed| tell(failed, output));
    drop(meter);
    let extracted = extracted.map_err(|error| match error {
        ExtractError::Cancelled => interrupted_by_user(),
        error => not_started(error),
    })?;
    summarize(&extracted, global, output, started.elapsed());
    statistics::tell(global, options.engine.recorder.as_deref(), output)?;
    Ok(if extracted.failed == 0 { 0 } else { PARTIAL })
}

/// The directory that takes the entries, and whether it was made for them.
fn target(path: &Path, command: &Extract) -> Result<(Dir, bool), Failure> {
    let is_new = !hedgerow_fs::exists(path);
    if is_new {
        hedgerow_fs::create_directories(path).map_err(not_started)?;
    }
    let root = Dir::open(path).map_err(not_started)?;
    if !is_new && !command.force && !root.list().map_err(not_started)?.is_empty() {
        let path = path.display();
        return Err(Failure {
            hint: Some("-f extracts into it, and replaces what is in the way".into()),
            ..not_started(format_args!("'{path}' is not empty"))
        });
    }
    Ok((root, is_new))
}

/// The directory that takes the entries, or is above it, if it belongs to another user than root.
fn foreign_directory(target: &Path) -> Result<Option<(PathBuf, u32)>, Failure> {
    let exists = |path: &&Path| hedgerow_fs::exists(path);
    let nearest = target.ancestors().find(exists);
    let nearest = nearest.unwrap_or(Path::new("."));
    let owner = Dir::open(nearest).and_then(|directory| directory.stat_self());
    let owner = owner.map_err(not_started)?.uid;
    Ok((owner != 0).then(|| (nearest.to_owned(), owner)))
}

/// What root extracts can give the rights of root to whoever owns the directory.
fn refused(directory: &Path, owner: u32) -> Failure {
    Failure {
        hint: Some(
            "--no-owner extracts without owners, setuid bits, devices and attributes of root, \
             --keep-privileges with them"
                .into(),
        ),
        ..not_started(format_args!(
            "'{}' belongs to user {owner}: setuid programs and devices that root extracts there \
             could give that user the rights of root",
            directory.display()
        ))
    }
}

/// A node without the first components of its path; none if it has no others.
fn stripped(node: Result<Node, NodeError>, components: usize) -> Option<Result<Node, NodeError>> {
    let mut node = match node {
        Ok(node) if components > 0 && !node.path.is_empty() => node,
        other => return Some(other),
    };
    let mut names = node.path.splitn_str(components + 1, "/");
    node.path = names.nth(components)?.to_vec();
    Some(Ok(node))
}

fn tell(failed: Failed, output: &Output) {
    match (&failed.problem, &failed.path) {
        (Problem::Fs(error), _) => output.error(error),
        (problem, Some(path)) => {
            output.error(format_args!(
                "cannot extract '{}': {problem}",
                path.as_bstr()
            ));
        }
        (problem, None) => output.error(problem),
    }
}

#[derive(Serialize)]
struct Document {
    schema: &'static str,
    entries: u64,
    bytes: u64,
    failed: u64,
}

fn summarize(extracted: &Extracted, global: &Global, output: &Output, elapsed: Duration) {
    let Extracted {
        entries,
        bytes,
        failed,
    } = *extracted;
    if global.json {
        let document = Document {
            schema: "hedgerow.image.extract.v1",
            entries,
            bytes,
            failed,
        };
        if let Ok(text) = serde_json::to_string(&document) {
            output.data(format!("{text}\n").as_bytes());
        }
        return;
    }
    let seconds = elapsed.as_secs_f64();
    output.say(format_args!(
        "{entries} entries, {bytes} bytes in {seconds:.2} s"
    ));
}
