//! Compression for hedgerow: bulk inflate for packs
