//! Any bytes as a cluster with any room: the same twice, and no harm to the next.
#![no_main]

use hedgerow_codec::cluster::{Algorithm, ClusterDecoder};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, bool, u16, &[u8], &[u8])| {
    let (algorithm, partial, room, first, second) = input;
    let algorithm = Algorithm::ALL[usize::from(algorithm) % Algorithm::ALL.len()];
    let mut output = vec![0; usize::from(room)];
    let mut reused = ClusterDecoder::default();
    let _ = reused.decode(algorithm, first, &mut output, partial);
    let mut other = output.clone();
    let found = reused.decode(algorithm, second, &mut output, partial);
    let fresh = ClusterDecoder::default().decode(algorithm, second, &mut other, partial);
    assert_eq!(found, fresh);
    if found.is_ok() {
        assert_eq!(output, other);
    }
});
