//! Every object of repositories that git packed in every way it can, against `git cat-file`.

use crate::open;
use hedgerow_pack::{oid, Location, ObjectId, ObjectStore, Reader, SharedBases, StoreOptions};
use hedgerow_testkit::{overwrite, Known, Repository};

const DEEP: &[&str] = &["repack", "-adfq", "--depth=250", "--window=50"];

/// Reads all that git knows in every way there is; returns the locations.
fn check(store: &ObjectStore, known: &[Known]) -> Vec<Location> {
    assert!(!known.is_empty());
    let ids: Vec<ObjectId> = known.iter().map(|object| object.id).collect();
    let locations = store.locate_all(&ids).unwrap();
    let locations: Vec<Location> = locations.into_iter().map(Option::unwrap).collect();
    let mut reader = Reader::new(store);
    for (object, location) in known.iter().zip(&locations) {
        assert_eq!(store.locate(&object.id).unwrap().as_ref(), Some(location));
        check_one(&mut reader, object, *location);
        let prefix = gix_hash::Prefix::new(&object.id, 12).unwrap();
        assert!(store.find_prefix(&prefix).unwrap().contains(&object.id));
    }
    for budget in [0, 20_000, 100 << 20] {
        check_shared(store, known, &locations, budget);
    }
    locations
}

fn check_one(reader: &mut Reader<'_>, object: &Known, location: Location) {
    let header = reader.header(&object.id, location).unwrap();
    assert_eq!(header.kind.name(), object.kind);
    assert_eq!(header.size, object.content.len() as u64);
    let (kind, content) = reader.read(&object.id, location).unwrap();
    assert_eq!(kind.name(), object.kind);
    assert!(content == object.content, "content of {}", object.id);
    assert_eq!(reader.verify(&object.id, location).unwrap(), kind);
    let mut streamed = Vec::new();
    let mut sink = |piece: &[u8]| {
        assert!(piece.len() <= 256 * 1024);
        streamed.extend_from_slice(piece);
        Ok(())
    };
    assert_eq!(
        reader.stream(&object.id, location, &mut sink).unwrap(),
        header
    );
    assert!(streamed == object.content, "stream of {}", object.id);
}

/// Two threads read all objects, each one once.
fn check_shared(store: &ObjectStore, known: &[Known], locations: &[Location], budget: usize) {
    let bases = SharedBases::plan_with_threads(store, locations, budget, 2).unwrap();
    let work = |first: usize| {
        let mut reader = Reader::with_bases(store, &bases);
        for (object, location) in known.iter().zip(locations).skip(first).step_by(2) {
            let (kind, content) = reader.read(&object.id, *location).unwrap();
            assert_eq!(kind.name(), object.kind);
            assert!(content == object.content, "shared {}", object.id);
            assert!(bases.held_bytes() <= budget);
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| work(0));
        work(1);
    });
    if budget > 1 << 20 {
        assert_eq!(bases.held_bytes(), 0, "the last use drops a base");
    }
}

fn check_clean(repository: &Repository) -> Vec<Location> {
    let store = open(repository);
    let locations = check(&store, &repository.known());
    assert_eq!(store.warnings(), Vec::<String>::new());
    locations
}

fn all_packed(locations: &[Location]) -> bool {
    locations
        .iter()
        .all(|location| matches!(location, Location::Packed { .. }))
}

#[test]
fn deep_chains_of_offset_deltas() {
    let repository = Repository::with_history("sha1", 300, DEEP);
    assert!(all_packed(&check_clean(&repository)));
    // With fewer candidates to choose from, git makes the chains as deep as it may.
    repository.git(&["repack", "-adfq", "--depth=250", "--window=2"]);
    check_clean(&repository);
    let index = repository.only_pack_file("idx");
    let verified = repository.git(&["verify-pack", "-v", index.to_str().unwrap()]);
    let verified = String::from_utf8(verified).unwrap();
    let lengths = verified
        .lines()
        .filter_map(|line| line.strip_prefix("chain length = "));
    let lengths = lengths.filter_map(|rest| rest.split(':').next()?.parse::<u32>().ok());
    let deepest = lengths.max().unwrap();
    assert!(deepest > 150, "the deepest chain has {deepest} deltas");
}

#[test]
fn reference_deltas() {
    let arguments: Vec<&str> = ["-c", "repack.useDeltaBaseOffset=false"]
        .iter()
        .chain(DEEP)
        .copied()
        .collect();
    let repository = Repository::with_history("sha1", 120, &arguments);
    check_clean(&repository);
}

