//! Which kind of index there is, and how old.

use super::{files, State};
use std::time::{Duration, SystemTime};

/// Draws the kind.
pub fn choose(state: &mut State) {
    match state.random.below(10) {
        0 => drop(state.git(&["update-index", "--index-version", "4"])),
        1 => drop(state.git(&["update-index", "--index-version", "3"])),
        2 => drop(state.git(&["update-index", "--index-version", "2"])),
        // Git 2.47 finds a defect in itself where an index is split and has no checksum.
        3 if !state
            .operations
            .iter()
            .any(|done| done.contains("manyFiles")) =>
        {
            state.configure("[core]\n\tsplitIndex = true\n");
            state.git(&["update-index", "--split-index"]);
        }
        4 => {
            state.git(&["update-index", "--force-untracked-cache"]);
            state.git(&["status"]);
        }
        5 => {
            state.configure("[index]\n\tskipHash = true\n");
            state.git(&["update-index", "--force-write-index"]);
        }
        _ => {}
    }
}

/// Makes the index look older than all files, so that none of its stat data can be trusted.
pub fn age(state: &mut State) {
    let path = state.index_path();
    if !files::is_file(&path) || !state.random.chance(25) {
        return;
    }
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_400_000_000);
    let file = std::fs::OpenOptions::new().write(true).open(&path);
    file.unwrap().set_modified(time).unwrap();
    state.note("an old index");
}
