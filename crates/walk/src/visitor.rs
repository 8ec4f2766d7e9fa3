use crate::{Place, ScanError};
use hedgerow_fs::{Listing, OpenDirectory, Stat};
use std::io;

/// What a scan does with the directories it goes through. It is called from many threads, for
/// different directories and for parts of one directory at a time.
///
/// For one directory the calls are: [`known`](Visitor::known); then
/// [`listed`](Visitor::listed) for its entries, some at a time; then
/// [`complete`](Visitor::complete) or [`failed`](Visitor::failed); and
/// [`statted`](Visitor::statted) for the entries whose states `listed` wanted, before or after
/// that, in any order. What is below it comes at any time after it was wanted.
pub trait Visitor: Sync {
    /// What the visitor knows of a directory.
    type Directory: Send + Sync;
    /// What a worker keeps from call to call.
    type Worker;
    /// What ends the scan.
    type Error: Send;

    /// What a new worker keeps.
    fn worker(&self) -> Self::Worker;

    /// The entries of a directory, if they are known without listing it.
    fn known(&self, place: &Place<Self::Directory>) -> Option<Listing> {
        let _ = place;
        None
    }

    /// Whether the entries of a directory are wanted all at once, and not some at a time. Then they
    /// are shown even if there are none.
    fn wants_whole(&self, place: &Place<Self::Directory>) -> bool {
        let _ = place;
        false
    }

    /// Before [`listed`](Visitor::listed) with the same listing: the directory itself, for what
    /// must be read from it to judge its entries.
    fn opened(
        &self,
        worker: &mut Self::Worker,
        place: &Place<Self::Directory>,
        directory: &OpenDirectory,
        listing: &Listing,
    ) -> Result<(), Self::Error> {
        let _ = (worker, place, directory, listing);
        Ok(())
    }

    /// Some entries of a directory, in the order of the file system, and what is wanted of them.
    /// Entries whose `kind` is still unknown could not be asked for it: only their states tell why.
    fn listed(
        &self,
        worker: &mut Self::Worker,
        place: &Place<Self::Directory>,
        listing: &Listing,
        plan: &mut Plan<Self::Directory>,
    ) -> Result<(), Self::Error>;

    /// All entries of the directory have been listed.
    fn complete(
        &self,
        worker: &mut Self::Worker,
        place: &Place<Self::Directory>,
    ) -> Result<(), Self::Error>;

    /// States that were wanted, in the order in which they were.
    fn statted(
        &self,
        worker: &mut Self::Worker,
        place: &Place<Self::Directory>,
        listing: &Listing,
        states: &[(Wanted, io::Result<Stat>)],
    ) -> Result<(), Self::Error>;

    /// The directory could not be opened, or be listed to its end. The visitor may name entries to
    /// look for all the same; they come as [`listed`](Visitor::listed) and
    /// [`complete`](Visitor::complete).
    fn failed(
        &self,
        worker: &mut Self::Worker,
        place: &Place<Self::Directory>,
        error: ScanError,
    ) -> Result<Option<Listing>, Self::Error>;

    /// The entries that were named when the directory [`failed`](Visitor::failed) cannot be looked
    /// for, because of `error`.
    fn lost(
        &self,
        worker: &mut Self::Worker,
        place: &Place<Self::Directory>,
        error: &io::Error,
    ) -> Result<(), Self::Error> {
        let _ = error;
        self.complete(worker, place)
    }
}

/// An entry whose state is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Its number in the listing.
    pub entry: u32,
    /// A number that the visitor gets back.
    pub tag: u32,
}

/// What is wanted of the entries of a listing.
#[derive(Debug)]
pub struct Plan<D> {
    pub(crate) descend: Vec<(u32, D)>,
    pub(crate) stat: Vec<Wanted>,
}

impl<D> Plan<D> {
    /// Scans the directory that is entry number `entry`. If it turns out to be something else,
    /// [`Visitor::failed`] is told.
    pub fn descend(&mut self, entry: u32, data: D) {
        self.descend.push((entry, data));
    }

    /// Asks for the state of entry number `entry`.
    pub fn stat(&mut self, entry: u32, tag: u32) {
        self.stat.push(Wanted { entry, tag });
    }
}

impl<D> Default for Plan<D> {
    fn default() -> Self {
        Plan {
            descend: Vec::new(),
            stat: Vec::new(),
        }
    }
}