#[test]
fn sha256() {
    for reference in ["true", "false"] {
        let setting = format!("repack.useDeltaBaseOffset={reference}");
        let arguments: Vec<&str> = ["-c", &setting].iter().chain(DEEP).copied().collect();
        let repository = Repository::with_history("sha256", 60, &arguments);
        repository.add_loose(b"loose", 6);
        check_clean(&repository);
        repository.git(&["multi-pack-index", "write"]);
        check_clean(&repository);
    }
}

#[test]
fn index_version_1() {
    let repository = Repository::with_history(
        "sha1",
        40,
        &["-c", "pack.indexVersion=1", "repack", "-adfq"],
    );
    assert_ne!(
        std::fs::read(repository.only_pack_file("idx")).unwrap()[..4],
        *b"\xfftOc"
    );
    check_clean(&repository);
}

#[test]
fn index_with_64_bit_offsets() {
    let repository = Repository::with_history("sha1", 40, DEEP);
    let (pack, index) = (
        repository.only_pack_file("pack"),
        repository.only_pack_file("idx"),
    );
    let before = std::fs::metadata(&index).unwrap().len();
    std::fs::remove_file(&index).unwrap();
    repository.git(&[
        "index-pack",
        "--index-version=2,0x40",
        pack.to_str().unwrap(),
    ]);
    assert!(std::fs::metadata(&index).unwrap().len() > before);
    check_clean(&repository);
}

#[test]
fn several_packs_with_and_without_a_multi_pack_index() {
    let repository = Repository::bare("sha1");
    for part in 0..4 {
        repository.import(&format!("refs/heads/b{part}"), part * 20..part * 20 + 30);
        repository.git(&["repack", "-dq"]);
    }
    assert!(repository.pack_files("pack").len() >= 4);
    check_clean(&repository);
    repository.git(&["multi-pack-index", "write"]);
    assert!(all_packed(&check_clean(&repository)));
    // One more pack, which the multi-pack-index does not list, and loose objects.
    repository.import("refs/heads/late", 500..520);
    repository.git(&["repack", "-dq"]);
    repository.git(&["multi-pack-index", "verify"]);
    repository.add_loose(b"late and loose", 6);
    assert!(!all_packed(&check_clean(&repository)));
    let options = StoreOptions {
        read_multi_pack_index: false,
        read_reverse_index: false,
        ..StoreOptions::default()
    };
    let store = ObjectStore::open(&repository.objects(), options).unwrap();
    check(&store, &repository.known());
}

#[test]
fn loose_objects_at_every_compression_level() {
    let repository = Repository::bare("sha1");
    repository.add_loose(b"", 6);
    for level in 0..10 {
        repository.add_loose(&hedgerow_testkit::text(level as usize, 2000), level);
    }
    let locations = check_clean(&repository);
    assert_eq!(locations.len(), 11);
    assert!(!locations
        .iter()
        .any(|location| matches!(location, Location::Packed { .. })));
}

#[test]
fn many_loose_objects_of_one_first_byte() {
    let repository = Repository::bare("sha1");
    repository.import("refs/heads/main", 0..400);
    for pack in repository.pack_files("pack") {
        let content = std::fs::read(&pack).unwrap();
        std::fs::remove_file(&pack).unwrap();
        std::fs::remove_file(pack.with_extension("idx")).unwrap();
        repository.git_with(&["unpack-objects", "-q"], &content);
    }
    let known = repository.known();
    let store = open(&repository);
    let mut ids: Vec<ObjectId> = known.iter().map(|object| object.id).collect();
    // One that is nowhere, among many that are.
    let mut absent = ids[0];
    absent.as_mut_slice()[19] ^= 1;
    ids.push(absent);
    let found = store.locate_all(&ids).unwrap();
    assert_eq!(found.last(), Some(&None));
    assert!(found[..known.len()].iter().all(Option::is_some));
    check(&store, &known);
}

