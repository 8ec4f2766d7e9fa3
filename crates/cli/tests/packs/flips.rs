//! A thousand flipped bits in what stands beside packs, asked in this process: bitmaps, reverse
//! indexes and multi-pack-indexes are told to be damaged and done without; of a commit-graph, which
//! is no more hashed than git hashes it, everything that it says is bounded.

use hedgerow::plumbing::pack::{Bitmaps, ObjectId, ObjectStore, StoreOptions};
use hedgerow::plumbing::reach::{reachable, IdMap, Question, Request, SeenIds, Source, Tip};
use hedgerow_testkit::history::{scene, Graph, Scene, Storage};
use hedgerow_testkit::Random;
use std::collections::HashMap;
use std::path::PathBuf;

const FLIPS: usize = 1000;

fn store(scene: &Scene) -> ObjectStore {
    let objects = scene.root.join(".git/objects");
    ObjectStore::open(&objects, StoreOptions::default()).unwrap()
}

fn id(hex: &str) -> ObjectId {
    ObjectId::from_hex(hex.as_bytes()).unwrap()
}

/// What is reachable from `want` and not from `have`, found with whatever bitmaps there are, and
/// the content of each. `None` if it cannot be found out.
fn answer(store: &ObjectStore, want: &ObjectId, have: &ObjectId) -> Option<Vec<(ObjectId, usize)>> {
    let (grafts, replacements) = (IdMap::default(), HashMap::new());
    let graph = store.commit_graph();
    let source = Source {
        store,
        graph: graph.as_ref(),
        checks_graph: false,
        grafts: &grafts,
        replacements: &replacements,
    };
    let question = Question {
        wants: vec![*want],
        haves: vec![*have],
        threads: 1,
        ..Question::default()
    };
    let bitmaps = Bitmaps::open(store);
    let answer = match reachable(source, bitmaps.as_ref(), &question) {
        Err(hedgerow::plumbing::reach::Error::DamagedBitmap) => reachable(source, None, &question),
        answer => answer,
    };
    let set = answer.ok()?.objects;
    let mut ids: Vec<ObjectId> = set.extra().iter().map(|extra| extra.id).collect();
    if let Some(bitmaps) = set.bitmaps() {
        let id = |bit| bitmaps.order().id(bit).map(|id| id.to_owned());
        ids.extend(set.bits().iter().map(|bit| id(bit).unwrap()));
    }
    ids.sort_unstable();
    let size = |id: &ObjectId| Some((*id, store.read(id).ok()?.1.len()));
    ids.iter().map(size).collect()
}

/// Flips bits of the file that `find` finds, and asks each time. Returns how many answers there
/// were that are not `expected`, and how many flips were told.
fn flip(scene: &Scene, path: &PathBuf, seed: u64, pairs: &[(ObjectId, ObjectId)]) -> [usize; 2] {
    let whole = std::fs::read(path).unwrap();
    let sound = store(scene);
    let expected: Vec<_> = pairs
        .iter()
        .map(|(want, have)| answer(&sound, want, have).unwrap())
        .collect();
    assert_eq!(sound.warnings(), Vec::<String>::new());
    std::fs::remove_file(path).unwrap();
    let mut random = Random::new(seed);
    let (mut wrong, mut told) = (0, 0);
    for round in 0..FLIPS {
        let mut damaged = whole.clone();
        for _ in 0..=random.below(3) {
            let at = random.below(damaged.len());
            damaged[at] ^= 1 << random.below(8);
        }
        std::fs::write(path, &damaged).unwrap();
        let store = store(scene);
        let at = round % pairs.len();
        let (want, have) = pairs[at];
        wrong += usize::from(answer(&store, &want, &have).as_ref() != Some(&expected[at]));
        told += usize::from(!store.warnings().is_empty());
    }
    std::fs::write(path, whole).unwrap();
    [wrong, told]
}

