//! Conversion of blobs to working-tree files and back: line ends, `$Id$`, encodings and filter
//! programs, as described in gitattributes(5) and git-config(1).
//!
//! [`Attributes`] holds the content of the attribute files. [`Converter`] derives from it and the
//! configuration which [`Conversion`] a path needs, and performs what needs no other program. A
//! [`FilterLane`] runs the filter programs.

mod attribute_builder;
mod attribute_line;
mod attribute_rules;
mod attributes;
mod buffers;
mod conversion;
mod converter;
mod encoding;
mod eol;
mod filter_client;
mod filter_command;
mod filter_program;
mod ident;
mod lane;
mod options;
mod packet;
mod rule_index;
mod stream;
mod text_stats;
mod utf;

pub use attributes::{AttributeSources, Attributes};
pub(crate) use attributes::{AttributeValue, Export, MergeAttribute, MAX_FILE_BYTES, NAMES_LIMIT};
pub use buffers::Buffers;
pub use conversion::{Conversion, DriverConversion, DriverKind, InCore};
pub use converter::{Converted, Converter, ToGit};
pub(crate) use encoding::{are_same, is_utf8, reencoded};
pub(crate) use eol::line_ends;
pub use eol::EolAction;
pub(crate) use filter_command::shell_quoted;
pub use lane::{Cleaned, Deliver, Delivery, FilterContext, FilterLane, Filtered};
pub use options::{AutoCrlf, ConvertOptions, Driver, Eol, SafeCrlf};
pub use stream::StreamConversion;
