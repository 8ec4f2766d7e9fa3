//! What is reachable, against what git-rev-list(1) says, in generated repositories.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests make repositories"
)]

use hedgerow_pack::{Bitmaps, CommitGraph, ObjectId, ObjectKind, ObjectStore, StoreOptions};
use hedgerow_reach::{
    merge_bases, reachable, walk_set, Filter, IdMap, Met, Objects, Order, Question, Request, Seen,
    SeenIds, Source, Tip, Visitor, Walk, WalkedCommit,
};
use hedgerow_testkit::history::{scene, Graph, Scene, Storage};
use hedgerow_testkit::{run, Program, Random, Repository};
use std::collections::{BTreeSet, HashMap};
use std::ops::ControlFlow;
use std::sync::Mutex;

/// Seeds, each with another way to keep objects and commits.
const SCENES: [(u64, &str, Storage, Graph); 6] = [
    (1, "sha1", Storage::Loose, Graph::None),
    (2, "sha256", Storage::Packed, Graph::None),
    (3, "sha1", Storage::Both, Graph::File),
    (4, "sha1", Storage::Alternate, Graph::None),
    (5, "sha256", Storage::Packed, Graph::Chain),
    (6, "sha1", Storage::Packed, Graph::File),
];

/// A repository and its objects, as a walk sees them.
struct Opened {
    scene: Scene,
    store: ObjectStore,
    graph: Option<CommitGraph>,
    grafts: IdMap<Vec<ObjectId>>,
    replacements: HashMap<ObjectId, ObjectId>,
}

impl Opened {
    fn new(scene: Scene) -> Self {
        let inside = scene.root.join(".git/objects");
        let is_bare = !inside.is_dir();
        let objects = if is_bare {
            scene.root.join("objects")
        } else {
            inside
        };
        let hash = id(&scene.commits[0]).kind();
        let options = StoreOptions {
            hash,
            ..StoreOptions::default()
        };
        let store = ObjectStore::open(&objects, options).unwrap();
        Opened {
            graph: store.commit_graph(),
            store,
            scene,
            grafts: IdMap::default(),
            replacements: HashMap::new(),
        }
    }

    fn source(&self) -> Source<'_> {
        Source {
            store: &self.store,
            graph: self.graph.as_ref(),
            checks_graph: false,
            grafts: &self.grafts,
            replacements: &self.replacements,
        }
    }

    /// The lines that git prints.
    fn rev_list(&self, options: &[&str], tips: &Tips) -> Vec<String> {
        let mut words = vec!["rev-list".to_owned()];
        words.extend(options.iter().map(|word| (*word).to_owned()));
        words.extend(tips.wanted.iter().cloned());
        words.extend(tips.unwanted.iter().map(|id| format!("^{id}")));
        let mut command = Program::Git.command(&self.scene.root);
        command.args(&words);
        let printed = run(command).ok(&format!("{words:?}"));
        let text = String::from_utf8(printed).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    /// The ids among these lines.
    fn ids(&self, options: &[&str], tips: &Tips) -> BTreeSet<String> {
        let lines = self.rev_list(options, tips);
        let first = |line: &String| line.split(' ').next().unwrap().to_owned();
        lines.iter().map(first).collect()
    }

    fn list(&self, request: Request) -> Vec<String> {
        let mut lines = Lines::default();
        let walk = Walk::new(self.source(), request).unwrap();
        walk.list(&mut lines).unwrap();
        lines.0
    }
}

/// What a question starts from.
struct Tips {
    wanted: Vec<String>,
    unwanted: Vec<String>,
}

impl Tips {
    /// Some commits and tags against some commits.
    fn draw(scene: &Scene, random: &mut Random) -> Self {
        let mut wanted: Vec<String> = (0..1 + random.below(3))
            .map(|_| random.pick(&scene.commits).clone())
            .collect();
        wanted.sort();
        wanted.dedup();
        let unwanted = (0..random.below(3))
            .map(|_| random.pick(&scene.commits).clone())
            .collect();
        Tips { wanted, unwanted }
    }

    fn request(&self) -> Request {
        let wanted = self.wanted.iter().map(|hex| Tip::new(id(hex), false));
        let unwanted = self.unwanted.iter().map(|hex| Tip::new(id(hex), true));
        Request {
            tips: wanted.chain(unwanted).collect(),
            ..Request::default()
        }
    }
}

fn id(hex: &str) -> ObjectId {
    ObjectId::from_hex(hex.as_bytes()).unwrap()
}

