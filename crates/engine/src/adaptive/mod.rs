//! [`Jobs::Auto`](crate::Jobs::Auto): adapts the number of workers during a run.

mod alarm;
mod controller;
mod decide;

pub(crate) use alarm::Alarm;
pub(crate) use controller::{watch, Watched};
