//! `--recurse-submodules` and `submodule.recurse` of commands that move a working tree, beside git.

mod faults;
mod hostile;
mod random;
mod scene;
mod words;
