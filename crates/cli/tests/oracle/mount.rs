//! A small file system to be filled, for the tests that can mount one.

use crate::oracle::temporary;
use std::path::Path;
use std::process::{Command, Stdio};

/// A file system of its own, in the memory, that goes away.
pub struct Mount(tempfile::TempDir);

impl Mount {
    /// `None` where nothing can be mounted, or not with these options of tmpfs.
    pub fn tmpfs(options: &str) -> Option<Mount> {
        let place = temporary();
        let mut mount = Command::new("mount");
        mount
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
