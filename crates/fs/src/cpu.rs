//! The processors that this process may use.

use crate::proc_file::read_proc_file;
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;

/// Number of processors that this process can keep busy: those in its affinity mask, limited by the
/// CPU quotas of its control group and of the groups above it, rounded up. At least one. Determined
/// once; later changes are not noticed.
pub fn available() -> usize {
    static AVAILABLE: OnceLock<usize> = OnceLock::new();
    *AVAILABLE.get_or_init(|| available_below(Path::new("/")))
}

/// [`available`] as of now, with `/proc` and the control groups below `root`.
///
/// Quotas are `cpu.max` (version 2: `quota period`, or `max`) and `cpu.cfs_quota_us` over
/// `cpu.cfs_period_us` (version 1: -1 for none); the kernel's documentation is
/// `admin-guide/cgroup-v2.rst` and `scheduler/sched-bwc.rst`. The mount points of the hierarchies
/// are read from `/proc/self/mountinfo`, the process's group from `/proc/self/cgroup`.
pub fn available_below(root: &Path) -> usize {
    let quota = quota_below(root).map_or(usize::MAX, |processors| processors.ceil() as usize);
    affinity().min(quota).max(1)
}

fn affinity() -> usize {
    rustix::thread::sched_getaffinity(None).map_or(1, |set| set.count() as usize)
}

/// The smallest quota of the process's groups and those above them, in processors.
fn quota_below(root: &Path) -> Option<f64> {
    let groups = read_proc_file(&root.join("proc/self/cgroup"))?;
    let mounts = read_proc_file(&root.join("proc/self/mountinfo"))?;
    let mut smallest: Option<f64> = None;
    for (version, group) in groups.lines().filter_map(parse_group) {
        let of_version = |mount: &Mount<'_>| mount.version == version;
        // Most lines are of other file systems.
        let lines = mounts.lines().filter(|line| line.contains(" - cgroup"));
        let Some(mount) = lines.filter_map(parse_mount).find(of_version) else {
            continue;
        };
        for directory in directories(root, &mount, group) {
            let quota = match version {
                Version::One => quota_of_version_1(&directory),
                Version::Two => quota_of_version_2(&directory),
            };
            smallest = match (smallest, quota) {
                (Some(smallest), Some(quota)) => Some(smallest.min(quota)),
                (smallest, quota) => smallest.or(quota),
            };
        }
    }
    smallest
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

/// The mount point of a group hierarchy, and the group at its top there.
#[derive(Debug, PartialEq, Eq)]
struct Mount<'a> {
    version: Version,
    top: &'a str,
    point: &'a str,
}

/// Parses a line of `/proc/self/cgroup`, `number:controllers:path`, if its hierarchy can have
/// quotas.
fn parse_group(line: &str) -> Option<(Version, &str)> {
    let mut fields = line.splitn(3, ':');
    let (number, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
    match controllers {
        "" if number == "0" => Some((Version::Two, path)),
        _ if controllers.split(',').any(|name| name == "cpu") => Some((Version::One, path)),
        _ => None,
    }
}

/// Parses a line of `/proc/self/mountinfo` (proc_pid_mountinfo(5)) if it is the mount of such a
/// hierarchy.
fn parse_mount(line: &str) -> Option<Mount<'_>> {
    let (place, kind) = line.split_once(" - ")?;
    let mut place = place.split(' ').skip(3);
    let (top, point) = (place.next()?, place.next()?);
    let mut kind = kind.split(' ');
    let version = match kind.next()? {
        "cgroup2" => Version::Two,
        "cgroup" if kind.nth(1)?.split(',').any(|option| option == "cpu") => Version::One,
        _ => return None,
    };
    Some(Mount {
        version,
        top,
        point,
    })
}

/// The directories of a group and of the groups above it, as far as they are visible.
fn directories(root: &Path, mount: &Mount<'_>, group: &str) -> Vec<PathBuf> {
    let top = root.join(mount.point.trim_start_matches('/'));
    // In a cgroup namespace, a group may lie above the mounted top: `/../x`.
    let below_top = Path::new(group)
        .strip_prefix(mount.top)
        .ok()
        .filter(|path| !path.components().any(|part| part == Component::ParentDir))
        .unwrap_or(Path::new(""));
    let below_top = below_top.strip_prefix("/").unwrap_or(below_top);
    below_top.ancestors().map(|path| top.join(path)).collect()
}