/// A listing as git prints it.
#[derive(Default)]
struct Lines(Vec<String>);

impl Visitor for Lines {
    fn edge(&mut self, id: &ObjectId) -> ControlFlow<()> {
        self.0.push(format!("-{id}"));
        ControlFlow::Continue(())
    }

    fn commit(&mut self, walk: &Walk<'_>, found: WalkedCommit) -> ControlFlow<()> {
        let mark = if found.is_boundary { "-" } else { "" };
        let id = walk.commits().id(found.commit);
        self.0.push(format!("{mark}{id}"));
        ControlFlow::Continue(())
    }

    fn object(&mut self, id: &ObjectId, _: ObjectKind, name: &[u8]) -> ControlFlow<()> {
        self.0
            .push(format!("{id} {}", String::from_utf8_lossy(name)));
        ControlFlow::Continue(())
    }
}

/// The ids that many threads put in.
#[derive(Default)]
struct Together(Mutex<BTreeSet<String>>);

impl Seen for Together {
    fn insert(&self, object: Met<'_>) -> bool {
        self.0.lock().unwrap().insert(object.id.to_string())
    }
}

fn each(mut look: impl FnMut(&Opened, &Tips)) {
    for (seed, format, storage, graph) in SCENES {
        let opened = Opened::new(scene(seed, format, storage, graph));
        let random = &mut Random::new(seed);
        for _ in 0..6 {
            let tips = Tips::draw(&opened.scene, random);
            look(&opened, &tips);
        }
    }
}

#[test]
fn commits_come_in_the_orders_of_git() {
    type Change = fn(&mut Request);
    let cases: [(&[&str], Change); 10] = [
        (&[], |_| {}),
        (&["--topo-order"], |r| r.order = Order::Topological),
        (&["--date-order"], |r| r.order = Order::Date),
        (&["--reverse"], |r| r.is_reversed = true),
        (&["--first-parent"], |r| r.first_parent = true),
        (&["--max-count=5"], |r| r.max_count = Some(5)),
        (&["--skip=3"], |r| r.skip = 3),
        (&["--min-parents=2"], |r| r.min_parents = 2),
        (&["--max-parents=1"], |r| r.max_parents = Some(1)),
        (&["--boundary"], |r| r.boundary = true),
    ];
    let mut lines = 0;
    each(|opened, tips| {
        for (words, change) in cases {
            let mut request = tips.request();
            change(&mut request);
            let expected = opened.rev_list(words, tips);
            assert_eq!(opened.list(request), expected, "{words:?}");
            lines += expected.len();
        }
    });
    assert!(lines > 500, "{lines} commits are too few to tell");
}

#[test]
fn objects_come_as_git_lists_them_with_their_paths() {
    let mut names = 0;
    each(|opened, tips| {
        for (words, in_order) in [
            (&["--objects"][..], false),
            (&["--objects", "--in-commit-order"], true),
        ] {
            let request = Request {
                objects: Objects::All,
                in_commit_order: in_order,
                ..tips.request()
            };
            let expected = opened.rev_list(words, tips);
            names += expected.iter().filter(|line| line.contains("/f")).count();
            assert_eq!(opened.list(request), expected, "{words:?}");
        }
    });
    assert!(names > 50, "{names} paths are too few to tell");
}

#[test]
fn filters_leave_out_what_git_leaves_out() {
    let mut left_out = 0;
    each(|opened, tips| {
        let all = opened.rev_list(&["--objects"], tips).len();
        for spec in [
            "blob:none",
            "blob:limit=100",
            "tree:0",
            "tree:1",
            "tree:2",
            "object:type=tree",
            "combine:blob:limit=100+tree:2",
        ] {
            let request = Request {
                objects: Objects::All,
                filter: Some(Filter::parse(spec.as_bytes()).unwrap()),
                ..tips.request()
            };
            let option = format!("--filter={spec}");
            let expected = opened.rev_list(&["--objects", &option], tips);
            left_out += all.saturating_sub(expected.len());
            assert_eq!(opened.list(request), expected, "{spec}");
        }
    });
    assert!(left_out > 100, "{left_out} objects are too few to tell");
}

