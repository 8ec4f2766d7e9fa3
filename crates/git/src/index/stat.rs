use hedgerow_fs::{Stat, Timestamp};

/// The coarsest fractions of seconds in use: those of exFAT, which has no ctime either.
const COARSE_NS: u32 = 10_000_000;

/// The lstat data of a file as recorded in the index; each number is cut to its low 32 bits.
///
/// All zero means unknown: such an entry never matches a file and is read again. Format:
/// `gitformat-index(5)`, "Index entry".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct EntryStat {
    /// Seconds of the last status change (ctime).
    pub ctime_s: u32,
    /// Nanoseconds within that second.
    pub ctime_ns: u32,
    /// Seconds of the last content change (mtime).
    pub mtime_s: u32,
    /// Nanoseconds within that second.
    pub mtime_ns: u32,
    /// Device number.
    pub dev: u32,
    /// Inode number.
    pub ino: u32,
    /// User id of the owner.
    pub uid: u32,
    /// Group id.
    pub gid: u32,
    /// Size in bytes; 0 also marks an entry whose file must be read again.
    pub size: u32,
}

/// Which fields are compared: `core.checkStat`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CheckStat {
    /// Everything but the device number, which network file systems change at every mount.
    #[default]
    Default,
    /// Only the size and the whole seconds of the mtime: for trees shared by several systems.
    Minimal,
}

/// Which fields must be equal for a file to count as unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatRules {
    /// Compare the ctime: `core.trustCtime`, true by default.
    pub trust_ctime: bool,
    /// Which fields to compare.
    pub check_stat: CheckStat,
    /// Compare nanoseconds too. Git ignores them unless it was built with `USE_NSEC`, because some
    /// file systems lose them; then a file may be read unnecessarily, but never skipped wrongly.
    pub nanoseconds: bool,
}

impl Default for StatRules {
    /// The rules of git's usual builds.
    fn default() -> Self {
        StatRules {
            trust_ctime: true,
            check_stat: CheckStat::Default,
            nanoseconds: false,
        }
    }
}

impl StatRules {
    /// Whether by these rules a fraction of a second shows that a file is as it was. An mtime alone does
    /// not: it can be set back.
    pub(super) fn proves_by_fractions(&self) -> bool {
        self.nanoseconds && self.check_stat == CheckStat::Default && self.trust_ctime
    }
}

impl EntryStat {
    /// Whether a file with the stat data `now` is, as far as lstat can tell, the recorded file. A
    /// racy file ([`is_racy`](Self::is_racy)) must be read even if it matches.
    pub fn matches(&self, now: &EntryStat, rules: &StatRules) -> bool {
        if self.size != now.size || self.mtime_s != now.mtime_s {
            return false;
        }
        if rules.check_stat == CheckStat::Minimal {
            return true;
        }
        let owner_and_inode = self.uid == now.uid && self.gid == now.gid && self.ino == now.ino;
        let ctime = !rules.trust_ctime
            || (self.ctime_s == now.ctime_s
                && (!rules.nanoseconds || self.ctime_ns == now.ctime_ns));
        let mtime = !rules.nanoseconds || self.mtime_ns == now.mtime_ns;
        owner_and_inode && ctime && mtime
    }

    /// Whether the file may have changed after it was recorded without lstat showing it: its mtime
    /// is not older than the index file that holds the entry.
    ///
    /// `rules` must be those of [`matches`](Self::matches): if they ignore nanoseconds, or the ctime,
    /// every file changed in the index's own second is racy. A recorded fraction of whole hundredths
    /// may come from a file system that has no finer ones, so such a time is treated as a whole
    /// second whatever the rules. An index of unknown time (zero seconds) makes nothing racy.
    pub fn is_racy(&self, index_mtime: Timestamp, rules: &StatRules) -> bool {
        let index_s = index_mtime.seconds as u32;
        if index_mtime.seconds == 0 || index_s > self.mtime_s {
            return false;
        }
        let is_fine = !self.mtime_ns.is_multiple_of(COARSE_NS);
        let fraction_decides = rules.proves_by_fractions() && is_fine && index_s == self.mtime_s;
        !fraction_decides || index_mtime.nanoseconds <= self.mtime_ns
    }
}

impl From<&Stat> for EntryStat {
    fn from(stat: &Stat) -> Self {
        EntryStat {
            ctime_s: stat.ctime.seconds as u32,
            ctime_ns: stat.ctime.nanoseconds,
            mtime_s: stat.mtime.seconds as u32,
            mtime_ns: stat.mtime.nanoseconds,
            dev: stat.dev as u32,
            ino: stat.ino as u32,
            uid: stat.uid,
            gid: stat.gid,
            size: recorded_size(stat.size),
        }
    }
}

