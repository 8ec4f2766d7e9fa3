use crate::Timestamp;
use rustix::time::{clock_gettime, ClockId};
use std::mem::MaybeUninit;

/// The timestamp that a local file system would give to a file changed now: from the coarse clock,
/// which advances a few hundred times per second.
pub fn file_time() -> Timestamp {
    let now = clock_gettime(ClockId::RealtimeCoarse);
    Timestamp {
        seconds: now.tv_sec,
        nanoseconds: u32::try_from(now.tv_nsec).unwrap_or_default(),
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
        let first = super::file_time();
        assert!(first.seconds > 1_600_000_000);
        assert!(super::file_time() >= first);
    }
}
