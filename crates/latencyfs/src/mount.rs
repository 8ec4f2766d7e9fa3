//! A mount for a test: created in a directory of its own, removed when dropped.

use crate::counters::Snapshot;
use crate::server::Server;
use crate::settings::Settings;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A directory, mirrored with delays by threads of this process until the value is dropped.
///
/// ```no_run
/// # let backing = std::path::Path::new("/srv/backing");
/// let mount = match hedgerow_latencyfs::Mount::new(backing, 1000) {
///     Ok(mount) => mount,
///     Err(reason) => return println!("no mount: {reason}"),
/// };
/// let listed = mount.path().join("a/file");
/// ```
///
/// The kernel's caches are empty at first; [`Mount::remount`] empties them again.
pub struct Mount {
    server: Option<Server>,
    backing: PathBuf,
    settings: Box<dyn Fn() -> Settings + Send + Sync>,
    mount_point: TempDir,
}

/// Why a test cannot have a mount on this machine.
#[derive(Debug)]
pub struct Skip(String);

impl fmt::Display for Skip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Mount {
    /// Mirrors `backing` like an NFS server with a round trip time of `rtt_us` microseconds, with
    /// 64 slots.
    ///
    /// # Errors
    /// The machine has no FUSE, or this user may not use it.
    ///
    /// # Panics
    /// On any other error: a fault of the test must not be mistaken for a limitation of the
    /// machine.
    pub fn new(backing: &Path, rtt_us: u64) -> Result<Mount, Skip> {
        Mount::with(backing, move || Settings::nfs(rtt_us))
    }

    /// Like [`Mount::new`], with any settings; `settings` is called again for each
    /// [`Mount::remount`].
    pub fn with(
        backing: &Path,
        settings: impl Fn() -> Settings + Send + Sync + 'static,
    ) -> Result<Mount, Skip> {
        let mount_point = tempfile::Builder::new()
            .prefix("latencyfs.")
            .tempdir()
            .expect("a directory to mount on can be made");
        let mut mount = Mount {
            server: None,
            backing: backing.to_owned(),
            settings: Box::new(settings),
            mount_point,
        };
        mount.server = Some(mount.serve()?);
        Ok(mount)
    }

    fn serve(&self) -> Result<Server, Skip> {
        match Server::mount(&self.backing, self.path(), (self.settings)()) {
            Ok(server) => Ok(server),
            Err(error) => Err(lacking(&error)
                .unwrap_or_else(|| panic!("{} cannot be shown: {error}", self.backing.display()))),
        }
    }

    /// The mount point.
    pub fn path(&self) -> &Path {
        self.mount_point.path()
    }

    /// The counts since the mount or the last [`Mount::reset`].
    pub fn counters(&self) -> Snapshot {
        self.server().counters()
    }

    /// Resets the counters to zero.
    pub fn reset(&self) {
        self.server().reset();
    }

    /// Changes the delays, until the next [`Mount::remount`].
    pub fn set_rtt_us(&self, rtt_us: u64) {
        self.server().set_rtt_us(rtt_us);
    }

    /// Unmounts and mounts again at the same place; counters and caches are empty again.
    ///
    /// # Panics
    /// If a file or a directory of the mount is still open.
    pub fn remount(&mut self) {
        let server = self.server.take().expect("it is mounted");
        server.unmount().expect("it can be unmounted");
        let again = self.serve();
        self.server = Some(again.expect("what could be mounted once can be mounted again"));
    }

    fn server(&self) -> &Server {
        self.server
            .as_ref()
            .expect("it is mounted until it is dropped")
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        // A failing test may already have unmounted.
        if let Some(server) = self.server.take() {
            let _ = server.unmount();
        }
    }
}

/// What the machine lacks, if that is why mounting failed.
fn lacking(error: &io::Error) -> Option<Skip> {
    let device = Path::new("/dev/fuse");
    if !hedgerow_fs::exists(device) {
        return Some(Skip("there is no /dev/fuse".into()));
    }
    let text = error.to_string();
    match error.kind() {
        io::ErrorKind::PermissionDenied => Some(Skip("mounting is not allowed here".into())),
        io::ErrorKind::NotFound if !rustix::process::geteuid().is_root() => {
            Some(Skip("mounting as this user needs fusermount3".into()))
        }
        // The mount point was created by this module, so the program has no other reason to fail.
        _ if text.contains("fusermount") => Some(Skip(text)),
        _ => None,
    }
}
