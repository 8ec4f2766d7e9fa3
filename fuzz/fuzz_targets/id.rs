//! Id tables of any bytes: there are as many owners as the superblock says, or no image.
#![no_main]

use hedgerow_engine::{Jobs, Execution};
use hedgerow_squashfs::{verify, Image};
use libfuzzer_sys::fuzz_target;
use std::num::NonZeroUsize;

#[path = "forged/mod.rs"]
mod forged;

fuzz_target!(|input: (u16, u16, Vec<u16>, &[u8])| {
    let (compressor, count, positions, bytes) = input;
    let mut parts = forged::Parts::new(compressor % 6 + 1);
    // One that makes sense first: its ids come back.
    let ids = bytes.len() / 4;
    parts.ids = forged::Ids {
        stored: forged::raw(&bytes[..ids * 4]),
        positions: (0..(ids as u64 * 4).div_ceil(8192))
            .map(|block| block * 8194)
            .collect(),
        count: ids as u16,
    };
    match Image::new(Box::new(parts.build()), 0) {
        Ok(image) => {
            let numbers = image.ids().iter().flat_map(|id| id.to_le_bytes());
            assert!(numbers.eq(bytes[..ids * 4].iter().copied()));
            assert!(image.id(ids as u16).is_err());
        }
        Err(_) => assert!(ids == 0 || ids > usize::from(u16::MAX)),
    }
    parts.ids = forged::Ids {
        stored: bytes.to_vec(),
        positions: positions.into_iter().map(u64::from).collect(),
        count,
    };
    let bytes = parts.build();
    let options = Execution {
        jobs: Jobs::Fixed(NonZeroUsize::MIN),
        ..Execution::default()
    };
    let _ = verify(Box::new(bytes.clone()), 0, &options);
    if let Ok(image) = Image::new(Box::new(bytes), 0) {
        assert_eq!(image.ids().len(), usize::from(count));
        assert_eq!(image.id(count - 1).ok().as_ref(), image.ids().last());
        assert!(image.id(count).is_err());
    }
});
