//! Mounting read-only images and overlays: mount_setattr(2), fsopen(2),
//! `Documentation/filesystems/overlayfs.rst` of the kernel.

use crate::descriptors::obtain;
use crate::fault::{self, Op};
use crate::loop_device::LoopDevice;
use crate::{Error, Result};
use rustix::fd::{AsFd, AsRawFd, OwnedFd};
use rustix::fs::{Mode, OFlags, CWD};
use rustix::io::Errno;
use rustix::mount::{
    fsconfig_create, fsconfig_set_flag, fsconfig_set_string, fsmount, fsopen, move_mount,
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, UnmountFlags,
};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The layers of an overlay.
#[derive(Clone, Copy, Debug)]
pub struct Overlay<'p> {
    /// What the table of mounts shows as its source.
    pub source: &'p str,
    /// The directory that is never written to.
    pub lower: &'p Path,
    /// The directory that takes all changes.
    pub upper: &'p Path,
    /// An empty directory on the file system of `upper`, for the kernel.
    pub work: &'p Path,
    /// Whether directories of the lower layer can be renamed, and inode numbers stay the same over
    /// mounts. The kernel refuses both to an overlay that a user namespace may mount, which keeps
    /// its notes in other attributes.
    pub is_privileged: bool,
}

/// Mounts the image in the file `image` of the file system `kind` on the directory `at`, read-only.
/// A file system that the kernel does not mount from a file gets a loop device, which goes with the
/// mount.
pub fn mount_image(kind: &str, image: &Path, at: &Path) -> Result<()> {
    let mounted = fault::check(Op::Mount)
        .and_then(|()| image_mount(kind, image))
        .and_then(|mount| move_to(&mount, at));
    mounted.map_err(|source| Error::new("mount", image, source))
}

/// An image that is mounted for this process alone, nowhere in the tree of directories: however the
/// process ends, nothing is left.
#[derive(Debug)]
pub struct OpenImage(OwnedFd);

impl OpenImage {
    /// As [`mount_image`].
    ///
    /// # Errors
    /// If it cannot be mounted.
    pub fn open(kind: &str, image: &Path) -> Result<Self> {
        let mounted = fault::check(Op::Mount).and_then(|()| image_mount(kind, image));
        let mount = mounted.map_err(|source| Error::new("mount", image, source))?;
        Ok(OpenImage(mount))
    }

    /// The directory with its contents, in this process.
    pub fn path(&self) -> PathBuf {
        format!("/proc/self/fd/{}/.", self.0.as_raw_fd()).into()
    }
}

/// The mount of an image, at no place yet.
fn image_mount(kind: &str, image: &Path) -> io::Result<OwnedFd> {
    let named = if image.as_os_str().len() > SOURCE_BYTES {
        None
    } else {
        match image_context(kind, image) {
            // ENOTBLK: this kernel or this file system wants a device.
            Err(error) if error.raw_os_error() == Some(Errno::NOTBLK.raw_os_error()) => None,
            context => Some(context?),
        }
    };
    let context = match named {
        Some(context) => context,
        None => image_context(kind, LoopDevice::attach(image)?.path())?,
    };
    Ok(fsmount(
        &context,
        FsMountFlags::FSMOUNT_CLOEXEC,
        image_flags(),
    )?)
}

/// The longest source that fsconfig(2) takes, in bytes.
const SOURCE_BYTES: usize = 255;

/// Whoever made an image gets no rights of another user by it.
const HARMLESS: MountAttrFlags =
    MountAttrFlags::MOUNT_ATTR_NOSUID.union(MountAttrFlags::MOUNT_ATTR_NODEV);

fn image_flags() -> MountAttrFlags {
    HARMLESS | MountAttrFlags::MOUNT_ATTR_RDONLY | MountAttrFlags::MOUNT_ATTR_NOATIME
}

/// The file system of an image, not mounted anywhere yet.
fn image_context(kind: &str, source: &Path) -> io::Result<OwnedFd> {
    let context = open_context(kind)?;
    fsconfig_set_flag(&context, "ro")?;
    fsconfig_set_string(&context, "source", source)?;
    fsconfig_create(&context)?;
    Ok(context)
}

fn open_context(kind: &str) -> io::Result<OwnedFd> {
    obtain(|| Ok(fsopen(kind, FsOpenFlags::FSOPEN_CLOEXEC)?))
}

/// Mounts a file system on the directory `at`.
fn attach(context: &OwnedFd, flags: MountAttrFlags, at: &Path) -> io::Result<()> {
    let mount = fsmount(context, FsMountFlags::FSMOUNT_CLOEXEC, flags)?;
    move_to(&mount, at)
}

fn move_to(mount: &OwnedFd, at: &Path) -> io::Result<()> {
    let empty_path = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
    Ok(move_mount(mount.as_fd(), "", CWD, at, empty_path)?)
}

