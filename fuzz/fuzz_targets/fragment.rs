//! Fragment tables of any bytes: tails are as long as their files say, and come from what is stored.
#![no_main]

use hedgerow_engine::{Jobs, Execution};
use hedgerow_squashfs::format::Reference;
use hedgerow_squashfs::{verify, Body, Image};
use libfuzzer_sys::fuzz_target;
use std::num::NonZeroUsize;

#[path = "forged/mod.rs"]
mod forged;

/// Fragment, offset and size of a file.
type Tail = (u16, u16, u16);

fuzz_target!(|input: (u16, [Tail; 4], &[u8], &[u8])| {
    let (compressor, tails, data, table) = input;
    let mut parts = forged::Parts::new(compressor % 6 + 1);
    parts.data = data.to_vec();
    let mut table = table.to_vec();
    for entry in table.chunks_exact_mut(16) {
        // Few numbers of 64 bits are places in such an image, and few of 32 are sizes.
        let position = u16::from_le_bytes([entry[0], entry[1]]);
        entry[..8].copy_from_slice(&(forged::DATA_START + u64::from(position)).to_le_bytes());
        entry[7] &= 1;
        entry[14] &= 1;
        entry[15] = 0;
    }
    parts.fragments = Some((forged::raw(&table), table.len() as u32 / 16));
    parts.inodes = forged::raw(&tails.map(file).concat());
    let bytes = parts.build();
    let options = Execution {
        jobs: Jobs::Fixed(NonZeroUsize::MIN),
        ..Execution::default()
    };
    let _ = verify(Box::new(bytes.clone()), 0, &options);
    let Ok(image) = Image::new(Box::new(bytes), 0) else {
        return;
    };
    for (number, tail) in (0..).zip(tails) {
        let inode = image
            .inode(Reference::new(0, number * 32))
            .expect("it makes sense");
        let Body::File(file) = &inode.body else {
            panic!("it is a file")
        };
        let mut content = Vec::new();
        for piece in image.pieces(file).expect("it has no blocks") {
            if image
                .read_piece(&piece.expect("it has no blocks"), &mut content)
                .is_ok()
            {
                assert_eq!(content.len(), usize::from(tail.2 % 4095 + 1));
            }
        }
    }
});

/// A file that has nothing but a tail: an inode of 32 bytes.
fn file((fragment, offset, size): Tail) -> Vec<u8> {
    let mut inode = vec![0; 32];
    inode[0] = 2;
    inode[12] = 1;
    inode[20..22].copy_from_slice(&(fragment % 64).to_le_bytes());
    inode[24..26].copy_from_slice(&offset.to_le_bytes());
    inode[28..30].copy_from_slice(&(size % 4095 + 1).to_le_bytes());
    inode
}
