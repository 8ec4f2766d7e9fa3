//! What happens when somebody repacks while the store is read: packs that were listed are gone,
//! and others have their objects.

use super::directory_state::DirectoryStates;
use super::generation::{Generation, Known};
use super::store::ObjectStore;
use crate::error::Result;
use crate::pack_file::pack::Pack;
use std::sync::PoisonError;

/// How often new packs are added. What was mapped stays mapped, and takes its disk space, for as
/// long as the store lives.
const MAX_GENERATIONS: usize = 1000;

impl ObjectStore {
    /// The listings of packs, the first one first.
    pub(crate) fn generations(&self) -> impl Iterator<Item = &Generation> + '_ {
        std::iter::successors(Some(&self.first), |generation| {
            generation.next.get().map(|next| &**next)
        })
    }

    /// All packs with their numbers.
    pub(crate) fn packs(&self) -> impl Iterator<Item = (u32, &Pack)> + '_ {
        self.generations()
            .flat_map(|generation| (generation.first..).zip(&generation.packs))
    }

    /// The pack of that number.
    pub(crate) fn pack(&self, number: u32) -> Option<&Pack> {
        self.generations().find_map(|generation| {
            let index = number.checked_sub(generation.first)?;
            generation.packs.get(index as usize)
        })
    }

    /// Lists the pack directories again if they may have changed since they were listed last.
    /// Returns whether that found packs, or had done so since the caller saw `seen` generations.
    pub(crate) fn relist(&self, seen: usize) -> Result<bool> {
        // Readers take no lock: who is here has missed an object.
        let mut listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        let count = self.generations().count();
        if count > seen {
            return Ok(true);
        }
        let last = self.generations().last().unwrap_or(&self.first);
        let now = DirectoryStates::ask(&self.directories);
        if count >= MAX_GENERATIONS || listed.are_same(&now) {
            return Ok(false);
        }
        let known: Known = self
            .packs()
            .filter(|(_, pack)| !pack.is_gone())
            .map(|(number, pack)| (pack.path().to_owned(), number))
            .collect();
        let first = last.first + last.packs.len() as u32;
        let mut warnings = Vec::new();
        let objects = &self.directories;
        let found = Generation::list(objects, &self.options, &known, first, &mut warnings)?;
        *listed = now;
        if found.packs.is_empty() {
            return Ok(false);
        }
        warnings.into_iter().for_each(|warning| self.warn(warning));
        Ok(last.next.set(Box::new(found)).is_ok())
    }
}
