//! [`Jobs::Auto`](crate::Jobs::Auto): how many workers a run has while it goes on.

mod alarm;
mod controller;
mod decide;

pub(crate) use alarm::Alarm;
pub(crate) use controller::{watch, Watched};