#[test]
fn a_set_is_the_listing_whatever_the_number_of_threads() {
    each(|opened, tips| {
        let expected = opened.ids(&["--objects"], tips);
        for threads in [1, 2, 5] {
            let request = Request {
                objects: Objects::All,
                ..tips.request()
            };
            let (ids, count) = (Together::default(), SeenIds::of(&opened.store));
            walk_set(opened.source(), request.clone(), threads, &ids).unwrap();
            walk_set(opened.source(), request, threads, &count).unwrap();
            assert_eq!(ids.0.into_inner().unwrap(), expected, "{threads} threads");
            assert_eq!(count.count(), expected.len() as u64, "{threads} threads");
        }
    });
}

/// What the wants reach and the haves do not: exactly, unlike a walk, which looks at edges only.
fn closure(opened: &Opened, tips: &Tips) -> BTreeSet<String> {
    let of = |wanted: &[String]| {
        let tips = Tips {
            wanted: wanted.to_vec(),
            unwanted: Vec::new(),
        };
        opened.ids(&["--objects"], &tips)
    };
    let haves = match tips.unwanted.as_slice() {
        [] => BTreeSet::new(),
        unwanted => of(unwanted),
    };
    of(&tips.wanted).difference(&haves).cloned().collect()
}

fn question(tips: &Tips, threads: usize) -> Question {
    Question {
        wants: tips.wanted.iter().map(|hex| id(hex)).collect(),
        haves: tips.unwanted.iter().map(|hex| id(hex)).collect(),
        threads,
        ..Question::default()
    }
}

fn check_answer(opened: &Opened, bitmaps: Option<&Bitmaps<'_>>, tips: &Tips) {
    let expected = closure(opened, tips);
    for threads in [1, 3] {
        let answer = reachable(opened.source(), bitmaps, &question(tips, threads)).unwrap();
        for hex in &expected {
            assert!(answer.objects.contains(&id(hex)), "{hex} is left out");
        }
        assert_eq!(answer.objects.count(), expected.len() as u64);
    }
}

#[test]
fn a_closure_without_bitmaps_is_exact() {
    each(|opened, tips| check_answer(opened, None, tips));
}

#[test]
fn a_closure_by_the_bitmaps_of_git_is_exact() {
    let mut questions = 0;
    for (seed, format, _, graph) in SCENES {
        let made = scene(seed, format, Storage::Packed, graph);
        made.git(&["repack", "-adbq"]);
        // Only what references reach is in the pack.
        let tips = made.git(&["for-each-ref", "--format=%(objectname) %(objecttype)"]);
        let tips = String::from_utf8(tips).unwrap();
        let tips = tips.lines().filter_map(|line| line.strip_suffix(" commit"));
        let mut tips: Vec<String> = tips.map(str::to_owned).collect();
        // Commits that no bitmap knows, of trees of which the pack has some.
        let random = &mut Random::new(seed);
        for number in 0..6 {
            let tree = format!("{}^{{tree}}", random.pick(&tips));
            let parent = random.pick(&tips).clone();
            let words = ["commit-tree", "-m", "new", &tree, "-p", &parent];
            let id = made.git(&words[..if number % 2 == 0 { 4 } else { 6 }]);
            tips.push(String::from_utf8(id).unwrap().trim().to_owned());
        }
        let opened = Opened::new(made);
        let bitmaps = Bitmaps::open(&opened.store).expect("git has written bitmaps");
        for _ in 0..8 {
            let tips = Tips {
                wanted: vec![random.pick(&tips).clone()],
                unwanted: (0..random.below(2))
                    .map(|_| random.pick(&tips).clone())
                    .collect(),
            };
            check_answer(&opened, Some(&bitmaps), &tips);
            let by_git = opened.ids(&["--objects", "--use-bitmap-index"], &tips);
            // Git itself may list objects that the excluded commits have: it does not look for all.
            assert!(by_git.is_superset(&closure(&opened, &tips)));
            questions += 1;
        }
    }
    assert_eq!(questions, 48);
}

#[test]
fn what_is_had_itself_is_not_looked_for() {
    let opened = Opened::new(scene(3, "sha1", Storage::Both, Graph::None));
    let commits: Vec<ObjectId> = opened.scene.commits.iter().map(|hex| id(hex)).collect();
    let ask = |wants: &[ObjectId], haves: &[ObjectId]| {
        let question = Question {
            wants: wants.to_vec(),
            haves: haves.to_vec(),
            threads: 2,
            ..Question::default()
        };
        reachable(opened.source(), None, &question)
    };
    let answer = ask(&commits[..2], &commits).unwrap();
    assert_eq!(answer.objects.count(), 0);
    assert_eq!(answer.trace.haves.commits_walked, 0);
    // One that is not among them makes it look.
    let answer = ask(&commits, &commits[..1]).unwrap();
    assert!(answer.trace.haves.commits_walked > 0);
    // Haves may be missing, wants may not.
    let missing = ObjectId::from_hex(&[b'7'; 40]).unwrap();
    let refused = ask(&[missing], &[commits[0], missing]).unwrap_err();
    assert!(
        refused.to_string().contains(&missing.to_string()),
        "{refused}"
    );
}

