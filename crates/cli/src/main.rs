//! The command line of hedgerow.
fn main() {}
