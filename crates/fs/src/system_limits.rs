//! Limits of the system that a command can run into.

use crate::proc_file::read_proc_file;
use rustix::process::{getrlimit, Resource};
use std::path::Path;

/// How many threads this user may have, at most: the smallest of the limits on processes, on threads
/// of the whole machine, and on tasks of the control group. `None` if there is no limit.
pub fn thread_limit() -> Option<u64> {
    let of_user = getrlimit(Resource::Nproc).current;
    let of_machine = number("/proc/sys/kernel/threads-max");
    let of_group = control_group_limit();
    [of_user, of_machine, of_group].into_iter().flatten().min()
}

/// How many files and directories this user may watch with inotify, as git's file system monitor
/// does; `None` if the kernel does not say.
pub fn watch_limit() -> Option<u64> {
    number("/proc/sys/fs/inotify/max_user_watches")
}

/// `pids.max` of this process's group, and of those above it (`admin-guide/cgroup-v2.rst`).
fn control_group_limit() -> Option<u64> {
    let groups = read_proc_file(Path::new("/proc/self/cgroup"))?;
    let group = groups.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':');
        let (_, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
        matches!(controllers, "" | "pids").then_some((controllers, path))
    });
    let (controllers, path) = group?;
    let root = Path::new("/sys/fs/cgroup").join(controllers);
    let own = root.join(path.trim_start_matches('/'));
    let above = own.ancestors().take_while(|it| it.starts_with(&root));
    let limits = above.filter_map(|directory| {
        let text = read_proc_file(&directory.join("pids.max"))?;
        text.trim().parse().ok()
    });
    limits.min()
}

fn number(path: &str) -> Option<u64> {
    read_proc_file(Path::new(path))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_limits_that_let_it_run() {
        assert!(thread_limit().is_none_or(|limit| limit >= 1));
        assert!(watch_limit().is_none_or(|limit| limit > 0));
    }
}
