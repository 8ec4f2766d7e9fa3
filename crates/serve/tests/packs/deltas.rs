use super::support::*;
use hedgerow_pack::{HashKind, ObjectId};
use hedgerow_serve::{Contents, Edges, PackOptions};

const HASHES: [HashKind; 2] = [HashKind::Sha1, HashKind::Sha256];

#[test]
fn git_takes_everything_that_was_asked_for() {
    for hash in HASHES {
        for (packed, delta_base_offset) in [(false, true), (true, true), (true, false)] {
            let source = Repository::with_history(hash, 20);
            if packed {
                source.git(&["repack", "-adq"])
            } else {
                source.git(&["repack", "-adq", "--depth=0"])
            };
            let store = source.store();
            let listed = source.listed(&["--all"]);
            let contents = Contents {
                wanted: wanted(&store, &listed),
                ..Contents::default()
            };
            let options = PackOptions {
                delta_base_offset,
                reuse_objects: packed,
                reuse_deltas: packed,
                ..with_threads(2)
            };
            let pack = pack(&store, &contents, &options);
            let receiver = Repository::new(hash);
            receiver.receive(&pack, &["--check-self-contained-and-connected"]);
            assert_eq!(receiver.all_ids(), source.all_ids());
        }
    }
}

#[test]
fn the_bytes_are_the_same_for_any_number_of_threads_and_no_cache() {
    let source = Repository::with_history(HashKind::Sha1, 40);
    let store = source.store();
    let contents = Contents {
        wanted: wanted(&store, &source.listed(&["--all"])),
        ..Contents::default()
    };
    let options = |threads, delta_cache_bytes| PackOptions {
        reuse_deltas: false,
        reuse_objects: false,
        delta_cache_bytes,
        ..with_threads(threads)
    };
    let first = pack(&store, &contents, &options(1, 0));
    for threads in 2..=8 {
        assert!(pack(&store, &contents, &options(threads, 0)) == first);
    }
    assert!(pack(&store, &contents, &options(3, 1)) == first);
}

#[test]
fn packs_are_about_as_small_as_those_of_git() {
    let source = Repository::with_history(HashKind::Sha1, 60);
    let store = source.store();
    let listed = source.listed(&["--all"]);
    let contents = Contents {
        wanted: wanted(&store, &listed),
        ..Contents::default()
    };
    let options = PackOptions {
        reuse_deltas: false,
        reuse_objects: false,
        ..with_threads(2)
    };
    let ours = pack(&store, &contents, &options).len();
    let lines: String = listed
        .iter()
        .map(|(id, path)| format!("{id} {path}\n"))
        .collect();
    let arguments = [
        "pack-objects",
        "-q",
        "--stdout",
        "--no-reuse-object",
        "--delta-base-offset",
    ];
    let gits = source.git_with(&arguments, lines.as_bytes()).len();
    assert!(ours * 100 <= gits * 102, "{ours} against {gits}");
}

#[test]
fn no_chain_is_longer_than_allowed() {
    let source = Repository::with_history(HashKind::Sha1, 60);
    source.git(&["repack", "-adfq", "--depth=40"]);
    let store = source.store();
    let contents = Contents {
        wanted: wanted(&store, &source.listed(&["--all"])),
        ..Contents::default()
    };
    for reuse_deltas in [true, false] {
        let options = PackOptions {
            depth: 5,
            reuse_deltas,
            ..with_threads(2)
        };
        let pack = pack(&store, &contents, &options);
        let receiver = Repository::new(HashKind::Sha1);
        receiver.receive(&pack, &[]);
        let name = receiver.ask(&["rev-parse", "--git-path", "objects/pack"]);
        let directory = receiver.root.join(name.trim());
        let files = std::fs::read_dir(directory).unwrap();
        let index = files
            .map(|file| file.unwrap().path())
            .find(|path| path.extension().is_some_and(|extension| extension == "idx"));
        let index = index.unwrap().to_str().unwrap().to_owned();
        let statistics = receiver.ask(&["verify-pack", "-s", &index]);
        let lengths = statistics
            .lines()
            .filter_map(|line| line.strip_prefix("chain length = "));
        let lengths = lengths.map(|line| line.split(':').next().unwrap().parse::<u32>().unwrap());
        let longest = lengths.max().unwrap();
        assert!((2..=5).contains(&longest), "{longest}");
    }
}

