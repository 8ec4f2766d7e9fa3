//! Ignore patterns for untracked files: `.hgignore`, the files it includes, and those that
//! `ui.ignore` names.

mod file;
mod glob;
mod kind;
mod matcher;
mod python;
mod source;

pub use matcher::Ignore;
