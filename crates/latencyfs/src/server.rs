//! Mounting, and serving what is mounted from threads of this process.

use crate::counters::{Counters, Snapshot};
use crate::filesystem::LatencyFs;
use crate::settings::Settings;
use fuser::{BackgroundSession, MountOption, Session, SessionACL};
use rustix::fs::{Mode, OFlags};
use rustix::mount::UnmountFlags;
use rustix::process::{getrlimit, setrlimit, Resource, Rlimit};
use std::io;
use std::mem::ManuallyDrop;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Where the program is that mounts and unmounts for users other than root: what mounts looks
/// for it beside the PATH too.
const FUSERMOUNT: [&str; 3] = ["fusermount3", "/usr/bin/fusermount3", "/bin/fusermount3"];

/// How long an unmount waits for those who still have something open.
const PATIENCE: Duration = Duration::from_secs(2);

/// A mount that is being served.
pub struct Server {
    settings: Arc<Settings>,
    counters: Arc<Counters>,
    mount_point: PathBuf,
    session: BackgroundSession,
}

impl Server {
    /// Shows `backing` at `mount_point`; both must be directories. The mount exists, and is
    /// served, when this returns. Sets the process's limit on descriptors to the most allowed.
    pub fn mount(backing: &Path, mount_point: &Path, settings: Settings) -> io::Result<Server> {
        let mut options = fuser::Config::default();
        options.mount_options = vec![
            MountOption::FSName("latencyfs".into()),
            MountOption::Subtype("latencyfs".into()),
            MountOption::DefaultPermissions,
            MountOption::NoAtime,
        ];
        if rustix::process::geteuid().is_root() {
            options.mount_options.push(MountOption::Dev);
            options.mount_options.push(MountOption::Suid);
        }
        if settings.allow_other {
            options.acl = SessionACL::All;
        }
        options.n_threads = Some(settings.slots);
        options.clone_fd = true;

        let limit = raise_descriptor_limit();
        let held_inodes = settings.held_inodes.unwrap_or(limit / 2);
        let settings = Arc::new(settings);
        let counters = Arc::new(Counters::new());
        let (shared, counted) = (settings.clone(), counters.clone());
        let shown = LatencyFs::new(backing, shared, counted, held_inodes)
            .map_err(|error| about(backing, error))?;
        let session = Session::new(shown, mount_point, &options)
            .map_err(|error| about(mount_point, error))?;
        let session = spawn(session)?;
        Ok(Server {
            settings,
            counters,
            mount_point: mount_point.to_owned(),
            session,
        })
    }

    /// What was charged.
    pub fn counters(&self) -> Snapshot {
        self.counters.snapshot()
    }

    /// Sets what was charged to nothing.
    pub fn reset(&self) {
        self.counters.reset();
    }

    /// Changes the delays to those of an NFS server that is `rtt_us` away.
    pub fn set_rtt_us(&self, rtt_us: u64) {
        self.settings.delays.set_nfs(rtt_us);
    }

    /// Waits until somebody has unmounted it; what was charged until then.
    ///
    /// # Errors
    /// The connection to the kernel failed.
    pub fn wait(self) -> io::Result<Snapshot> {
        // Dropping the session would unmount by path, and by now that may be somebody's next
        // mount: the rest of it is left to the end of the process.
        let mut session = ManuallyDrop::new(self.session);
        let guard = std::mem::replace(&mut session.guard, std::thread::spawn(|| Ok(())));
        let ended = guard.join();
        ended.unwrap_or_else(|_| Err(io::Error::other("a serving thread panicked")))?;
        Ok(self.counters.snapshot())
    }

    /// Unmounts, as [`unmount`] does. What is still open is served until it is closed or the
    /// process ends.
    pub fn unmount(self) -> io::Result<()> {
        match unmount(&self.mount_point)? {
            Unmounted::Clean => self.session.join(),
            Unmounted::InUse => {
                std::mem::forget(self.session);
                Ok(())
            }
        }
    }
}

