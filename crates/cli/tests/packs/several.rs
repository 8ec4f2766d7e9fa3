//! Repositories whose objects are in several packs, many of them more than once.

use super::lines;
use hedgerow_testkit::git;
use hedgerow_testkit::history::{scene, Graph, Scene, Storage};
use hedgerow_testkit::Random;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// A repository with four packs, each with many objects of the others, and no loose objects.
pub fn several_packs(seed: u64, format: &str) -> Scene {
    let scene = scene(seed, format, Storage::Loose, Graph::None);
    let mut random = Random::new(seed);
    add_versions(&scene, "deltas", 0..25);
    let mut rest = all_objects(&scene);
    for number in 0..3 {
        let all = all_objects(&scene);
        let part: Vec<String> = all.into_iter().filter(|_| random.chance(40)).collect();
        rest.retain(|id| !part.contains(id));
        pack(&scene, &part, number % 2 == 0);
    }
    let shared = all_objects(&scene);
    rest.extend(shared.into_iter().filter(|_| random.chance(30)));
    pack(&scene, &rest, true);
    scene.git(&["prune-packed", "-q"]);
    for (number, pack) in packs(&scene).iter().enumerate() {
        let file = std::fs::File::open(pack).unwrap();
        let when = SystemTime::now() - Duration::from_secs([400, 100, 300, 200][number % 4]);
        file.set_modified(when).unwrap();
    }
    scene
}

/// Adds commits to a branch, each of which changes a line of one long file.
pub fn add_versions(scene: &Scene, branch: &str, numbers: std::ops::Range<usize>) {
    let mut stream = String::new();
    for number in numbers {
        let line = |at: usize| {
            format!(
                "line {at} {}\n",
                if at == number % 200 { number } else { 0 }
            )
        };
        let content: String = (0..200).map(line).collect();
        stream += &format!(
            "commit refs/heads/{branch}\nmark :{}\ncommitter A <a@b> {} +0000\ndata 1\nx\n",
            number + 1,
            1_100_000_000 + number,
        );
        stream += &format!("M 644 inline dir/long\ndata {}\n{content}\n", content.len());
    }
    git(
        &scene.root,
        &[
            "-c",
            "fastimport.unpackLimit=100000",
            "fast-import",
            "--quiet",
            "--force",
        ],
        stream.as_bytes(),
    );
}

pub fn all_objects(scene: &Scene) -> Vec<String> {
    let words = [
        "cat-file",
        "--batch-all-objects",
        "--batch-check=%(objectname)",
    ];
    lines(&scene.git(&words))
}

/// Packs the objects `ids`.
pub fn pack(scene: &Scene, ids: &[String], by_offset: bool) {
    let mut words = vec!["pack-objects", "-q"];
    words.extend(by_offset.then_some("--delta-base-offset"));
    let base = scene.root.join(".git/objects/pack/pack");
    words.push(base.to_str().unwrap());
    git(&scene.root, &words, (ids.join("\n") + "\n").as_bytes());
}

/// The files of the pack directory with that extension, sorted; all files for none.
pub fn beside_packs(scene: &Scene, extension: &str) -> Vec<PathBuf> {
    let files = std::fs::read_dir(scene.root.join(".git/objects/pack")).unwrap();
    let paths = files.map(|file| file.unwrap().path());
    let has = |path: &PathBuf| path.extension().is_some_and(|found| found == extension);
    let mut found: Vec<PathBuf> = paths
        .filter(|path| extension.is_empty() || has(path))
        .collect();
    found.sort();
    found
}

pub fn packs(scene: &Scene) -> Vec<PathBuf> {
    beside_packs(scene, "pack")
}

pub fn midx(scene: &Scene) -> PathBuf {
    scene.root.join(".git/objects/pack/multi-pack-index")
}

/// Removes the multi-pack-index and what belongs to it.
pub fn clear(scene: &Scene) {
    for path in beside_packs(scene, "") {
        let name = path.file_name().unwrap().to_str().unwrap();
        if name.starts_with("multi-pack-index") {
            std::fs::remove_file(path).unwrap();
        }
    }
}

/// As in git 2.55; 2.47 ends with 1.
#[test]
fn nothing_to_index_is_an_error_of_its_own() {
    let repository = hedgerow_testkit::Repository::init(&[]);
    for words in [&["write"][..], &["write", "--bitmap"]] {
        let mut command = super::HEDGEROW.command(&repository.root);
        command.arg("multi-pack-index").args(words);
        let said = hedgerow_testkit::run(command).failed(255, "write");
        assert_eq!(said, "error: no pack files to index.\n");
    }
}
