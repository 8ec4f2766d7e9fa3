//! Making reachability bitmaps: which commits get one (`select`), what each commit brings that its
//! first parent has not (`contributions`), and from these what each selected one reaches (`build`).
//! What `previous` bitmaps know is taken over, and a `forecast` says what is left to walk; tips are
//! grouped into `pseudo_merges`.

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
