//! Device numbers in the 64-bit encoding of Linux: from the lowest bit, 8 bits of the minor number,
//! 12 bits of the major number, then the rest of the minor and of the major number (`makedev(3)` of
//! glibc).

/// Encodes a device number, for [`Metadata::rdev`](hedgerow_tree::Metadata::rdev).
pub fn device(major: u32, minor: u32) -> u64 {
    let (major, minor) = (u64::from(major), u64::from(minor));
    (major & 0xffff_f000) << 32 | (minor & 0xffff_ff00) << 12 | (major & 0xfff) << 8 | minor & 0xff
}

/// The major and minor number of a device.
pub fn device_parts(device: u64) -> (u32, u32) {
    let major = (device >> 32) & 0xffff_f000 | (device >> 8) & 0xfff;
    let minor = (device >> 12) & 0xffff_ff00 | device & 0xff;
    (major as u32, minor as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_apart_as_they_were_put_together() {
        assert_eq!(device(8, 1), 0x801);
        assert_eq!(device(1, 256), 0x100100);
        for (major, minor) in [
            (0, 0),
            (8, 1),
            (4095, 1048575),
            (259, 70000),
            (u32::MAX, u32::MAX),
        ] {
            assert_eq!(device_parts(device(major, minor)), (major, minor));
        }
    }
}
