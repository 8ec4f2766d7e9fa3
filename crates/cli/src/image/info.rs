use super::arguments::Info;
use super::{open, print, unreadable};
use crate::failure::Failure;
use crate::global::Global;
use hedgerow::numbers::counted;
use serde::Serialize;

/// The JSON document of `hedgerow image info --json`. Fields are only ever added.
#[derive(Debug, Serialize)]
struct Document {
    /// The name and version of this schema.
    schema: &'static str,
    compressor: &'static str,
    /// The compressor and its options, as `image create` takes them.
    settings: String,
    /// Whether the image contains the options; otherwise they are the defaults.
    options_recorded: bool,
    block_size_bytes: u32,
    /// Size of the image without padding.
    image_bytes: u64,
    /// Creation time, in seconds since the epoch.
    mod_time_s: u32,
    flags: u16,
    inodes: u32,
    fragments: u32,
    ids: u16,
    xattr_sets: u32,
    exportable: bool,
    /// Sizes of the compressed tables.
    inode_table_bytes: u64,
    directory_table_bytes: u64,
}

pub fn run(command: &Info, global: &Global) -> Result<u8, Failure> {
    let image = open(&command.place, global)?;
    let info = image.info();
    let info = info.map_err(|error| unreadable(&command.place.image, error))?;
    let document = Document {
        schema: "hedgerow.image.info.v1",
        compressor: info.settings.compressor().name(),
        settings: info.settings.to_string(),
        options_recorded: info.options_recorded,
        block_size_bytes: info.block_size,
        image_bytes: info.bytes_used,
        mod_time_s: info.mod_time,
        flags: info.flags,
        inodes: info.inodes,
        fragments: info.fragments,
        ids: info.ids,
        xattr_sets: info.xattrs,
        exportable: info.exportable,
        inode_table_bytes: info.inode_table_bytes,
        directory_table_bytes: info.directory_table_bytes,
    };
    let text = if global.json {
        // This document can always be serialized.
        serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
    } else {
        document.lines()
    };
    print(text.as_bytes())?;
    Ok(0)
}

impl Document {
    fn lines(&self) -> String {
        let origin = if self.options_recorded {
            ""
        } else {
            " (not recorded: defaults)"
        };
        let rows = [
            ("compressor", format!("{}{origin}", self.settings)),
            ("block size", counted(self.block_size_bytes, "byte")),
            ("image", counted(self.image_bytes, "byte")),
            ("made", format!("{} s since the epoch", self.mod_time_s)),
            ("flags", format!("{:#06x}", self.flags)),
            ("inodes", self.inodes.to_string()),
            ("fragment blocks", self.fragments.to_string()),
            ("ids", self.ids.to_string()),
            ("xattr sets", self.xattr_sets.to_string()),
            (
                "exportable",
                if self.exportable { "yes" } else { "no" }.to_owned(),
            ),
            ("inode table", counted(self.inode_table_bytes, "byte")),
            (
                "directory table",
                counted(self.directory_table_bytes, "byte"),
            ),
        ];
        let line = |(name, value)| format!("{:<16} {value}\n", format!("{name}:"));
        rows.map(line).concat()
    }
}
