use hedgerow_fs::Timestamp;

/// What the dirstate says about one path.
///
/// Sizes and times are kept in 31 bits, as both formats do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// Where the path stands in the data.
    pub(super) path: Span,
    /// Where the path that it was copied from stands; empty if it was not.
    pub(super) source: Span,
    /// The working copy has the file under control: neither removed nor forgotten.
    pub tracked: bool,
    /// The first parent has the file.
    pub in_first_parent: bool,
    /// A merge changed the file or brought it from the second parent.
    pub merged: bool,
    /// What the first parent's file looks like, if that is known without reading it.
    pub expected: Option<Expected>,
    /// When the file was last known to be clean.
    pub mtime: Option<Mtime>,
}

/// What a clean file looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    /// Its size, less bits 31 and higher.
    pub size: u32,
    /// Whether its owner may execute it. Symbolic links may be executed.
    pub executable: bool,
    /// Whether it is a symbolic link, if that is known.
    pub symlink: Option<bool>,
}

/// A time of last change, as the dirstate keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mtime {
    /// Seconds since the epoch, less bits 31 and higher.
    pub seconds: u32,
    /// Nanoseconds; 0 if they are not known.
    pub nanoseconds: u32,
    /// The file may have changed again within that second: without nanoseconds on both sides the
    /// time says nothing.
    pub ambiguous: bool,
}

/// A piece of the dirstate's data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Span {
    pub start: u32,
    pub length: u32,
}

/// Sizes and seconds are compared in these bits.
const KEPT_BITS: u64 = 0x7fff_ffff;

impl Entry {
    /// Whether it can be clean at all: the first parent has it and no merge changed it.
    pub fn may_be_clean(&self) -> bool {
        self.in_first_parent && !self.merged
    }
}

impl Expected {
    /// Whether a file of this size has the expected one.
    pub fn has_size(&self, bytes: u64) -> bool {
        u64::from(self.size) == bytes || u64::from(self.size) == bytes & KEPT_BITS
    }
}

impl Mtime {
    /// Whether a file that was last changed at `time` has not changed since. Nanoseconds count
    /// only if both sides have them.
    pub fn is(&self, time: Timestamp) -> bool {
        if u64::from(self.seconds) != time.seconds as u64 & KEPT_BITS {
            return false;
        }
        if self.nanoseconds == 0 || time.nanoseconds == 0 {
            !self.ambiguous
        } else {
            self.nanoseconds == time.nanoseconds
        }
    }
}

impl Span {
    pub fn is_empty(self) -> bool {
        self.length == 0
    }

    pub fn of(self, data: &[u8]) -> Option<&[u8]> {
        let start = self.start as usize;
        data.get(start..start.checked_add(self.length as usize)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64, nanoseconds: u32) -> Timestamp {
        Timestamp {
            seconds,
            nanoseconds,
        }
    }

    #[test]
    fn nanoseconds_count_only_where_both_have_them() {
        let mut mtime = Mtime {
            seconds: 1000,
            nanoseconds: 5,
            ambiguous: false,
        };
        assert!(mtime.is(at(1000, 5)));
        assert!(!mtime.is(at(1000, 6)));
        assert!(!mtime.is(at(1001, 5)));
        assert!(mtime.is(at(1000, 0)));
        assert!(mtime.is(at(1000 + (1 << 31), 5)));
        mtime.ambiguous = true;
        assert!(mtime.is(at(1000, 5)));
        assert!(!mtime.is(at(1000, 0)));
        mtime.nanoseconds = 0;
        assert!(!mtime.is(at(1000, 5)));
        mtime.ambiguous = false;
        assert!(mtime.is(at(1000, 5)));
    }

    #[test]
    fn sizes_are_compared_in_31_bits() {
        let expected = Expected {
            size: 7,
            executable: false,
            symlink: None,
        };
        assert!(expected.has_size(7));
        assert!(expected.has_size(7 + (1 << 31)));
        assert!(!expected.has_size(8));
    }
}
