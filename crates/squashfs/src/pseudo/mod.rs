//! Pseudo definitions of mksquashfs: entries that are added to a tree, and changes of its entries.
//!
//! [`PseudoFiles`] holds the definitions of options and files, [`PseudoFiles::apply`] applies them
//! to the nodes of a tree, and [`text`] writes the definitions of an existing entry. A definition
//! never runs a command: the types `f` and `F`, whose content is the output of one, are errors.

mod apply;
mod data;
mod definition;
mod file;
pub mod text;

pub use apply::{Applied, PseudoError};
pub use definition::DefinitionError;

use data::DataFile;
use definition::{Definition, Metadata};
use std::path::PathBuf;

/// Maximum number of definitions, and maximum length of one in bytes.
pub const DEFINITIONS: usize = 1 << 24;
/// See [`DEFINITIONS`].
pub const DEFINITION_BYTES: usize = 1 << 20;
/// Maximum size of the definitions in a file in bytes, without the data behind them.
pub const TEXT_BYTES: u64 = crate::recipe::RECIPE_BYTES;

/// The line before the data of a file of definitions, which has a line with a `#` before and after
/// it.
const DATA_MARK: &[u8] = b"# START OF DATA - DO NOT MODIFY";

/// A list of definitions.
#[derive(Default)]
pub struct PseudoFiles {
    definitions: Vec<Definition>,
    /// Attributes of directories that are missing.
    missing_directories: Option<Metadata>,
    data: Vec<DataFile>,
}

impl PseudoFiles {
    /// Whether there are no definitions.
    pub fn is_empty(&self) -> bool {
        self.definitions.is_empty()
    }

    /// Adds a definition, as the option `-p` has it.
    ///
    /// # Errors
    /// See [`DefinitionError`].
    pub fn add(&mut self, text: &[u8]) -> Result<(), DefinitionError> {
        let definition = Definition::parse(text, None)?;
        self.push(definition)
    }

    /// Sets the attributes of directories that definitions imply: `d MODE UID GID` or `D TIME MODE
    /// UID GID`.
    ///
    /// # Errors
    /// See [`DefinitionError`].
    pub fn set_missing_directories(&mut self, text: &[u8]) -> Result<(), DefinitionError> {
        self.missing_directories = Some(definition::directory(text)?);
        Ok(())
    }

    /// Whether the definitions have an entry for the root.
    pub fn has_root(&self) -> bool {
        let mut definitions = self.definitions.iter();
        definitions.any(|definition| definition.path.is_empty() && definition.is_directory())
    }

    fn push(&mut self, definition: Definition) -> Result<(), DefinitionError> {
        if self.definitions.len() == DEFINITIONS {
            return Err(DefinitionError::new(
                "",
                format_args!("more than {DEFINITIONS} definitions"),
            ));
        }
        self.definitions.push(definition);
        Ok(())
    }
}

/// Why a file of definitions cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PseudoFileError {
    /// The file cannot be read, or not stored for the time being.
    #[error(transparent)]
    File(#[from] hedgerow_fs::Error),
    /// A definition is wrong.
    #[error("{}:{line}: {error}", file.display())]
    Line {
        /// The file, as the user named it.
        file: PathBuf,
        /// The number of the line, from 1.
        line: u64,
        /// What is wrong.
        error: DefinitionError,
    },
}
