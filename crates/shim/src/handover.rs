//! Becoming the real git.

use crate::search::find;
use crate::variables::Variables;
use hedgerow_fs::{Exit, InputBefore, Process};
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::Read;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// How often git may have been started by git through us; more is a loop. Submodules in submodules
/// take three for each level.
const DEPTH_LIMIT: u32 = 200;
/// How often that was.
const DEPTH: &str = "HEDGEROW_SHIM_DEPTH";
/// The process that became the real git, and the path of that: if this process is the same, it was
/// not the real one.
const BECAME: &str = "HEDGEROW_SHIM_BECAME";
/// Begins the mark of a process whose parent left it.
const CHILD: &str = "child of ";
const EXEC_PATH: &str = "GIT_EXEC_PATH";
/// More than that is no path.
const PATH_BYTES: u64 = 16 << 10;

/// Commands during which git starts programs that hedgerow knows: those that receive packs, and those
/// that write them.
const CALLING: [&str; 12] = [
    "bundle",
    "clone",
    "fetch",
    "fetch-pack",
    "gc",
    "maintenance",
    "pull",
    "receive-pack",
    "remote",
    "repack",
    "submodule",
    "upload-pack",
];

/// A call that goes to the real git.
#[derive(Clone, Debug, Default)]
pub struct Handover {
    /// The words as they were typed, with the program first.
    pub words: Vec<OsString>,
    /// The command among them, if it is known.
    pub command: Option<OsString>,
    /// Whether the programs that git starts may be hedgerow.
    pub may_call_us: bool,
    /// Variables that were changed since the call, as they were.
    pub before: Vec<(OsString, Option<OsString>)>,
}

/// Why the real git cannot be reached.
#[derive(Debug)]
pub enum HandoverError {
    /// There is none in `PATH`.
    NoGit,
    /// Git and hedgerow call each other without end.
    Loop,
    /// It cannot be started.
    Start(hedgerow_fs::Error),
}

impl fmt::Display for HandoverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HandoverError::NoGit => f.write_str("there is no other 'git' in PATH"),
            HandoverError::Loop => write!(
                f,
                "git was started by git through hedgerow {DEPTH_LIMIT} times: a program of that \
                 name in PATH calls 'git' again"
            ),
            HandoverError::Start(error) => error.fmt(f),
        }
    }
}

impl Handover {
    /// Becomes the real git; `variables` are those of the call. Returns only if that failed.
    pub fn carry_out(&self, variables: &Variables) -> HandoverError {
        match self.process(variables) {
            Ok(process) => HandoverError::Start(process.replace()),
            Err(error) => error,
        }
    }

    /// The same after some of the standard input was read. What was not set back, `before`, can only be
    /// given to a child: its exit code is returned, and if a signal ended it, that ends this process.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn carry_out_after(
        &self,
        before: InputBefore,
        variables: &Variables,
    ) -> Result<u8, HandoverError> {
        if before.bytes.is_empty() {
            return Err(self.carry_out(variables));
        }
        let mut process = self.process(variables)?;
        process.ends_with_us = true;
        let own = (BECAME.into(), Some(mark(CHILD, &process.program)));
        process.variables.push(own);
        match process.run_after(before).map_err(HandoverError::Start)? {
            Exit::Status(code) => Ok(u8::try_from(code).unwrap_or(u8::MAX)),
            Exit::Signal(signal) => {
                hedgerow_fs::end_by_signal(signal);
                Ok(u8::MAX)
            }
        }
    }

    fn process(&self, variables: &Variables) -> Result<Process, HandoverError> {
        let depth = variables.get(DEPTH);
        let depth = depth.and_then(|depth| depth.to_str()?.parse::<u32>().ok());
        let depth = depth.unwrap_or(0).saturating_add(1);
        if depth > DEPTH_LIMIT {
            return Err(HandoverError::Loop);
        }
        let path = variables.get("PATH").unwrap_or_default();
        let became = variables.get(BECAME).and_then(|value| became(&value));
        let found = find(&path, became.as_deref());
        let real = found.real.ok_or(HandoverError::NoGit)?;
        let mut process = Process {
            arguments: self.words.iter().skip(1).cloned().collect(),
            variables: self.before.clone(),
            ..Process::default()
        };
        let mut set = |name: &str, value: OsString| {
            process.variables.push((name.into(), Some(value)));
        };
        set(DEPTH, depth.to_string().into());
        set(BECAME, mark("", &real));
        let calls = CALLING
            .iter()
            .any(|name| self.command.as_deref() == Some(OsStr::new(name)));
        match found.ours {
            Some(ours) if calls && self.may_call_us && !exec_path_is_foreign(variables) => {
                let own = with_own_children(&real, &ours, &path);
                process.variables.extend(own);
            }
            // What is not ours to answer finds git's own programs.
            _ if !exec_path_is_foreign(variables) => {
                process.variables.push((EXEC_PATH.into(), None));
            }
            _ => {}
        }
        process.program = real;
        Ok(process)
    }
}

