//! Making reachability bitmaps: `select` chooses the commits that get one, `contributions` finds
//! what each commit adds to its first parent, and `build` combines that into what each selected
//! commit reaches. `previous` bitmaps are reused, and a `forecast` determines what is left to walk;
//! tips are grouped into `pseudo_merges`.

mod build;
mod contributions;
mod forecast;
mod history;
mod previous;
mod pseudo_merges;
mod select;
mod workers;

pub use build::{build, check, BuildOptions};
pub use pseudo_merges::PseudoMergeGroup;
