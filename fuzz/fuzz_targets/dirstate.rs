//! A dirstate from any bytes, in both formats; its entries are in order and inside the tree.
#![no_main]

use hedgerow_hg::dirstate::{Dirstate, Docket};
use libfuzzer_sys::fuzz_target;
use std::path::Path;

fn check(dirstate: &Dirstate) {
    let mut last: &[u8] = b"";
    for entry in dirstate.entries() {
        let path = dirstate.path(entry);
        assert!(last < path, "ascending");
        assert!(!path.starts_with(b"/") && !path.split(|byte| *byte == b'/').any(|p| p == b".."));
        assert_eq!(dirstate.find(path), Some(entry));
        dirstate.copy_source(entry);
        last = path;
    }
}

fuzz_target!(|content: &[u8]| {
    let path = Path::new("dirstate");
    if let Ok(dirstate) = Dirstate::parse_v1(content.to_vec(), path) {
        check(&dirstate);
    }
    // The docket's identifier tells where the data begins.
    let length = 125 + usize::from(content.get(124).copied().unwrap_or_default());
    if let (Ok(docket), Some(data)) = (Docket::parse(content, path), content.get(length..)) {
        if let Ok(dirstate) = docket.with_data(data.to_vec(), path) {
            check(&dirstate);
        }
    }
});
