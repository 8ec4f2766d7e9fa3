//! Chains of multi-pack-indexes, which git writes with `--incremental`.

use crate::scene::{add_pack, git_writes, lines, midx_path, open, options, write, FORMATS};
use hedgerow_engine::Execution;
use hedgerow_pack::{verify_midx, MidxComplaint};
use hedgerow_testkit::Repository;
use std::path::PathBuf;

/// A repository with a chain of three layers; `None`, said aloud, if git cannot make one.
fn chained(format: &str) -> Option<Repository> {
    let repository = Repository::bare(format);
    let known = repository.run(&["multi-pack-index", "write", "-h"], b"");
    if !known.text().contains("incremental") {
        hedgerow_testkit::skip("this git cannot write chains of multi-pack-indexes");
        return None;
    }
    for number in 0..3 {
        add_pack(&repository, number);
        repository.git(&["multi-pack-index", "write", "--incremental"]);
    }
    Some(repository)
}

fn chain_path(repository: &Repository) -> PathBuf {
    let packs = repository.objects().join("pack");
    packs.join("multi-pack-index.d/multi-pack-index-chain")
}

fn complaints(repository: &Repository) -> Vec<MidxComplaint> {
    let mut complaints = Vec::new();
    let mut complain = |complaint| complaints.push(complaint);
    let options = options(repository);
    verify_midx(
        &repository.objects(),
        options.hash,
        &Execution::with_threads(options.threads),
        &mut complain,
    )
    .unwrap();
    complaints
}

#[test]
fn a_chain_is_read_as_one() {
    for format in FORMATS {
        let Some(repository) = chained(format) else {
            return;
        };
        let known = repository.known();
        // Without the indexes of packs, nothing but the chain could tell that a pack is in use.
        let store = open(&repository);
        for object in &known {
            let found = store.locate(&object.id).unwrap().unwrap();
            assert!(matches!(found, hedgerow_pack::Location::Packed { .. }));
            assert_eq!(store.read(&object.id).unwrap().1, object.content);
        }
        assert_eq!(store.warnings(), Vec::<String>::new());
        assert_eq!(complaints(&repository), []);
        // A chain that breaks off is told, and does not change the answers.
        let content = std::fs::read(chain_path(&repository)).unwrap();
        let second = content.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        let mut broken = content.clone();
        broken[second..second + 4].copy_from_slice(b"0000");
        std::fs::write(chain_path(&repository), &broken).unwrap();
        let store = open(&repository);
        for object in &known {
            assert_eq!(store.read(&object.id).unwrap().1, object.content);
        }
        let warning = "unable to find all multi-pack index files".to_owned();
        assert!(
            store.warnings().contains(&warning),
            "{:?}",
            store.warnings()
        );
        assert!(complaints(&repository).contains(&MidxComplaint::Warning(warning)));
    }
}

#[test]
fn one_file_is_made_of_a_chain_as_git_makes_it() {
    for format in FORMATS {
        let Some(repository) = chained(format) else {
            return;
        };
        let chain = std::fs::read(chain_path(&repository)).unwrap();
        let layers: Vec<(PathBuf, Vec<u8>)> = lines(chain.clone())
            .iter()
            .map(|id| chain_path(&repository).with_file_name(format!("multi-pack-index-{id}.midx")))
            .map(|path| (path.clone(), std::fs::read(path).unwrap()))
            .collect();
        assert_eq!(layers.len(), 3);
        add_pack(&repository, 3);
        let expected = git_writes(&repository, None, &[]);
        std::fs::remove_file(midx_path(&repository)).unwrap();
        std::fs::write(chain_path(&repository), &chain).unwrap();
        for (path, content) in &layers {
            std::fs::write(path, content).unwrap();
        }
        let (content, _, warnings) = write(&repository, &options(&repository));
        assert!(content.unwrap() == expected);
        assert_eq!(warnings, Vec::<String>::new());
        assert!(!chain_path(&repository).exists());
        assert!(layers.iter().all(|(path, _)| !path.exists()));
    }
}
