use crate::Timestamp;
use rustix::time::{clock_gettime, ClockId};
use std::mem::MaybeUninit;

/// The earliest timestamp that a local file system may give to a file changed from now on: from the
/// coarse clock, which advances a few hundred times per second. Since Linux 6.13 a file whose status
/// was read since its last change gets a later one, from the fine clock ([`now`]).
pub fn file_time() -> Timestamp {
    read(ClockId::RealtimeCoarse)
}

/// The time: no file changed before has a later timestamp from a local file system.
pub fn now() -> Timestamp {
    read(ClockId::Realtime)
}

fn read(clock: ClockId) -> Timestamp {
    let time = clock_gettime(clock);
    Timestamp {
        seconds: time.tv_sec,
        nanoseconds: u32::try_from(time.tv_nsec).unwrap_or_default(),
    }
}

/// The difference between local time and UTC at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalOffset {
    /// Seconds to add to UTC.
    pub seconds: i64,
    /// Whether summer time is in effect.
    pub is_summer: bool,
}

/// The difference at `time`, in seconds since 1970, by `TZ` and the system, as from localtime(3);
/// zero if that fails.
#[allow(unsafe_code)]
pub fn local_offset(time: i64) -> LocalOffset {
    let mut fields = MaybeUninit::<libc::tm>::uninit();
    // SAFETY: both pointers are valid, exclusive and of the right type.
    let is_known = unsafe { !libc::localtime_r(&time, fields.as_mut_ptr()).is_null() };
    if !is_known {
        return LocalOffset {
            seconds: 0,
            is_summer: false,
        };
    }
    // SAFETY: the call has succeeded, so the value is initialized.
    let fields = unsafe { fields.assume_init() };
    LocalOffset {
        seconds: fields.tm_gmtoff,
        is_summer: fields.tm_isdst > 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_year_that_fits_no_number_has_no_offset() {
        let none = LocalOffset {
            seconds: 0,
            is_summer: false,
        };
        assert_eq!(local_offset(i64::MAX), none);
    }

    #[test]
    fn it_goes_on() {
        let first = file_time();
        assert!(first.seconds > 1_600_000_000);
        assert!(file_time() >= first && now() >= first);
    }

    #[test]
    fn a_file_just_changed_lies_between_the_two_clocks() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for length in 0..2_000 {
            crate::stat(file.path()).unwrap();
            let earliest = file_time();
            file.as_file().set_len(length % 2 + 1).unwrap();
            let changed = crate::stat(file.path()).unwrap().unwrap().mtime;
            let latest = now();
            assert!(
                earliest <= changed && changed <= latest,
                "{earliest:?} {changed:?} {latest:?}"
            );
        }
    }
}
