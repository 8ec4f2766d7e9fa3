//! A delta between any two contents makes the second out of the first.
#![no_main]

use hedgerow_pack::{apply_delta, DeltaIndex};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (Vec<u8>, Vec<u8>, Vec<(u16, u16)>, u16)| {
    let (base, mut target, copies, limit) = input;
    for (start, length) in copies {
        let start = usize::from(start).min(base.len());
        let end = (start + usize::from(length)).min(base.len());
        target.extend_from_slice(&base[start..end]);
    }
    let index = DeltaIndex::new(&base);
    let (mut whole, mut limited) = (Vec::new(), Vec::new());
    let is_made = index.encode(&base, &target, usize::MAX, &mut whole);
    // Nothing is made of a delta that git would not take.
    assert_eq!(is_made, !target.is_empty());
    if !is_made {
        return;
    }
    assert_eq!(apply_delta(&base, &whole).expect("a sound delta"), target);
    if index.encode(&base, &target, limit.into(), &mut limited) {
        assert!(limited.len() <= limit.into());
        assert_eq!(limited, whole);
    }
});
