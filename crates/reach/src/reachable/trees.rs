//! The walk through trees, by as many threads as there is work for.

use super::set::Extra;
use super::shared::SharedSet;
use crate::met_trees::{MetTrees, NewTree, PathKey};
use crate::name_hash::NameHash;
use crate::source::Source;
use crate::trees::TreeReader;
use crate::{Error, Result};
use gix_hash::ObjectId;
use hedgerow_fs::threads::start_scoped;
use hedgerow_object::TreeEntry;
use hedgerow_pack::ObjectKind;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Number of trees that one thread reads before others are started.
const ALONE: u64 = 256;
/// A thread with more than this many unread trees gives half of them to an idle thread.
const SHARE_FROM: usize = 16;
/// Maximum depth of directories, as in git.
const MAX_DEPTH: u32 = 2048;
/// A tree that is in the set and whose entries are not yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pending {
    pub id: ObjectId,
    pub path: NameHash,
    pub key: PathKey,
    pub depth: u32,
    pub like: Option<Like>,
}

/// A tree that is probably similar to another one.
#[derive(Clone, Copy, Debug)]
pub(super) enum Like {
    /// All of it was known before the walk.
    Known(ObjectId),
    /// Usable only once it has been visited by the same thread: of two trees that wait for different
    /// threads, each might rely on the other, and nobody would find what they share.
    OnceMet(ObjectId),
}

impl Like {
    pub fn id(&self) -> &ObjectId {
        match self {
            Like::Known(id) | Like::OnceMet(id) => id,
        }
    }
}

/// Adds everything that the trees `roots` contain to `set`, which already contains `roots`.
/// `missing_ok`: missing trees are ignored. Returns the number of trees read.
pub(super) fn walk(
    source: Source<'_>,
    set: &SharedSet<'_, '_, '_>,
    roots: Vec<Pending>,
    missing_ok: bool,
    threads: usize,
) -> Result<u64> {
    let mut walker = Walker::new(source, set, missing_ok);
    walker.pending = roots;
    walker.pending.reverse();
    // One thread is faster for a few trees.
    while walker.read < ALONE || threads < 2 {
        if !walker.step()? {
            return Ok(walker.read);
        }
    }
    let pool = Pool {
        state: Mutex::new(State {
            queue: std::mem::take(&mut walker.pending),
            waiting: 0,
            threads,
            failed: false,
        }),
        changed: Condvar::new(),
    };
    let (pool, mut read) = (&pool, walker.read);
    std::thread::scope(|scope| {
        let start = |_| {
            // Each thread starts with the trees remembered so far.
            let met = walker.met.clone();
            let walker = Walker::new(source, set, missing_ok);
            let started = start_scoped(scope, "trees", move || pool.work(Walker { met, ..walker }));
            if started.is_err() {
                pool.do_with_one_less();
            }
            started.ok()
        };
        let workers: Vec<_> = (1..threads).filter_map(start).collect();
        let own = Walker::new(source, set, missing_ok);
        let met = walker.met;
        read += pool.work(Walker { met, ..own })?;
        for worker in workers {
            read += worker.join().map_err(|_| Error::Panicked)??;
        }
        Ok(read)
    })
}

struct Walker<'w, 'b, 's> {
    set: &'w SharedSet<'w, 'b, 's>,
    trees: TreeReader<'s>,
    missing_ok: bool,
    pending: Vec<Pending>,
    read: u64,
    met: MetTrees,
}

impl<'w, 'b, 's> Walker<'w, 'b, 's> {
    fn new(source: Source<'s>, set: &'w SharedSet<'w, 'b, 's>, missing_ok: bool) -> Self {
        Walker {
            set,
            trees: TreeReader::new(source),
            missing_ok,
            pending: Vec::new(),
            read: 0,
            met: MetTrees::default(),
        }
    }

    /// Whether entries shared with the `like` tree can be skipped.
    fn is_ready(&mut self, like: Like) -> bool {
        let Like::Known(id) = like else {
            return self.met.has_met(like.id());
        };
        if !self.met.contains(&id) {
            // Without it, there is only more to examine.
            if let Ok(Some(content)) = self.trees.read(&id) {
                self.met.assume(&id, &content);
            }
        }
        true
    }

    /// Reads one tree. `Ok(false)`: there is none to read.
    fn step(&mut self) -> Result<bool> {
        let Some(tree) = self.pending.pop() else {
            return Ok(false);
        };
        if tree.depth > MAX_DEPTH {
            return Err(Error::TooDeep);
        }
        self.read += 1;
        let Some(content) = self.trees.read(&tree.id)? else {
            return if self.missing_ok {
                Ok(true)
            } else {
                Err(Error::BadTree { id: tree.id })
            };
        };
        let first = self.pending.len();
        let like = tree.like.filter(|like| self.is_ready(*like));
        let new = NewTree {
            id: &tree.id,
            key: tree.key,
            content: &content,
            like: like.as_ref().map(Like::id),
        };
        let is_known = matches!(like, Some(Like::Known(id)) if self.met.contains(&id));
        let (set, pending, missing_ok) = (self.set, &mut self.pending, self.missing_ok);
        let met = self.met.meet_new(new, |entry, before| {
            if let Some(kind) = entry.object_kind().filter(|_| !missing_ok) {
                if set.is_false_commit(&entry.id.to_owned()) {
                    return Err(Error::wrong_entry(&tree.id, entry.name, kind));
                }
            }
            let like = before.filter(TreeEntry::is_tree).map(|before| {
                let id = before.id.to_owned();
                if is_known {
                    Like::Known(id)
                } else {
                    Like::OnceMet(id)
                }
            });
            pending.extend(add(set, &tree, entry, like));
            Ok(())
        });
        met?;
        // The first directory of a tree is read first: it is likeliest to be near in the pack.
        if let Some(found) = self.pending.get_mut(first..) {
            found.reverse();
        }
        Ok(true)
    }
}

