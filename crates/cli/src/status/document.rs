//! The JSON document that `hedgerow status --json` prints.

use crate::report::Path;
use bstr::BString;
use hedgerow::repository::CurrentBranch;
use hedgerow::status::{Change, Status, SubmoduleState};
use serde::Serialize;

/// The document. Fields are only ever added. Paths are relative to the top of the working tree; a
/// path that is not UTF-8 is an object `{"bytes": [..]}`.
#[derive(Debug, Serialize)]
pub struct Document<'a> {
    /// The name and version of this schema.
    schema: &'static str,
    /// The current commit; null if there is none yet.
    commit: Option<String>,
    /// The current branch; null if HEAD is detached.
    branch: Option<String>,
    /// The upstream branch, if any.
    upstream: Option<Upstream>,
    /// Tracked paths that differ or are in conflict.
    changes: Vec<Changed<'a>>,
    /// Untracked files and directories; a directory ends with a slash.
    untracked: Vec<Path<'a>>,
    /// Ignored files and directories, if requested.
    ignored: Vec<Path<'a>>,
    /// What could not be examined.
    warnings: &'a [String],
    /// Failed system calls: the status says nothing about these paths.
    failures: &'a [String],
}

#[derive(Debug, Serialize)]
struct Upstream {
    name: String,
    is_gone: bool,
    ahead: usize,
    behind: usize,
}

#[derive(Debug, Serialize)]
struct Changed<'a> {
    path: Path<'a>,
    /// HEAD against the index: A, D, M, T, R, C; null if equal. In a conflict, our side.
    staged: Option<char>,
    /// The index against the working tree. In a conflict, their side.
    unstaged: Option<char>,
    /// Whether the path is in conflict.
    conflict: bool,
    /// The source of a rename or copy, and the similarity in percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<Path<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    similarity: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    submodule: Option<Submodule>,
}

#[derive(Debug, Serialize)]
struct Submodule {
    new_commits: bool,
    modified: bool,
    untracked: bool,
}

impl<'a> Document<'a> {
    /// The document of a status.
    pub fn new(status: &'a Status, branch: &CurrentBranch) -> Self {
        let paths = |paths: &'a [BString]| paths.iter().map(Path::from).collect();
        let upstream = branch.tracking.as_ref().map(|tracking| Upstream {
            name: branch.upstream.to_string(),
            is_gone: tracking.is_gone,
            ahead: tracking.ahead,
            behind: tracking.behind,
        });
        Document {
            schema: "hedgerow.status.v1",
            commit: branch.id.map(|id| id.to_string()),
            branch: branch.short_name().map(|name| name.to_string()),
            upstream,
            changes: status.changes.iter().map(changed).collect(),
            untracked: paths(&status.untracked),
            ignored: paths(&status.ignored),
            warnings: &status.warnings,
            failures: &status.failures,
        }
    }

    /// The document, with a newline at its end.
    pub fn to_json(&self) -> String {
        // This cannot fail: there are no maps with odd keys and no custom serializers.
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }
}

fn changed(change: &Change) -> Changed<'_> {
    let (staged, unstaged) = change.letters();
    let shown = |letter: char| Some(letter).filter(|letter| *letter != ' ');
    let submodule = |state: SubmoduleState| Submodule {
        new_commits: state.new_commits,
        modified: state.modified,
        untracked: state.untracked,
    };
    Changed {
        path: Path::from(&change.path),
        staged: shown(staged),
        unstaged: shown(unstaged),
        conflict: change.conflict.is_some(),
        from: change
            .rename
            .as_ref()
            .map(|rename| Path::from(&rename.source)),
        similarity: change.rename.as_ref().map(|rename| rename.similarity),
        submodule: change.submodule.map(submodule),
    }
}
