//! The file system as its users see it. Every test that lacks FUSE says so and returns.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::unwrap_used,
    reason = "the tests are users of the mount"
)]

mod charges;
mod concurrency;
mod fidelity;
mod program;

use hedgerow_latencyfs::{Mount, Settings};
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

/// A mount over a new directory, or `None` when this machine has no FUSE.
fn mounted(rtt_us: u64) -> Option<(TempDir, Mount)> {
    let backing = tempfile::tempdir().unwrap();
    mount(backing.path(), rtt_us, 64).map(|mount| (backing, mount))
}

/// A mount whose client remembers for an hour: however slow this machine is, what is cached
/// stays so.
fn mount(backing: &Path, rtt_us: u64, slots: usize) -> Option<Mount> {
    let settings = move || {
        let mut settings = Settings::nfs(rtt_us);
        settings.slots = slots;
        settings.file_ttl = Duration::from_secs(3600);
        settings.directory_ttl = settings.file_ttl;
        settings.name_ttl = settings.file_ttl;
        settings.absence_ttl = settings.file_ttl;
        settings
    };
    Mount::with(backing, settings)
        .map_err(|skip| hedgerow_testkit::skip(&skip.to_string()))
        .ok()
}