/// The low 32 bits of a size, but 2^31 for a multiple of 4 GiB: zero would cause the file to be
/// read every time. Git does the same since 2.43.
fn recorded_size(size_bytes: u64) -> u32 {
    match size_bytes as u32 {
        0 if size_bytes != 0 => 1 << 31,
        low => low,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEEN: EntryStat = EntryStat {
        ctime_s: 100,
        ctime_ns: 5,
        mtime_s: 90,
        mtime_ns: 6,
        dev: 1,
        ino: 2,
        uid: 3,
        gid: 4,
        size: 7,
    };

    const EXACT: StatRules = StatRules {
        trust_ctime: true,
        check_stat: CheckStat::Default,
        nanoseconds: true,
    };

    fn at(seconds: i64, nanoseconds: u32) -> Timestamp {
        Timestamp {
            seconds,
            nanoseconds,
        }
    }

    /// Which of the nine fields the rules notice if changed alone; in the order of the format.
    fn noticed(rules: &StatRules) -> Vec<bool> {
        let fields: [fn(&mut EntryStat) -> &mut u32; 9] = [
            |s| &mut s.ctime_s,
            |s| &mut s.ctime_ns,
            |s| &mut s.mtime_s,
            |s| &mut s.mtime_ns,
            |s| &mut s.dev,
            |s| &mut s.ino,
            |s| &mut s.uid,
            |s| &mut s.gid,
            |s| &mut s.size,
        ];
        let changed = |field: fn(&mut EntryStat) -> &mut u32| {
            let mut now = SEEN;
            *field(&mut now) += 1;
            !SEEN.matches(&now, rules)
        };
        fields.into_iter().map(changed).collect()
    }

    #[test]
    fn each_rule_looks_at_its_fields() {
        assert!(SEEN.matches(&SEEN, &StatRules::default()));
        let (y, n) = (true, false);
        let default = StatRules::default();
        assert_eq!(noticed(&default), [y, n, y, n, n, y, y, y, y]);
        assert_eq!(noticed(&EXACT), [y, y, y, y, n, y, y, y, y]);
        let no_ctime = StatRules {
            trust_ctime: false,
            ..EXACT
        };
        assert_eq!(noticed(&no_ctime), [n, n, y, y, n, y, y, y, y]);
        let minimal = StatRules {
            check_stat: CheckStat::Minimal,
            ..EXACT
        };
        assert_eq!(noticed(&minimal), [n, n, y, n, n, n, n, n, y]);
    }

    #[test]
    fn a_file_of_the_second_of_the_index_is_racy() {
        let seconds = StatRules::default();
        for (index, by_seconds, by_nanoseconds) in [
            (at(89, 999), true, true),
            (at(90, 0), true, true),
            (at(90, 6), true, true),
            (at(90, 7), true, false),
            (at(91, 0), false, false),
            (at(0, 0), false, false),
        ] {
            assert_eq!(SEEN.is_racy(index, &seconds), by_seconds, "{index:?}");
            assert_eq!(SEEN.is_racy(index, &EXACT), by_nanoseconds, "{index:?}");
        }
    }

    #[test]
    fn a_time_without_a_fine_fraction_is_a_whole_second() {
        for (mtime_ns, is_coarse) in [(0, true), (120_000_000, true), (120_000_001, false)] {
            let recorded = EntryStat { mtime_ns, ..SEEN };
            let index = at(90, 500_000_000);
            assert_eq!(recorded.is_racy(index, &EXACT), is_coarse, "{mtime_ns}");
        }
        let minimal = StatRules {
            check_stat: CheckStat::Minimal,
            ..EXACT
        };
        let no_ctime = StatRules {
            trust_ctime: false,
            ..EXACT
        };
        assert!(SEEN.is_racy(at(90, 500), &minimal));
        assert!(SEEN.is_racy(at(90, 500), &no_ctime));
    }

    #[test]
    fn sizes_keep_their_low_half_but_never_become_zero() {
        assert_eq!(recorded_size(0), 0);
        assert_eq!(recorded_size(0xffff_ffff), 0xffff_ffff);
        assert_eq!(recorded_size(1 << 32), 1 << 31);
        assert_eq!(recorded_size(3 << 32), 1 << 31);
        assert_eq!(recorded_size((1 << 32) + 9), 9);
    }
}
