//! What the engine recorded ([`hedgerow_engine::Statistics`]): read from a file, told in words, drawn
//! as an SVG.

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
