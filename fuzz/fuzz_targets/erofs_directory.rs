//! Directories of any bytes: names are safe, in order, and each there once.
#![no_main]

use hedgerow_erofs::Image;
use libfuzzer_sys::fuzz_target;

#[path = "forged_erofs/mod.rs"]
mod forged_erofs;

fuzz_target!(|bytes: &[u8]| {
    // A compact inode of a directory whose content is in the blocks behind it.
    let mut inode = vec![0; 4096];
    inode[4..6].copy_from_slice(&0o040_755u16.to_le_bytes());
    inode[8..12].copy_from_slice(&(bytes.len() as u32).to_le_bytes());
    inode[16..20].copy_from_slice(&2u32.to_le_bytes());
    inode.extend_from_slice(bytes);
    let image = forged_erofs::image(&inode, 0);
    let Ok(image) = Image::new(Box::new(image), 0) else { return };
    let Ok(listing) = image.root().and_then(|root| image.listing(&root)) else { return };
    let mut last: &[u8] = b"";
    for index in 0..listing.len() {
        let (name, entry) = listing.get(index).expect("it is in the listing");
        assert!(last < name);
        assert!(name != b"." && name != b".." && !name.iter().any(|b| [0, b'/'].contains(b)));
        assert_eq!(listing.find(name).map(|found| found.inode), Some(entry.inode));
        last = name;
    }
});