/// Most of what a partial clone looks for is nowhere; some of it comes while the store is open.
#[test]
fn many_objects_that_are_nowhere() {
    let repository = Repository::bare("sha1");
    repository.import("refs/heads/main", 0..40);
    let packs = repository.pack_files("pack");
    let mut ids: Vec<ObjectId> = repository.known().iter().map(|object| object.id).collect();
    let count = ids.len();
    for number in 0..500_u32 {
        let mut absent = ids[number as usize % count];
        absent.as_mut_slice()[16..].copy_from_slice(&number.to_be_bytes());
        ids.push(absent);
    }
    let aside: Vec<_> = packs
        .iter()
        .flat_map(|pack| [pack.clone(), pack.with_extension("idx")])
        .collect();
    let place = |path: &std::path::Path| repository.root.join(path.file_name().unwrap());
    for file in &aside {
        std::fs::rename(file, place(file)).unwrap();
    }
    let store = open(&repository);
    assert!(store.locate_all(&ids).unwrap().iter().all(Option::is_none));
    for file in aside.iter().rev() {
        std::fs::rename(place(file), file).unwrap();
    }
    let found = store.locate_all(&ids).unwrap();
    assert!(found[..count].iter().all(Option::is_some));
    assert!(found[count..].iter().all(Option::is_none));
    // Each is where it is by itself.
    for (id, found) in ids.iter().zip(&found) {
        assert_eq!(store.locate(id).unwrap(), *found);
    }
    // What cannot be read is no absence.
    overwrite(&packs[0].with_extension("idx"), b"no index at all");
    let told = open(&repository).locate_all(&ids[count..]).unwrap_err();
    assert!(
        matches!(told, hedgerow_pack::Error::UnusablePack { .. }),
        "{told}"
    );
}

#[test]
fn alternates_that_nest_loop_and_are_missing() {
    let (first, second, third) = (
        Repository::bare("sha1"),
        Repository::bare("sha1"),
        Repository::bare("sha1"),
    );
    let in_second = second.add_loose(b"second", 6);
    let in_third = third.add_loose(b"third", 6);
    let in_extra = Repository::with_history("sha1", 3, DEEP);
    let relative = |to: &Repository| {
        let home = to.root.parent().unwrap().file_name().unwrap();
        format!("../../../{}/work/objects\n", home.to_str().unwrap())
    };
    let write = |repository: &Repository, lines: String| {
        overwrite(
            &repository.objects().join("info/alternates"),
            lines.as_bytes(),
        );
    };
    write(
        &first,
        format!("# a comment\n\n/no/such/place\n{}", relative(&second)),
    );
    write(&second, format!("{}\n", third.objects().display()));
    write(&third, relative(&first));
    let options = StoreOptions {
        alternates: vec![in_extra.objects()],
        ..StoreOptions::default()
    };
    let store = ObjectStore::open(&first.objects(), options).unwrap();
    assert_eq!(store.read(&in_second).unwrap().1, b"second");
    assert_eq!(store.read(&in_third).unwrap().1, b"third");
    check(&store, &in_extra.known());
    assert_eq!(
        store.warnings(),
        ["alternate object directory '/no/such/place' does not exist"]
    );
}

#[test]
fn alternates_end_where_git_ends_them() {
    let chain: Vec<Repository> = (0..9).map(|_| Repository::bare("sha1")).collect();
    let mut ids = Vec::new();
    for (number, pair) in chain.windows(2).enumerate() {
        ids.push(pair[0].add_loose(format!("object {number}").as_bytes(), 6));
        let next = format!("{}\n", pair[1].objects().display());
        overwrite(&pair[0].objects().join("info/alternates"), next.as_bytes());
    }
    let store = open(&chain[0]);
    for id in &ids {
        let hex = id.to_hex().to_string();
        let outcome = chain[0].run(&["cat-file", "-e", &hex], b"");
        let is_found = store.locate(id).unwrap().is_some();
        assert_eq!(is_found, outcome.code == 0, "{hex}");
    }
    assert!(store
        .warnings()
        .iter()
        .any(|text| text.contains("nesting too deep")));
}

#[test]
fn prefixes_are_those_git_finds() {
    let repository = Repository::with_history("sha1", 60, DEEP);
    for number in 0..300 {
        repository.add_loose(format!("loose {number}").as_bytes(), 1);
    }
    let store = open(&repository);
    let known = repository.known();
    for hex_len in [1, 2, 3, 4, 5, 40] {
        for object in known.iter().step_by(17) {
            let hex = object.id.to_hex().to_string();
            let prefix = gix_hash::Prefix::from_hex_nonempty(&hex[..hex_len]).unwrap();
            let matches =
                |other: &&Known| other.id.to_hex().to_string().starts_with(&hex[..hex_len]);
            let expected: Vec<ObjectId> = known
                .iter()
                .filter(matches)
                .map(|object| object.id)
                .collect();
            assert_eq!(store.find_prefix(&prefix).unwrap(), expected);
        }
    }
    let too_long = gix_hash::Prefix::from_hex(&"a".repeat(64)).unwrap();
    assert!(store.find_prefix(&too_long).unwrap().is_empty());
}

