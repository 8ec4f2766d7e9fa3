//! Names that were looked up and not found.
//!
//! Before an exclusive creation Linux looks the name up once more in a FUSE file system, although
//! it was just told that the name does not exist. An NFS client does not. So that a creation costs
//! the same as on NFS, such repeated lookups are detected here and are not charged.

use crate::lock;
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Maximum number of names remembered, after which all are dropped: a memory limit that does not
/// affect correctness.
const MAX_NAMES: usize = 1 << 18;

struct Absence {
    since: Instant,
    lookups: u32,
}

/// The absent names that the client was told about.
pub(crate) struct Absences {
    ttl: Duration,
    seen: Mutex<HashMap<(u64, OsString), Absence>>,
}

impl Absences {
    /// A client that caches an absence for `ttl`; not at all if it is zero.
    pub(crate) fn new(ttl: Duration) -> Self {
        Absences {
            ttl,
            seen: Mutex::default(),
        }
    }

    /// How long the client may cache an absence; `None` if not at all.
    pub(crate) fn ttl(&self) -> Option<Duration> {
        (!self.ttl.is_zero()).then_some(self.ttl)
    }

    /// Records a lookup that found nothing. True if an NFS client would have had it cached.
    pub(crate) fn note(&self, parent: u64, name: &OsStr) -> bool {
        if self.ttl.is_zero() {
            return false;
        }
        let now = Instant::now();
        let new = || Absence {
            since: now,
            lookups: 0,
        };
        let mut seen = lock(&self.seen);
        if seen.len() >= MAX_NAMES {
            seen.clear();
        }
        let absence = seen.entry((parent, name.to_owned())).or_insert_with(new);
        if now - absence.since >= self.ttl {
            *absence = new();
        }
        absence.lookups += 1;
        absence.lookups > 1
    }

    /// The name is about to be created. True if it was looked up exactly once, that is, only for
    /// the creation.
    pub(crate) fn end(&self, parent: u64, name: &OsStr) -> bool {
        let key = (parent, name.to_owned());
        lock(&self.seen)
            .remove(&key)
            .is_some_and(|absence| absence.lookups == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_repetition_is_free() {
        let absences = Absences::new(Duration::from_secs(30));
        let name = OsStr::new("new");
        assert!(!absences.note(1, name));
        assert!(absences.note(1, name));
        assert!(!absences.note(2, name), "another directory");
        assert!(!absences.end(1, name), "it was asked for twice");
        assert!(absences.end(2, name));
        assert!(!absences.note(1, name), "it is forgotten once it exists");
    }

    #[test]
    fn a_client_that_remembers_nothing_pays_each_time() {
        let absences = Absences::new(Duration::ZERO);
        assert!(!absences.note(1, OsStr::new("new")));
        assert!(!absences.note(1, OsStr::new("new")));
        assert!(absences.ttl().is_none());
    }
}
