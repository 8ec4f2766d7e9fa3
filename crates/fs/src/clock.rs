use crate::Timestamp;
use rustix::time::{clock_gettime, ClockId};

/// The time that a local file system would give a file that was changed now: the clock it uses
/// moves some hundred times a second.
pub fn file_time() -> Timestamp {
    let now = clock_gettime(ClockId::RealtimeCoarse);
    Timestamp {
        seconds: now.tv_sec,
        nanoseconds: u32::try_from(now.tv_nsec).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn it_goes_on() {
        let first = super::file_time();
        assert!(first.seconds > 1_600_000_000);
        assert!(super::file_time() >= first);
    }
}
