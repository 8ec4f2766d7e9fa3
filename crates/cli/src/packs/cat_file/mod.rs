//! `hedgerow cat-file`: objects, and what is to be said about them.

mod all;
mod batch;
mod facts;
mod format;
mod single;

use crate::environment;
use crate::failure::Failure;
use crate::global::Global;
use crate::output::Output;
use clap::Args;
use format::Format;
use hedgerow::plumbing::pack::ObjectKind;
use hedgerow::plumbing::reach::Filter;
use hedgerow::Repository;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

/// Print the content, type or size of objects
///
/// Options are those of git-cat-file(1). FORMAT has the atoms objectname, objecttype, objectsize,
/// objectsize:disk, deltabase, rest and objectmode.
#[derive(Debug, Args)]
#[command(args_override_self = true)]
pub struct CatFile {
    /// Print the kind of the object
    #[arg(short = 't')]
    pub kind: bool,
    /// Print the size of the object
    #[arg(short = 's')]
    pub size: bool,
    /// Say by the exit code whether the object exists
    #[arg(short = 'e')]
    pub exists: bool,
    /// Print the object for people
    #[arg(short = 'p')]
    pub pretty: bool,
    /// For each object named on standard input, print a line about it and its content
    #[arg(long, value_name = "FORMAT", num_args = 0..=1, require_equals = true)]
    pub batch: Option<Option<OsString>>,
    /// For each object named on standard input, print a line about it
    #[arg(long, value_name = "FORMAT", num_args = 0..=1, require_equals = true)]
    pub batch_check: Option<Option<OsString>>,
    /// Obey commands on standard input: contents NAME, info NAME, flush
    #[arg(long, value_name = "FORMAT", num_args = 0..=1, require_equals = true)]
    pub batch_command: Option<Option<OsString>>,
    /// All objects, in order of their names, instead of those on standard input
    #[arg(long)]
    pub batch_all_objects: bool,
    /// In whatever order is quickest
    #[arg(long)]
    pub unordered: bool,
    /// Write when enough has gathered, not after each object
    #[arg(long, overrides_with = "no_buffer")]
    pub buffer: bool,
    /// Write after each object
    #[arg(long)]
    pub no_buffer: bool,
    /// Names on standard input end with NUL
    #[arg(short = 'z')]
    pub null_input: bool,
    /// Names on standard input, and lines of output, end with NUL
    #[arg(short = 'Z')]
    pub null: bool,
    /// Follow symbolic links in REVISION:PATH, and tell what they lead to
    #[arg(long)]
    pub follow_symlinks: bool,
    /// Leave out objects: blob:none, blob:limit=N or object:type=KIND
    #[arg(long, value_name = "SPEC")]
    pub filter: Option<OsString>,
    /// `[KIND] OBJECT`
    #[arg(value_name = "OBJECT")]
    pub words: Vec<OsString>,
}

/// How objects are printed, one after the other.
#[derive(Debug)]
pub struct Batch {
    pub format: Format,
    /// Whether contents are printed after the lines.
    pub contents: bool,
    pub is_command: bool,
    pub is_buffered: bool,
    pub follows_links: bool,
    pub input_end: u8,
    pub output_end: u8,
    pub filter: Option<Filter>,
}

pub fn run(command: &CatFile, global: &Global, output: &Output) -> Result<u8, Failure> {
    let repository = Repository::discover(&environment::of_git(global)?)?;
    let warnings = repository.objects().warnings();
    warnings.iter().for_each(|warning| output.warn(warning));
    let batches = [&command.batch, &command.batch_check, &command.batch_command];
    let mut given = batches
        .into_iter()
        .zip(0..)
        .filter_map(|(b, at)| Some((b.as_ref()?, at)));
    let Some((format, which)) = given.next() else {
        let is_odd = command.batch_all_objects
            || command.filter.is_some()
            || command.unordered
            || command.follow_symlinks;
        if is_odd {
            return Err(Failure::usage("this option requires a batch mode"));
        }
        return single::run(command, &repository);
    };
    if given.next().is_some() {
        return Err(Failure::usage("only one batch option may be specified"));
    }
    let singles = [command.kind, command.size, command.exists, command.pretty];
    if singles.contains(&true) || !command.words.is_empty() {
        return Err(Failure::usage("batch modes take no arguments"));
    }
    let filter = match &command.filter {
        Some(spec) => Some(usable(
            Filter::parse(spec.as_bytes()).map_err(Failure::fatal)?,
        )?),
        None => None,
    };
    let output_end = if command.null { 0 } else { b'\n' };
    let input_end = if command.null || command.null_input {
        0
    } else {
        b'\n'
    };
    let batch = Batch {
        format: Format::parse(format.as_ref().map(|format| format.as_bytes()))?,
        contents: which == 0,
        is_command: which == 2,
        is_buffered: command.buffer || command.batch_all_objects && !command.no_buffer,
        follows_links: command.follow_symlinks,
        input_end,
        output_end,
        filter,
    };
    if command.batch_all_objects {
        all::run(&repository, &batch, command.unordered)?
    } else {
        batch::run(&repository, &batch)?
    }
    Ok(0)
}

/// Only what can be told of an object by itself.
fn usable(filter: Filter) -> Result<Filter, Failure> {
    match filter {
        Filter::BlobNone | Filter::BlobLimit(_) | Filter::Kind(_) => Ok(filter),
        _ => Err(Failure::usage("objects filter not supported")),
    }
}

impl Batch {
    /// Whether the filter leaves out an object.
    pub fn leaves_out(&self, kind: ObjectKind, size: u64) -> bool {
        match &self.filter {
            Some(Filter::BlobNone) => kind == ObjectKind::Blob,
            Some(Filter::BlobLimit(limit)) => kind == ObjectKind::Blob && size >= *limit,
            Some(Filter::Kind(wanted)) => kind != *wanted,
            _ => false,
        }
    }

    pub fn needs_kind(&self) -> bool {
        self.format.needs.kind || self.contents || self.filter.is_some()
    }

    pub fn needs_size(&self) -> bool {
        self.format.needs.size || matches!(self.filter, Some(Filter::BlobLimit(_)))
    }
}
