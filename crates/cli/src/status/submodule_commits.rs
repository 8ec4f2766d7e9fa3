//! `status.submoduleSummary`: the commits of changed submodules, as git lists them.

use super::settings::Settings;
use crate::output::Output;
use hedgerow::repository::{Mode, Repository};
use hedgerow::status::{submodule_summary, Change, Status, SummarizedChanges};

/// The lists of staged and of unstaged changes, each with its title. What git says beside them, and
/// that it cannot be run, is told at once.
pub fn list(
    repository: &Repository,
    status: &Status,
    settings: &Settings,
    output: &Output,
) -> Vec<u8> {
    let mut lines = Vec::new();
    let Some(limit) = settings.submodule_summary else {
        return lines;
    };
    let is_changed = status.changes.iter().any(is_of_submodule);
    // A submodule that is gone may be outside of the paths.
    if !is_changed && !status.has_submodules && settings.options.pathspecs.is_empty() {
        return lines;
    }
    for (changes, title) in [
        (
            SummarizedChanges::Staged,
            "Submodule changes to be committed:",
        ),
        (
            SummarizedChanges::Unstaged,
            "Submodules changed but not updated:",
        ),
    ] {
        match submodule_summary(repository, changes, limit) {
            Ok(summary) => {
                output.raw_error(&summary.messages);
                if !summary.text.is_empty() {
                    lines.extend_from_slice(title.as_bytes());
                    lines.extend_from_slice(b"\n\n");
                    lines.extend_from_slice(&summary.text);
                }
                if summary.is_incomplete {
                    output.warn(
                        "'git submodule summary' failed; \
                         the commits of submodules (status.submoduleSummary) may not all be shown",
                    );
                }
            }
            Err(error) => {
                output.warn(format_args!(
                    "the commits of submodules (status.submoduleSummary) are not shown: {error}"
                ));
                break;
            }
        }
    }
    lines
}

fn is_of_submodule(change: &Change) -> bool {
    let mut sides = [change.head, change.index].into_iter().flatten();
    sides.any(|side| side.mode == Mode::Gitlink)
}
