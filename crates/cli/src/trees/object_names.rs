//! How many digits of objects' names are shown: `--abbrev`.

use crate::failure::Failure;
use hedgerow::diff::Digits;
use std::ffi::OsStr;

/// The fewest digits that git shows.
const LEAST: usize = 4;

/// What `--abbrev` says, with a value or without.
pub fn digits(value: Option<&OsStr>) -> Result<Digits, Failure> {
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
