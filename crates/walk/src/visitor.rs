use crate::{Place, ScanError};
use hedgerow_fs::{Listing, OpenDirectory, Stat};
use std::io;

/// Handles the directories of a scan. It is called from many threads in parallel, for different
/// directories and for parts of one directory.
///
/// For one directory the calls are: [`known`](Visitor::known); then [`listed`](Visitor::listed) for
/// its entries, some at a time; then [`complete`](Visitor::complete) or
/// [`failed`](Visitor::failed); and [`statted`](Visitor::statted) for the entries that `listed`
/// asked to stat, before or after that, in any order. The calls for subdirectories come at any time
/// after they were requested.
pub trait Visitor: Sync {
    /// The visitor's data for a directory.
    type Directory: Send + Sync;
    /// The state that a worker keeps from call to call.
    type Worker;
    /// The error that ends the scan.
    type Error: Send;

    /// Creates the state of a new worker.
    fn worker(&self) -> Self::Worker;

    /// Whether a directory that was planned is still of interest. If not, it is not opened.
    fn is_needed(&self, place: &Place<Self::Directory>) -> bool {
        let _ = place;
        true
    }

    /// Whether a directory that was planned is visited in its turn: after the directories before it
    /// and all that is below them, by the worker that listed them. Asked again before it is visited;
    /// from where it is not so, it and the directories after it are visited in parallel.
    fn in_turn(&self, place: &Place<Self::Directory>) -> bool {
        let _ = place;
        false
    }

    /// The entries of a directory, if they are known without listing it.
    fn known(&self, place: &Place<Self::Directory>) -> Option<Listing> {
        let _ = place;
        None
    }

    /// Whether all entries of a directory are passed at once instead of some at a time. Then they
    /// are passed even if there are none.
    fn wants_whole(&self, place: &Place<Self::Directory>) -> bool {
        let _ = place;
        false
    }

    /// Called before [`listed`](Visitor::listed) with the same listing: passes the directory
    /// itself, to read files in it that decide about its entries.
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

    /// Passes some entries of a directory, in the file system's order, and receives the plan for
    /// them. If an entry's `kind` is still unknown, querying it has failed; its stat shows why.
    fn listed(
        &self,
        worker: &mut Self::Worker,
        place: &Place<Self::Directory>,
        listing: &Listing,
        plan: &mut Plan<Self::Directory>,
    ) -> Result<(), Self::Error>;

    /// All entries of the directory were listed.
    fn complete(
        &self,
        worker: &mut Self::Worker,
        place: &Place<Self::Directory>,
    ) -> Result<(), Self::Error>;

    /// The results of the requested stat calls, in the order of the requests.
    fn statted(
        &self,
        worker: &mut Self::Worker,
        place: &Place<Self::Directory>,
        listing: &Listing,
        states: &[(Wanted, io::Result<Stat>)],
    ) -> Result<(), Self::Error>;

    /// The directory could not be opened, or not listed to its end. The visitor may name entries to
    /// look up anyway; they are passed to [`listed`](Visitor::listed) and
    /// [`complete`](Visitor::complete).
    fn failed(
        &self,
        worker: &mut Self::Worker,
        place: &Place<Self::Directory>,
        error: ScanError,
    ) -> Result<Option<Listing>, Self::Error>;

    /// The entries named after [`failed`](Visitor::failed) cannot be looked up, because of `error`.
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

/// An entry to stat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Its number in the listing.
    pub entry: u32,
    /// A number that is passed back to the visitor.
    pub tag: u32,
}

/// The requests for the entries of a listing.
#[derive(Debug)]
pub struct Plan<D> {
    pub(crate) descend: Vec<(u32, D)>,
    pub(crate) stat: Vec<Wanted>,
}

impl<D> Plan<D> {
    /// Scans the directory that is entry number `entry`. If it turns out to be something else,
    /// [`Visitor::failed`] is called.
    pub fn descend(&mut self, entry: u32, data: D) {
        self.descend.push((entry, data));
    }

    /// Stats entry number `entry`.
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
