//! Temporary names, which are removed if a signal ends the process.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// Maximum number of names registered at a time. A process has few locks; further names stay behind
/// if a signal ends the process, as after SIGKILL.
const LIMIT: usize = 64;

/// Each slot is a name from [`CString::into_raw`], or null. Taking one out transfers its ownership.
static HELD: [AtomicPtr<libc::c_char>; LIMIT] = [const { AtomicPtr::new(ptr::null_mut()) }; LIMIT];

/// A name that is removed if a signal handled by
/// [`remove_names_at_signals`](crate::remove_names_at_signals) ends the process while this value
/// exists.
#[derive(Debug)]
pub(crate) struct HeldName {
    slot: Option<&'static AtomicPtr<libc::c_char>>,
}

impl HeldName {
    /// `path` is relative to the current directory, which must not change.
    pub(crate) fn new(path: &Path) -> Self {
        // A path that was opened contains no NUL byte.
        let name = CString::new(path.as_os_str().as_bytes()).unwrap_or_default();
        let raw = name.into_raw();
        let null = ptr::null_mut();
        let mut slots = HELD.iter();
        let slot = slots.find(|slot| {
            let taken = slot.compare_exchange(null, raw, Ordering::SeqCst, Ordering::SeqCst);
            taken.is_ok()
        });
        if slot.is_none() {
            release(raw);
        }
        HeldName { slot }
    }
}

impl Drop for HeldName {
    fn drop(&mut self) {
        if let Some(slot) = self.slot {
            release(slot.swap(ptr::null_mut(), Ordering::SeqCst));
        }
    }
}

#[allow(unsafe_code)]
fn release(raw: *mut libc::c_char) {
    if !raw.is_null() {
        // SAFETY: it came from `CString::into_raw`, and taking it out of its slot transferred
        // ownership.
        drop(unsafe { CString::from_raw(raw) });
    }
}

/// Removes all registered names. Does only what is allowed in a signal handler; so the names are
/// not freed.
#[allow(unsafe_code)]
pub(crate) fn remove_all() {
    for slot in &HELD {
        let raw = slot.swap(ptr::null_mut(), Ordering::SeqCst);
        if !raw.is_null() {
            // SAFETY: it is a NUL-terminated string, and nothing else can free it any more.
            unsafe { libc::unlink(raw) };
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "tests look at files")]

    use super::*;

    #[test]
    fn what_is_held_is_removed_and_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        for name in ["held", "released", "other"] {
            std::fs::write(path(name), "").unwrap();
        }
        let held = HeldName::new(&path("held"));
        drop(HeldName::new(&path("released")));
        remove_all();
        drop(held);
        assert!(!path("held").exists());
        assert!(path("released").exists() && path("other").exists());
    }

    #[test]
    fn there_may_be_more_than_fit() {
        let all: Vec<HeldName> = (0..2 * LIMIT)
            .map(|_| HeldName::new(Path::new("x")))
            .collect();
        assert!(all.iter().any(|held| held.slot.is_none()));
        drop(all);
        assert!(HeldName::new(Path::new("x")).slot.is_some());
    }
}
