use crate::repository::Repository;
use hedgerow_engine::Execution;
use hedgerow_fs::ReadFile;
use hedgerow_pack::indexer::{receive_pack, IndexOptions, Refusal};
use hedgerow_pack::{Error, HashKind, IndexLayout, ObjectStore, StoreOptions};
use std::num::NonZeroUsize;

#[test]
fn a_thin_pack_is_completed_so_that_git_takes_it() {
    let repository = Repository::new(HashKind::Sha1);
    repository.git(&["tag", "old", "main"]);
    repository.grow(5, 2);
    let wanted = b"main\n^old\n";
    let thin = [
        "pack-objects",
        "-q",
        "--stdout",
        "--thin",
        "--revs",
        "--delta-base-offset",
    ];
    let pack = repository.git_with(&thin, wanted);
    std::fs::write(repository.path("thin.pack"), &pack).unwrap();
    let objects = repository.path(".git/objects");
    let store = ObjectStore::open(&objects, StoreOptions::default()).unwrap();
    let receive = |fix_thin, threads| {
        let input = ReadFile::open(&repository.path("thin.pack")).unwrap();
        let options = IndexOptions {
            execution: Execution::with_threads(NonZeroUsize::new(threads).unwrap()),
            fix_thin,
            store: Some(&store),
            ..IndexOptions::new(HashKind::Sha1)
        };
        receive_pack(&input, &[], &repository.path(""), &options)
    };
    let refused = receive(false, 2).unwrap_err();
    assert!(
        matches!(refused, Error::Refused(Refusal::Unresolved { .. })),
        "{refused}"
    );
    let mut packs = Vec::new();
    for threads in [1, 3] {
        let mut received = receive(true, threads).unwrap();
        assert!(received.added > 0);
        let name = format!("full{threads}");
        let mut places = repository.places(&name, IndexLayout::default());
        places.pack = Some(repository.path(format!("{name}.pack")));
        received.install(&places).unwrap();
        repository.git(&["verify-pack", &format!("{name}.pack")]);
        packs.push(std::fs::read(places.pack.unwrap()).unwrap());
    }
    assert!(packs[0] == packs[1]);
}

#[test]
fn links_must_lead_somewhere() {
    let repository = Repository::new(HashKind::Sha1);
    let ids = repository.git(&["rev-parse", "main"]);
    let pack = repository.git_with(&["pack-objects", "-q", "--stdout"], &ids);
    let path = repository.path("one.pack");
    std::fs::write(&path, pack).unwrap();
    let store =
        ObjectStore::open(&repository.path(".git/objects"), StoreOptions::default()).unwrap();
    let index = |store| {
        let options = IndexOptions {
            store,
            links: true,
            ..IndexOptions::new(HashKind::Sha1)
        };
        hedgerow_pack::indexer::index_pack_file(&path, &options)
    };
    assert!(index(Some(&store)).unwrap().refers_outside);
    let refused = index(None).unwrap_err();
    assert!(
        matches!(refused, Error::Refused(Refusal::NotReceived(_))),
        "{refused}"
    );
}
