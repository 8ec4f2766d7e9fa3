//! Submodules in a format that only git reads: git itself is asked for their
//! status.

use super::model::{IgnoreSubmodules, SubmoduleState};
use super::options::Options;
use crate::{Error, Result};
use gix_hash::ObjectId;
use hedgerow_fs::{Exit, Process};
use std::ffi::OsString;
use std::path::Path;

/// Upper size limit of git's output, in bytes; one line of it would be enough.
const ANSWER_LIMIT_BYTES: u64 = 256 << 20;
/// Environment variables that point git to the outer repository, or to parts of it.
const LOCAL_VARIABLES: [&str; 14] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_REFERENCE_BACKEND",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

/// The differences of the submodule in `directory` from its expected commit `id`.
///
/// # Errors
/// Git cannot be run, or it fails.
pub(super) fn state(
    directory: &Path,
    id: &ObjectId,
    ignored: IgnoreSubmodules,
    options: &Options,
) -> Result<SubmoduleState> {
    let mut arguments = vec!["status", "--porcelain=v2", "--branch", "-z"];
    if matches!(
        ignored,
        IgnoreSubmodules::Untracked | IgnoreSubmodules::Dirty
    ) {
        arguments.push("-uno");
    }
    let mut variables = variables_of_submodule();
    if !options.optional_locks {
        variables.push(("GIT_OPTIONAL_LOCKS".into(), Some("0".into())));
    }
    let git = Process {
        program: "git".into(),
        arguments: arguments.iter().map(Into::into).collect(),
        directory: Some(directory.to_owned()),
        variables,
        output_to_error: false,
        ..Process::default()
    };
    let (text, answer) = git.output(ANSWER_LIMIT_BYTES)?;
    if answer.exit != Exit::Status(0) {
        let said = String::from_utf8_lossy(&answer.messages);
        let reason = format!("git status failed: {}", said.trim_end());
        return Err(Error::Setup { reason });
    }
    let mut state = parse(&text, id);
    if ignored == IgnoreSubmodules::Dirty {
        (state.modified, state.untracked) = (false, false);
    }
    Ok(state)
}

/// The variables of a git that works in a submodule from its top.
pub(crate) fn variables_of_submodule() -> Vec<(OsString, Option<OsString>)> {
    let unset = LOCAL_VARIABLES.iter().map(|name| (name.into(), None));
    unset
        .chain([("GIT_DIR".into(), Some(".git".into()))])
        .collect()
}

/// Parses format 2 of git-status(1).
fn parse(text: &[u8], id: &ObjectId) -> SubmoduleState {
    let mut state = SubmoduleState::default();
    let mut records = text.split(|byte| *byte == 0);
    while let Some(record) = records.next() {
        if let Some(hex) = record.strip_prefix(b"# branch.oid ") {
            state.new_commits = ObjectId::from_hex(hex).is_ok_and(|head| head != *id);
        }
        match record.first() {
            Some(b'?') => state.untracked = true,
            Some(b'1' | b'2' | b'u') => {
                // The third word describes a submodule inside this one.
                let inner = record
                    .split(|byte| *byte == b' ')
                    .nth(2)
                    .unwrap_or_default();
                state.untracked |= inner.ends_with(b"U");
                state.modified |= inner != b"S..U";
            }
            _ => {}
        }
        if record.first() == Some(&b'2') {
            // The old name.
            records.next();
        }
    }
    state
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read() {
        let id = ObjectId::from_hex(&[b'1'; 40]).unwrap();
        let head = |digit: char| format!("# branch.oid {}\0", digit.to_string().repeat(40));
        let read = |text: &str| {
            let state = parse(text.as_bytes(), &id);
            (state.new_commits, state.modified, state.untracked)
        };
        assert_eq!(read(&head('1')), (false, false, false));
        assert_eq!(read(&head('2')), (true, false, false));
        assert_eq!(read("# branch.oid (initial)\0? x\0"), (false, false, true));
        assert_eq!(read("1 .M N... 1 1 1 a a x\0"), (false, true, false));
        assert_eq!(read("1 .M S..U 1 1 1 a a s\0"), (false, false, true));
        assert_eq!(
            read("2 R. N... 1 1 1 a a R100 x\0? y\0"),
            (false, true, false)
        );
    }
}
