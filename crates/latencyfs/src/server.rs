//! Mounts, and serves the mount from threads of this process.

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

/// Paths of the program that mounts and unmounts for users other than root; the mounting library
/// also looks for it outside the PATH.
const FUSERMOUNT: [&str; 3] = ["fusermount3", "/usr/bin/fusermount3", "/bin/fusermount3"];

/// How long an unmount waits for open files and directories.
const PATIENCE: Duration = Duration::from_secs(2);

/// A mount that is being served.
pub struct Server {
    settings: Arc<Settings>,
    counters: Arc<Counters>,
    mount_point: PathBuf,
    session: BackgroundSession,
}

impl Server {
    /// Mirrors `backing` at `mount_point`; both must be directories. The mount is being served when
    /// this returns. Raises the process's descriptor limit to the maximum allowed.
    pub fn mount(backing: &Path, mount_point: &Path, settings: Settings) -> io::Result<Server> {
        let mut options = fuser::Config::default();
        options.mount_options = vec![
            MountOption::FSName("latencyfs".into()),
            MountOption::Subtype("latencyfs".into()),
            MountOption::DefaultPermissions,
            MountOption::NoAtime,
        ];
        // The kernel allows these options only to root.
        if rustix::process::geteuid().is_root() {
            options.mount_options.push(MountOption::Dev);
            options.mount_options.push(MountOption::Suid);
        }
        if settings.allow_other {
            options.acl = SessionACL::All;
        }
        // A request occupies its thread until its delay is over, so threads are slots.
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

    /// The current counts.
    pub fn counters(&self) -> Snapshot {
        self.counters.snapshot()
    }

    /// Resets the counters to zero.
    pub fn reset(&self) {
        self.counters.reset();
    }

    /// Changes the delays to those of an NFS server with a round trip time of `rtt_us`
    /// microseconds.
    pub fn set_rtt_us(&self, rtt_us: u64) {
        self.settings.delays.set_nfs(rtt_us);
    }

    /// Waits until it is unmounted, and returns the counts.
    ///
    /// # Errors
    /// The connection to the kernel failed.
    pub fn wait(self) -> io::Result<Snapshot> {
        // Dropping the session would unmount by path, and the path may already have another mount:
        // the session's other resources are released when the process ends.
        let mut session = ManuallyDrop::new(self.session);
        let guard = std::mem::replace(&mut session.guard, std::thread::spawn(|| Ok(())));
        let ended = guard.join();
        ended.unwrap_or_else(|_| Err(io::Error::other("a serving thread panicked")))?;
        Ok(self.counters.snapshot())
    }

    /// Unmounts like [`unmount`]. Files still open are served until they are closed or the process
    /// ends.
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

/// Adds the path to the error and keeps its kind.
fn about(path: &Path, error: io::Error) -> io::Error {
    let reason = error.to_string(); // what a program said ends with its newline
    io::Error::new(
        error.kind(),
        format!("{}: {}", path.display(), reason.trim_end()),
    )
}

/// Result of an unmount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unmounted {
    /// It was not in use any more.
    Clean,
    /// It is no longer in the directory tree, but a file or directory is still open.
    InUse,
}

/// Unmounts the file system at a path; waits two seconds for open files.
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

/// Users other than root need the program that comes with FUSE, which does not report reasons.
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

/// Serves from threads with exact sleeps: they inherit the timer slack of the thread that starts
/// them, and the caller's slack stays unchanged.
fn spawn(session: Session<LatencyFs>) -> io::Result<BackgroundSession> {
    let start = move || {
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        session.spawn()
    };
    let started = std::thread::spawn(start).join();
    started.unwrap_or_else(|_| Err(io::Error::other("the starting thread panicked")))
}

/// Raises the descriptor limit to the maximum; returns the resulting limit.
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

/// The umask of this process. It is read from a file, because the system call that returns it also
/// sets it, and other threads may be creating files.
pub(crate) fn umask() -> u32 {
    proc_file("/proc/self/status")
        .and_then(|text| {
            let value = text.lines().find_map(|line| line.strip_prefix("Umask:"))?;
            u32::from_str_radix(value.trim(), 8).ok()
        })
        .unwrap_or(0o777) // not told: permissions are then set after each creation
}

/// The content of a file generated by the kernel. It must be read in one call: in pieces, a value
/// may be truncated.
fn proc_file(path: &str) -> Option<String> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::empty()).ok()?;
    let mut content = vec![0; 64 << 10];
    let length = rustix::io::read(&file, &mut content).ok()?;
    content.truncate(length);
    String::from_utf8(content).ok()
}
