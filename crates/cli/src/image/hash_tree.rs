//! Shows the hash tree of dm-verity behind an image.

use hedgerow::image::verity::Verity;
use hedgerow::image::{hex, uuid};
use serde_json::{json, Value};

/// The tree in JSON documents: what `veritysetup open`, or a table of dm-verity, needs. Fields are
/// only ever added.
pub fn document(verity: &Verity) -> Value {
    json!({
        "root_hash": hex::text(&verity.root_hash),
        "hash_offset": verity.hash_offset,
        "hash_start_block": verity.hash_start_block(),
        "data_blocks": verity.data_blocks,
        "salt": verity.salt_text(),
        "uuid": uuid::text(&verity.uuid),
    })
}

/// The tree as a line.
pub fn line(verity: &Verity) -> String {
    let (root, offset) = (hex::text(&verity.root_hash), verity.hash_offset);
    format!("dm-verity: root hash {root}, hash offset {offset}")
}
