//! The settings of a mount: delays, slots, and the client's cache times.

use crate::delays::Delays;
use std::time::Duration;

/// The settings of a mount.
#[derive(Debug)]
pub struct Settings {
    /// The delay of every kind of operation.
    pub delays: Delays,
    /// Number of requests in flight at the same time, like the slots of an NFS session; at least
    /// one.
    pub slots: usize,
    /// How long attributes of anything but directories stay valid.
    pub file_ttl: Duration,
    /// How long the attributes of directories stay valid.
    pub directory_ttl: Duration,
    /// How long the inode of a name stays valid.
    pub name_ttl: Duration,
    /// How long the absence of a name stays valid.
    pub absence_ttl: Duration,
    /// Whether listings include attributes.
    pub readdirplus: bool,
    /// Number of entries in one answer to READDIR; at least one.
    pub readdir_batch: usize,
    /// Whether other users may use the mount.
    pub allow_other: bool,
    /// Approximate number of inodes held by a descriptor, the others being remembered by name; half
    /// of the process's limit if `None`.
    pub held_inodes: Option<usize>,
    /// Whether a name leads to an entry that differs from it in the case of ASCII letters alone.
    pub ignore_case: bool,
    /// What is written to files whose path contains this text is lost when they are closed, which fails, as
    /// beyond the quota of a network file system.
    pub lost_at_close: Option<&'static str>,
}

impl Default for Settings {
    /// No delays, and a client without caches.
    fn default() -> Self {
        Settings {
            delays: Delays::default(),
            slots: 64,
            file_ttl: Duration::ZERO,
            directory_ttl: Duration::ZERO,
            name_ttl: Duration::ZERO,
            absence_ttl: Duration::ZERO,
            readdirplus: false,
            readdir_batch: 1000,
            allow_other: false,
            held_inodes: None,
            ignore_case: false,
            lost_at_close: None,
        }
    }
}

impl Settings {
    /// An NFS server with a round trip time of `rtt_us` microseconds, with the initial cache times
    /// of Linux clients: the minimum times of `nfs(5)`, `acregmin` and `acdirmin`.
    pub fn nfs(rtt_us: u64) -> Settings {
        let mut settings = Settings::default();
        settings.become_nfs(rtt_us);
        settings
    }

    /// Changes only delays and caches, to those of [`Settings::nfs`].
    pub fn become_nfs(&mut self, rtt_us: u64) {
        self.delays.set_nfs(rtt_us);
        self.file_ttl = Duration::from_secs(3);
        self.directory_ttl = Duration::from_secs(30);
        self.name_ttl = Duration::from_secs(30);
        self.absence_ttl = Duration::from_secs(30);
    }
}
