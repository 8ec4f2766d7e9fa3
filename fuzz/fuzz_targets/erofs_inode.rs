//! Inodes of any bytes, with their attributes and targets.
#![no_main]

use hedgerow_erofs::Image;
use libfuzzer_sys::fuzz_target;

#[path = "forged_erofs/mod.rs"]
mod forged_erofs;

fuzz_target!(|bytes: &[u8]| {
    let image = forged_erofs::image(bytes, 0x7f);
    let Ok(image) = Image::new(Box::new(image), 0) else { return };
    for number in forged_erofs::INODE..forged_erofs::INODE + 4 {
        let Ok(inode) = image.inode(number) else { continue };
        assert_eq!(inode.number, number);
        let _ = image.xattrs(&inode);
        if let Ok(target) = image.target(&inode) {
            assert!(!target.is_empty() && !target.contains(&0));
        }
    }
});
