use crate::Timestamp;
use rustix::time::{clock_gettime, ClockId};
use std::mem::MaybeUninit;

/// The time that a local file system would give a file that was changed now: the clock it uses
/// moves some hundred times a second.
pub fn file_time() -> Timestamp {
    let now = clock_gettime(ClockId::RealtimeCoarse);
    Timestamp {
        seconds: now.tv_sec,
        nanoseconds: u32::try_from(now.tv_nsec).unwrap_or_default(),
    }
}

/// How local time differs from UTC at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalOffset {
    /// Seconds to add to UTC.
    pub seconds: i64,
    /// Whether that is summer time.
    pub is_summer: bool,
}

/// The difference at `time`, in seconds since 1970, by `TZ` and the system, as localtime(3) has it:
/// none if that cannot tell.
#[allow(unsafe_code)]
pub fn local_offset(time: i64) -> LocalOffset {
    let mut fields = MaybeUninit::<libc::tm>::uninit();
    // SAFETY: both point to places of the right type that nobody else has.
    let is_known = unsafe { !libc::localtime_r(&time, fields.as_mut_ptr()).is_null() };
    if !is_known {
        return LocalOffset {
            seconds: 0,
            is_summer: false,
        };
    }
    // SAFETY: the call has succeeded, so it has filled the place.
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
