//! Metadata blocks of any bytes, of every compressor, as all tables of an image.
#![no_main]

use hedgerow_squashfs::format::Reference;
use hedgerow_squashfs::{Body, Image};
use libfuzzer_sys::fuzz_target;

#[path = "forged/mod.rs"]
mod forged;

fuzz_target!(|input: (u16, &[u8], &[u8], u32)| {
    let (compressor, inodes, directories, place) = input;
    let mut parts = forged::Parts::new(compressor % 6 + 1);
    parts.inodes = inodes.to_vec();
    parts.directories = directories.to_vec();
    let Ok(image) = Image::new(Box::new(parts.build()), 0) else { return };
    for place in [place, 0] {
        if let Ok(inode) = image.inode(Reference(place.into())) {
            if let Body::Directory(directory) = inode.body {
                let _ = image.listing(&directory);
            }
        }
    }
});
