//! What is to be listed, what is being listed and what was, by position in the tree.

use super::{Contents, Position};
use crate::handles::Handle;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;

/// Memory for recording that a directory was listed, besides its entries, in bytes.
const FINISHED_BYTES: usize = 256;

/// The state of all directories that the reader has not come to.
#[derive(Debug)]
pub(super) struct Agenda {
    /// The directories with subdirectories that wait, by the position of the first of these. A
    /// position sorts after those in earlier siblings, so the first is what the reader needs first.
    waiting: BTreeMap<Position, Group>,
    /// Positions of directories in `waiting` that are not to be listed.
    taken: BTreeSet<Position>,
    running: BTreeSet<Position>,
    finished: BTreeMap<Position, Option<Arc<Contents>>>,
    /// Number of directories that wait.
    units: usize,
    /// Size of what was listed and not yet taken, in bytes.
    held: usize,
}

/// A directory whose subdirectories wait, from one on.
#[derive(Debug)]
struct Group {
    site: Arc<Site>,
    next: u32,
}

/// A directory that was listed.
#[derive(Debug)]
pub(super) struct Site {
    pub(super) position: Position,
    pub(super) path: Vec<u8>,
    pub(super) contents: Arc<Contents>,
    /// The open directory, unless too many are open.
    pub(super) handle: Option<Arc<Handle>>,
}

/// A directory to list.
#[derive(Debug)]
pub(super) struct Unit {
    pub(super) site: Arc<Site>,
    pub(super) index: u32,
}

/// What is known about a directory.
pub(super) enum Known {
    /// It was listed; `None`: in vain.
    Finished(Option<Arc<Contents>>),
    Running,
    /// Nobody lists it.
    Nothing,
}

impl Known {
    /// What was listed, if it was.
    pub(super) fn into_contents(self) -> Option<Arc<Contents>> {
        match self {
            Known::Finished(contents) => contents,
            Known::Running | Known::Nothing => None,
        }
    }
}

impl Agenda {
    pub(super) fn new() -> Self {
        Agenda {
            waiting: BTreeMap::new(),
            taken: BTreeSet::new(),
            running: BTreeSet::new(),
            finished: BTreeMap::new(),
            units: 0,
            held: 0,
        }
    }

    pub(super) fn units(&self) -> usize {
        self.units
    }

    pub(super) fn held(&self) -> usize {
        self.held
    }

    /// The first directory that waits; from now on it is being listed.
    pub(super) fn begin_first(&mut self) -> Option<Unit> {
        loop {
            let (mut position, group) = self.waiting.pop_first()?;
            let unit = Unit {
                site: group.site.clone(),
                index: group.next,
            };
            let is_taken = self.taken.remove(&position);
            if !is_taken {
                self.running.insert(position.clone());
                self.units -= 1;
            }
            let next = group.next + 1;
            if (next as usize) < group.site.contents.entered().len() {
                *position.last_mut().expect("it has a parent") = next;
                self.waiting.insert(position, Group { next, ..group });
            }
            if !is_taken {
                return Some(unit);
            }
        }
    }

    /// A directory that was being listed is no longer. Whether anybody still wants it.
    pub(super) fn end(&mut self, position: &Position) -> bool {
        self.running.remove(position)
    }

    /// A run ended early: what it was listing is listed by the reader.
    pub(super) fn abandon(&mut self) {
        self.running.clear();
    }

    /// Keeps what a directory contains until the reader comes to it.
    pub(super) fn keep(&mut self, position: Position, contents: Option<Arc<Contents>>) {
        self.held += held_bytes(contents.as_ref());
        self.finished.insert(position, contents);
    }

    /// Lists the subdirectories of a directory, if there are any.
    pub(super) fn add(&mut self, site: Arc<Site>) {
        let count = site.contents.entered().len();
        if count > 0 {
            self.units += count;
            let mut first = site.position.clone();
            first.push(0);
            self.waiting.insert(first, Group { site, next: 0 });
        }
    }

    /// Keeps no directory open any longer, unless a thread is just using it.
    pub(super) fn close_directories(&mut self) {
        for group in self.waiting.values_mut() {
            if let Some(site) = Arc::get_mut(&mut group.site) {
                site.handle = None;
            }
        }
    }

    /// The reader comes to a directory, and lists it if nobody does.
    pub(super) fn take(&mut self, position: &Position) -> Known {
        if let Some(contents) = self.finished.remove(position) {
            self.held -= held_bytes(contents.as_ref());
            return Known::Finished(contents);
        }
        if self.running.contains(position) {
            return Known::Running;
        }
        self.take_waiting(position);
        Known::Nothing
    }

    /// The reader does not want what is at a position, nor below.
    pub(super) fn forget(&mut self, position: &Position) {
        if self.running.remove(position) | self.release(position) {
            self.forget_below(position);
        } else {
            self.take_waiting(position);
        }
    }

