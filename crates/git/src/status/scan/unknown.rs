//! Entries that the index does not know: which are untracked, which are ignored, and which are
//! entered.

use super::{Directory, Listed, Scan, Worker, GIT_DIR};
use crate::index::Mode;
use crate::status::leading::missing;
use crate::status::untracked::{Folder, UntrackedPath};
use crate::worktree::pathspecs::Reach;
use bstr::{BStr, BString, ByteSlice};
use hedgerow_fs::{FileKind, Listing};
use hedgerow_walk::{Place, Plan};
use std::sync::Arc;

impl Scan<'_> {
    /// Whether an untracked directory needs no further search: it is a repository of its own, or it
    /// is already known how it will be shown.
    pub(super) fn is_done_with(
        &self,
        worker: &mut Worker,
        place: &Place<Directory>,
        listing: &Listing,
    ) -> bool {
        let data = &place.data;
        let folder = data.folder.as_ref();
        if !self.inputs.wish.ignored() && folder.is_some_and(|folder| folder.is_settled()) {
            return true;
        }
        let has_git_dir = listing
            .entries()
            .iter()
            .any(|entry| listing.name(entry) == GIT_DIR);
        if !has_git_dir || !self.is_repository(place.path()) {
            return false;
        }
        if !data.meant {
            return true;
        }
        let mut path = BString::from(place.path());
        path.push(b'/');
        let ignored = data.excluded == Some(true);
        let folder = folder.and_then(|folder| folder.above().cloned());
        self.found(worker, path, ignored, folder);
        true
    }

    pub(super) fn is_repository(&self, directory: &[u8]) -> bool {
        use std::os::unix::ffi::OsStrExt;
        let directory = std::ffi::OsStr::from_bytes(directory);
        let git_dir = self.inputs.work_tree.join(directory).join(".git");
        self.inputs.others.has(&git_dir)
    }

    /// Handles an entry that the index does not know.
    pub(super) fn untracked(
        &self,
        worker: &mut Worker,
        listed: &Listed<'_>,
        entry: u32,
        plan: &mut Plan<Directory>,
    ) {
        let wish = self.inputs.wish;
        let name = listed.listing.name_of(entry);
        if !wish.any() || self.is_git_dir(name) {
            return;
        }
        let is_directory = match listed.kind(entry) {
            Some(FileKind::Directory) => true,
            Some(FileKind::File | FileKind::Symlink) => false,
            _ => return,
        };
        let data = &listed.place.data;
        let folder = data.folder.as_ref();
        if !wish.ignored() && folder.is_some_and(|folder| folder.is_settled()) {
            return;
        }
        worker.path.clear();
        listed.place.append_path_of(name, &mut worker.path);
        let path = worker.path.as_bstr();
        let folded = self.inputs.folded.as_ref();
        let is_tracked = folded.is_some_and(|folded| folded.is_tracked(path, is_directory));
        if is_tracked || !self.is_near(path) {
            return;
        }
        let holds_tracked = is_directory && folded.is_some_and(|folded| folded.has_directory(path));
        let excluded = listed
            .level
            .excludes(path, is_directory, &self.inputs.exclusion);
        if excluded && !wish.ignored() {
            return;
        }
        let reach = match is_directory {
            true if excluded => Reach::Matches,
            true => self.reach(path),
            false if self.means(path) => Reach::Matches,
            false => Reach::Outside,
        };
        if reach == Reach::Outside {
            return;
        }
        let path = path.to_owned();
        if !is_directory {
            worker.stopped = true;
            return self.found(worker, path, excluded, folder.cloned());
        }
        if excluded && !holds_tracked && wish.shows_directory_unseen() {
            let mut path = path;
            path.push(b'/');
            return self.found(worker, path, true, folder.cloned());
        }
        if !wish.folds() && !excluded {
            if let Some(known) = self.inputs.quiet.directory(path.as_bstr()) {
                return self.take_known(worker, known);
            }
        }
        // Git stops in a directory once nothing more needs to be known about it.
        let stops = folder.is_some() && !wish.ignored();
        let is_certain = data.is_certain && (!stops || !worker.stopped);
        worker.stopped = true;
        let folds = wish.folds() && reach == Reach::Matches && !holds_tracked;
        let mut folder = folder.cloned();
        if folds {
            let own = Arc::new(Folder::new(path, excluded, folder));
            worker.found.folders.push(own.clone());
            folder = Some(own);
        }
        plan.descend(
            entry,
            Directory {
                rows: 0..0,
                above: Some(listed.level.clone()),
                excluded: Some(excluded),
                folder,
                meant: reach == Reach::Matches,
                is_certain,
            },
        );
    }

    /// How the pathspecs match the untracked directory `path`.
    pub(super) fn reach(&self, path: &BStr) -> Reach {
        self.inputs.pathspecs.map_or(Reach::Matches, |pathspecs| {
            let path: BString = bstr::concat([path, BStr::new("/")]).into();
            pathspecs.untracked_directory(path.as_bstr())
        })
    }

    /// Whether to enter the directory `path`, which holds tracked files.
    pub(super) fn enters(&self, path: BString) -> bool {
        let Some(pathspecs) = self.inputs.pathspecs else {
            return true;
        };
        let wish = self.inputs.wish;
        let looks = wish.any() && pathspecs.look_at(path.as_bstr());
        let mut path = path;
        path.push(b'/');
        let leads = pathspecs.leading().starts_with(&path);
        looks && (wish.ignored() || leads) || pathspecs.lead_into(path.as_bstr())
    }

    /// Warns if the pathspecs' leading directory is missing below here. Git only follows it through
    /// directories that it would enter.
    pub(super) fn leads(&self, worker: &mut Worker, listed: &Listed<'_>) {
        let (wish, place) = (self.inputs.wish, listed.place);
        let Some(pathspecs) = self.inputs.pathspecs.filter(|_| wish.any()) else {
            return;
        };
        let warning = missing(pathspecs.leading(), place.path(), listed.listing);
        let looks = || {
            let excluded = || listed.level.is_excluded(&self.inputs.exclusion);
            place.data.folder.is_none() && (wish.ignored() || !excluded())
        };
        worker.found.warnings.extend(warning.filter(|_| looks()));
    }

    /// Whether the pathspecs match the untracked file `path`.
    pub(super) fn means(&self, path: &BStr) -> bool {
        let pathspecs = self.inputs.pathspecs;
        pathspecs.is_none_or(|pathspecs| pathspecs.fits(path, Mode::File))
    }

    /// Whether git examines the entry `path` at all, given the pathspecs.
    pub(super) fn is_near(&self, path: &BStr) -> bool {
        let pathspecs = self.inputs.pathspecs;
        pathspecs.is_none_or(|pathspecs| pathspecs.look_at(path))
    }

    pub(super) fn is_git_dir(&self, name: &[u8]) -> bool {
        if self.inputs.exclusion.ignore_case {
            name.eq_ignore_ascii_case(GIT_DIR)
        } else {
            name == GIT_DIR
        }
    }

    pub(super) fn found(
        &self,
        worker: &mut Worker,
        path: BString,
        ignored: bool,
        folder: Option<Arc<Folder>>,
    ) {
        if self.inputs.takes_notes && !ignored {
            worker.found.notes.found(path.as_bstr());
        }
        if let Some(folder) = &folder {
            folder.note(ignored);
            // Below a folder, only ignored paths can become lines.
            if !ignored || !self.inputs.wish.ignored() {
                return;
            }
        }
        worker.found.found.push(UntrackedPath {
            path,
            ignored,
            folder,
        });
    }
}
