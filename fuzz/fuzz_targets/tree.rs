//! A tree object from any bytes: every name that comes out may become a path.
#![no_main]

use hedgerow_git::tree::entries;
use hedgerow_tree::{check_name, NameRules};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|content: &[u8]| {
    let rules = NameRules { protect_ntfs: true, protect_hfs: true };
    let Ok(listed) = entries(content, gix_hash::Kind::Sha1, rules) else { return };
    for entry in &listed {
        assert!(check_name(entry.name, entry.kind, rules).is_ok());
        assert!(!entry.name.contains(&b'/'));
    }
});
