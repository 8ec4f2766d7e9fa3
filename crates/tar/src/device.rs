//! Device numbers as Linux keeps them in one word: the lower 12 bits of the major number stand
//! around the lower 8 bits of the minor one, the rest above (`makedev(3)` of glibc).

/// The number of a device, for [`Metadata::rdev`](hedgerow_tree::Metadata::rdev).
pub fn device(major: u32, minor: u32) -> u64 {
    let (major, minor) = (u64::from(major), u64::from(minor));
    (major & 0xffff_f000) << 32 | (minor & 0xffff_ff00) << 12 | (major & 0xfff) << 8 | minor & 0xff
}

/// The major and the minor part of a device's number.
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
