use rustix::process::{getrlimit, Resource};

/// How many descriptors this process may have open at a time: the soft limit of getrlimit(2).
pub fn descriptor_limit() -> u64 {
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}