fn quota_of_version_2(directory: &Path) -> Option<f64> {
    let content = read_proc_file(&directory.join("cpu.max"))?;
    let mut fields = content.split_ascii_whitespace();
    let quota = fields.next()?.parse().ok()?;
    let period = fields
        .next()
        .map_or(Some(100_000), |text| text.parse().ok());
    processors(quota, period?)
}

fn quota_of_version_1(directory: &Path) -> Option<f64> {
    let number =
        |name| -> Option<i64> { read_proc_file(&directory.join(name))?.trim().parse().ok() };
    processors(number("cpu.cfs_quota_us")?, number("cpu.cfs_period_us")?)
}

fn processors(quota: i64, period: i64) -> Option<f64> {
    (quota > 0 && period > 0).then(|| quota as f64 / period as f64)
}

#[cfg(test)]
#[allow(clippy::disallowed_methods)]
mod tests {
    use super::*;

    const MOUNTS: &str = "23 1 0:20 / /proc rw,nosuid shared:5 - proc proc rw\n\
        32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n\
        41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";

    /// A root with these files, gone when dropped.
    struct Root(PathBuf);

    impl Root {
        fn new(name: &str, files: &[(&str, &str)]) -> Self {
            let process = std::process::id();
            let root = std::env::temp_dir().join(format!("hedgerow-cpu-{name}-{process}"));
            for (path, content) in files {
                let path = root.join(path);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, content).unwrap();
            }
            Root(root)
        }
    }

    impl Drop for Root {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn this_machine_has_processors() {
        assert!(available() >= 1 && available() <= affinity());
        let nothing = Root::new("nothing", &[("other", "")]);
        assert_eq!(available_below(&nothing.0), affinity());
    }

    #[test]
    fn the_smallest_quota_of_the_groups_above_counts() {
        let group = "sys/fs/cgroup/unified/a/b/c/cpu.max";
        let above = "sys/fs/cgroup/unified/a/cpu.max";
        let files = [
            ("proc/self/cgroup", "5:devices:/x\n0::/a/b/c\n"),
            ("proc/self/mountinfo", MOUNTS),
            (group, "max 100000\n"),
            ("sys/fs/cgroup/unified/a/b/cpu.max", "250000 100000\n"),
            (above, "120000 100000\n"),
        ];
        let root = Root::new("above", &files);
        assert_eq!(quota_below(&root.0), Some(1.2));
        assert_eq!(available_below(&root.0), affinity().min(2));
        std::fs::write(root.0.join(group), "1000\n").unwrap();
        assert_eq!(quota_below(&root.0), Some(0.01));
        assert_eq!(available_below(&root.0), 1);
    }

    #[test]
    fn version_1_has_its_own_files() {
        let files = [
            ("proc/self/cgroup", "4:cpuset:/y\n3:cpuacct,cpu:/x\n"),
            ("proc/self/mountinfo", MOUNTS),
            ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n"),
            ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n"),
            ("sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us", "50000\n"),
            ("sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_period_us", "100000\n"),
        ];
        let root = Root::new("version-1", &files);
        assert_eq!(quota_below(&root.0), Some(0.5));
        assert_eq!(available_below(&root.0), 1);
    }

    #[test]
    fn a_container_sees_its_group_at_the_top() {
        let mount = "41 31 0:38 /pod/one /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
        for group in ["0::/pod/one\n", "0::/\n", "0::/../../elsewhere\n"] {
            let files = [
                ("proc/self/cgroup", group),
                ("proc/self/mountinfo", mount),
                ("sys/fs/cgroup/cpu.max", "150000 50000\n"),
            ];
            let root = Root::new("container", &files);
            assert_eq!(quota_below(&root.0), Some(3.0), "{group}");
        }
    }

    #[test]
    fn nonsense_is_no_quota() {
        for content in [
            "",
            "x y\n",
            "0 100000\n",
            "-5 100000\n",
            "100 0\n",
            "100 x\n",
        ] {
            let files = [
                ("proc/self/cgroup", "0::/\nnonsense\n"),
                ("proc/self/mountinfo", MOUNTS),
                ("sys/fs/cgroup/unified/cpu.max", content),
            ];
            let root = Root::new("nonsense", &files);
            assert_eq!(quota_below(&root.0), None, "{content:?}");
        }
    }
}
