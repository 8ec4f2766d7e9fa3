//! The delay of each kind of remote operation.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A kind of remote operation, which is charged and counted separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as in the NFS and FUSE protocols")]
pub enum Op {
    Lookup,
    Getattr,
    Setattr,
    Open,
    Create,
    Read,
    Write,
    Flush,
    Commit,
    Fsync,
    Opendir,
    Readdir,
    Readlink,
    Mkdir,
    Symlink,
    Link,
    Remove,
    Rename,
    Statfs,
}

impl Op {
    /// Number of kinds.
    pub const COUNT: usize = Op::ALL.len();

    /// Every kind, in the order of their declaration, with its name in options and counters.
    pub const ALL: [(Op, &'static str); 19] = [
        (Op::Lookup, "lookup"),
        (Op::Getattr, "getattr"),
        (Op::Setattr, "setattr"),
        (Op::Open, "open"),
        (Op::Create, "create"),
        (Op::Read, "read"),
        (Op::Write, "write"),
        (Op::Flush, "flush"),
        (Op::Commit, "commit"),
        (Op::Fsync, "fsync"),
        (Op::Opendir, "opendir"),
        (Op::Readdir, "readdir"),
        (Op::Readlink, "readlink"),
        (Op::Mkdir, "mkdir"),
        (Op::Symlink, "symlink"),
        (Op::Link, "link"),
        (Op::Remove, "remove"),
        (Op::Rename, "rename"),
        (Op::Statfs, "statfs"),
    ];

    /// Number of round trips to an NFS 4 server.
    fn round_trips(self) -> u64 {
        match self {
            Op::Create => 2, // OPEN, then SETATTR
            Op::Write => 0,  // goes to the client's page cache; paid at Flush
            Op::Commit => 0, // small files are flushed with one stable WRITE
            _ => 1,
        }
    }
}

/// Longest delay of one operation, in microseconds. A mount that answers later cannot be
/// distinguished from one that hangs, and a mistyped delay could not be corrected through it.
pub const MAX_DELAY_US: u64 = 60_000_000;

/// The delay of every kind of operation, in microseconds; it can be changed while mounted.
#[derive(Debug)]
pub struct Delays([AtomicU64; Op::COUNT]);

impl Default for Delays {
    fn default() -> Self {
        Delays(std::array::from_fn(|_| AtomicU64::new(0)))
    }
}

impl Delays {
    /// The delay of one kind, in microseconds.
    pub fn get(&self, op: Op) -> u64 {
        self.0[op as usize].load(Relaxed)
    }

    /// Sets the delay of one kind, in microseconds; at most a minute.
    pub fn set(&self, op: Op, us: u64) {
        self.0[op as usize].store(us.min(MAX_DELAY_US), Relaxed);
    }

    /// Sets all delays to those of an NFS server with a round trip time of `rtt_us` microseconds.
    pub fn set_nfs(&self, rtt_us: u64) {
        for (op, _) in Op::ALL {
            self.set(op, rtt_us.saturating_mul(op.round_trips()));
        }
    }

    /// Sets the delay of the kind called `name`; false if there is no such kind.
    pub fn set_named(&self, name: &str, us: u64) -> bool {
        let found = Op::ALL.iter().find(|(_, known)| *known == name);
        if let Some((op, _)) = found {
            self.set(*op, us);
        }
        found.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_kinds_is_in_the_order_of_their_declaration() {
        for (at, (op, _)) in Op::ALL.iter().enumerate() {
            assert_eq!(*op as usize, at);
        }
    }

    #[test]
    fn a_creation_costs_two_round_trips_and_a_write_none() {
        let delays = Delays::default();
        delays.set_nfs(700);
        assert_eq!(delays.get(Op::Lookup), 700);
        assert_eq!(delays.get(Op::Create), 1400);
        assert_eq!(delays.get(Op::Write), 0);
    }

    #[test]
    fn no_number_makes_a_delay_of_days() {
        let delays = Delays::default();
        delays.set_nfs(u64::MAX);
        assert_eq!(delays.get(Op::Create), MAX_DELAY_US);
        assert!(!delays.set_named("teleport", 1));
    }
}
