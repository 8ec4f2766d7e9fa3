use super::arguments::Info;
use super::{open, print, unreadable};
use crate::failure::Failure;
use crate::global::Global;
use hedgerow::image::{erofs, AnyImage, Error, Image};
use hedgerow::numbers::counted;
use serde::Serialize;

/// The JSON document of `hedgerow image info --json` about a SquashFS image. Fields are only ever
/// added.
#[derive(Debug, Serialize)]
struct Document {
    /// The name and version of this schema.
    schema: &'static str,
    /// The format: `squashfs`.
    format: &'static str,
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

/// The JSON document about an EROFS image. Fields are only ever added.
#[derive(Debug, Serialize)]
struct ErofsDocument {
    schema: &'static str,
    /// The format: `erofs`.
    format: &'static str,
    block_size_bytes: u64,
    image_bytes: u64,
    /// The time of most inodes, in seconds since the epoch.
    epoch_s: i64,
    inodes: u64,
    uuid: String,
    /// The features that a reader may ignore, and those that it must know.
    compatible_features: u32,
    incompatible_features: u32,
}

pub fn run(command: &Info, global: &Global) -> Result<u8, Failure> {
    let shown = match open(&command.place, global)? {
        AnyImage::SquashFs(image) => of_squashfs(&image, global.json),
        AnyImage::Erofs(image) => Ok(of_erofs(&image.info(), global.json)),
    };
    let text = shown.map_err(|error| unreadable(&command.place.image, error))?;
    print(text.as_bytes())?;
    Ok(0)
}

fn of_squashfs(image: &Image, json: bool) -> Result<String, Error> {
    let info = image.info()?;
    let document = Document {
        schema: "hedgerow.image.info.v1",
        format: "squashfs",
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
    Ok(if json {
        json_text(&document)
    } else {
        document.lines()
    })
}

fn of_erofs(info: &erofs::Info, json: bool) -> String {
    let (compatible, incompatible) = info.features;
    if json {
        return json_text(&ErofsDocument {
            schema: "hedgerow.image.info.v1",
            format: "erofs",
            block_size_bytes: info.block_bytes,
            image_bytes: info.image_bytes,
            epoch_s: info.epoch_s,
            inodes: info.inodes,
            uuid: info.uuid.clone(),
            compatible_features: compatible,
            incompatible_features: incompatible,
        });
    }
    rows(&[
        ("format", "erofs".to_owned()),
        ("block size", counted(info.block_bytes, "byte")),
        ("image", counted(info.image_bytes, "byte")),
        ("made", format!("{} s since the epoch", info.epoch_s)),
        ("uuid", info.uuid.clone()),
        ("features", format!("{compatible:#x} {incompatible:#x}")),
        ("inodes", info.inodes.to_string()),
    ])
}

/// A document as it is printed. It can always be serialized.
fn json_text(document: &impl Serialize) -> String {
    serde_json::to_string_pretty(document).unwrap_or_default() + "\n"
}

fn rows(rows: &[(&str, String)]) -> String {
    let line = |(name, value): &(&str, String)| format!("{:<16} {value}\n", format!("{name}:"));
    rows.iter().map(line).collect()
}

impl Document {
    fn lines(&self) -> String {
        let origin = if self.options_recorded {
            ""
        } else {
            " (not recorded: defaults)"
        };
        rows(&[
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
        ])
    }
}
