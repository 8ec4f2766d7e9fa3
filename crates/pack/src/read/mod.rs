//! Reads objects: whole, in pieces, or only their headers, along chains of deltas and around damaged
//! copies.

pub(crate) mod bases;
mod chain;
mod extent;
mod failure;
pub(crate) mod reader;
mod recent;
mod repair;
pub(crate) mod resting;
pub(crate) mod scratch;
pub(crate) mod stream;
