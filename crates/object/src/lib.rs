//! Git's object formats, each with one reader and one writer: borrowed from the bytes, without an
//! allocation where none is needed.
//!
//! This crate knows no file and makes no system call.

mod kind;

pub use kind::{ObjectKind, WrongKind};