/// Mounts `overlay` on the directory `at`. A privileged one has the only use of its layers: a second
/// mount of them fails with `EBUSY`, in other mount namespaces, too.
pub fn mount_overlay(overlay: &Overlay<'_>, at: &Path) -> Result<()> {
    let mounted =
        fault::check(Op::Mount).and_then(|()| attach(&indexed_context(overlay)?, HARMLESS, at));
    mounted.map_err(|source| Error::new("mount", at, source))
}

/// Makes `overlay` without mounting it, so that the kernel notes in its layers now what it notes when
/// they are first used.
pub fn prepare_overlay(overlay: &Overlay<'_>) -> Result<()> {
    let made = fault::check(Op::Mount).and_then(|()| indexed_context(overlay));
    made.map(drop)
        .map_err(|source| Error::new("use the layer", overlay.upper, source))
}

/// The overlay, with an index where the layers may have one.
fn indexed_context(overlay: &Overlay<'_>) -> io::Result<OwnedFd> {
    match overlay_context(overlay, overlay.is_privileged) {
        // The index of layers that were copied, or whose image was made by another program, is not
        // theirs.
        Err(error) if error.raw_os_error() == Some(Errno::STALE.raw_os_error()) => {
            overlay_context(overlay, false)
        }
        context => context,
    }
}

/// The overlay, not mounted anywhere yet.
fn overlay_context(overlay: &Overlay<'_>, has_index: bool) -> io::Result<OwnedFd> {
    let context = open_context("overlay")?;
    fsconfig_set_string(&context, "source", overlay.source)?;
    let layers = [
        ("lowerdir", overlay.lower),
        ("upperdir", overlay.upper),
        ("workdir", overlay.work),
    ];
    // Held until the kernel has followed the paths that lead through them.
    let mut held = Vec::new();
    for (key, layer) in layers {
        let path = unambiguous(layer, &mut held)?;
        fsconfig_set_string(&context, key, &*path)?;
    }
    if overlay.is_privileged {
        fsconfig_set_string(&context, "redirect_dir", "on")?;
        fsconfig_set_string(&context, "xino", "on")?;
        let index = if has_index { "on" } else { "off" };
        fsconfig_set_string(&context, "index", index)?;
    } else {
        fsconfig_set_flag(&context, "userxattr")?;
    }
    fsconfig_create(&context)?;
    Ok(context)
}

/// Whether an overlay of any mount namespace uses `upper` and `work` for changes: then the kernel refuses
/// to make another one, which is not mounted anywhere here. Where that cannot be tried, it is not told.
pub fn is_layer_in_use(upper: &Path, work: &Path) -> bool {
    let overlay = Overlay {
        source: "none",
        lower: Path::new("/"),
        upper,
        work,
        is_privileged: true,
    };
    // Layers that overlap are refused, too, but later.
    let made = overlay_context(&overlay, true);
    made.is_err_and(|error| error.kind() == io::ErrorKind::ResourceBusy)
}

/// A path to the same directory without the characters that separate or quote in options, and short
/// enough for one.
fn unambiguous(path: &Path, held: &mut Vec<OwnedFd>) -> io::Result<PathBuf> {
    let is_separator = |byte: &u8| matches!(byte, b',' | b':' | b'\\');
    let bytes = path.as_os_str().as_bytes();
    if bytes.len() < OPTION_LIMIT_BYTES && !bytes.iter().any(is_separator) {
        return Ok(path.to_owned());
    }
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let directory = obtain(|| Ok(rustix::fs::open(path, flags, Mode::empty())?))?;
    let through = format!("/proc/self/fd/{}", directory.as_raw_fd());
    held.push(directory);
    Ok(through.into())
}

/// The kernel takes no longer value, its end included.
const OPTION_LIMIT_BYTES: usize = 256;

/// Removes the mount on the directory `at`. Unless `lazily`, that fails while it is in use.
pub fn unmount(at: &Path, lazily: bool) -> Result<()> {
    let mut flags = UnmountFlags::NOFOLLOW;
    if lazily {
        flags |= UnmountFlags::DETACH;
    }
    fault::check(Op::Mount)
        .and_then(|()| Ok(rustix::mount::unmount(at, flags)?))
        .map_err(|source| Error::new("unmount", at, source))
}

/// Whether the kernel knows the file system `kind`, or can load a module that does.
pub fn knows_file_system(kind: &str) -> bool {
    let known = crate::proc_file::read_proc_file(Path::new("/proc/filesystems"));
    let is_listed = known.is_some_and(|known| {
        known
            .lines()
            .any(|line| line.trim_start_matches("nodev").trim() == kind)
    });
    // Asking for it loads its module, if this process may do that.
    is_listed || open_context(kind).is_ok()
}

