//! Blocks of images: every compressor and option.

mod determinism;
mod malformed;
mod option_block;
mod oracle;
mod round_trip;
mod samples;
mod settings;
