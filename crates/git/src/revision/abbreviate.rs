//! Shortening ids for messages: git-config(1) under `core.abbrev`.

use crate::config::Abbreviation;
use crate::repository::{Objects, Repository};
use crate::Result;
use gix_hash::Prefix;
use hedgerow_pack::oid;

/// The fewest digits where the number of objects decides.
const LEAST_AUTOMATIC: usize = 7;

/// How many digits of objects' names are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Digits {
    /// All of them.
    #[default]
    All,
    /// As many as the configuration says.
    Configured,
    /// At least this many.
    AtLeast(usize),
}

impl Digits {
    /// The name of an object as it is shown.
    pub fn show(self, repository: &Repository, id: &oid) -> Result<String> {
        repository.unique_id(id, self.least(repository))
    }

    /// The same in a list, where dots may follow what is shortened. As in git, there are so many that names
    /// a little longer than asked for still stand below the others.
    pub fn show_in_list(self, repository: &Repository, id: &oid) -> Result<String> {
        let mut shown = self.show(repository, id)?;
        let (wanted, whole) = (self.least(repository), id.kind().len_in_hex());
        if !repository.environment().shows_ellipsis || wanted >= whole {
            return Ok(shown);
        }
        if shown.len() + 3 >= whole {
            return Ok(id.to_string());
        }
        let excess = shown.len().saturating_sub(wanted);
        let dots = if excess <= 2 { 3 - excess } else { 3 };
        shown.extend(std::iter::repeat_n('.', dots));
        Ok(shown)
    }

    /// The fewest digits that are shown in `repository`.
    pub(crate) fn least(self, repository: &Repository) -> usize {
        match self {
            Digits::All => usize::MAX,
            Digits::AtLeast(digits) => digits,
            Digits::Configured => match repository.settings().abbreviation {
                Abbreviation::Full => usize::MAX,
                Abbreviation::Digits(digits) => digits,
                Abbreviation::Auto => automatic_length(repository.objects().packed_count()),
            },
        }
    }
}

impl Repository {
    /// The first digits of `id`: as many as `core.abbrev` asks for, more if they fit another
    /// object too.
    pub fn short_id(&self, id: &oid) -> Result<String> {
        Digits::Configured.show(self, id)
    }

    /// The same where git writes dots after it if `GIT_PRINT_SHA1_ELLIPSIS` asks for them.
    pub fn dotted_short_id(&self, id: &oid) -> Result<String> {
        let dots = if self.environment().shows_ellipsis {
            "..."
        } else {
            ""
        };
        Ok(self.short_id(id)? + dots)
    }

    /// The first `digits` of `id`, or more if they fit another object too.
    pub fn unique_id(&self, id: &oid, digits: usize) -> Result<String> {
        self.shared_objects().unique_id(id, digits)
    }
}

impl Objects<'_> {
    /// See [`Repository::unique_id`].
    pub(crate) fn unique_id(&self, id: &oid, digits: usize) -> Result<String> {
        let hex = id.to_string();
        let mut length = digits;
        while length < hex.len() {
            let Ok(prefix) = Prefix::new(id, length) else {
                break;
            };
            let found = self.store.find_prefix(&prefix)?;
            if found.iter().all(|other| **other == *id) {
                break;
            }
            length += 1;
        }
        Ok(hex.get(..length).unwrap_or(&hex).to_owned())
    }
}

/// Half as many digits as would number the objects in binary make a collision unlikely.
fn automatic_length(objects: u64) -> usize {
    let bits = (u64::BITS - objects.leading_zeros()) as usize;
    bits.div_ceil(2).max(LEAST_AUTOMATIC)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_grows_with_the_square_root() {
        assert_eq!(automatic_length(0), 7);
        assert_eq!(automatic_length(16_383), 7);
        assert_eq!(automatic_length(16_384), 8);
        assert_eq!(automatic_length(1 << 20), 11);
    }
}
