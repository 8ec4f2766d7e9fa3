//! Reads the output of `--stats=FILE`; the file is not trusted.

use hedgerow_engine::{Statistics, STATISTICS_SCHEMA};
use hedgerow_fs::ReadFile;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// Upper size limit of a file, in bytes; far more than the limits of the schema can require.
const LIMIT_BYTES: u64 = 32 << 20;

/// The part of the JSON that identifies a statistics file.
#[derive(Deserialize)]
struct Head {
    schema: String,
}

/// Why there are no statistics.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file cannot be read.
    #[error(transparent)]
    Fs(#[from] hedgerow_fs::Error),
    /// The file has other content.
    #[error("cannot use '{}': {reason}", path.display())]
    NotStatistics {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
}

/// The statistics in the file at `path`.
pub fn read(path: &Path) -> Result<Statistics, Error> {
    let mut content = Vec::new();
    ReadFile::open(path)?.read_to_end(&mut content, LIMIT_BYTES)?;
    parse(&content).map_err(|reason| Error::NotStatistics {
        path: path.to_owned(),
        reason,
    })
}

/// Parses statistics from JSON. The error is the reason.
pub fn parse(content: &[u8]) -> Result<Statistics, String> {
    let head: Head = serde_json::from_slice(content)
        .map_err(|_| "it does not hold statistics of hedgerow".to_owned())?;
    if head.schema != STATISTICS_SCHEMA {
        return Err(format!(
            "its schema is '{}', and not '{STATISTICS_SCHEMA}'",
            head.schema.escape_debug()
        ));
    }
    serde_json::from_slice(content).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_statistics_of_this_schema_are_read() {
        let statistics = Statistics {
            tasks: 7,
            ..Statistics::default()
        };
        let json = serde_json::to_vec(&statistics).unwrap();
        assert_eq!(parse(&json).unwrap(), statistics);
        for (content, reason) in [
            ("", "does not hold"),
            ("{}", "does not hold"),
            ("[1]", "does not hold"),
            (r#"{"schema": 1}"#, "does not hold"),
            (r#"{"schema": "hedgerow.stats.v2"}"#, "'hedgerow.stats.v2'"),
            (r#"{"schema": "a\u001bb"}"#, r"'a\u{1b}b'"),
            (r#"{"schema": "hedgerow.stats.v1", "tasks": "x"}"#, "line 1"),
        ] {
            let error = parse(content.as_bytes()).unwrap_err();
            assert!(error.contains(reason), "{content}: {error}");
        }
        let deep = format!(
            r#"{{"schema": "{STATISTICS_SCHEMA}", "x": {}"#,
            "[".repeat(100_000)
        );
        assert!(parse(deep.as_bytes()).is_err());
    }
}
