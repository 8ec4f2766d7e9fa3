//! Entries, paths and their rules, canonical order: what every source and sink of hedgerow speaks
