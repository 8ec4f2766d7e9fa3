//! `hedgerow cat-file`: objects, and what is to be said about them.

mod single;

use crate::environment;
use crate::failure::Failure;
use crate::global::Global;
use crate::output::Output;
use bstr::ByteSlice;
use clap::Args;
use hedgerow::plumbing::git::object_query::{
    write_all_objects, Format, NamedObjects, ObjectQuery, OutputStream,
};
use hedgerow::plumbing::reach::Filter;
use hedgerow_fs::{StandardInput, StandardOutput};
use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::os::unix::ffi::OsStrExt;

/// Print the content, type or size of objects
///
/// Options are those of git-cat-file(1). FORMAT has the atoms objectname, objecttype, objectsize,
/// objectsize:disk, deltabase, rest and objectmode.
#[derive(Debug, Args)]
#[command(args_override_self = true)]
pub struct CatFile {
    /// Print the type of the object
    #[arg(short = 't')]
    pub kind: bool,
    /// Print the size of the object
    #[arg(short = 's')]
    pub size: bool,
    /// Exit with 0 if the object exists
    #[arg(short = 'e')]
    pub exists: bool,
    /// Pretty-print the object
    #[arg(short = 'p')]
    pub pretty: bool,
    /// For each object named on standard input, print a line about it and its content
    #[arg(long, value_name = "FORMAT", num_args = 0..=1, require_equals = true)]
    pub batch: Option<Option<OsString>>,
    /// For each object named on standard input, print a line about it
    #[arg(long, value_name = "FORMAT", num_args = 0..=1, require_equals = true)]
    pub batch_check: Option<Option<OsString>>,
    /// Read commands from standard input: contents NAME, info NAME, flush
    #[arg(long, value_name = "FORMAT", num_args = 0..=1, require_equals = true)]
    pub batch_command: Option<Option<OsString>>,
    /// List all objects, sorted by id, instead of those on standard input
    #[arg(long)]
    pub batch_all_objects: bool,
    /// Print objects in the fastest order
    #[arg(long)]
    pub unordered: bool,
    /// Buffer the output instead of flushing it after each object
    #[arg(long, overrides_with = "no_buffer")]
    pub buffer: bool,
    /// Flush the output after each object
    #[arg(long)]
    pub no_buffer: bool,
    /// Read names that end with NUL
    #[arg(short = 'z')]
    pub null_input: bool,
    /// Read names that end with NUL, and end lines of output with NUL
    #[arg(short = 'Z')]
    pub null: bool,
    /// Follow symbolic links in REVISION:PATH
    #[arg(long)]
    pub follow_symlinks: bool,
    /// Leave out objects: blob:none, blob:limit=N or object:type=KIND
    #[arg(long, value_name = "SPEC")]
    pub filter: Vec<OsString>,
    /// `[KIND] OBJECT`
    #[arg(value_name = "OBJECT")]
    pub words: Vec<OsString>,
}

pub fn run(command: &CatFile, global: &Global, output: &Output) -> Result<u8, Failure> {
    let repository = environment::repository(&environment::of_git(global)?, output)?;
    let batches = [&command.batch, &command.batch_check, &command.batch_command];
    let mut given = batches
        .into_iter()
        .zip(0..)
        .filter_map(|(b, at)| Some((b.as_ref()?, at)));
    let Some((format, which)) = given.next() else {
        let is_odd = command.batch_all_objects
            || !command.filter.is_empty()
            || command.unordered
            || command.follow_symlinks;
        if is_odd {
            return Err(Failure::usage("this option requires a batch mode"));
        }
        json(global, false)?;
        return single::run(command, &repository, output);
    };
    if given.next().is_some() {
        return Err(Failure::usage("only one batch option may be specified"));
    }
    let singles = [command.kind, command.size, command.exists, command.pretty];
    if singles.contains(&true) || !command.words.is_empty() {
        return Err(Failure::usage("batch modes take no arguments"));
    }
    let filter = match command.filter.as_slice() {
        [] => None,
        [spec] => Some(usable(
            Filter::parse(spec.as_bytes()).map_err(Failure::fatal)?,
        )?),
        _ => return Err(Failure::usage("objects filter not supported: 'combine'")),
    };
    json(global, which == 1 && format.is_none() && !command.null)?;
    let query = ObjectQuery {
        format: match format {
            _ if global.json => Format::json(),
            format => Format::parse(format.as_ref().map(|format| format.as_bytes()))?,
        },
        contents: which == 0,
        is_buffered: command.buffer || command.batch_all_objects && !command.no_buffer,
        follows_links: command.follow_symlinks,
        line_end: if command.null { 0 } else { b'\n' },
        filter,
    };
    // Standard output remembers the first error.
    let mut stream = OutputStream::new(StandardOutput).telling(|error| output.error(error));
    if command.batch_all_objects {
        write_all_objects(&repository, &query, command.unordered, &mut stream)?;
    } else {
        let is_null = command.null || command.null_input;
        let input_end = if is_null { 0 } else { b'\n' };
        let mut objects = NamedObjects::new(&repository, &query, stream);
        obey_standard_input(&mut objects, which == 2, query.contents, input_end)?;
    }
    Ok(0)
}

/// Refuses `--json` where lines have a form of their own.
fn json(global: &Global, can_be: bool) -> Result<(), Failure> {
    if global.json && !can_be {
        let words = "--json is for --batch-check without a format, and takes no -Z";
        return Err(Failure::usage(words));
    }
    Ok(())
}

/// Only what can be told of an object by itself.
fn usable(filter: Filter) -> Result<Filter, Failure> {
    if ObjectQuery::supports(&filter) {
        Ok(filter)
    } else {
        Err(Failure::usage("objects filter not supported"))
    }
}

/// Reads names, or commands, up to the end of standard input or until nobody wants more.
fn obey_standard_input(
    objects: &mut NamedObjects<'_>,
    is_command: bool,
    contents: bool,
    line_end: u8,
) -> Result<(), Failure> {
    let mut input = BufReader::new(StandardInput);
    let mut line = Vec::new();
    loop {
        line.clear();
        let length = input.read_until(line_end, &mut line);
        if length.map_err(Failure::fatal)? == 0 {
            return Ok(objects.write_queued()?);
        }
        if line.last() == Some(&line_end) {
            line.pop();
            if line_end == b'\n' && line.last() == Some(&b'\r') {
                line.pop();
            }
        }
        let next = if is_command {
            objects.obey(line.as_bstr())?
        } else {
            objects.write(line.as_bstr(), contents)?
        };
        if next.is_break() {
            return Ok(());
        }
    }
}
