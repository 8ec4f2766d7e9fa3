use super::arguments::Info;
use super::{hash_tree, open, print, unreadable};
use crate::environment::from_directory;
use crate::failure::Failure;
use crate::global::Global;
use hedgerow::image::{erofs, hex, verity_of, AnyImage, Error, Image};
use hedgerow::numbers::counted;
use serde::Serializer;
use serde_json::Value;

/// What is shown: a field of the JSON document, whose fields are only ever added; a row for people;
/// or both.
#[derive(Default)]
struct Fact {
    field: Option<(&'static str, Value)>,
    row: Option<(&'static str, String)>,
}

pub fn run(command: &Info, global: &Global) -> Result<u8, Failure> {
    let place = &command.place;
    let failed = |error| unreadable(&place.image, error);
    let mut facts = match open(place, global)? {
        AnyImage::SquashFs(image) => of_squashfs(&image).map_err(failed)?,
        AnyImage::Erofs(image) => of_erofs(&image.info()),
    };
    let verity = verity_of(&from_directory(global, &place.image), place.offset);
    match verity.map_err(failed)? {
        Some(Ok(verity)) => facts.extend([
            field("verity", hash_tree::document(&verity)),
            row("root hash", hex::text(&verity.root_hash)),
            row("hash offset", verity.hash_offset.to_string()),
            row("data blocks", verity.data_blocks.to_string()),
            row("salt", verity.salt_text()),
        ]),
        Some(Err(damage)) => facts.extend([
            field("verity_damage", damage.to_string()),
            row("hash tree", format!("unusable: {damage}")),
        ]),
        None => {}
    }
    print(
        if global.json {
            json(&facts)
        } else {
            lines(&facts)
        }
        .as_bytes(),
    )?;
    Ok(0)
}

fn of_squashfs(image: &Image) -> Result<Vec<Fact>, Error> {
    let info = image.info()?;
    let settings = info.settings.to_string();
    let origin = if info.options_recorded {
        ""
    } else {
        " (not recorded: defaults)"
    };
    let is_exportable = if info.exportable { "yes" } else { "no" };
    Ok(vec![
        field("schema", SCHEMA),
        field("format", "squashfs"),
        // Compressor and options, as `image create` takes them.
        field("compressor", info.settings.compressor().name()),
        field("settings", settings.as_str()).shown("compressor", format!("{settings}{origin}")),
        field("options_recorded", info.options_recorded),
        field("block_size_bytes", info.block_size)
            .shown("block size", counted(info.block_size, "byte")),
        // Without padding.
        field("image_bytes", info.bytes_used).shown("image", counted(info.bytes_used, "byte")),
        field("mod_time_s", info.mod_time).shown("made", since_the_epoch(info.mod_time)),
        field("flags", info.flags).shown("flags", format!("{:#06x}", info.flags)),
        field("inodes", info.inodes).shown("inodes", info.inodes),
        field("fragments", info.fragments).shown("fragment blocks", info.fragments),
        field("ids", info.ids).shown("ids", info.ids),
        field("xattr_sets", info.xattrs).shown("xattr sets", info.xattrs),
        field("exportable", info.exportable).shown("exportable", is_exportable),
        field("inode_table_bytes", info.inode_table_bytes)
            .shown("inode table", counted(info.inode_table_bytes, "byte")),
        field("directory_table_bytes", info.directory_table_bytes).shown(
            "directory table",
            counted(info.directory_table_bytes, "byte"),
        ),
    ])
}

fn of_erofs(info: &erofs::Info) -> Vec<Fact> {
    let (compatible, incompatible) = info.features;
    let (uuid, names) = (info.uuid.as_str(), info.feature_names.join(" "));
    let compressors = if info.compressors.is_empty() {
        "none".to_owned()
    } else {
        info.compressors.join(" ")
    };
    let cluster = info.cluster_bytes.map(|bytes| {
        field("cluster_size_bytes", bytes).shown("cluster size", counted(bytes, "byte"))
    });
    let facts = [
        field("schema", SCHEMA),
        field("format", "erofs").shown("format", "erofs"),
        field("compressors", info.compressors.as_slice()).shown("compressors", compressors),
        field("block_size_bytes", info.block_bytes)
            .shown("block size", counted(info.block_bytes, "byte")),
        field("image_bytes", info.image_bytes).shown("image", counted(info.image_bytes, "byte")),
        field("epoch_s", info.epoch_s).shown("made", since_the_epoch(info.epoch_s)),
        field("uuid", uuid).shown("uuid", uuid),
        // Those that a reader may ignore, and those that it must know.
        field("features", info.feature_names.as_slice()).shown(
            "features",
            format!("{names} ({compatible:#x} {incompatible:#x})"),
        ),
        field("compatible_features", compatible),
        field("incompatible_features", incompatible),
        field("inodes", info.inodes).shown("inodes", info.inodes),
    ];
    facts.into_iter().chain(cluster).collect()
}

const SCHEMA: &str = "hedgerow.image.info.v1";

fn since_the_epoch(seconds: impl std::fmt::Display) -> String {
    format!("{seconds} s since the epoch")
}

fn field(name: &'static str, value: impl Into<Value>) -> Fact {
    let field = Some((name, value.into()));
    Fact { field, row: None }
}

fn row(name: &'static str, text: String) -> Fact {
    Fact::default().shown(name, text)
}

impl Fact {
    /// The same with a row.
    fn shown(self, name: &'static str, text: impl ToString) -> Self {
        let row = Some((name, text.to_string()));
        Fact { row, ..self }
    }
}

/// The fields as a document. It can always be serialized.
fn json(facts: &[Fact]) -> String {
    let mut text = Vec::new();
    let fields = facts.iter().filter_map(|fact| fact.field.as_ref());
    let mut pretty = serde_json::Serializer::pretty(&mut text);
    let written = pretty.collect_map(fields.map(|(name, value)| (name, value)));
    written.expect("names and values become JSON");
    String::from_utf8_lossy(&text).into_owned() + "\n"
}

fn lines(facts: &[Fact]) -> String {
    let rows = facts.iter().filter_map(|fact| fact.row.as_ref());
    rows.map(|(name, value)| format!("{:<16} {value}\n", format!("{name}:")))
        .collect()
}
