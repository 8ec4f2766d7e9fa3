//! Fault injection: makes the Nth system call of a kind fail, for every N, so that tests can check
//! the reaction.
//!
//! Each wrapper of this crate calls `check` before the system call. Unarmed, that costs one relaxed
//! load. The counter is global to the process: tests that arm it in-process must not run in
//! parallel; end-to-end tests arm the binary through the command line's test hook.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, Ordering};

/// The kind of system call that a wrapper is about to make; faults are armed by kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Op {
    /// Opening an existing file or directory.
    Open = 1,
    /// Creating a file.
    Create = 2,
    /// Creating a directory.
    Mkdir = 4,
    /// Creating a symbolic link.
    Symlink = 8,
    /// Reading.
    Read = 16,
    /// Writing.
    Write = 32,
    /// Querying a file's stat data.
    Stat = 64,
    /// Removing a file or a directory.
    Remove = 128,
    /// Renaming.
    Rename = 256,
    /// Closing a file that was written.
    Close = 512,
    /// Reporting an entry's kind in a listing, which not all file systems do.
    Kind = 1024,
    /// Setting an owner, permissions, a time or an extended attribute.
    Attribute = 2048,
    /// Creating a hard link.
    Link = 4096,
    /// Creating a device, a fifo or a socket.
    Node = 8192,
    /// Locking a file.
    Lock = 16384,
    /// Starting a thread.
    Thread = 32768,
    /// Mounting or unmounting.
    Mount = 65536,
}

impl Op {
    /// The operation of that name in lower case, as the command line's test hook spells it.
    pub fn from_name(name: &str) -> Option<Op> {
        Some(match name {
            "open" => Op::Open,
            "create" => Op::Create,
            "mkdir" => Op::Mkdir,
            "symlink" => Op::Symlink,
            "read" => Op::Read,
            "write" => Op::Write,
            "stat" => Op::Stat,
            "remove" => Op::Remove,
            "rename" => Op::Rename,
            "close" => Op::Close,
            "kind" => Op::Kind,
            "attribute" => Op::Attribute,
            "link" => Op::Link,
            "node" => Op::Node,
            "lock" => Op::Lock,
            "thread" => Op::Thread,
            "mount" => Op::Mount,
            _ => return None,
        })
    }
}

static ARMED: AtomicBool = AtomicBool::new(false);
static KINDS: AtomicU32 = AtomicU32::new(0);
static ERRNO: AtomicI32 = AtomicI32::new(0);
static FIRST: AtomicU64 = AtomicU64::new(0);
static LAST: AtomicU64 = AtomicU64::new(0);
static SEEN: AtomicU64 = AtomicU64::new(0);
static DELAY_SEED: AtomicU64 = AtomicU64::new(0);

/// Makes the calls numbered `first..=last` (from 1), among those whose kind is in `kinds` (a sum of
/// [`Op`] values), fail with `errno`.
pub fn arm(kinds: u32, first: u64, last: u64, errno: i32) {
    KINDS.store(kinds, Ordering::SeqCst);
    ERRNO.store(errno, Ordering::SeqCst);
    FIRST.store(first, Ordering::SeqCst);
    LAST.store(last, Ordering::SeqCst);
    SEEN.store(0, Ordering::SeqCst);
    ARMED.store(true, Ordering::SeqCst);
}

/// Delays calls by a random time of up to 300 microseconds, derived from `seed` (0: no delay), so
/// that workers finish in a different order.
pub fn delay(seed: u64) {
    DELAY_SEED.store(seed, Ordering::SeqCst);
    ARMED.store(true, Ordering::SeqCst);
}

/// Number of calls of the armed kinds since [`arm`].
pub fn seen() -> u64 {
    SEEN.load(Ordering::SeqCst)
}

/// Called by each wrapper before its system call.
#[inline]
pub(crate) fn check(op: Op) -> io::Result<()> {
    if ARMED.load(Ordering::Relaxed) {
        return check_armed(op);
    }
    Ok(())
}

/// Whether the kind of a listed entry must be reported as unknown.
#[inline]
pub(crate) fn hides_kind() -> bool {
    ARMED.load(Ordering::Relaxed) && fails(Op::Kind)
}

#[cold]
fn check_armed(op: Op) -> io::Result<()> {
    let seed = DELAY_SEED.load(Ordering::Relaxed);
    if seed != 0 {
        let next = seed
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407)
            | 1;
        DELAY_SEED.store(next, Ordering::Relaxed);
        std::thread::sleep(std::time::Duration::from_micros((next >> 33) % 300));
    }
    if fails(op) {
        Err(io::Error::from_raw_os_error(ERRNO.load(Ordering::Relaxed)))
    } else {
        Ok(())
    }
}

/// Counts the call if its kind is armed; returns whether it must fail.
fn fails(op: Op) -> bool {
    if KINDS.load(Ordering::Relaxed) & op as u32 == 0 {
        return false;
    }
    let number = SEEN.fetch_add(1, Ordering::SeqCst) + 1;
    number >= FIRST.load(Ordering::Relaxed) && number <= LAST.load(Ordering::Relaxed)
}
