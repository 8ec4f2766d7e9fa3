use super::{apply_delta, DeltaIndex};
use proptest::prelude::*;

fn encode(base: &[u8], target: &[u8]) -> Vec<u8> {
    let mut delta = vec![1, 2, 3];
    assert!(DeltaIndex::new(base).encode(base, target, usize::MAX, &mut delta));
    delta
}

/// Bytes without repetitions.
fn noise(length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed | 1;
    let next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 56) as u8
    };
    std::iter::repeat_with(next).take(length).collect()
}

#[test]
fn a_small_change_makes_a_small_delta() {
    let base = noise(100_000, 1);
    let mut target = base.clone();
    target.splice(50_000..50_003, *b"something else");
    let delta = encode(&base, &target);
    assert_eq!(apply_delta(&base, &delta).unwrap(), target);
    // Two lengths of three bytes, two copies of at most seven, one insertion.
    assert!(delta.len() <= 6 + 14 + 15, "{}", delta.len());
}

#[test]
fn long_copies_are_split_where_the_format_wants_it() {
    for length in [0xffff, 0x10000, 0x10001, 0x20000, 0x2_0007] {
        let base = noise(length, 5);
        let delta = encode(&base, &base);
        assert_eq!(apply_delta(&base, &delta).unwrap(), base);
        assert!(delta.len() <= 6 + 7 * 3, "{length}: {}", delta.len());
    }
}

#[test]
fn what_moved_is_found() {
    let (one, two) = (noise(5000, 2), noise(5000, 3));
    let base = [&one[..], &two].concat();
    let target = [&two[..], &one].concat();
    assert!(encode(&base, &target).len() < 20);
}

#[test]
fn a_limit_is_kept_and_reached() {
    let base = noise(3000, 4);
    let mut target = base.clone();
    target.splice(100..200, noise(300, 9));
    target.truncate(2500);
    let delta = encode(&base, &target);
    let index = DeltaIndex::new(&base);
    let mut limited = Vec::new();
    assert!(index.encode(&base, &target, delta.len(), &mut limited));
    assert_eq!(limited, delta);
    assert!(!index.encode(&base, &target, delta.len() - 1, &mut limited));
}

#[test]
fn there_is_no_delta_to_nothing() {
    assert!(!DeltaIndex::new(b"base").encode(b"base", b"", usize::MAX, &mut Vec::new()));
}

#[test]
fn contents_that_repeat_do_not_cost_their_square() {
    let base: Vec<u8> = noise(16, 7).repeat(100_000);
    let target: Vec<u8> = [noise(7, 8), base.clone()].concat();
    let started = std::time::Instant::now();
    let delta = encode(&base, &target);
    assert_eq!(apply_delta(&base, &delta).unwrap(), target);
    assert!(started.elapsed().as_secs() < 5);
}

/// Targets made of pieces of the base and of new bytes.
fn pair() -> impl Strategy<Value = (Vec<u8>, Vec<u8>)> {
    let letters = prop_oneof![Just(2_u8), Just(255)];
    let base = (letters, 0_usize..6000, any::<u64>()).prop_map(|(letters, length, seed)| {
        noise(length, seed)
            .into_iter()
            .map(|byte| byte % letters)
            .collect::<Vec<u8>>()
    });
    base.prop_flat_map(|base| {
        let piece = (0..=base.len(), 0_usize..900, any::<bool>(), any::<u64>());
        let pieces = prop::collection::vec(piece, 0..8);
        (Just(base), pieces).prop_map(|(base, pieces)| {
            let mut target = Vec::new();
            for (start, length, is_new, seed) in pieces {
                let end = (start + length).min(base.len());
                if is_new {
                    target.extend(noise(length / 8, seed))
                } else {
                    target.extend_from_slice(&base[start..end])
                }
            }
            (base, target)
        })
    })
}

proptest! {
    #[test]
    fn a_delta_makes_its_target((base, target) in pair(), max_bytes in 0_usize..3000) {
        prop_assume!(!target.is_empty());
        let index = DeltaIndex::new(&base);
        let whole = encode(&base, &target);
        prop_assert_eq!(&apply_delta(&base, &whole).unwrap(), &target);
        let mut limited = Vec::new();
        let fits = index.encode(&base, &target, max_bytes, &mut limited);
        prop_assert_eq!(fits, whole.len() <= max_bytes);
        if fits {
            prop_assert_eq!(limited, whole);
        }
    }
}
