//! What a mount is like: delays, slots, and how long the client may believe what it knows.

use crate::delays::Delays;
use std::time::Duration;

/// What a mount is like.
#[derive(Debug)]
pub struct Settings {
    /// The delay of every kind of operation.
    pub delays: Delays,
    /// Requests in flight at once, like the slots of an NFS session; at least one.
    pub slots: usize,
    /// How long the attributes of what is no directory stay valid.
    pub file_ttl: Duration,
    /// How long the attributes of directories stay valid.
    pub directory_ttl: Duration,
    /// How long a name leads to the same inode.
    pub name_ttl: Duration,
    /// How long an absent name is known to be absent.
    pub absence_ttl: Duration,
    /// Listings carry attributes.
    pub readdirplus: bool,
    /// Entries in one answer to READDIR; at least one.
    pub readdir_batch: usize,
    /// Other users may use the mount.
    pub allow_other: bool,
    /// About how many inodes are held by a descriptor, the others by their names; half of the
    /// process's limit if not given.
    pub held_inodes: Option<usize>,
}

impl Default for Settings {
    /// No delays, and a client that remembers nothing.
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
        }
    }
}

impl Settings {
    /// An NFS server that is `rtt_us` microseconds away, with the client caches that Linux
    /// starts with: the least times of `nfs(5)`, `acregmin` and `acdirmin`.
    pub fn nfs(rtt_us: u64) -> Settings {
        let mut settings = Settings::default();
        settings.become_nfs(rtt_us);
        settings
    }

    /// Changes delays and caches, and nothing else, to those of [`Settings::nfs`].
    pub fn become_nfs(&mut self, rtt_us: u64) {
        self.delays.set_nfs(rtt_us);
        self.file_ttl = Duration::from_secs(3);
        self.directory_ttl = Duration::from_secs(30);
        self.name_ttl = Duration::from_secs(30);
        self.absence_ttl = Duration::from_secs(30);
    }
}
