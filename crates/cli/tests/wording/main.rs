//! `hedgerow status` says what `git status` says, byte for byte, in states that were each made to
//! bring out one thing it can say.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test makes repositories and runs programs"
)]

mod columns;
mod forms;
mod refusals;
mod scene;
mod states;
mod tracking;
