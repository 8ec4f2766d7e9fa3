//! Which packs are combined into one, so that each of the others has several times as many objects
//! as the next smaller one: git-repack(1), `--geometric`.

/// A pack with too many objects for this computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TooLarge {
    /// The pack at this position, as a member of the progression.
    ToConsider(usize),
    /// The pack at this position, to be combined or compared with the combined packs.
    ToRollUp(usize),
}

/// The number of packs to combine, where `counts` are the numbers of objects of all packs,
/// ascending. The remaining ones form a progression in which each has at least `factor` times as
/// many objects as the previous one. Numbers over 32 bits are refused, as in git.
pub fn split(counts: &[u32], factor: u32) -> Result<usize, TooLarge> {
    // From the largest down, while each pair is far enough apart.
    let mut split = counts.len().saturating_sub(1);
    while split > 0 {
        let (larger, smaller) = (counts[split], counts[split - 1]);
        let least = smaller.checked_mul(factor);
        let least = least.ok_or(TooLarge::ToConsider(split - 1))?;
        if larger < least {
            break;
        }
        split -= 1;
    }
    if split > 0 {
        // The larger pack of the pair that is too close is combined, too.
        split += 1;
    }
    // The new pack may be too large for the smallest remaining one: then that is combined, too.
    let mut total: u32 = 0;
    for (at, count) in counts.iter().enumerate().take(split) {
        total = total.checked_add(*count).ok_or(TooLarge::ToRollUp(at))?;
    }
    for (at, count) in counts.iter().enumerate().skip(split) {
        let least = total.checked_mul(factor).ok_or(TooLarge::ToRollUp(at))?;
        if *count >= least {
            break;
        }
        total = total.checked_add(*count).ok_or(TooLarge::ToRollUp(at))?;
        split += 1;
    }
    Ok(split)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_a_progression_stays() {
        assert_eq!(split(&[], 2), Ok(0));
        assert_eq!(split(&[5], 2), Ok(0));
        assert_eq!(split(&[1, 2, 4, 8], 2), Ok(0));
        assert_eq!(split(&[3, 3], 2), Ok(2));
        assert_eq!(split(&[1, 1, 1, 100], 2), Ok(3));
        // The sum of the small packs outgrows one that was far enough from each.
        assert_eq!(split(&[3, 3, 6, 30], 2), Ok(3));
        assert_eq!(
            split(&[1, u32::MAX / 2 + 1, u32::MAX], 2),
            Err(TooLarge::ToConsider(1))
        );
    }

    proptest! {
        #[test]
        fn what_is_left_is_a_progression(
            mut counts in prop::collection::vec(0_u32..1000, 0..12),
            factor in 2_u32..5,
        ) {
            counts.sort_unstable();
            let split = split(&counts, factor).unwrap();
            let rolled_up: u32 = counts[..split].iter().sum();
            let mut left = counts[split..].to_vec();
            if split > 0 {
                left.insert(0, rolled_up);
            }
            prop_assert!(left.windows(2).all(|pair| pair[1] >= pair[0] * factor));
            prop_assert!(split != 1 || counts[0] == 0);
        }
    }
}
