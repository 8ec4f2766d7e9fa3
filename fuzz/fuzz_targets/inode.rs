//! Inodes of any bytes: read, and what they say followed.
#![no_main]

use hedgerow_squashfs::format::Reference;
use hedgerow_squashfs::{Body, Image};
use libfuzzer_sys::fuzz_target;

#[path = "forged/mod.rs"]
mod forged;

fuzz_target!(|bytes: &[u8]| {
    let mut parts = forged::Parts::new(1);
    parts.inodes = forged::raw(bytes);
    let Ok(image) = Image::new(Box::new(parts.build()), 0) else { return };
    for offset in 0..bytes.len().min(64) as u16 {
        let Ok(inode) = image.inode(Reference::new(0, offset)) else { continue };
        let _ = image.metadata(&inode);
        if let Body::File(file) = &inode.body {
            let mut content = Vec::new();
            for piece in image.pieces(file).into_iter().flatten().take(64).flatten() {
                let _ = image.read_piece(&piece, &mut content);
            }
        }
    }
});
