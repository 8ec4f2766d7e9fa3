//! How git shows text: paths in quotes, byte counts, colors, columns.

pub use hedgerow_git::display::{
    color_of_key, humanised, paint, quoted, quoted_with_spaces, unquoted, width,
    with_bytes_of_words, ColoredLines, Columns, Layout, PathStyle, Table, When, RESET,
};
