use crate::block;

/// The codecs that are built in, with their versions, on which the compressed bytes depend.
pub fn versions() -> [(&'static str, &'static str); 7] {
    let [zlib, liblzma, lzo, lz4, zstd] = block::versions();
    let libdeflate = ("libdeflate", "1.26.1");
    [
        libdeflate,
        ("zlib-rs", "0.6.8"),
        zlib,
        liblzma,
        lzo,
        lz4,
        zstd,
    ]
}

/// All versions in one line. If it and the settings are the same, so are the compressed bytes.
pub fn fingerprint() -> String {
    versions()
        .map(|(codec, version)| format!("{codec} {version}"))
        .join(", ")
}

#[cfg(test)]
mod tests {
    use super::{fingerprint, versions};

    #[test]
    fn the_versions_are_those_of_the_lock_file() {
        let lock = include_str!("../../../Cargo.lock");
        for (codec, version) in versions() {
            let entry = match codec {
                "libdeflate" => format!("name = \"libdeflate-sys\"\nversion = \"{version}\""),
                "zlib-rs" => format!("name = \"zlib-rs\"\nversion = \"{version}\""),
                "lz4" => format!("+lz4-{version}\""),
                "zstd" => format!("+zstd.{version}\""),
                _ => continue,
            };
            assert!(lock.contains(&entry), "{codec} {version}");
        }
    }

    /// An upgrade changes images, so it must be noted in the changelog, and then here.
    #[test]
    fn no_library_changes_unnoticed() {
        assert_eq!(
            fingerprint(),
            "libdeflate 1.26.1, zlib-rs 0.6.8, zlib 1.3.2, liblzma 5.8.4, lzo of hedgerow 1, \
             lz4 1.10.0, zstd 1.5.7"
        );
    }
}
