use crate::repository::Repository;
use hedgerow_engine::Execution;
use hedgerow_pack::indexer::{index_pack_file, receive_pack, IndexOptions};
use hedgerow_pack::{HashKind, IndexLayout};
use std::num::NonZeroUsize;
use std::process::Command;

fn layouts() -> [(Vec<&'static str>, IndexLayout); 3] {
    let with = |version, last_small_offset| IndexLayout {
        version,
        last_small_offset,
        exceptions: Vec::new(),
    };
    [
        (vec![], IndexLayout::default()),
        (vec!["--index-version=1"], with(1, i32::MAX as u32)),
        (vec!["--index-version=2,0x400"], with(2, 0x400)),
    ]
}

#[test]
fn indexes_are_those_of_git_whatever_the_number_of_threads() {
    for hash in [HashKind::Sha1, HashKind::Sha256] {
        let repository = Repository::new(hash);
        let format = if hash == HashKind::Sha256 {
            "sha256"
        } else {
            "sha1"
        };
        let format = format!("--object-format={format}");
        for deltas in [
            &["--delta-base-offset", "--depth=40"][..],
            &["--depth=40"],
            &["--depth=0"],
        ] {
            let pack = repository.path("a.pack");
            std::fs::write(&pack, repository.pack(deltas)).unwrap();
            for (arguments, layout) in layouts() {
                let arguments = [arguments.as_slice(), &[&format]].concat();
                let expected = repository.index_by_git(&pack, &arguments);
                for threads in [1, 2, 5] {
                    let got = repository.index_here(&pack, layout.clone(), threads);
                    assert!(got == expected, "{hash} {deltas:?} {arguments:?} {threads}");
                }
            }
        }
    }
}

#[test]
fn a_pack_of_nothing_has_an_index() {
    let repository = Repository::new(HashKind::Sha1);
    let pack = repository.path("none.pack");
    std::fs::write(&pack, repository.git(&["pack-objects", "-q", "--stdout"])).unwrap();
    let expected = repository.index_by_git(&pack, &[]);
    assert_eq!(
        repository.index_here(&pack, IndexLayout::default(), 2),
        expected
    );
}

#[test]
fn objects_are_told_as_verify_pack_does() {
    let repository = Repository::new(HashKind::Sha1);
    let pack = repository.path("a.pack");
    std::fs::write(
        &pack,
        repository.pack(&["--delta-base-offset", "--depth=9"]),
    )
    .unwrap();
    repository.git(&["index-pack", "a.pack"]);
    let told = repository.git(&["verify-pack", "-v", "a.idx"]);
    let options = IndexOptions {
        execution: Execution::with_threads(NonZeroUsize::new(2).unwrap()),
        statistics: true,
        ..IndexOptions::new(HashKind::Sha1)
    };
    let indexed = index_pack_file(&pack, &options).unwrap();
    let line = |object: &hedgerow_pack::indexer::PackedObject| {
        let (id, kind, size) = (object.id, object.kind.name(), object.size);
        let (in_pack, offset) = (object.size_in_pack, object.offset);
        let base = object.base.map(|base| format!(" {} {base}", object.depth));
        format!(
            "{id} {kind:<6} {size} {in_pack} {offset}{}\n",
            base.unwrap_or_default()
        )
    };
    let lines: String = indexed.objects.iter().map(line).collect();
    assert!(String::from_utf8(told).unwrap().starts_with(&lines));
    assert!(indexed.objects.iter().any(|object| object.depth > 5));
}

#[test]
fn a_stream_gives_the_same_as_a_file_and_ends_where_the_pack_does() {
    let repository = Repository::new(HashKind::Sha1);
    let pack = repository.pack(&["--delta-base-offset"]);
    std::fs::write(repository.path("a.pack"), &pack).unwrap();
    let expected = repository.index_by_git(&repository.path("a.pack"), &[]);
    // The pipe stays open behind the pack, as a connection does.
    let mut sender = Command::new("sh");
    sender
        .args(["-c", "cat a.pack; exec sleep 60"])
        .current_dir(repository.path(""));
    let mut sender = sender.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let input = {
        use std::os::fd::AsRawFd;
        let number = sender.stdout.as_ref().unwrap().as_raw_fd();
        hedgerow_fs::ReadFile::open(format!("/proc/self/fd/{number}").as_ref()).unwrap()
    };
    let options = IndexOptions {
        execution: Execution::with_threads(NonZeroUsize::new(2).unwrap()),
        ..IndexOptions::new(HashKind::Sha1)
    };
    let directory = repository.path("");
    let received = receive_pack(&input, &[], &directory, &options);
    sender.kill().unwrap();
    sender.wait().unwrap();
    let mut places = repository.places("got", IndexLayout::default());
    places.pack = Some(repository.path("got.pack"));
    places.notes = vec![(repository.path("got.keep"), b"why\n".to_vec())];
    assert_eq!(received.unwrap().install(&places).unwrap(), [true]);
    let read = |name: &str| std::fs::read(repository.path(name)).unwrap();
    assert!(read("got.pack") == pack);
    assert!((read("got.idx"), read("got.rev")) == expected);
    assert_eq!(read("got.keep"), b"why\n");
}