fn pairs(scene: &Scene) -> Vec<(ObjectId, ObjectId)> {
    let commits = &scene.commits;
    let last = commits.len() - 1;
    [(last, 2), (last, last / 2), (last - 1, 0)]
        .map(|(want, have)| (id(&commits[want]), id(&commits[have])))
        .into()
}

#[test]
fn bitmaps_and_reverse_indexes() {
    let scene = scene(41, "sha1", Storage::Packed, Graph::None);
    scene.git(&["config", "pack.writeBitmapLookupTable", "true"]);
    scene.git(&["config", "pack.writeReverseIndex", "true"]);
    scene.git(&["repack", "-adbfq"]);
    for (extension, seed) in [("bitmap", 1), ("rev", 2)] {
        let path = super::beside_pack(&scene, extension);
        let [wrong, told] = flip(&scene, &path, seed, &pairs(&scene));
        assert_eq!(wrong, 0, ".{extension}");
        // The hash at the end of a reverse index all of which was compared says nothing more.
        assert!(told > FLIPS * 9 / 10, ".{extension}: {told}");
    }
}

#[test]
fn multi_pack_indexes() {
    let scene = scene(42, "sha1", Storage::Both, Graph::None);
    scene.git(&["repack", "-dq"]);
    scene.git(&["multi-pack-index", "write"]);
    let path = scene.root.join(".git/objects/pack/multi-pack-index");
    let [wrong, told] = flip(&scene, &path, 3, &pairs(&scene));
    assert_eq!(wrong, 0);
    assert!(told > FLIPS / 4, "{told}");
}

#[test]
fn commit_graphs_end_every_walk() {
    let scene = scene(43, "sha1", Storage::Packed, Graph::File);
    let path = scene.root.join(".git/objects/info/commit-graph");
    let pairs = pairs(&scene);
    flip(&scene, &path, 4, &pairs);
    // Walks that keep an order, and go by generations.
    let whole = std::fs::read(&path).unwrap();
    let mut random = Random::new(5);
    for _ in 0..FLIPS {
        let mut damaged = whole.clone();
        let at = random.below(damaged.len());
        damaged[at] ^= 1 << random.below(8);
        std::fs::write(&path, &damaged).unwrap();
        let store = store(&scene);
        let (grafts, replacements) = (IdMap::default(), HashMap::new());
        let graph = store.commit_graph();
        let source = Source {
            store: &store,
            graph: graph.as_ref(),
            checks_graph: false,
            grafts: &grafts,
            replacements: &replacements,
        };
        let (want, have) = *random.pick(&pairs);
        let request = Request {
            tips: vec![Tip::new(want, false), Tip::new(have, true)],
            order: *random.pick(&[
                hedgerow::plumbing::reach::Order::Topological,
                hedgerow::plumbing::reach::Order::Date,
                hedgerow::plumbing::reach::Order::Met,
            ]),
            ..Request::default()
        };
        let _ =
            hedgerow::plumbing::reach::walk_set(source, request.clone(), 1, &SeenIds::default());
        let Ok(walk) = hedgerow::plumbing::reach::Walk::new(source, request) else {
            continue;
        };
        let mut count = Count(0);
        let _ = walk.list(&mut count);
        assert!(count.0 <= scene.commits.len());
    }
}

struct Count(usize);

impl hedgerow::plumbing::reach::Visitor for Count {
    fn edge(&mut self, _: &ObjectId) -> std::ops::ControlFlow<()> {
        std::ops::ControlFlow::Continue(())
    }

    fn commit(
        &mut self,
        _: &hedgerow::plumbing::reach::Walk<'_>,
        _: hedgerow::plumbing::reach::WalkedCommit,
    ) -> std::ops::ControlFlow<()> {
        self.0 += 1;
        std::ops::ControlFlow::Continue(())
    }

    fn object(
        &mut self,
        _: &ObjectId,
        _: hedgerow::plumbing::pack::ObjectKind,
        _: &[u8],
    ) -> std::ops::ControlFlow<()> {
        std::ops::ControlFlow::Continue(())
    }
}
