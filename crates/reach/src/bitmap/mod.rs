//! Making reachability bitmaps: which commits get one (`select`), what each commit brings that its
//! first parent has not (`contributions`), and from these what each selected one reaches (`build`).

mod build;
mod contributions;
mod history;
mod select;

pub use build::{build, check, BuildOptions};
