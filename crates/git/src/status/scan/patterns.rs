//! Where a directory's patterns are, and git's warnings about unreadable ones.

use super::{Directory, Listed, Scan, IGNORE_FILE};
use crate::status::exclusion::{Level, Source};
use crate::status::is_tracked;
use bstr::ByteSlice;
use hedgerow_fs::{FileKind, Listing};
use hedgerow_walk::Place;

impl Scan<'_> {
    pub(super) fn level(&self, place: &Place<Directory>, listing: &Listing) -> Level {
        let names = || listing.entries().iter().map(|entry| listing.name(entry));
        let source = if names().any(|name| name == IGNORE_FILE) {
            Source::File
        } else {
            self.patterns_in_index(place)
        };
        let (above, is_certain) = (place.data.above.clone(), place.data.is_certain);
        let level = Level::new(above, place.path(), source, is_certain);
        match place.data.excluded {
            Some(excluded) => level.known(excluded),
            None => level,
        }
    }

    /// Loads the patterns where git would load them too, so that unreadable ones are reported: git
    /// needs them for each directory and each file that the index does not know.
    pub(super) fn consult(&self, listed: &Listed<'_>) {
        let (place, listing) = (listed.place, listed.listing);
        let kind_of = |name: &[u8]| {
            let mut entries = listing.entries().iter();
            let entry = entries.find(|entry| listing.name(entry) == name);
            entry.map(|entry| entry.kind)
        };
        let is_odd = !matches!(kind_of(IGNORE_FILE), None | Some(Some(FileKind::File)));
        if !is_odd || !self.inputs.wish.any() || !place.data.is_certain {
            return;
        }
        for entry in listing.entries() {
            let name = listing.name(entry);
            let is_directory = entry.kind == Some(FileKind::Directory);
            let path = place.path_of(name);
            let path = path.as_bstr();
            let is_asked = !self.is_git_dir(name)
                && self.is_near(path)
                && (is_directory || !is_tracked(self.inputs.index, path));
            if is_asked {
                let rules = &self.inputs.exclusion;
                listed.level.excludes(path, is_directory, rules);
                return;
            }
        }
    }

    /// Patterns outside the sparse checkout still apply; they are read from the index.
    pub(super) fn patterns_in_index(&self, place: &Place<Directory>) -> Source {
        if !self.inputs.has_skipped || place.data.rows.is_empty() {
            return Source::Nowhere;
        }
        let path = place.path_of(IGNORE_FILE);
        let row = self.inputs.index.find(path.as_bstr(), Default::default());
        let entry = row.ok().map(|row| self.inputs.index.entries()[row]);
        let objects = &self.inputs.objects;
        let content = entry
            .filter(|entry| entry.flags.skip_worktree)
            .and_then(|entry| objects.replacement(&entry.id).ok())
            .and_then(|id| objects.store.read(&id).ok());
        content.map_or(Source::Nowhere, |(_, content)| Source::Index(content))
    }
}
