//! hedgerow moves whole file trees between Git packs, working trees, tar streams and SquashFS
//! images: in parallel, in a deterministic order, and hiding the latency of the file system.
//!
//! There is a module for each verb. What a function takes is an options struct with an [`Execution`] in
//! it, or the [`Execution`] alone where there is nothing else to choose: it sets the number of workers,
//! cancellation and progress reports. This library does not print, exit, or read the environment of the
//! process. The modules of verbs are meant to stay as they are; [`plumbing`] changes more often.
//!
//! | to | call |
//! |---|---|
//! | move a working tree to another commit | [`checkout::switch`] |
//! | restore paths from the index or a tree | [`checkout::checkout_paths`] |
//! | copy files of the index | [`checkout_index::checkout_index`] |
//! | move HEAD, or set paths of the index | [`reset::reset`] |
//! | move submodules to the commits of the index | [`submodule::update_submodules`] |
//! | move a branch forward | [`merge::merge`] |
//! | add, list, move and remove working trees | [`worktrees::add`] |
//! | reduce a working tree to a part of the files | [`sparse::set`] |
//! | create a branch | [`Repository::branch_start`] |
//! | read trees into the index, or merge them | [`read_tree::read_tree`] |
//! | put local changes aside, and bring them back | [`stash::push`], [`stash::apply`] |
//! | see what changed in a working tree | [`status::status`], [`status::mercurial::status`] |
//! | remove untracked files | [`clean::clean`] |
//! | list tracked and untracked files | [`listing::list`] |
//! | list a directory tree | [`walk::walk`], [`walk::walk_sorted`] |
//! | list one into a Parquet file, also by several machines | [`walk::listing::write_listing`], [`walk::listing::write_part`] |
//! | make an image of a directory, a commit or an archive | [`image::create`] |
//! | write a commit as a tar archive | [`archive::write_archive`] |
//! | take an image apart | [`image::extract`], [`image::to_archive`] |
//! | see whether an image is sound | [`image::verify`] |
//! | index a pack, or check one | [`pack::index`], [`pack::verify`] |
//! | repack a repository | [`pack::repack`] |
//! | make a pack for a fetch | [`pack::serve`] |
//!
//! # Getting started
//!
//! Everything about Git starts with a [`Repository`]:
//!
//! ```no_run
//! use hedgerow::{checkout, Environment, Repository};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let directory = std::path::absolute("linux")?;
//! let environment = Environment::from_vars(std::env::vars_os(), directory)?;
//! let repository = Repository::discover(&environment)?;
//! let target = checkout::Target::of_revision(&repository, "v6.9".into())?;
//! let switched = checkout::switch(&repository, &target, &checkout::SwitchOptions::default())?;
//! if let checkout::Outcome::Done(done) = switched.outcome {
//!     println!("{} files written, {} removed", done.written, done.removed);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! The directory `examples` has a complete program for each verb.
//!
//! # Cancelling, progress, statistics
//!
//! [`Execution`] is the same for all verbs. To show the progress of a command, keep a clone of
//! [`Execution::progress`] and read it from another thread. To end a command early, cancel
//! [`Execution::cancel`]. To record what its workers do, give it a [`Recorder`], or a
//! [`tracing::Trace`] to record when each did what. A [`Log`] receives what is decided.

/// Numbers and sizes as users write them.
pub use hedgerow_numbers as numbers;

pub mod archive;
pub mod branches;
pub mod checkout;
pub mod checkout_index;
pub mod clean;
pub mod clone;
pub mod diff;
pub mod display;
pub mod doctor;
pub mod image;
pub mod listing;
pub mod merge;
pub mod pack;
pub mod plumbing;
pub mod progress;
pub mod read_tree;
pub mod repository;
pub mod reset;
pub mod shim;
pub mod sparse;
pub mod stash;
pub mod statistics;
pub mod status;
pub mod submodule;
pub mod tracing;
pub mod tune;
pub mod walk;
pub mod worktrees;

pub use hedgerow_engine::{
    CancelToken, Execution, Jobs, Level, Log, Progress, Recorder, Stage, Steps, AUTO_LIMIT,
    WORKERS_LIMIT,
};
pub use hedgerow_git::ObjectId;
pub use repository::{Environment, Repository};

/// A system call that failed: the operation, the path and the system's reason.
pub use hedgerow_fs::Error as SystemError;

/// The names and versions of the libraries that compress and decompress.
pub use hedgerow_codec::versions as codec_versions;
