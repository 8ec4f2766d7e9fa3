use crate::proc_file::read_proc_file;
use std::path::Path;

/// Peak memory use of this process without mapped files, in bytes: the high-water mark of its
/// resident set minus the mapped files that are resident now. `None` if `/proc/self/status` does
/// not report it (see proc_pid_status(5)).
pub fn peak_memory_besides_mapped_files() -> Option<u64> {
    parse(&read_proc_file(Path::new("/proc/self/status"))?)
}

fn parse(status: &str) -> Option<u64> {
    let field = |name: &str| -> Option<u64> {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        let kilobytes = line.trim().strip_suffix("kB")?.trim_end();
        kilobytes.parse::<u64>().ok()?.checked_mul(1024)
    };
    Some(field("VmHWM:")?.saturating_sub(field("RssFile:")?))
}

/// Number of allocation arenas: threads that seldom allocate can share them.
#[cfg(target_env = "gnu")]
const ARENAS: i32 = 2;

/// Tells the C library's allocator to return blocks of more than `bytes` bytes to the system as
/// soon as they are freed, for a program whose threads occasionally hold a large buffer. By
/// default, the allocator raises that limit to the largest block it has freed, and keeps such
/// blocks for each thread.
#[allow(unsafe_code)]
pub fn return_freed_blocks(bytes: usize) {
    #[cfg(target_env = "gnu")]
    {
        let bytes = i32::try_from(bytes).unwrap_or(i32::MAX);
        // SAFETY: mallopt takes two integers; either no other thread has been started yet, or the
        // settings apply only to its later allocations.
        unsafe {
            libc::mallopt(libc::M_MMAP_THRESHOLD, bytes);
            libc::mallopt(libc::M_ARENA_MAX, ARENAS);
        }
    }
    #[cfg(not(target_env = "gnu"))]
    let _ = bytes;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mapped_files_do_not_count() {
        let status = "Name:\tx\nVmHWM:\t    1780 kB\nRssAnon:\t 112 kB\nRssFile:\t    1668 kB\n";
        assert_eq!(parse(status), Some(112 * 1024));
        assert_eq!(parse("VmHWM:\t 5 kB\n"), None);
        assert_eq!(parse("VmHWM:\t 5 kB\nRssFile:\tx kB\n"), None);
    }

    #[test]
    fn memory_in_use_shows() {
        let before = peak_memory_besides_mapped_files().unwrap();
        let block = std::hint::black_box(vec![1_u8; 64 << 20]);
        let after = peak_memory_besides_mapped_files().unwrap();
        assert_eq!(block.len(), 64 << 20);
        assert!(before > 0 && after > 64 << 20, "{before} {after}");
    }
}
