//! Where tests keep their files.

use crate::isolate;
use std::path::Path;
use std::process::{Command, Stdio};

/// A directory that goes away. Hundreds of small trees are made and removed: where there is a file
/// system in memory, and nobody wants another place, they are made there.
pub fn temporary() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    if std::env::var_os("TMPDIR").is_none() && memory.is_dir() {
        if let Ok(home) = tempfile::tempdir_in(memory) {
            return home;
        }
    }
    temporary_on_disk()
}

/// A directory that goes away, where the machine keeps temporary files: for tests that look at what
/// is above it.
pub fn temporary_on_disk() -> tempfile::TempDir {
    tempfile::tempdir().expect("there is room for temporary files")
}

/// A file system of its own in memory, for tests that fill one. It is unmounted when dropped.
pub struct Mount(tempfile::TempDir);

impl Mount {
    /// `None` where nothing can be mounted, or not with these options of tmpfs.
    pub fn tmpfs(options: &str) -> Option<Mount> {
        let place = temporary();
        let mut mount = Command::new("mount");
        isolate(&mut mount)
            .args(["-t", "tmpfs", "-o", options, "tmpfs"])
            .arg(place.path());
        mount.stdout(Stdio::null()).stderr(Stdio::null());
        let mounted = mount.status().is_ok_and(|status| status.success());
        mounted.then(|| Mount(place))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let mut umount = Command::new("umount");
        let _ = umount.arg("-l").arg(self.0.path()).status();
    }
}
