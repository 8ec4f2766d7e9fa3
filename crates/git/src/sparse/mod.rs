//! Which files of the index a working tree has: git-sparse-checkout(1).
//!
//! `rules` has the rules and the file that holds them, `apply` brings the working tree to them,
//! `change` the commands that change them.

mod apply;
mod change;
mod outside;
mod rules;
mod settings;

pub use change::{
    add, clean, current_rules, disable, init, reapply, set, Changed, CleanOptions, Modes,
    SparseOptions,
};
pub use rules::{Cone, SparseRules};
