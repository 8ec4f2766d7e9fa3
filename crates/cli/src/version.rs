//! `hedgerow --version`; with `--verbose`, also everything that the output could depend on.

pub fn text(verbose: bool) -> String {
    let mut text = format!("hedgerow {}\n", env!("CARGO_PKG_VERSION"));
    if verbose {
        text.push_str(&format!("commit: {}\n", env!("HEDGEROW_COMMIT")));
        text.push_str(&format!("compiler: {}\n", env!("HEDGEROW_RUSTC")));
        for (codec, version) in hedgerow::codec_versions() {
            text.push_str(&format!("{codec}: {version}\n"));
        }
    }
    text
}
