//! A listing as a table, whole or in parts.

use super::{closed_pipe_is_fine, interrupted_by_user, not_started, options, walked, Walk};
use crate::environment::from_directory;
use crate::execution;
use crate::failure::{Failure, PARTIAL};
use crate::global::Global;
use crate::output::Output;
use crate::statistics;
use hedgerow::walk::listing::{
    self, given, merge, write_listing, write_part, write_rest, Error, Format, PartOptions,
};
use hedgerow::walk::{OpenDirectory, WalkOptions};
use std::ffi::OsStr;
use std::fmt::Display;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

pub fn run(command: &Walk, global: &Global, output: &Output) -> Result<u8, Failure> {
    if let Some(option) = refused(command, global) {
        return Err(not_started(format_args!("{option}")));
    }
    if let (Some(rest), Some(output)) = (&command.rest, &command.output) {
        let [rest, output] = [rest, output].map(|path| from_directory(global, path));
        if listing::is_one_place(&rest, &output) {
            return Err(not_started("--rest and the output are the same file"));
        }
    }
    let execution = execution::interruptible(global)?;
    let told = Told {
        root: match command.walked.first() {
            Some(root) if !command.merge => root,
            _ => Path::new(""),
        },
        output,
        count: AtomicU64::new(0),
    };
    let format = command.format.map_or(Format::Parquet, Format::from);
    let target = || match &command.output {
        Some(path) => listing::Output::to(&from_directory(global, path), command.force),
        None => Ok(listing::Output::standard()),
    };
    let written = if command.merge {
        let parts = command.walked.iter();
        let parts: Vec<PathBuf> = parts.map(|part| from_directory(global, part)).collect();
        let target = target().map_err(not_started)?;
        merge(
            &parts,
            target,
            format,
            &temporary(command, global),
            &execution,
        )
        .map(|merged| {
            for omitted in merged.omitted {
                told.tell(&omitted.operation, &omitted.path, omitted.reason);
            }
        })
    } else {
        let named = walked(command)?.unwrap_or(Path::new("."));
        let path = from_directory(global, named);
        let root = OpenDirectory::open(&path)
            .map_err(|source| not_started(hedgerow_fs::Error::new("open", named, source)))?;
        let options = options(command, execution.clone());
        let target = target().map_err(not_started)?;
        if command.part {
            part(command, global, root, target, options, &told)
        } else {
            let omitted = |omission| told.omit(omission);
            write_listing(root, &path, target, format, &options, &omitted).map(drop)
        }
    };
    match written {
        Ok(()) => {}
        Err(Error::Cancelled) => return Err(interrupted_by_user()),
        Err(Error::Fs(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            closed_pipe_is_fine(error.source).map_err(not_started)?;
        }
        Err(error) => return Err(not_started(error)),
    }
    statistics::tell(global, &execution, output)?;
    Ok(match told.count.into_inner() {
        0 => 0,
        _ => PARTIAL,
    })
}

/// An option that a table does not take.
fn refused(command: &Walk, global: &Global) -> Option<&'static str> {
    let options = [
        (global.json, "--json cannot be used with a table"),
        (command.null, "-0 cannot be used with a table"),
        (command.summary, "--summary cannot be used with a table"),
        (
            command.part && command.gitignore,
            "--gitignore cannot be used with --part",
        ),
        (
            command.part && !command.types.is_empty(),
            "--type cannot be used with --part",
        ),
    ];
    let is_other_part =
        command.part && !matches!(command.format, None | Some(super::TableFormat::Parquet));
    let found = options.into_iter().find(|(is_given, _)| *is_given);
    found
        .map(|(_, option)| option)
        .or(is_other_part.then_some("a part is always parquet"))
}

fn part(
    command: &Walk,
    global: &Global,
    root: OpenDirectory,
    target: listing::Output,
    walk: WalkOptions,
    told: &Told<'_>,
) -> Result<(), Error> {
    let options = PartOptions {
        root: from_directory(global, told.root),
        walk,
        budget: command.budget.expect("a part has a budget"),
        temporary: temporary(command, global),
    };
    let lists = command.from.iter().map(|list| from_directory(global, list));
    let given = given(&lists.collect::<Vec<_>>(), command.shard, &options)?;
    let rest = command
        .rest
        .as_ref()
        .map(|path| listing::Output::to(&from_directory(global, path), command.force));
    let rest = rest.transpose()?;
    let written = write_part(root, given, target, &options, &|omission| {
        told.omit(omission)
    })?;
    match rest {
        Some(rest) => write_rest(rest, &written),
        None => Ok(()),
    }
}

/// Where temporary files are created: beside the output.
fn temporary(command: &Walk, global: &Global) -> PathBuf {
    let output = command.output.as_deref().and_then(Path::parent);
    from_directory(global, output.unwrap_or(Path::new(".")))
}

/// Tells what is missing in a listing, and counts it.
struct Told<'o> {
    root: &'o Path,
    output: &'o Output,
    count: AtomicU64,
}

impl Told<'_> {
    fn omit(&self, omission: hedgerow::walk::Omission) {
        let reason = hedgerow_fs::reason(&omission.source);
        self.tell(omission.operation, &omission.path, reason);
    }

    fn tell(&self, operation: &str, path: &[u8], reason: impl Display) {
        self.count.fetch_add(1, Ordering::Relaxed);
        let path = match path {
            b"" => self.root.to_owned(),
            path => self.root.join(OsStr::from_bytes(path)),
        };
        let path = path.display();
        self.output
            .error(format_args!("cannot {operation} '{path}': {reason}"));
    }
}
