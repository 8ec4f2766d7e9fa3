//! `--diff-filter` of git-diff-index(1).

use crate::status::rename::Filepair;
use crate::{Error, Result};
use bstr::ByteSlice;

/// The letters of kinds, those that git never finds included.
const KINDS: &[u8] = b"ACDMRTUXB";

/// Which kinds of differences are shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KindFilter {
    shown: Vec<u8>,
    hidden: Vec<u8>,
    /// All or none: if one is shown, all are.
    all: bool,
}

impl KindFilter {
    /// From letters; those in lower case are hidden.
    ///
    /// # Errors
    /// A letter that is none of a kind.
    pub fn parse(kinds: &[u8]) -> Result<Self> {
        let mut filter = KindFilter::default();
        for letter in kinds {
            match letter {
                b'*' => filter.all = true,
                letter if KINDS.contains(letter) => filter.shown.push(*letter),
                letter if KINDS.contains(&letter.to_ascii_uppercase()) => {
                    filter.hidden.push(letter.to_ascii_uppercase());
                }
                other => {
                    return Err(Error::Usage {
                        reason: format!(
                            "unknown change class '{}' in --diff-filter={}",
                            char::from(*other),
                            kinds.as_bstr()
                        ),
                    });
                }
            }
        }
        Ok(filter)
    }

    pub(super) fn apply(&self, pairs: &mut Vec<Filepair>) {
        let is_shown = |pair: &Filepair| {
            let letter = letter(pair);
            let is_asked = self.shown.is_empty() && !self.all || self.shown.contains(&letter);
            let is_asked = is_asked || !self.hidden.is_empty() && self.shown.is_empty();
            is_asked && !self.hidden.contains(&letter)
        };
        if !self.all {
            pairs.retain(is_shown);
        } else if !pairs.iter().any(is_shown) {
            pairs.clear();
        }
    }
}

/// The letter of a difference's kind; `U` in a conflict.
pub(super) fn letter(pair: &Filepair) -> u8 {
    pair.kind().map_or(b'U', |kind| kind.letter() as u8)
}
