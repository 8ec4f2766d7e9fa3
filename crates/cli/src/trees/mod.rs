//! The commands that move a working tree: `checkout` and its relatives. Each file has the options
//! of one command and what it prints; the work is done by the library.

mod advice;
pub mod archive;
mod branch_options;
pub mod checkout;
pub mod checkout_index;
mod checkout_options;
pub mod clean;
mod clean_options;
pub mod clone;
mod clone_options;
pub mod diff;
mod diff_options;
mod diff_shown;
pub mod fetch;
pub mod ls_files;
mod ls_files_options;
pub mod merge;
mod merge_options;
mod messages;
pub mod mounts;
pub mod object_names;
mod pathspec_file;
pub mod read_tree;
mod recurse_submodules;
pub mod reset;
pub mod restore;
mod run;
pub mod sparse_checkout;
pub mod stash;
mod stash_options;
pub mod submodule;
mod submodule_receiving;
pub mod switch;
pub mod worktree;
mod writing;

use crate::git_options::GitOptions;

/// The options of the command `name`, if it is one of these.
pub fn options(name: &[u8]) -> Option<&'static GitOptions> {
    match name {
        b"checkout" => Some(&checkout_options::CHECKOUT),
        b"clean" => Some(&clean_options::CLEAN),
        b"clone" => Some(&clone::OPTIONS),
        b"diff-files" => Some(&diff_options::DIFF_FILES),
        b"diff-index" => Some(&diff_options::DIFF_INDEX),
        b"ls-files" => Some(&ls_files_options::LS_FILES),
        b"merge" => Some(&merge::OPTIONS),
        b"checkout-index" => Some(&checkout_index::OPTIONS),
        b"read-tree" => Some(&read_tree::OPTIONS),
        b"reset" => Some(&reset::OPTIONS),
        b"restore" => Some(&checkout_options::RESTORE),
        b"switch" => Some(&checkout_options::SWITCH),
        _ => None,
    }
}

/// The options of a subcommand of the command `name`, if it is one of these. Git takes no options
/// before the name of a subcommand.
pub fn subcommand_options(name: &[u8], subcommand: &[u8]) -> Option<&'static GitOptions> {
    match name {
        b"sparse-checkout" => sparse_checkout::options(subcommand),
        b"submodule" => submodule::options(subcommand),
        b"worktree" => worktree::options(subcommand),
        _ => None,
    }
}
