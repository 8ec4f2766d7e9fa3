//! What the tests that have git for an oracle share: the programs, repositories to run them in, a
//! source of chance, a second reader of the index.

pub mod environment;
pub mod index_file;
pub mod program;
pub mod random;
pub mod repository;

/// A directory that goes away. Hundreds of small trees are made and removed: where there is a file
/// system in memory, and nobody wants another place, they are made there.
pub fn temporary() -> tempfile::TempDir {
    let memory = std::path::Path::new("/dev/shm");
    if std::env::var_os("TMPDIR").is_none() && memory.is_dir() {
        if let Ok(home) = tempfile::tempdir_in(memory) {
            return home;
        }
    }
    tempfile::tempdir().expect("there is room for temporary files")
}

/// Says aloud that a test could not run here: past the harness, which keeps what is printed.
pub fn skip(reason: &str) {
    use std::io::Write;
    let line = format!("skipped: {reason}\n");
    std::io::stdout().write_all(line.as_bytes()).unwrap();
}
