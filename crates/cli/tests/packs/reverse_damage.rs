//! Damaged reverse indexes: no size becomes wrong, and somebody is told.

use super::midx_damage::{hash_len, seal};
use super::several::{beside_packs, midx, several_packs};
use super::{hedgerow, lines, printed};
use hedgerow_testkit::Random;

const QUESTIONS: [&[&str]; 3] = [
    &["rev-list", "--objects", "--all", "--disk-usage"],
    &[
        "rev-list",
        "--objects",
        "--all",
        "--disk-usage",
        "--use-bitmap-index",
    ],
    &[
        "cat-file",
        "--batch-all-objects",
        "--batch-check=%(objectname) %(objectsize:disk)",
    ],
];

#[test]
fn no_size_becomes_wrong() {
    for (seed, format) in [(80, "sha1"), (81, "sha256")] {
        let scene = several_packs(seed, format);
        printed(&scene, &["reverse-index"]);
        printed(&scene, &["multi-pack-index", "write", "--bitmap"]);
        let expected = QUESTIONS.map(|words| lines(printed(&scene, words).as_bytes()));
        let mut random = Random::new(seed);
        let mut paths = beside_packs(&scene, "rev");
        paths.retain(|path| {
            path.file_name()
                .unwrap()
                .to_string_lossy()
                .starts_with("pack-")
        });
        assert!(paths.len() > 3, "{paths:?}");
        for path in paths.iter().chain([&midx(&scene)]) {
            let whole = std::fs::read(path).unwrap();
            let _ = std::fs::remove_file(path);
            let is_midx = *path == midx(&scene);
            let end = whole.len() - hash_len(format);
            for round in 0..12 {
                let mut damaged = whole.clone();
                let at = if is_midx {
                    // The last chunk but the one of packs with bitmaps is the order of the bits.
                    end - 4 * (1 + random.below(40))
                } else {
                    12 + 4 * random.below((end - hash_len(format) - 12) / 4)
                };
                let other = match round % 3 {
                    0 if at >= 16 => damaged[at - 4..at].to_vec(),
                    1 => 0_u32.to_be_bytes().to_vec(),
                    _ => (random.below(50) as u32).to_be_bytes().to_vec(),
                };
                damaged[at..at + 4].copy_from_slice(&other);
                if round % 2 == 0 {
                    seal(&mut damaged, format);
                }
                std::fs::write(path, &damaged).unwrap();
                // A multi-pack-index of another hash has no bitmap: there is nothing to tell.
                let mut is_told = damaged == whole || is_midx && round % 2 == 0;
                for (words, own) in QUESTIONS.iter().zip(&expected) {
                    let found = hedgerow(&scene, words);
                    let what = format!("{path:?}, byte {at}, {words:?}: {}", found.stderr);
                    assert_eq!(found.code, 0, "{what}");
                    let lines = lines(&found.stdout);
                    // With and without bitmaps, other copies of an object are found.
                    let is_sum = words.contains(&"--disk-usage");
                    let is_right = lines == *own || is_sum && expected[..2].contains(&lines);
                    assert!(is_right, "{what}");
                    is_told |= found.stderr.contains("warning");
                }
                assert!(is_told, "{path:?}, byte {at}");
                std::fs::remove_file(path).unwrap();
            }
            std::fs::write(path, &whole).unwrap();
        }
    }
}
