//! The engine's statistics ([`hedgerow_engine::Statistics`]): reads them from a file, summarizes
//! them in words, and draws them as an SVG.

mod latency_panel;
mod plot;
mod queue_panel;
mod read;
mod scale;
mod summary;
mod svg;
mod timeline;
mod workers_panel;

pub use plot::draw;
pub use read::{parse, read, Error};
pub use summary::summary;