/// Names the path, and keeps the kind of the error.
fn about(path: &Path, error: io::Error) -> io::Error {
    let reason = error.to_string(); // what a program said ends with its newline
    io::Error::new(
        error.kind(),
        format!("{}: {}", path.display(), reason.trim_end()),
    )
}

/// How an unmount ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unmounted {
    /// Nobody used it any more.
    Clean,
    /// It is gone from the tree of directories, but somebody has something open.
    InUse,
}

/// Unmounts what is at a path; waits two seconds for those who have something open there.
pub fn unmount(mount_point: &Path) -> io::Result<Unmounted> {
    let started = Instant::now();
    loop {
        match unmount_once(mount_point, UnmountFlags::NOFOLLOW) {
            Ok(()) => return Ok(Unmounted::Clean),
            Err(error) if error.kind() != io::ErrorKind::ResourceBusy => return Err(error),
            Err(_) if started.elapsed() > PATIENCE => break,
            Err(_) => std::thread::sleep(Duration::from_millis(10)),
        }
    }
    let flags = UnmountFlags::NOFOLLOW | UnmountFlags::DETACH;
    unmount_once(mount_point, flags).map(|()| Unmounted::InUse)
}

/// Users other than root need the program that comes with FUSE, which tells no reasons.
fn unmount_once(mount_point: &Path, flags: UnmountFlags) -> io::Result<()> {
    match rustix::mount::unmount(mount_point, flags) {
        Err(rustix::io::Errno::PERM) => {}
        done => return Ok(done?),
    }
    let mut outcome = Err(io::ErrorKind::NotFound.into());
    for program in FUSERMOUNT {
        let mut command = Command::new(program);
        command.arg("-u");
        if flags.contains(UnmountFlags::DETACH) {
            command.arg("-z");
        }
        outcome = command.arg(mount_point).output();
        if !matches!(&outcome, Err(error) if error.kind() == io::ErrorKind::NotFound) {
            break;
        }
    }
    if outcome?.status.success() {
        Ok(())
    } else {
        Err(io::ErrorKind::ResourceBusy.into())
    }
}

/// Serves from threads whose sleeps are exact: they inherit the slack of the one that starts
/// them, and the caller keeps its own.
fn spawn(session: Session<LatencyFs>) -> io::Result<BackgroundSession> {
    let start = move || {
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        session.spawn()
    };
    let started = std::thread::spawn(start).join();
    started.unwrap_or_else(|_| Err(io::Error::other("the starting thread panicked")))
}

/// Asks for as many descriptors as the kernel allows; returns how many there are.
fn raise_descriptor_limit() -> usize {
    let now = getrlimit(Resource::Nofile);
    let most = proc_file("/proc/sys/fs/nr_open").and_then(|text| text.trim().parse().ok());
    let hard = now.maximum.unwrap_or(u64::MAX);
    for wanted in [most.unwrap_or(hard).max(hard), hard] {
        let new = Rlimit {
            current: Some(wanted),
            maximum: Some(wanted),
        };
        if setrlimit(Resource::Nofile, new).is_ok() {
            return usize::try_from(wanted).unwrap_or(usize::MAX);
        }
    }
    usize::try_from(now.current.unwrap_or(1024)).unwrap_or(usize::MAX)
}

/// The umask of this process. It is read where the kernel shows it: asking for it by a system
/// call is setting it, and other threads may be creating files.
pub(crate) fn umask() -> u32 {
    proc_file("/proc/self/status")
        .and_then(|text| {
            let value = text.lines().find_map(|line| line.strip_prefix("Umask:"))?;
            u32::from_str_radix(value.trim(), 8).ok()
        })
        .unwrap_or(0o777) // not told: permissions are then set after each creation
}

/// The content of a file that the kernel makes up. It must be read at once: in pieces, a value may
/// come out cut short.
fn proc_file(path: &str) -> Option<String> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::empty()).ok()?;
    let mut content = vec![0; 64 << 10];
    let length = rustix::io::read(&file, &mut content).ok()?;
    content.truncate(length);
    String::from_utf8(content).ok()
}
