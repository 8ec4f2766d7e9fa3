use std::path::{Path, PathBuf};

/// Why a recipe cannot be followed.
#[derive(Debug, thiserror::Error)]
pub enum RecipeError {
    /// A line makes no sense, or what it wants cannot be had.
    #[error("{}:{line}: {reason}", file.display())]
    Line {
        /// The file, as the user named it.
        file: PathBuf,
        /// The line, from 1 on.
        line: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// The file itself cannot be read.
    #[error(transparent)]
    File(#[from] hedgerow_fs::Error),
}

impl RecipeError {
    /// What makes an error of a reason, for a line of `file`.
    pub(super) fn at(file: &Path, line: u64) -> impl Fn(String) -> RecipeError + '_ {
        move |reason| RecipeError::Line {
            file: file.to_owned(),
            line,
            reason,
        }
    }
}
