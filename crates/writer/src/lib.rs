//! Writes a tree of entries into a directory, in parallel and never outside it
