//! Registers and lists submodules, and moves them to the commits of the index: git-submodule(1), as
//! far as nothing has to be cloned or fetched. See [`update_submodules`].
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
//! let events = update_submodules(&repository, &options)?;
//! assert!(events.iter().all(|event| !event.is_failure()));
//! # Ok(())
//! # }
//! ```

pub use hedgerow_git::submodule::{
    init_submodules, submodule_status, update_submodules, Registered, SubmoduleLine,
    SubmoduleStates, SubmoduleStatusOptions, SubmoduleUpdateOptions, UpdateEvent, UpdateFailure,
};
