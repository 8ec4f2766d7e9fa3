//! Extended attributes of any bytes: what one inode has can be held in memory.
#![no_main]

use hedgerow_squashfs::Image;
use libfuzzer_sys::fuzz_target;

#[path = "forged/mod.rs"]
mod forged;

fuzz_target!(|input: (&[u8], &[u8])| {
    let (values, sets) = input;
    let mut parts = forged::Parts::new(1);
    parts.xattrs = Some((forged::raw(values), forged::raw(sets), sets.len() as u32 / 16));
    let Ok(image) = Image::new(Box::new(parts.build()), 0) else { return };
    for index in 0..8 {
        let Ok(xattrs) = image.xattrs(index) else { continue };
        let (mut names_bytes, mut values_bytes) = (0, 0);
        for xattr in xattrs.flatten() {
            assert!(xattr.value.len() <= 1 << 16);
            names_bytes += xattr.name.len();
            values_bytes += xattr.value.len();
        }
        assert!(names_bytes <= 1 << 16 && values_bytes <= 16 << 20);
    }
});
