use crate::block::Compressor;

/// What is wrong with the options given for a compressor.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// There is no such compressor.
    #[error("no compressor '{name}': expected gzip, lzma, lzo, xz, lz4 or zstd")]
    UnknownCompressor {
        /// The name that was given.
        name: String,
    },
    /// This compressor has no such option.
    #[error("{compressor} has no option '{key}': expected {allowed}")]
    UnknownKey {
        /// The compressor.
        compressor: Compressor,
        /// The option that was given.
        key: String,
        /// The options that there are.
        allowed: &'static str,
    },
    /// An option has a value that it cannot have, or none.
    #[error("bad {compressor} option '{key}={value}': expected {allowed}")]
    BadValue {
        /// The compressor.
        compressor: Compressor,
        /// The option.
        key: String,
        /// The value that was given; empty where there was none.
        value: String,
        /// The values that there are.
        allowed: String,
    },
    /// An option makes no sense beside another.
    #[error("{compressor} option '{key}' needs '{needs}'")]
    Needs {
        /// The compressor.
        compressor: Compressor,
        /// The option.
        key: &'static str,
        /// What it needs.
        needs: &'static str,
    },
}
