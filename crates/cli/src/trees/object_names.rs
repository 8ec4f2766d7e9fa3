//! How many digits of objects' names are shown: `--abbrev`.

use crate::failure::Failure;
use hedgerow::repository::{Error, Repository};
use hedgerow::ObjectId;
use std::ffi::OsStr;

/// The fewest digits that git shows.
const LEAST: usize = 4;

/// How many digits are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Digits {
    /// All of them.
    All,
    /// As many as the configuration says.
    Configured,
    /// At least this many.
    AtLeast(usize),
}

impl Digits {
    /// What `--abbrev` says, with a value or without.
    pub fn parse(value: Option<&OsStr>) -> Result<Self, Failure> {
        let Some(value) = value else {
            return Ok(Digits::Configured);
        };
        let number = value.to_str().and_then(|text| text.parse::<i64>().ok());
        let number =
            number.ok_or_else(|| Failure::usage("option `abbrev' expects a numerical value"))?;
        Ok(match usize::try_from(number) {
            Ok(0) => Digits::All,
            Ok(digits) => Digits::AtLeast(digits.max(LEAST)),
            Err(_) => Digits::AtLeast(LEAST),
        })
    }

    /// The name of an object as it is shown.
    pub fn show(self, repository: &Repository, id: &ObjectId) -> Result<String, Error> {
        match self {
            Digits::All => Ok(id.to_string()),
            Digits::Configured => repository.short_id(id),
            Digits::AtLeast(digits) => repository.unique_id(id, digits),
        }
    }
}