/// Whether this process may mount file systems in its mount namespace: CAP_SYS_ADMIN in the user
/// namespace that owns it. Whether that is the first user namespace, in which images can be mounted,
/// is the second value.
pub fn may_mount() -> (bool, bool) {
    let status = crate::proc_file::read_proc_file(Path::new("/proc/self/status"));
    let capabilities = status.as_deref().and_then(|status| {
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("CapEff:"))?;
        u64::from_str_radix(line.trim(), 16).ok()
    });
    let may = capabilities.is_some_and(|capabilities| capabilities & CAP_SYS_ADMIN != 0);
    let map = crate::proc_file::read_proc_file(Path::new("/proc/self/uid_map"));
    let numbers = map
        .as_deref()
        .map(|map| map.split_ascii_whitespace().collect::<Vec<_>>());
    let is_first = numbers.is_none_or(|numbers| numbers == ["0", "0", "4294967295"]);
    (may, is_first)
}

const CAP_SYS_ADMIN: u64 = 1 << 21;

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "tests look at files")]

    use super::*;
    use crate::mount_at;
    use hedgerow_testkit::{require, skip};
    use std::fs;

    /// Removes the mounts at these places at the end, however the test ends.
    struct Mounted(Vec<PathBuf>);

    impl Drop for Mounted {
        fn drop(&mut self) {
            for path in self.0.iter().rev() {
                let _ = unmount(path, true);
            }
        }
    }

    fn image_below(place: &Path) -> PathBuf {
        fs::create_dir_all(place.join("source/d")).unwrap();
        fs::write(place.join("source/d/file"), "lower").unwrap();
        fs::write(place.join("source/gone"), "lower").unwrap();
        let image = place.join("image");
        let mut command = std::process::Command::new("mksquashfs");
        command.arg(place.join("source")).arg(&image);
        let made = command.args(["-quiet", "-no-progress"]).output().unwrap();
        assert!(made.status.success());
        image
    }

    #[test]
    fn an_image_below_and_changes_above_in_directories_of_any_name() {
        if may_mount() != (true, true) {
            return skip("mounting is not allowed");
        }
        if !require("mksquashfs") {
            return;
        }
        let place = tempfile::tempdir().unwrap();
        let image = image_below(place.path());
        let long = format!("upper,a:b\\,c/{}", "long/".repeat(60));
        let directory = |name: &str| {
            let path = place.path().join(name);
            fs::create_dir_all(&path).unwrap();
            path
        };
        let lower = directory("lower, with:separators\\");
        let upper = directory(&long);
        let (work, top) = (directory("work,:"), directory("top d"));
        let mut mounted = Mounted(vec![lower.clone()]);
        mount_image("squashfs", &image, &lower).unwrap();
        let overlay = Overlay {
            source: "test",
            lower: &lower,
            upper: &upper,
            work: &work,
            is_privileged: true,
        };
        mount_overlay(&overlay, &top).unwrap();
        mounted.0.push(top.clone());
        assert_eq!(fs::read(top.join("d/file")).unwrap(), b"lower");
        fs::write(top.join("d/file"), "upper").unwrap();
        fs::remove_file(top.join("gone")).unwrap();
        fs::rename(top.join("d"), top.join("renamed")).unwrap();
        assert_eq!(fs::read(lower.join("d/file")).unwrap(), b"lower");
        assert!(fs::write(lower.join("d/file"), "").is_err());
        let found = mount_at(&top).unwrap().unwrap();
        assert_eq!(
            (found.kind.as_str(), found.source.to_str()),
            ("overlay", Some("test"))
        );
        assert!(found.option("upperdir").is_some() && found.option("lower").is_none());
        let table = fs::read_to_string("/proc/self/mountinfo").unwrap();
        let line = table.lines().find(|line| line.contains("- overlay test "));
        assert!(line.unwrap().contains(" rw,nosuid,nodev"), "{line:?}");
        // Nobody else uses the layer of changes meanwhile.
        assert!(is_layer_in_use(&upper, &work));
        let second = directory("second");
        let error = mount_overlay(&overlay, &second).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ResourceBusy, "{error}");
        // The image stays mounted below the overlay.
        unmount(&lower, false).unwrap();
        assert_eq!(fs::read(top.join("renamed/file")).unwrap(), b"upper");
        unmount(&top, false).unwrap();
        assert!(mount_at(&top).unwrap().is_none());
        assert!(!is_layer_in_use(&upper, &work));
        mounted.0.clear();
        assert_eq!(fs::read(upper.join("renamed/file")).unwrap(), b"upper");
    }

    #[test]
    fn what_is_no_image_is_not_mounted() {
        if may_mount() != (true, true) {
            return skip("mounting is not allowed");
        }
        let place = tempfile::tempdir().unwrap();
        let image = place.path().join("image");
        fs::write(&image, vec![0; 8192]).unwrap();
        let error = mount_image("squashfs", &image, place.path()).unwrap_err();
        assert!(error.to_string().starts_with("cannot mount '"), "{error}");
        let error = mount_image("nonsense", &image, place.path()).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ENODEV));
    }
}
