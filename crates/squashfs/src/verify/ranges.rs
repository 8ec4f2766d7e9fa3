//! Checks that ranges cover a whole without gaps and overlaps.

/// A defect of a set of ranges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// No range covers `bytes` bytes from `start` on.
    Gap { start: u64, bytes: u64 },
    /// The range that starts here overlaps an earlier one.
    Overlap { start: u64 },
}

/// Checks that ranges (start, end) cover `start..end` exactly. If `shared`, equal ranges count as
/// one.
pub fn flaws(mut ranges: Vec<(u64, u64)>, start: u64, end: u64, shared: bool) -> Vec<Flaw> {
    ranges.retain(|(start, end)| start < end);
    ranges.sort_unstable();
    if shared {
        ranges.dedup();
    }
    let mut flaws = Vec::new();
    let mut reached = start;
    for (start, end) in ranges.into_iter().chain([(end, end)]) {
        if start > reached {
            flaws.push(Flaw::Gap {
                start: reached,
                bytes: start - reached,
            });
        } else if start < reached {
            flaws.push(Flaw::Overlap { start });
        }
        reached = reached.max(end);
    }
    flaws
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_and_overlaps_are_found() {
        let whole = vec![(5, 10), (0, 5), (7, 7), (10, 20), (10, 20)];
        assert_eq!(flaws(whole.clone(), 0, 20, true), []);
        assert_eq!(flaws(whole, 0, 20, false), [Flaw::Overlap { start: 10 }]);
        let gaps = [
            Flaw::Gap { start: 0, bytes: 1 },
            Flaw::Gap { start: 3, bytes: 2 },
            Flaw::Gap { start: 9, bytes: 1 },
        ];
        assert_eq!(flaws(vec![(1, 3), (5, 9)], 0, 10, true), gaps);
        let overlap = [Flaw::Overlap { start: 2 }, Flaw::Overlap { start: 3 }];
        assert_eq!(flaws(vec![(0, 9), (2, 4)], 0, 3, true), overlap);
    }
}