/// Adds an entry of `tree` to `set`. Returns it if it is a tree that was not in the set. `like` is the
/// one of the same name in the tree that `tree` was compared with.
fn add(
    set: &SharedSet<'_, '_, '_>,
    tree: &Pending,
    entry: TreeEntry<'_>,
    like: Option<Like>,
) -> Option<Pending> {
    let kind = entry.object_kind()?;
    let mut path = tree.path;
    if tree.depth > 0 {
        path.add(b"/");
    }
    path.add(entry.name);
    let id = entry.id.to_owned();
    let is_new = set.insert(Extra {
        id,
        kind,
        name_hash: path.value(),
    });
    (is_new && kind == ObjectKind::Tree).then(|| Pending {
        id,
        path,
        key: tree.key.join(entry.name, set.hasher()),
        depth: tree.depth + 1,
        like,
    })
}

/// Shared by the threads: trees that idle threads can take.
struct Pool {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    queue: Vec<Pending>,
    waiting: usize,
    threads: usize,
    failed: bool,
}

/// Keeps the other threads from waiting for one that panicked.
struct EndOfAll<'p>(&'p Pool);

impl Drop for EndOfAll<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.lock().failed = true;
            self.0.changed.notify_all();
        }
    }
}

impl Pool {
    /// Fewer threads could be started than planned.
    fn do_with_one_less(&self) {
        self.lock().threads -= 1;
        self.changed.notify_all();
    }

    fn work(&self, mut walker: Walker<'_, '_, '_>) -> Result<u64> {
        let _end = EndOfAll(self);
        while let Some(taken) = self.take() {
            walker.pending = taken;
            if let Err(error) = self.work_off(&mut walker) {
                self.lock().failed = true;
                self.changed.notify_all();
                return Err(error);
            }
        }
        Ok(walker.read)
    }

    fn work_off(&self, walker: &mut Walker<'_, '_, '_>) -> Result<()> {
        while walker.step()? {
            if walker.pending.len() > SHARE_FROM && walker.read.is_multiple_of(16) {
                let mut state = self.lock();
                if state.failed {
                    return Ok(());
                }
                if state.waiting > 0 && state.queue.is_empty() {
                    let half = walker.pending.len() / 2;
                    state.queue.extend(walker.pending.drain(..half));
                    self.changed.notify_all();
                }
            }
        }
        Ok(())
    }

    /// Takes some trees to read; `None` if there are none left and no thread can find any.
    fn take(&self) -> Option<Vec<Pending>> {
        let mut state = self.lock();
        loop {
            if state.failed {
                return None;
            }
            if !state.queue.is_empty() {
                let share = state.queue.len().div_ceil(state.threads);
                let keep = state.queue.len() - share;
                return Some(state.queue.split_off(keep));
            }
            state.waiting += 1;
            if state.waiting == state.threads {
                self.changed.notify_all();
                return None;
            }
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
            if state.waiting == state.threads {
                return None;
            }
            state.waiting -= 1;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::super::set::ObjectSet;
    use super::*;
    use crate::ids::IdSet;
    use hedgerow_pack::{ObjectStore, StoreOptions};
    use hedgerow_testkit::Repository;

    fn pending(id: ObjectId, like: Option<Like>) -> Pending {
        Pending {
            id,
            path: NameHash::default(),
            key: PathKey::default(),
            depth: 0,
            like,
        }
    }

    /// A thread that has given a directory away meets its next version, and then gets it back. What both
    /// versions share is found all the same.
    #[test]
    fn what_two_versions_of_a_directory_share_is_found() {
        let repository = Repository::init(&[]);
        // Trees with fewer entries are not compared.
        for number in 0..60 {
            repository.write(format!("directory/file-{number}"), format!("{number}\n"));
        }
        repository.commit("one");
        repository.write("directory/file-59", "changed\n");
        repository.commit("two");
        let ask = |revision: &str| {
            let id = repository.ask(&["rev-parse", revision]);
            ObjectId::from_hex(id.trim().as_bytes()).unwrap()
        };
        let (first, second) = (ask("HEAD~^{tree}"), ask("HEAD^{tree}"));
        let store = ObjectStore::open(&repository.objects(), StoreOptions::default()).unwrap();
        let source = Source {
            store: &store,
            graph: None,
            checks_graph: false,
            grafts: &Default::default(),
            replacements: &Default::default(),
        };
        let (before, none) = (ObjectSet::new(None), IdSet::default());
        let set = SharedSet::new(&before, None, &none);
        let mut walker = Walker::new(source, &set, false);
        walker.pending = vec![pending(first, None)];
        assert!(walker.step().unwrap());
        let given_away = std::mem::take(&mut walker.pending);
        assert_eq!(given_away.len(), 1);
        for share in [
            vec![pending(second, Some(Like::OnceMet(first)))],
            given_away,
        ] {
            walker.pending = share;
            while walker.step().unwrap() {}
        }
        let (_, found) = set.into_parts();
        // The directory and its files, in two versions; one file changed.
        assert_eq!(found.len(), 2 + 61);
    }
}
