use hedgerow_fs::{until_removed, FileKind, Identity, Listing, OpenDirectory, ReadBuffer, Stat};
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// A directory that changed less than this before it was listed may have changed again without
/// another time of change: file systems count in steps, and clocks of servers differ.
const SETTLED_AFTER: Duration = Duration::from_secs(2);

/// The entries of a directory, in the order of the file system.
#[derive(Debug)]
pub struct Contents {
    listing: Listing,
    directories: Vec<u32>,
    entered: Vec<u32>,
    stamp: Stamp,
}

/// What shows whether a directory is still as it was when it was listed.
#[derive(Clone, Copy, Debug)]
struct Stamp {
    identity: Identity,
    /// Whether a later change shows in the time.
    is_settled: bool,
}

/// Memory for reading, which can be used for any number of directories.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    buffer: ReadBuffer,
    listing: Listing,
}

/// The kind of what a link leads to, by its whole path: where that cannot be resolved, because it goes through
/// too many links or is too long, the caller could not list it.
fn kind_of_path(path: &Path, name: &[u8]) -> Option<FileKind> {
    let path = path.join(OsStr::from_bytes(name));
    let identity = hedgerow_fs::identity(&path, true).ok()?;
    Some(identity.kind)
}

/// Whether the system takes no path to `name`.
fn is_too_long(path: &Path, name: &[u8]) -> bool {
    /// With the byte that ends it.
    const PATH_MAX: usize = 4096;
    path.as_os_str().len() + name.len() + 2 > PATH_MAX
}

impl Contents {
    /// Reads `directory`, which is at `path`, to its end. `None` if `is_cancelled`.
    pub(super) fn read(
        directory: &OpenDirectory,
        path: &Path,
        scratch: &mut Scratch,
        follow_links: bool,
        is_cancelled: impl Fn() -> bool,
    ) -> io::Result<Option<Self>> {
        let stat = directory.stat_self()?;
        let stamp = Stamp {
            is_settled: is_settled(&stat, SystemTime::now()),
            identity: Identity::from(&stat),
        };
        let Scratch { buffer, listing } = scratch;
        listing.clear();
        while until_removed(directory.read(buffer, listing))? {
            if is_cancelled() {
                return Ok(None);
            }
        }
        // The copy takes no more memory than it needs.
        let listing = listing.clone();
        let (mut directories, mut entered) = (Vec::new(), Vec::new());
        for (number, entry) in (0..).zip(listing.entries()) {
            let name = listing.name(entry);
            // What cannot be looked up counts as no directory, as it does for Python's os.walk.
            let kind = entry.kind.or_else(|| Some(directory.stat(name).ok()?.kind));
            let is_link = kind == Some(FileKind::Symlink);
            let leads_to = match is_link {
                false => kind,
                true if follow_links || is_too_long(path, name) => kind_of_path(path, name),
                true => directory.kind_followed(name).ok(),
            };
            if leads_to == Some(FileKind::Directory) {
                directories.push(number);
                if follow_links || !is_link {
                    entered.push(number);
                }
            }
        }
        Ok(Some(Contents {
            listing,
            directories,
            entered,
            stamp,
        }))
    }

    /// The same, but what is listed ahead is in the order of its names.
    pub(super) fn sorted(&self) -> Self {
        let mut entered = self.entered.clone();
        entered.sort_unstable_by_key(|number| self.listing.name_of(*number));
        Contents {
            listing: self.listing.clone(),
            directories: self.directories.clone(),
            entered,
            stamp: self.stamp,
        }
    }

    /// Puts what is listed ahead in the order of its names.
    pub(super) fn sort(&mut self) {
        let names = &self.listing;
        self.entered
            .sort_unstable_by_key(|number| names.name_of(*number));
    }

    /// All entries.
    pub fn listing(&self) -> &Listing {
        &self.listing
    }

    /// The numbers of the entries that are directories or links to directories, ascending.
    pub fn directories(&self) -> &[u32] {
        &self.directories
    }

    /// The numbers of those that are listed ahead: a position has indexes of this list.
    pub fn entered(&self) -> &[u32] {
        &self.entered
    }

    /// The name of a directory that is listed ahead.
    pub fn entered_name(&self, index: u32) -> Option<&[u8]> {
        let number = self.entered.get(index as usize)?;
        Some(self.listing.name_of(*number))
    }

    /// Whether the directory that now has this identity has the entries that were listed.
    pub(super) fn is_of(&self, now: &Identity) -> bool {
        self.stamp.is_settled && *now == self.stamp.identity
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let numbers = self.directories.capacity() + self.entered.capacity();
        self.listing.memory_bytes() + numbers * size_of::<u32>() + size_of::<Self>()
    }
}

fn is_settled(stat: &Stat, now: SystemTime) -> bool {
    let since_epoch = now.duration_since(SystemTime::UNIX_EPOCH);
    let now_s = since_epoch.map_or(0, |since| since.as_secs());
    let last = stat.mtime.seconds.max(stat.ctime.seconds);
    i64::try_from(now_s).is_ok_and(|now_s| now_s - last > SETTLED_AFTER.as_secs() as i64)
}
