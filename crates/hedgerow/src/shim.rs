//! hedgerow in the place of git: which calls it takes, and how the others reach the real git.

pub use hedgerow_shim::{
    choose, commands, find, install, remove, state, take, words_of_git, Gits, Handover,
    HandoverError, LinksError, Misuse, Ours, State, Taken, Variables,
};
