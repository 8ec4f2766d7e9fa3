use super::support::*;
use hedgerow_pack::{HashKind, IndexLayout};
use hedgerow_serve::{stage_pack, Contents, FileOptions, Selection, Selector};

fn options() -> FileOptions {
    FileOptions {
        index: IndexLayout::default(),
        reverse_index: true,
        sync_pack: false,
        sync_indexes: false,
    }
}

#[test]
fn the_index_and_the_reverse_index_are_those_git_makes() {
    let source = Repository::with_history(HashKind::Sha1, 20);
    let store = source.store();
    let contents = Contents {
        wanted: wanted(&store, &source.listed(&["--all"])),
        ..Contents::default()
    };
    let target = tempfile::tempdir().unwrap();
    let base = target.path().join("pack");
    let staged = stage_pack(&store, &contents, &with_threads(2), &options(), &base).unwrap();
    // Nothing of it is there until it is installed.
    assert_eq!(std::fs::read_dir(target.path()).unwrap().count(), 0);
    let written = staged.install().unwrap();
    let file = |extension: &str| {
        let name = format!("pack-{}.{extension}", written.checksum);
        std::fs::read(target.path().join(name)).unwrap()
    };
    let pack = target.path().join("git.pack");
    std::fs::write(&pack, file("pack")).unwrap();
    source.git(&["index-pack", "--rev-index", pack.to_str().unwrap()]);
    for extension in ["idx", "rev"] {
        let gits = std::fs::read(pack.with_extension(extension)).unwrap();
        assert!(file(extension) == gits, "{extension}");
    }
    assert_eq!(std::fs::read_dir(target.path()).unwrap().count(), 6);
}

#[test]
fn a_damaged_copy_does_not_spread() {
    let source = Repository::with_history(HashKind::Sha1, 5);
    source.git(&["repack", "-adq"]);
    let store = source.store();
    let listed = source.listed(&["main:d0/file0.c"]);
    let id = listed[0].0;
    // A second copy that is whole.
    let content = source.git(&["cat-file", "blob", &id.to_string()]);
    let loose = Repository::new(HashKind::Sha1);
    loose.git_with(&["hash-object", "-w", "--stdin"], &content);
    let hex = id.to_string();
    std::fs::create_dir_all(source.objects().join(&hex[..2])).unwrap();
    let path = format!("{}/{}", &hex[..2], &hex[2..]);
    std::fs::copy(loose.objects().join(&path), source.objects().join(&path)).unwrap();
    let pack = store.pack_path(0).unwrap().to_owned();
    let entries = store.pack_entries(0).unwrap();
    let at = entries.offset_of(&id).unwrap() as usize;
    let end = at + entries.at_offset(at as u64).unwrap().bytes.len();
    let mut bytes = std::fs::read(&pack).unwrap();
    bytes[end - 6] ^= 0x55;
    std::fs::remove_file(&pack).unwrap();
    std::fs::write(&pack, bytes).unwrap();
    let store = source.store();
    let contents = Contents {
        wanted: wanted(&store, &listed),
        ..Contents::default()
    };
    let target = tempfile::tempdir().unwrap();
    let base = target.path().join("pack");
    let staged = stage_pack(&store, &contents, &with_threads(1), &options(), &base);
    let written = staged.unwrap().install();
    let name = format!("pack-{}.pack", written.unwrap().checksum);
    let sound = std::fs::read(target.path().join(name)).unwrap();
    assert_eq!(ids_in(&sound, HashKind::Sha1), [hex]);
}

#[test]
fn objects_are_left_out_for_where_they_are() {
    let source = Repository::with_history(HashKind::Sha1, 5);
    source.git(&["repack", "-adq"]);
    let packed = source.listed(&["main"])[0].0;
    let loose = source.git_with(&["hash-object", "-w", "--stdin"], b"loose");
    let loose = hedgerow_pack::ObjectId::from_hex(loose.trim_ascii_end()).unwrap();
    let selects = |repository: &Repository, selection: &Selection| {
        let store = repository.store();
        let selector = Selector::new(&store, selection);
        [packed, loose].map(|id| selector.select(&id).unwrap().is_some())
    };
    let [none, incremental, local, keep] = [
        (false, false, false),
        (true, false, false),
        (false, true, false),
        (false, false, true),
    ]
    .map(|(incremental, local, honor_pack_keep)| Selection {
        incremental,
        local,
        honor_pack_keep,
        left_out: Vec::new(),
    });
    let first = Selection {
        left_out: vec![0],
        ..Selection::default()
    };
    assert_eq!(selects(&source, &first), [false, true]);
    assert_eq!(selects(&source, &none), [true, true]);
    assert_eq!(selects(&source, &incremental), [false, true]);
    assert_eq!(selects(&source, &local), [true, true]);
    assert_eq!(selects(&source, &keep), [true, true]);
    let pack = source.store().pack_path(0).unwrap().to_owned();
    std::fs::write(pack.with_extension("keep"), b"").unwrap();
    assert_eq!(selects(&source, &keep), [false, true]);
    let borrower = Repository::new(HashKind::Sha1);
    let alternates = borrower.objects().join("info/alternates");
    std::fs::write(alternates, format!("{}\n", source.objects().display())).unwrap();
    assert_eq!(selects(&borrower, &none), [true, true]);
    assert_eq!(selects(&borrower, &local), [false, false]);
    assert_eq!(selects(&borrower, &keep), [true, true]);
}