/// What a receiver of everything up to the first of `revisions` lacks of the second.
fn thin(source: &Repository, with_edges: bool) -> Vec<u8> {
    let store = source.store();
    let mut edges = Edges::new(&store, 10);
    let base = source.ask(&["rev-parse", "main~3"]);
    edges.add(&ObjectId::from_hex(base.trim().as_bytes()).unwrap());
    let listed = source.listed(&["main", "^main~3"]);
    listed
        .iter()
        .for_each(|(_, path)| edges.look_up(path.as_bytes()));
    let had = edges.into_found();
    let had_ids: Vec<ObjectId> = had.iter().map(|object| object.id).collect();
    let contents = Contents {
        wanted: wanted(&store, &listed),
        had,
        ..Contents::default()
    };
    let options = PackOptions {
        thin: with_edges,
        ..with_threads(2)
    };
    assert!(listed.iter().all(|(id, _)| !had_ids.contains(id)));
    pack(&store, &contents, &options)
}

#[test]
fn thin_packs_lean_on_what_the_receiver_has() {
    for hash in HASHES {
        let source = Repository::with_history(hash, 30);
        let (thin, thick) = (thin(&source, true), thin(&source, false));
        assert!(
            thin.len() * 3 < thick.len() * 2,
            "{} {}",
            thin.len(),
            thick.len()
        );
        for (pack, options) in [(thin, &["--fix-thin"][..]), (thick, &[])] {
            let receiver = Repository::new(hash);
            let fetched =
                source.git_with(&["pack-objects", "-q", "--revs", "--stdout"], b"main~3\n");
            receiver.receive(&fetched, &[]);
            receiver.receive(&pack, options);
            let head = source.ask(&["rev-parse", "main"]);
            receiver.git(&["update-ref", "refs/heads/main", head.trim()]);
            receiver.git(&["fsck", "--strict", "--connectivity-only"]);
            assert_eq!(
                receiver.listed(&["--all"]).len(),
                source.listed(&["main"]).len()
            );
        }
    }
}

#[test]
fn deltas_of_two_packs_that_are_each_others_bases_are_no_loop() {
    let source = Repository::new(HashKind::Sha1);
    let text = |last: &str| {
        let lines: String = (0..200)
            .map(|n| format!("{} is {}\n", n, n * n % 977))
            .collect();
        format!("{lines}{last}\n")
    };
    let add = |text: String| {
        let id = source.git_with(&["hash-object", "-w", "--stdin"], text.as_bytes());
        ObjectId::from_hex(id.trim_ascii_end()).unwrap()
    };
    let pair = [add(text("one")), add(text("two"))];
    for [object, base] in [pair, [pair[1], pair[0]]] {
        let store = source.store();
        let one = |id| wanted(&store, &[(id, "a".to_owned())]);
        let contents = Contents {
            wanted: one(object),
            had: one(base),
            ..Contents::default()
        };
        let options = PackOptions {
            thin: true,
            ..with_threads(1)
        };
        let thin = pack(&store, &contents, &options);
        assert!(thin.len() < 100);
        source.git_with(&["index-pack", "--stdin", "--fix-thin"], &thin);
    }
    let store = source.store();
    assert_eq!(store.pack_count(), 2);
    for numbers in [[0, 1], [1, 0]] {
        let mut objects = wanted(&store, &pair.map(|id| (id, "a".to_owned())));
        for (object, number) in objects.iter_mut().zip(numbers) {
            object.location = copy_in(&store, &object.id, number);
        }
        let contents = Contents {
            wanted: objects,
            ..Contents::default()
        };
        let pack = pack(&store, &contents, &with_threads(1));
        assert_eq!(ids_in(&pack, HashKind::Sha1), sorted_ids(pair));
    }
}
