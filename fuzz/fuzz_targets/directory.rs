//! Listings of any bytes: names are safe, in order, and each there once.
#![no_main]

use hedgerow_squashfs::format::Reference;
use hedgerow_squashfs::{Directory, Image};
use libfuzzer_sys::fuzz_target;

#[path = "forged/mod.rs"]
mod forged;

fuzz_target!(|bytes: &[u8]| {
    let mut parts = forged::Parts::new(1);
    parts.directories = forged::raw(bytes);
    let Ok(image) = Image::new(Box::new(parts.build()), 0) else { return };
    for size in [bytes.len() as u32 + 3, bytes.len() as u32 + 2, u32::MAX] {
        let listing = Reference(0);
        let directory = Directory { listing, size, parent: 0, index_count: 0 };
        let Ok(listing) = image.listing(&directory) else { continue };
        let mut last: &[u8] = b"";
        for (name, entry) in listing.iter() {
            let bytes: &[u8] = name;
            assert!(last < bytes);
            assert!(name != "." && name != ".." && !bytes.iter().any(|b| [0, b'/'].contains(b)));
            assert_eq!(listing.find(name).map(|found| found.inode), Some(entry.inode));
            last = bytes;
        }
    }
});
