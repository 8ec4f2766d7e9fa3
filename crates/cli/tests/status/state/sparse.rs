//! Sparse checkouts, and files that are where they should not be.

use super::names::{directory, parent};
use super::{files, State};

/// Makes the checkout sparse.
pub fn choose(state: &mut State) {
    let cone = state.random.chance(60);
    let mut words: Vec<Vec<u8>> = vec![b"sparse-checkout".to_vec(), b"set".to_vec()];
    if cone {
        words.push(b"--cone".to_vec());
        let sparse_index = state.random.chance(50);
        let option = ["--no-sparse-index", "--sparse-index"][usize::from(sparse_index)];
        words.push(option.as_bytes().to_vec());
        words.push(b"--".to_vec());
        for _ in 0..state.random.below(3) {
            let place = match state.random.below(2) {
                0 => directory(state).to_vec(),
                _ => parent(&state.path()),
            };
            if !place.is_empty() && !place.contains(&b'"') {
                words.push(place);
            }
        }
    } else {
        words.extend([b"--no-cone".to_vec(), b"--no-sparse-index".to_vec()]);
        for pattern in ["/*", "!/src/", "*.txt", "!/lib", "/doc/", "!*.c"] {
            if state.random.chance(50) {
                words.push(pattern.as_bytes().to_vec());
            }
        }
    }
    state.git(&words);
    // A remark about the inside of git.
    state.configure("[advice]\n\tsparseIndexExpanded = false\n");
    // Files that are outside, and yet there.
    for _ in 0..state.random.below(4) {
        let path = state.path();
        if std::fs::symlink_metadata(state.place(&path)).is_err() {
            match state.random.below(3) {
                0 => drop(files::directory(state, &path)),
                _ => drop(files::write(state, &path, b"present all the same\n")),
            }
        }
    }
    if state.random.chance(10) {
        state.configure("[sparse]\n\texpectFilesOutsideOfPatterns = true\n");
    }
}
