//! A file as a block device, for file systems that the kernel mounts from devices only: loop(4).

use crate::descriptors::obtain;
use crate::fault::{self, Op};
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::io;
use std::path::{Path, PathBuf};

/// The requests of ioctl(2): `linux/loop.h`.
const LOOP_CONFIGURE: u32 = 0x4C0A;
const LOOP_CTL_GET_FREE: u32 = 0x4C82;
const LO_FLAGS_READ_ONLY: u32 = 1;
const LO_FLAGS_AUTOCLEAR: u32 = 4;

/// Number of attempts if other processes take the free device first.
const ATTEMPTS: u32 = 64;

/// `struct loop_info64` of `linux/loop.h`.
#[repr(C)]
struct LoopInfo {
    device: u64,
    inode: u64,
    rdevice: u64,
    offset: u64,
    size_limit: u64,
    number: u32,
    encrypt_type: u32,
    encrypt_key_size: u32,
    flags: u32,
    file_name: [u8; 64],
    crypt_name: [u8; 64],
    encrypt_key: [u8; 32],
    init: [u64; 2],
}

/// `struct loop_config` of `linux/loop.h`.
#[repr(C)]
struct LoopConfig {
    fd: u32,
    block_size: u32,
    info: LoopInfo,
    reserved: [u64; 8],
}

/// A device that shows a file, read-only. The kernel frees the device when neither this nor a mount
/// uses it any more.
#[derive(Debug)]
pub(crate) struct LoopDevice {
    _device: OwnedFd,
    path: PathBuf,
}

impl LoopDevice {
    /// Makes a free device show the file `image`.
    pub(crate) fn attach(image: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let open = |path: &Path, flags| {
            obtain(|| {
                fault::check(Op::Open)?;
                Ok(rustix::fs::open(path, flags, Mode::empty())?)
            })
        };
        let image = open(image, flags)?;
        let control = open(
            Path::new("/dev/loop-control"),
            OFlags::RDWR | OFlags::CLOEXEC,
        )?;
        for _ in 0..ATTEMPTS {
            let path = PathBuf::from(format!("/dev/loop{}", free_number(&control)?));
            let device = open(&path, flags)?;
            match configure(&device, &image) {
                Ok(()) => {
                    return Ok(LoopDevice {
                        _device: device,
                        path,
                    })
                }
                Err(error) if error.raw_os_error() == Some(Errno::BUSY.raw_os_error()) => {}
                Err(error) => return Err(error),
            }
        }
        Err(Errno::BUSY.into())
    }

    /// The path of the device.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

#[allow(unsafe_code)]
fn free_number(control: &OwnedFd) -> io::Result<i32> {
    // SAFETY: the request has no argument, and the descriptor is open.
    let number = unsafe { libc::ioctl(control.as_raw_fd(), LOOP_CTL_GET_FREE as libc::Ioctl) };
    if number < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(number)
}

#[allow(unsafe_code)]
fn configure(device: &OwnedFd, image: &OwnedFd) -> io::Result<()> {
    let config = LoopConfig {
        fd: image.as_raw_fd() as u32,
        block_size: 0,
        info: LoopInfo {
            device: 0,
            inode: 0,
            rdevice: 0,
            offset: 0,
            size_limit: 0,
            number: 0,
            encrypt_type: 0,
            encrypt_key_size: 0,
            flags: LO_FLAGS_READ_ONLY | LO_FLAGS_AUTOCLEAR,
            file_name: [0; 64],
            crypt_name: [0; 64],
            encrypt_key: [0; 32],
            init: [0; 2],
        },
        reserved: [0; 8],
    };
    let request = LOOP_CONFIGURE as libc::Ioctl;
    // SAFETY: the argument is a structure of the layout that the kernel expects, and lives until
    // the call returns; both descriptors are open.
    let outcome = unsafe { libc::ioctl(device.as_raw_fd(), request, &raw const config) };
    if outcome < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_structures_have_the_kernels_sizes() {
        assert_eq!(std::mem::size_of::<LoopInfo>(), 232);
        assert_eq!(std::mem::size_of::<LoopConfig>(), 304);
    }
}
