//! Where a directory's patterns are, and git's warnings about unreadable ones.

use super::{Directory, Listed, Scan, IGNORE_FILE};
use crate::status::exclusion::{Level, Tracked};
use crate::status::is_tracked;
use bstr::ByteSlice;
use hedgerow_fs::{FileKind, Listing};
use hedgerow_walk::Place;

impl Scan<'_> {
    pub(super) fn level(&self, place: &Place<Directory>, listing: &Listing) -> Level {
        let rules = &self.inputs.exclusion;
        let source = rules.source(place.path(), listing, &self.tracked_patterns(place));
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

    /// Where patterns outside the sparse checkout may be.
    fn tracked_patterns(&self, place: &Place<Directory>) -> Tracked<'_> {
        Tracked {
            index: self.inputs.index,
            objects: self.inputs.objects,
            has_skipped: self.inputs.has_skipped && !place.data.rows.is_empty(),
        }
    }
}
