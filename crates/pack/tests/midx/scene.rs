//! Repositories with many packs that share objects.

use hedgerow_pack::{write_midx, MidxOptions, ObjectStore, StoreOptions, WrittenMidx};
use hedgerow_testkit::Repository;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// Both object formats.
pub const FORMATS: [&str; 2] = ["sha1", "sha256"];

/// A repository with `packs` packs, each of which also has every third object of those before.
pub fn overlapping(format: &str, packs: usize) -> Repository {
    let repository = Repository::bare(format);
    for number in 0..packs {
        add_pack(&repository, number);
    }
    for (number, pack) in repository.pack_files("pack").iter().enumerate() {
        age(pack, [40, 10, 30, 10, 20][number % 5]);
    }
    repository
}

/// Adds a pack that shares objects with all others.
pub fn add_pack(repository: &Repository, number: usize) {
    repository.import("refs/heads/main", number * 3..number * 3 + 3);
    let list = [
        "cat-file",
        "--batch-all-objects",
        "--batch-check=%(objectname)",
    ];
    let before = lines(repository.git(&list));
    repository.git(&["repack", "-dq"]);
    let shared: Vec<&String> = before.iter().skip(number % 3).step_by(3).collect();
    let mut wanted = String::new();
    for id in shared {
        wanted.push_str(id);
        wanted.push('\n');
    }
    repository.git_with(
        &["pack-objects", "-q", "objects/pack/pack"],
        wanted.as_bytes(),
    );
}

pub fn lines(printed: Vec<u8>) -> Vec<String> {
    let text = String::from_utf8(printed).unwrap();
    text.lines().map(str::to_owned).collect()
}

/// Sets when the file was last changed, in seconds before now.
pub fn age(path: &std::path::Path, seconds: u64) {
    let file = std::fs::File::open(path).unwrap();
    let when = SystemTime::now() - Duration::from_secs(seconds);
    file.set_modified(when).unwrap();
}

/// Where the multi-pack-index is.
pub fn midx_path(repository: &Repository) -> PathBuf {
    repository.objects().join("pack/multi-pack-index")
}

/// The object store of a repository, opened anew.
pub fn open(repository: &Repository) -> ObjectStore {
    let options = StoreOptions {
        hash: repository.hash(),
        ..StoreOptions::default()
    };
    ObjectStore::open(&repository.objects(), options).unwrap()
}

pub fn options(repository: &Repository) -> MidxOptions {
    MidxOptions {
        hash: repository.hash(),
        version: 1,
        preferred_pack: None,
        packs: None,
        for_bitmap: false,
        threads: NonZeroUsize::new(2).unwrap(),
        sync: false,
    }
}

/// Writes it; returns its content, what it said, and the warnings. `None` if there was nothing to
/// do.
pub fn write(
    repository: &Repository,
    options: &MidxOptions,
) -> (Option<Vec<u8>>, Option<Vec<u32>>, Vec<String>) {
    let mut warnings = Vec::new();
    let objects = repository.objects();
    let mut warn = |warning| warnings.push(warning);
    let written: Option<WrittenMidx> = write_midx(&objects, options, &mut warn).unwrap();
    let Some(written) = written else {
        return (None, None, warnings);
    };
    let order = written.pseudo_pack_order().to_vec();
    let checksum = written.checksum().as_bytes().to_vec();
    written.commit().unwrap();
    let content = std::fs::read(midx_path(repository)).unwrap();
    assert!(content.ends_with(&checksum));
    (Some(content), Some(order), warnings)
}

/// What git writes from the state `before`.
pub fn git_writes(repository: &Repository, before: Option<&[u8]>, arguments: &[&str]) -> Vec<u8> {
    restore(repository, before);
    let command = ["multi-pack-index", "write"];
    repository.git(&[&command, arguments].concat());
    std::fs::read(midx_path(repository)).unwrap()
}

/// Makes `content` the multi-pack-index, or leaves none.
pub fn restore(repository: &Repository, content: Option<&[u8]>) {
    let path = midx_path(repository);
    let _ = std::fs::remove_file(&path);
    if let Some(content) = content {
        std::fs::write(&path, content).unwrap();
    }
}
