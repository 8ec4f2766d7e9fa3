/// The codecs that are built in, and the versions of the crates that bring them. Bytes that a
/// compressor writes depend on them.
pub fn versions() -> [(&'static str, &'static str); 2] {
    [("libdeflate", "1.26.1"), ("zlib-rs", "0.6.8")]
}

#[cfg(test)]
mod tests {
    use super::versions;

    #[test]
    fn the_versions_are_those_of_the_lock_file() {
        let lock = include_str!("../../../Cargo.lock");
        for (codec, version) in versions() {
            let name = match codec {
                "libdeflate" => "libdeflate-sys",
                other => other,
            };
            let entry = format!("name = \"{name}\"\nversion = \"{version}\"");
            assert!(lock.contains(&entry), "{codec} {version}");
        }
    }
}
