//! What all tests of the binary share: programs, copies of repositories, pictures of trees.

mod generate;
mod index_file;
mod pair;
mod program;
mod random;
mod repository;
mod snapshot;

pub use generate::{generate, Generated};
pub use index_file::{IndexEntry, IndexFile};
pub use pair::Pair;
pub use program::{run, Outcome, Program};
pub use random::Random;
pub use repository::Repository;
pub use snapshot::{snapshot, Node, Snapshot};

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