#[test]
fn what_is_nowhere_is_missing() {
    let repository = Repository::with_history("sha1", 2, DEEP);
    let store = open(&repository);
    let id = ObjectId::from_hex(&[b'7'; 40]).unwrap();
    let id: &oid = &id;
    assert_eq!(store.locate(id).unwrap(), None);
    let error = store.read(id).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("object {} is missing", id.to_hex())
    );
    let empty = Repository::bare("sha1");
    assert_eq!(open(&empty).locate(id).unwrap(), None);
    let foreign = Location::Packed {
        pack: 9,
        offset: 12,
    };
    assert!(SharedBases::plan(&store, &[foreign], 1).is_err());
    assert!(Reader::new(&store).read(id, foreign).is_err());
}

#[test]
fn twenty_megabytes_are_streamed() {
    let repository = Repository::bare("sha1");
    let mut state = 1_u32;
    let noise = std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8 & 0x3f
    });
    let content: Vec<u8> = noise.take(20 << 20).collect();
    let id = repository.add_loose(&content, 1);
    let check = |repository: &Repository| {
        let store = open(repository);
        let location = store.locate(&id).unwrap().unwrap();
        let mut reader = Reader::new(&store);
        let (mut at, mut pieces) = (0, 0);
        let mut sink = |piece: &[u8]| {
            assert!(content[at..].starts_with(piece));
            (at, pieces) = (at + piece.len(), pieces + 1);
            Ok(())
        };
        let header = reader.stream(&id, location, &mut sink).unwrap();
        assert_eq!((header.size, at), (20 << 20, 20 << 20));
        assert!(pieces >= 80, "{pieces}");
        let mut failing = |_: &[u8]| Err(std::io::ErrorKind::StorageFull.into());
        let error = reader.stream(&id, location, &mut failing).unwrap_err();
        assert!(
            matches!(error, hedgerow_pack::Error::Sink { .. }),
            "{error}"
        );
        assert!(reader.read(&id, location).unwrap().1 == content);
        location
    };
    assert!(matches!(check(&repository), Location::Loose { .. }));
    repository.git_with(
        &["pack-objects", "-q", "objects/pack/pack"],
        id.to_hex().to_string().as_bytes(),
    );
    assert!(matches!(check(&repository), Location::Packed { .. }));
}

#[test]
fn the_main_pack_has_most_and_numbers_what_it_has() {
    let repository = Repository::with_history("sha1", 120, DEEP);
    let large = repository.only_pack_file("pack");
    let alone = open(&repository);
    let main = alone.main_pack().unwrap();
    for object in repository.known() {
        let location = main.location(main.position(object.id.as_slice()).unwrap());
        assert_eq!(alone.locate(&object.id).unwrap(), location);
        let Some(Location::Packed { pack, .. }) = location else {
            panic!("{location:?}");
        };
        assert_eq!(alone.pack_path(pack), Some(large.as_path()));
    }
    let year_2000 = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(946_684_800);
    let file = std::fs::File::open(&large).unwrap();
    file.set_modified(year_2000).unwrap();
    repository.import("refs/heads/other", 120..124);
    repository.git(&["repack", "-dq"]);
    repository.add_loose(b"loose", 3);
    let store = open(&repository);
    assert_eq!(store.pack_count(), 2);
    let main = store.main_pack().unwrap();
    let (mut inside, mut outside) = (std::collections::BTreeSet::new(), 0);
    for object in repository.known() {
        let Some(position) = main.position(object.id.as_slice()) else {
            outside += 1;
            continue;
        };
        assert!(inside.insert(position) && position < main.count());
        assert_eq!(main.id(position), Some(&*object.id));
        // What it has may be in the newer pack, too, which counts then.
        assert_eq!(main.location(position), None);
    }
    assert_eq!(inside.len(), main.count() as usize);
    assert!(outside >= 6, "{outside}");
    assert_eq!(main.location(main.count() + 1000), None);
}

#[test]
fn many_small_packs_and_a_broken_one_are_no_main_pack() {
    let repository = Repository::bare("sha1");
    for number in 0..4 {
        repository.import(
            &format!("refs/heads/b{number}"),
            number * 20..number * 20 + 20,
        );
        repository.git(&["repack", "-dq"]);
    }
    assert!(open(&repository).main_pack().is_none());
    repository.git(&["repack", "-adq"]);
    assert!(open(&repository).main_pack().is_some());
    overwrite(&repository.only_pack_file("idx"), b"broken");
    assert!(open(&repository).main_pack().is_none());
    let empty = Repository::bare("sha1");
    assert!(open(&empty).main_pack().is_none());
}
