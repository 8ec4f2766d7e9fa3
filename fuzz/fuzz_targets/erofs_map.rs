//! Maps of any bytes: the pieces of a content follow each other and fill it.
#![no_main]

use hedgerow_erofs::Image;
use libfuzzer_sys::fuzz_target;

#[path = "forged_erofs/mod.rs"]
mod forged_erofs;

fuzz_target!(|input: (u8, u32, u32, u8, &[u8])| {
    let (layout, size, place, features, map) = input;
    // A compact inode of a file, and behind it the index of its chunks or clusters.
    let mut inode = vec![0; 32];
    inode[0..2].copy_from_slice(&(u16::from(layout % 5) << 1).to_le_bytes());
    inode[4..6].copy_from_slice(&0o100_644u16.to_le_bytes());
    inode[8..12].copy_from_slice(&size.to_le_bytes());
    inode[16..20].copy_from_slice(&place.to_le_bytes());
    inode.extend_from_slice(map);
    let image = forged_erofs::image(&inode, features.into());
    let Ok(image) = Image::new(Box::new(image), 0) else { return };
    let Ok(inode) = image.inode(forged_erofs::INODE) else { return };
    let (mut position, mut content) = (0, Vec::new());
    for piece in image.pieces(&inode).take(256) {
        let Ok(piece) = piece else { break };
        assert_eq!(piece.start, position);
        assert!(piece.length > 0);
        position += piece.length;
        assert!(position <= inode.size);
        if piece.length <= 12 << 20 && image.read_piece(&piece, &mut content).is_ok() {
            assert_eq!(content.len() as u64, piece.length);
        }
    }
});
