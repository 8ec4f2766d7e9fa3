//! Cloning: git receives with hedgerow's help, then the first checkout is hedgerow's.
//!
//! [`AssistedGit`] runs git's own `clone --no-checkout`, with everything that a user has configured;
//! [`check_out`] writes the files.

pub use hedgerow_git::checkout::{ReadTreeOutcome, Reason, Rejects};
pub use hedgerow_git::clone::{check_out, has_lost_head, head_of_clone};
pub use hedgerow_git::clone::{remove_unused_bundles, run_hook, Place};
pub use hedgerow_shim::{AssistedGit, Helper};

use hedgerow_fs::find_other_program;
use hedgerow_fs::{Error, Process, StandardInput, StandardOutput};
use hedgerow_git::clone::{BundleHelper, BUNDLE_PROGRAM, BUNDLE_RECORD};
use hedgerow_shim::Variables;
use std::ffi::OsString;
use std::io::{BufReader, ErrorKind};
use std::os::unix::ffi::OsStrExt;

/// What fetches several bundles at a time, for [`AssistedGit::new`]; [`help_with_bundles`] is called then.
pub const BUNDLES: Helper = Helper {
    name: BUNDLE_PROGRAM,
    variable: BUNDLE_RECORD,
};

/// Answers git, which has called this process in the place of [`BUNDLES`], with `words` behind the name.
/// Returns whether all files were had. Whatever else git wants of that program, this process becomes it.
///
/// # Errors
/// There is no such program of git's, or git has gone away.
pub fn help_with_bundles(words: &[OsString], variables: &Variables) -> Result<bool, Error> {
    let path = variables.get("PATH").unwrap_or_default();
    let program = find_other_program(&path, BUNDLE_PROGRAM)
        .ok_or_else(|| Error::new("run", BUNDLE_PROGRAM, ErrorKind::NotFound))?;
    // With an address alone, git wants files; with a remote's name before it, objects.
    match variables.get(BUNDLE_RECORD) {
        Some(record) if words.len() == 1 => {
            let record = record.into();
            let helper = BundleHelper { program, record };
            let address = words[0].as_bytes();
            let mut input = BufReader::new(StandardInput);
            let served = helper.serve(address, &mut input, &mut StandardOutput);
            served.map_err(|source| Error::new("answer", "git", source))
        }
        _ => {
            let real = Process {
                program,
                arguments: words.to_vec(),
                ..Process::default()
            };
            Err(real.replace())
        }
    }
}
