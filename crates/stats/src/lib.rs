//! The engine's statistics ([`hedgerow_engine::Statistics`]): reads them from a file, summarizes
//! and compares them in words, draws them as an SVG, and shows them on a page of HTML. And the
//! engine's traces, in a format that other programs show.

mod figures;
mod latency_panel;
mod limit;
mod name;
mod page;
mod plot;
mod queue_panel;
mod read;
mod scale;
mod summary;
mod svg;
mod timeline;
mod trace;
mod workers_panel;

pub use figures::comparison;
pub use name::name;
pub use page::page;
pub use plot::draw;
pub use read::{parse, read, Error};
pub use scale::grouped;
pub use summary::summary;
pub use trace::{write_trace, TRACE_START};

use hedgerow_engine::Statistics;

/// Statistics and what they are called: for example, the name of their file.
#[derive(Clone, Copy, Debug)]
pub struct Named<'a> {
    /// The name; it may have any characters.
    pub name: &'a str,
    /// The statistics.
    pub statistics: &'a Statistics,
}
