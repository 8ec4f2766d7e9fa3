//! The commits of changed submodules (`status.submoduleSummary`). Only git lists them: it is asked
//! as git-status(1) asks it.

use crate::repository::Repository;
use crate::{Error, Result};
use hedgerow_fs::{Exit, Process};
use std::ffi::OsString;

/// Upper size limit of git's output, in bytes; what is beyond is an error.
const ANSWER_LIMIT_BYTES: u64 = 64 << 20;

/// Which differences of submodules are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SummarizedChanges {
    /// Between HEAD and the index.
    Staged,
    /// Between the index and the working tree.
    Unstaged,
}

/// What git lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SubmoduleSummary {
    /// The list, with all its line ends; empty if no submodule has differences.
    pub text: Vec<u8>,
    /// What git said on standard error.
    pub messages: Vec<u8>,
    /// Git did not end well; the list may lack something.
    pub is_incomplete: bool,
}

/// The commits of the submodules of `repository` that changed, at most `limit` in each; all if it is
/// negative.
///
/// # Errors
/// Git cannot be run, or its list is too long.
pub fn submodule_summary(
    repository: &Repository,
    changes: SummarizedChanges,
    limit: i64,
) -> Result<SubmoduleSummary> {
    let limit = limit.to_string();
    let (side, tree) = match changes {
        SummarizedChanges::Staged => ("--cached", Some("HEAD")),
        SummarizedChanges::Unstaged => ("--files", None),
    };
    let words = [
        "submodule",
        "summary",
        side,
        "--for-status",
        "--summary-limit",
    ];
    let words = words.into_iter().chain([limit.as_str()]).chain(tree);
    let top = repository.require_work_tree()?;
    let mut variables: Vec<(OsString, Option<OsString>)> = vec![
        ("GIT_PREFIX".into(), None),
        (
            "GIT_INDEX_FILE".into(),
            Some(repository.index_path().into()),
        ),
    ];
    if repository.environment().git_dir.is_some() {
        // They may be relative to the user's directory.
        variables.push(("GIT_DIR".into(), Some(repository.git_dir().into())));
        variables.push(("GIT_WORK_TREE".into(), Some(top.into())));
    }
    let git = Process {
        program: "git".into(),
        arguments: words.map(Into::into).collect(),
        directory: Some(top.to_owned()),
        variables,
        output_to_error: false,
        ..Process::default()
    };
    let (text, answer) = git.output(ANSWER_LIMIT_BYTES)?;
    if text.len() as u64 == ANSWER_LIMIT_BYTES {
        let reason = "git submodule summary lists too much".to_owned();
        return Err(Error::Setup { reason });
    }
    Ok(SubmoduleSummary {
        text,
        messages: answer.messages,
        is_incomplete: answer.exit != Exit::Status(0),
    })
}