#[test]
fn merge_bases_are_those_of_git() {
    let mut several = 0;
    for (seed, format, storage, graph) in SCENES {
        let opened = Opened::new(scene(seed, format, storage, graph));
        let random = &mut Random::new(seed);
        for _ in 0..60 {
            let (one, other) = (
                random.pick(&opened.scene.commits),
                random.pick(&opened.scene.commits),
            );
            let mut command = Program::Git.command(&opened.scene.root);
            command.args(["merge-base", "--all", one, other]);
            let outcome = run(command);
            assert!(outcome.code <= 1, "{outcome:?}");
            let expected: BTreeSet<String> = outcome.text().lines().map(str::to_owned).collect();
            several += usize::from(expected.len() > 1);
            let found = merge_bases(opened.source(), &id(one), &id(other)).unwrap();
            let found: BTreeSet<String> = found.iter().map(ToString::to_string).collect();
            assert_eq!(found, expected, "{one} {other}");
        }
    }
    assert!(several > 0, "no pair had several");
}

/// The first `count` commits of `main` and of two more, in `order`, and how many commits were met for that.
fn first(
    opened: &Opened,
    order: Order,
    first_parent: bool,
    count: Option<u64>,
) -> (Vec<ObjectId>, usize) {
    let commits = &opened.scene.commits;
    let tips = [commits.len() - 1, commits.len() / 2, commits.len() / 3];
    let request = Request {
        tips: tips.map(|at| Tip::new(id(&commits[at]), false)).to_vec(),
        order,
        first_parent,
        max_count: count,
        ..Request::default()
    };
    let mut walk = Walk::new(opened.source(), request).unwrap();
    let mut found = Vec::new();
    while let Some(walked) = walk.next_commit().unwrap() {
        found.push(walk.commits().id(walked.commit));
    }
    (found, walk.commits().count())
}

#[test]
fn the_first_commits_in_topological_order_are_those_of_all() {
    for (seed, format, storage, graph) in SCENES {
        let opened = Opened::new(scene(seed, format, storage, graph));
        for order in [Order::Topological, Order::Date] {
            for first_parent in [false, true] {
                let (all, _) = first(&opened, order, first_parent, None);
                for count in 0..all.len() + 2 {
                    let (found, _) = first(&opened, order, first_parent, Some(count as u64));
                    let expected = &all[..count.min(all.len())];
                    assert_eq!(found, expected, "{seed} {order:?} {first_parent} {count}");
                }
            }
        }
    }
}

/// With generation numbers, the first commits in topological order need not wait for the last ones.
#[test]
fn a_long_history_is_not_read_for_its_first_commits() {
    let repository = Repository::init(&[]);
    let mut input = String::new();
    for number in 0..500 {
        let seconds = 1_700_000_000 + number;
        input += &format!("commit refs/heads/main\ncommitter a <a@b> {seconds} +0000\ndata 2\nm\n");
    }
    repository.git_with(&["fast-import", "--quiet"], input.as_bytes());
    repository.git(&["commit-graph", "write", "--reachable"]);
    let options = StoreOptions::default();
    let store = ObjectStore::open(&repository.objects(), options).unwrap();
    let (graph, grafts, replacements) = (store.commit_graph(), IdMap::default(), HashMap::new());
    for order in [Order::Topological, Order::Date] {
        let source = Source {
            store: &store,
            graph: graph.as_ref(),
            checks_graph: false,
            grafts: &grafts,
            replacements: &replacements,
        };
        let request = Request {
            tips: vec![Tip::new(id(&repository.ask(&["rev-parse", "main"])), false)],
            order,
            max_count: Some(5),
            ..Request::default()
        };
        let mut walk = Walk::new(source, request).unwrap();
        let mut count = 0;
        while walk.next_commit().unwrap().is_some() {
            count += 1;
        }
        assert_eq!(count, 5);
        assert!(walk.commits().count() < 10, "{}", walk.commits().count());
    }
}