/// Whether the caller has chosen where git's programs are.
pub(crate) fn exec_path_is_foreign(variables: &Variables) -> bool {
    let named = variables.get(EXEC_PATH).filter(|named| !named.is_empty());
    named.is_some_and(|named| find(&named, None).ours.is_none())
}

/// The variables with which the git at `real` starts hedgerow for the programs that it needs: `ours`
/// is a directory whose `git` is hedgerow, `path` the value of `PATH`. None if that git does not say
/// where its programs are.
pub(crate) fn with_own_children(
    real: &Path,
    ours: &Path,
    path: &OsStr,
) -> Vec<(OsString, Option<OsString>)> {
    let Some(programs) = exec_path(real) else {
        return Vec::new();
    };
    // As git does where its own directory is not replaced: a program of the same name that comes later
    // belongs to another git.
    let parts = path.as_bytes().split(|byte| *byte == b':');
    let mut others = parts.filter(|part| *part != ours.as_os_str().as_bytes());
    let path = match others.next() {
        Some(first) if first == programs.as_bytes() => path.to_owned(),
        _ => OsString::from_vec([programs.as_bytes(), b":", path.as_bytes()].concat()),
    };
    vec![
        (EXEC_PATH.into(), Some(ours.into())),
        ("PATH".into(), Some(path)),
    ]
}

/// Where the git at `real` has its programs.
fn exec_path(real: &Path) -> Option<OsString> {
    let asked = Process {
        program: real.to_owned(),
        arguments: vec!["--exec-path".into()],
        variables: vec![(EXEC_PATH.into(), None)],
        ..Process::default()
    };
    let mut said = Vec::new();
    let answer = asked.ask(b"", &mut |output| {
        output.take(PATH_BYTES).read_to_end(&mut said).map(drop)
    });
    let is_answered = answer.is_ok_and(|answer| answer.exit == hedgerow_fs::Exit::Status(0));
    let line = said
        .strip_suffix(b"\n")
        .filter(|line| line.starts_with(b"/"))?;
    is_answered.then(|| OsStr::from_bytes(line).to_owned())
}

/// `whose`: empty for what this process becomes, [`CHILD`] for a process that it starts.
fn mark(whose: &str, real: &Path) -> OsString {
    let mut mark = format!("{whose}{}:", std::process::id()).into_bytes();
    mark.extend_from_slice(real.as_os_str().as_bytes());
    OsString::from_vec(mark)
}

/// The program that this very process was before, if it is known.
fn became(mark: &OsStr) -> Option<PathBuf> {
    let own = format!("{}:", std::process::id());
    let started = format!("{CHILD}{}:", std::os::unix::process::parent_id());
    let mark = mark.as_bytes();
    let path = mark.strip_prefix(own.as_bytes());
    let path = path.or_else(|| mark.strip_prefix(started.as_bytes()))?;
    Some(OsStr::from_bytes(path).into())
}
