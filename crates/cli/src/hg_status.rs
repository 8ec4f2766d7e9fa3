//! `hedgerow status` in a Mercurial working copy, in Mercurial's format.

use crate::arguments::HgStatus;
use crate::environment;
use crate::execution;
use crate::failure::{Failure, PARTIAL};
use crate::global::Global;
use crate::output::Output;
use crate::statistics;
use bstr::{BString, ByteSlice};
use hedgerow::status::mercurial::{status, Options, State, States, Status, STATES};
use hedgerow::status::mercurial::{Display, Repository};
use serde::Serialize;
use std::os::unix::ffi::OsStrExt;

/// Shows how the working copy differs from its parent.
pub fn run(command: &HgStatus, global: &Global, output: &Output) -> Result<u8, Failure> {
    let environment = environment::of_hg(global)?;
    let root = hedgerow::status::mercurial::find_root(&environment.cwd).ok_or_else(|| {
        let directory = environment.cwd.display();
        Failure::fatal(format_args!(
            "no repository found in '{directory}' (.hg not found)"
        ))
    })?;
    let execution = execution::interruptible(global)?;
    let repository = Repository::open(&root, &environment)?;
    let mut display = repository.display()?;
    display.quiet |= global.quiet;
    repository
        .warnings
        .iter()
        .for_each(|warning| output.say(warning));
    for name in &display.unsupported {
        output.warn(format_args!("'{name}' is not supported"));
    }
    let paths = command
        .paths
        .iter()
        .map(|word| repository.named(word.as_bytes().as_bstr()));
    let request = Options {
        states: states(command, &display),
        paths: paths.collect::<Result<_, _>>()?,
        program: Some("hg".into()),
        execution,
    };
    let found = status(&repository, &request)?;
    found
        .warnings
        .iter()
        .for_each(|warning| output.error_line(warning));
    let shown = if global.json {
        json(&found, request.states)?
    } else {
        text(&repository, &found, command, &display, request.states)
    };
    output.data(&shown);
    statistics::tell(global, &request.execution, output)?;
    Ok(undecided(&repository, &found, output))
}

/// The states to show: the requested ones, or all but clean and ignored.
fn states(command: &HgStatus, display: &Display) -> States {
    let show = asked_for(command);
    let is_tracked = |state: State| !matches!(state, State::Unknown | State::Ignored);
    let by_default = |state: State| match state {
        State::Ignored | State::Clean => false,
        State::Unknown => !display.quiet,
        _ => true,
    };
    States::of(|state| {
        let is_default = show.is_empty() && !command.all && by_default(state);
        let of_all = command.all && (is_tracked(state) || !display.quiet);
        show.contains(&state) || of_all || is_default
    })
}

fn asked_for(command: &HgStatus) -> Vec<State> {
    let asked = [
        (command.modified, State::Modified),
        (command.added, State::Added),
        (command.removed, State::Removed),
        (command.deleted, State::Deleted),
        (command.unknown, State::Unknown),
        (command.ignored, State::Ignored),
        (command.clean, State::Clean),
    ];
    let asked = asked.into_iter().filter(|(is_asked, _)| *is_asked);
    asked.map(|(_, state)| state).collect()
}

fn text(
    repository: &Repository,
    found: &Status,
    command: &HgStatus,
    display: &Display,
    states: States,
) -> Vec<u8> {
    let is_relative = display.relative.unwrap_or(!command.paths.is_empty());
    let has_copies = command.copies || display.copies || command.all;
    let end = if command.print0 { b'\0' } else { b'\n' };
    let mut text = Vec::new();
    let mut line = |before: &[u8], path: &[u8]| {
        text.extend_from_slice(before);
        if is_relative {
            text.extend_from_slice(&repository.seen_from_here(path))
        } else {
            text.extend_from_slice(path)
        }
        text.push(end);
    };
    for state in STATES.into_iter().filter(|state| states.has(*state)) {
        let code = format!("{} ", state.code());
        let before = if command.no_status { "" } else { &code };
        for path in found.of(state) {
            line(before.as_bytes(), path);
            let source = found.copies.get(path);
            if let Some(source) = source.filter(|_| has_copies && !command.no_status) {
                line(b"  ", source);
            }
        }
    }
    text
}

/// Reports the files whose state could not be decided, if there are any.
fn undecided(repository: &Repository, found: &Status, output: &Output) -> u8 {
    if found.undecided.is_empty() {
        return 0;
    }
    let list: String = found
        .undecided
        .iter()
        .map(|path| format!("\t{}\n", repository.seen_from_here(path)))
        .collect();
    output.error(format_args!(
        "only their content tells whether these files are modified, and they could not be \
         compared: {}\n{}",
        found.undecided_reason,
        list.trim_end_matches('\n')
    ));
    PARTIAL
}

#[derive(Serialize)]
struct Document {
    schema: &'static str,
    /// `done`, or `undecided` if the state of some files could not be decided.
    status: &'static str,
    files: Vec<File>,
    undecided: Vec<String>,
}

#[derive(Serialize)]
struct File {
    status: char,
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
}

/// The JSON document. Bytes of paths that are not UTF-8 become replacement characters.
fn json(found: &Status, states: States) -> Result<Vec<u8>, Failure> {
    let shown = |path: &BString| path.to_str_lossy().into_owned();
    let mut files = Vec::new();
    for state in STATES.into_iter().filter(|state| states.has(*state)) {
        files.extend(found.of(state).iter().map(|path| File {
            status: state.code(),
            path: shown(path),
            source: found.copies.get(path).map(shown),
        }));
    }
    let document = Document {
        schema: "hedgerow.hg-status.v1",
        status: if found.undecided.is_empty() {
            "done"
        } else {
            "undecided"
        },
        files,
        undecided: found.undecided.iter().map(shown).collect(),
    };
    let mut text = serde_json::to_vec_pretty(&document).map_err(Failure::fatal)?;
    text.push(b'\n');
    Ok(text)
}
