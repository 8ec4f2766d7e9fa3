//! What a directory, its repository and the machine are like, and what would make commands faster.
//!
//! [`examine`] collects facts and changes nothing; [`advise`] is a pure function of them.

pub use hedgerow_git::doctor::{
    advise, examine, Advice, Facts, RepositoryFacts, Setting, Standing, SystemLimits, SETTINGS,
};
