//! Any bytes as a zlib stream of any declared length: both inflaters agree.
#![no_main]

use hedgerow_codec::Inflater;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u16, &[u8])| {
    let (length, content) = input;
    let mut output = vec![0; usize::from(length)];
    if let Ok(consumed) = Inflater::new().zlib_into(content, &mut output) {
        assert!(consumed <= content.len());
    }
});
