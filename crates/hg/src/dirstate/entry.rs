use hedgerow_fs::Timestamp;

/// The dirstate's record of one path.
///
/// Sizes and times have 31 bits, as in both formats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// The position of the path in the data.
    pub(super) path: Span,
    /// The position of the path that it was copied from; empty if it was not copied.
    pub(super) source: Span,
    /// The file is tracked in the working copy: neither removed nor forgotten.
    pub tracked: bool,
    /// The first parent has the file.
    pub in_first_parent: bool,
    /// A merge changed the file or brought it from the second parent.
    pub merged: bool,
    /// The expected properties of the first parent's file, if known without reading it.
    pub expected: Option<Expected>,
    /// The modification time when the file was last known to be clean.
    pub mtime: Option<Mtime>,
}

/// The properties of a clean file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    /// Its size, without bits 31 and higher.
    pub size: u32,
    /// Whether its owner may execute it. Symbolic links count as executable.
    pub executable: bool,
    /// Whether it is a symbolic link, if that is known.
    pub symlink: Option<bool>,
}

/// A modification time in the dirstate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mtime {
    /// Seconds since the epoch, without bits 31 and higher.
    pub seconds: u32,
    /// Nanoseconds; 0 if unknown.
    pub nanoseconds: u32,
    /// The file may have changed again within that second: unless both sides have nanoseconds, the
    /// time proves nothing.
    pub ambiguous: bool,
}

/// A range of the dirstate's data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Span {
    pub start: u32,
    pub length: u32,
}

/// The bits in which sizes and seconds are compared.
const KEPT_BITS: u64 = 0x7fff_ffff;

impl Entry {
    /// Whether it can be clean at all: the first parent has it, and no merge changed it.
    pub fn may_be_clean(&self) -> bool {
        self.in_first_parent && !self.merged
    }
}

impl Expected {
    /// Whether `bytes` matches the expected size.
    pub fn has_size(&self, bytes: u64) -> bool {
        u64::from(self.size) == bytes || u64::from(self.size) == bytes & KEPT_BITS
    }
}

impl Mtime {
    /// Whether `time` equals this time, so that the file has not changed. Nanoseconds are compared
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
