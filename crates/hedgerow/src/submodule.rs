//! Registers and lists submodules, and moves them to the commits of the index: git-submodule(1). See
//! [`update_submodules`]. With a [`Transport`], git clones and fetches what is not here.
//!
//! ```no_run
//! use hedgerow::submodule::{update_submodules, SubmoduleUpdateOptions};
//!
//! # use hedgerow::{Environment, Repository};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = std::path::absolute(".")?;
//! # let environment = Environment::from_vars(std::env::vars_os(), directory)?;
//! # let repository = Repository::discover(&environment)?;
//! let options = SubmoduleUpdateOptions {
//!     recursive: true,
//!     ..SubmoduleUpdateOptions::default()
//! };
//! let mut is_whole = true;
//! update_submodules(&repository, &options, &mut |event| is_whole &= !event.is_failure())?;
//! assert!(is_whole);
//! # Ok(())
//! # }
//! ```

pub use hedgerow_git::submodule::{
    init_submodules, submodule_status, update_submodules, Registered, SubmoduleLine,
    SubmoduleStates, SubmoduleStatusOptions, SubmoduleUpdateOptions, Transport, UpdateEvent,
    UpdateFailure,
};
