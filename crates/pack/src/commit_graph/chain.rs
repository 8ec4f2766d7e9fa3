use super::layer::Layer;
use gix_hash::{Kind, ObjectId};
use std::path::Path;

/// More than any chain that git would not have merged.
const LIMIT_BYTES: u64 = 1 << 20;

/// Opens the layers that the file `commit-graph-chain` in `directory` names, base first; none if
/// there is no such file.
pub(super) fn open(directory: &Path, hash: Kind) -> Result<Vec<Layer>, String> {
    let list = directory.join("commit-graph-chain");
    let list = hedgerow_fs::read_file(&list, LIMIT_BYTES).map_err(|error| error.to_string())?;
    let mut layers: Vec<Layer> = Vec::new();
    let mut names: Vec<ObjectId> = Vec::new();
    for line in list.unwrap_or_default().split(|byte| *byte == b'\n') {
        if line.is_empty() {
            continue;
        }
        let name = ObjectId::from_hex(line).ok();
        let name = name.filter(|name| name.kind() == hash);
        let name = name.ok_or("a line of the chain is no hash")?;
        let path = directory.join(format!("graph-{name}.graph"));
        let before = layers.last().map_or(0, Layer::end);
        let layer = Layer::open(&path, hash, before, &names)?;
        layers.push(layer.ok_or_else(|| format!("'{}' is missing", path.display()))?);
        names.push(name);
        if names.len() > usize::from(u8::MAX) {
            return Err("the chain is too long".into());
        }
    }
    Ok(layers)
}
