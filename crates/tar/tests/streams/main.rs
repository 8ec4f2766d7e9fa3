//! Archives that are made byte by byte: what no program at hand writes, what is damaged, what is
//! hostile; and round trips of everything that can be said.

#![allow(clippy::unwrap_used, reason = "a test ends where it fails")]

mod compressed;
mod damage;
mod kinds;
mod limits;
mod raw;
mod roundtrip;
mod writer;
