use std::path::{Path, PathBuf};

/// Why a recipe cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RecipeError {
    /// A line is invalid, or what it asks for cannot be done.
    #[error("{}:{line}: {reason}", file.display())]
    Line {
        /// The recipe file, as the user named it.
        file: PathBuf,
        /// The line number, from 1.
        line: u64,
        /// What is wrong with the line.
        reason: String,
    },
    /// The file itself cannot be read.
    #[error(transparent)]
    File(#[from] hedgerow_fs::Error),
}

impl RecipeError {
    /// Returns a function that turns a reason into an error at a line of `file`.
    pub(super) fn at(file: &Path, line: u64) -> impl Fn(String) -> RecipeError + '_ {
        move |reason| RecipeError::Line {
            file: file.to_owned(),
            line,
            reason,
        }
    }
}