    /// The reader does not want what is below a position.
    pub(super) fn forget_below(&mut self, position: &Position) {
        for below in keys_below(&self.finished, position) {
            self.release(&below);
        }
        for below in keys_below(&self.waiting, position) {
            let group = self.waiting.remove(&below).expect("it was found");
            let count = group.site.contents.entered().len() as u32;
            let mut place = below;
            for index in group.next..count {
                *place.last_mut().expect("it has a parent") = index;
                self.units -= usize::from(!self.taken.contains(&place));
            }
        }
        self.running.retain(|other| !is_below(other, position));
        self.taken.retain(|other| !is_below(other, position));
    }

    fn release(&mut self, position: &Position) -> bool {
        let released = self.finished.remove(position);
        if let Some(contents) = &released {
            self.held -= held_bytes(contents.as_ref());
        }
        released.is_some()
    }

    /// Takes a directory out of those that wait, if it is one.
    fn take_waiting(&mut self, position: &Position) {
        let Some((last, parent)) = position.split_last() else {
            return;
        };
        // The parent's group stands under its next subdirectory, which is this one or an earlier.
        let first = [parent, &[0]].concat();
        let mut groups = self.waiting.range(first..=position.clone());
        let waits = groups.any(|(key, group)| key.len() == position.len() && group.next <= *last);
        if waits && self.taken.insert(position.clone()) {
            self.units -= 1;
        }
    }
}

fn held_bytes(contents: Option<&Arc<Contents>>) -> usize {
    FINISHED_BYTES + contents.map_or(0, |contents| contents.memory_bytes())
}

fn is_below(position: &Position, above: &Position) -> bool {
    position.len() > above.len() && position.starts_with(above)
}

fn keys_below<T>(map: &BTreeMap<Position, T>, above: &Position) -> Vec<Position> {
    let after = map.range((Bound::Excluded(above.clone()), Bound::Unbounded));
    let below = after.take_while(|(key, _)| is_below(key, above));
    below.map(|(key, _)| key.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::contents::Scratch;
    use super::*;
    use hedgerow_fs::OpenDirectory;
    use std::path::Path;

    fn site(position: &[u32], contents: &Arc<Contents>) -> Arc<Site> {
        Arc::new(Site {
            position: position.to_vec(),
            path: Vec::new(),
            contents: contents.clone(),
            handle: None,
        })
    }

    fn three_directories() -> Arc<Contents> {
        let root = tempfile::tempdir().unwrap();
        for name in ["a", "b", "c"] {
            hedgerow_fs::create_directory(&root.path().join(name)).unwrap();
        }
        let directory = OpenDirectory::open(root.path()).unwrap();
        let read = Contents::read(
            &directory,
            Path::new("."),
            &mut Scratch::default(),
            false,
            || false,
        );
        Arc::new(read.unwrap().unwrap())
    }

    fn begun(agenda: &mut Agenda) -> Vec<u32> {
        let unit = agenda.begin_first().unwrap();
        [&unit.site.position[..], &[unit.index]].concat()
    }

    #[test]
    fn what_the_reader_needs_first_is_listed_first() {
        let contents = three_directories();
        let mut agenda = Agenda::new();
        agenda.add(site(&[], &contents));
        assert_eq!((begun(&mut agenda), begun(&mut agenda)), (vec![0], vec![1]));
        // The second is finished before the first; what is in the first still precedes it.
        assert!(agenda.end(&vec![1]));
        agenda.keep(vec![1], Some(contents.clone()));
        agenda.add(site(&[1], &contents));
        assert_eq!(begun(&mut agenda), [1, 0]);
        agenda.add(site(&[0], &contents));
        assert_eq!(begun(&mut agenda), [0, 0]);
        assert_eq!(agenda.units(), 5);
    }

    #[test]
    fn what_is_taken_or_forgotten_is_not_listed() {
        let contents = three_directories();
        let mut agenda = Agenda::new();
        agenda.add(site(&[], &contents));
        assert!(matches!(agenda.take(&vec![1]), Known::Nothing));
        assert_eq!(agenda.units(), 2);
        assert_eq!((begun(&mut agenda), begun(&mut agenda)), (vec![0], vec![2]));
        assert!(agenda.begin_first().is_none());
        assert!(agenda.end(&vec![0]));
        agenda.keep(vec![0], Some(contents.clone()));
        agenda.add(site(&[0], &contents));
        assert_eq!(
            (begun(&mut agenda), begun(&mut agenda)),
            (vec![0, 0], vec![0, 1])
        );
        assert!(agenda.end(&vec![0, 1]));
        agenda.keep(vec![0, 1], None);
        agenda.forget(&vec![0]);
        assert!(agenda.begin_first().is_none() && agenda.units() == 0 && agenda.held() == 0);
        assert!(!agenda.end(&vec![0, 0]));
        assert!(agenda.end(&vec![2]));
    }
}
