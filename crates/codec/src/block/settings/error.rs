use crate::block::Compressor;

/// What is wrong with the options given for a compressor.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// There is no compressor with this name.
    #[error("no compressor '{name}': expected gzip, lzma, lzo, xz, lz4 or zstd")]
    UnknownCompressor {
        /// The given name.
        name: String,
    },
    /// The compressor has no option with this name.
    #[error("{compressor} has no option '{key}': expected {allowed}")]
    UnknownKey {
        /// The compressor.
        compressor: Compressor,
        /// The given option.
        key: String,
        /// The existing options.
        allowed: &'static str,
    },
    /// The value of an option is missing or invalid.
    #[error("bad {compressor} option '{key}={value}': expected {allowed}")]
    BadValue {
        /// The compressor.
        compressor: Compressor,
        /// The option.
        key: String,
        /// The given value; empty if there was none.
        value: String,
        /// The valid values.
        allowed: String,
    },
    /// An option requires another one.
    #[error("{compressor} option '{key}' needs '{needs}'")]
    Needs {
        /// The compressor.
        compressor: Compressor,
        /// The option.
        key: &'static str,
        /// The required option.
        needs: &'static str,
    },
}
