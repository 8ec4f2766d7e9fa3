//! The similarity of two contents, as a number.

use super::Side;
use crate::index::Mode;
use std::fmt;

/// Similarity of two contents, from 0 to [`Score::EQUAL`]: the bytes of the old one that are in the
/// new one, relative to the size of the larger one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Score(u16);

impl Score {
    /// The score of equal contents. Git uses this scale and rounds down.
    pub const EQUAL: Score = Score(60_000);
    /// The default minimum: half.
    pub const DEFAULT: Score = Score(30_000);

    /// The score in percent, rounded down, as displayed.
    pub fn percent(self) -> u8 {
        (u32::from(self.0) * 100 / u32::from(Self::EQUAL.0)) as u8
    }

    /// Parses the argument of `--find-renames=<n>`: `50%` is half, and so are `5` and `50`, which
    /// are taken as digits after a decimal point. Anything after the number is ignored; zero, or no
    /// number at all, is the default.
    pub fn from_words(words: &[u8]) -> Score {
        let (mut number, mut scale, mut has_point) = (0u64, 1u64, false);
        for byte in words {
            match byte {
                b'.' if !has_point => (scale, has_point) = (1, true),
                b'%' => {
                    scale = if has_point { scale * 100 } else { 100 };
                    break;
                }
                b'0'..=b'9' if scale < 100_000 => {
                    scale *= 10;
                    number = number * 10 + u64::from(byte - b'0');
                }
                b'0'..=b'9' => {}
                _ => break,
            }
        }
        if number >= scale {
            Self::EQUAL
        } else {
            Self::of_share(number, scale).or_default()
        }
    }

    /// The score half way between this one and equality.
    pub(super) fn half_way_to_equal(self) -> Score {
        Score(self.0 + (Self::EQUAL.0 - self.0) / 2)
    }

    /// `part`, which is not more than `whole`, as a score.
    pub(super) fn of_share(part: u64, whole: u64) -> Score {
        let share = u128::from(part) * u128::from(Self::EQUAL.0) / u128::from(whole.max(1));
        Score(share.min(u128::from(Self::EQUAL.0)) as u16)
    }

    fn or_default(self) -> Score {
        match self.0 {
            0 => Self::DEFAULT,
            _ => self,
        }
    }
}

impl fmt::Display for Score {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}%", self.percent())
    }
}

/// Whether contents of these sizes can reach the score `minimum`: if the larger one contains all of
/// the smaller one. Nothing is similar to an empty content.
pub(super) fn sizes_allow(a: u64, b: u64, minimum: Score) -> bool {
    let (small, large) = (a.min(b), a.max(b));
    let may_differ = u128::from(Score::EQUAL.0 - minimum.0);
    let differ = u128::from(large - small) * u128::from(Score::EQUAL.0);
    small > 0 && u128::from(large) * may_differ >= differ
}

/// Whether unequal contents can be compared: only those of regular files are.
pub(super) fn is_comparable(side: &Side) -> bool {
    matches!(side.mode, Mode::File | Mode::Executable)
}

/// The last component of a path.
pub(super) fn basename(side: &Side) -> &[u8] {
    let path = side.path.as_slice();
    path.rsplit(|byte| *byte == b'/').next().unwrap_or(path)
}
