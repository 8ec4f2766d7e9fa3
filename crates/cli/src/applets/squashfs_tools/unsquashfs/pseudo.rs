//! The image as definitions for `mksquashfs -pf`, with the contents behind them.

use super::{Chosen, CONSOLE, SOME_FAILED};
use hedgerow::image::pseudo::text;
use hedgerow::image::{Image, NodeKind};
use hedgerow_fs::{Destination, OutputFile, StandardOutput};
use std::collections::HashMap;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

/// How much of a content is copied at a time, in bytes.
const PIECE_BYTES: usize = 1 << 20;

pub fn write(image: &Arc<Image>, chosen: &Chosen, path: &Path) -> Result<u8, String> {
    if path == Path::new("-") {
        return written(image, chosen, |bytes| {
            let done = StandardOutput.write_all(bytes);
            done.or_else(crate::walk::closed_pipe_is_fine)
                .map_err(|error| error.to_string())
        });
    }
    let failed = |error: hedgerow_fs::Error| error.to_string();
    let place = Destination::of(path).map_err(failed)?;
    let target = crate::image::image_file(place, path)?;
    let file = OutputFile::create(&target).map_err(failed)?;
    let mut position = 0;
    let code = written(image, chosen, |bytes| {
        file.write_at(bytes, position).map_err(failed)?;
        position += bytes.len() as u64;
        Ok(())
    })?;
    file.commit(true).map_err(failed)?;
    Ok(code)
}

fn written(
    image: &Arc<Image>,
    chosen: &Chosen,
    mut write: impl FnMut(&[u8]) -> Result<(), String>,
) -> Result<u8, String> {
    let mut code = 0;
    let mut links: HashMap<(u64, u64), Vec<u8>> = HashMap::new();
    let mut contents = Vec::new();
    let mut offset = 0;
    for node in chosen.nodes(image)? {
        let mut node = node.map_err(|error| error.to_string())?;
        let known = node.link.and_then(|link| links.get(&link));
        match text::definitions(&mut node, known.map(Vec::as_slice), offset) {
            Ok(definition) => write(&definition)?,
            Err(error) => {
                CONSOLE.complain(error);
                code = SOME_FAILED;
                continue;
            }
        }
        if known.is_some() {
            continue;
        }
        if let Some(link) = node.link {
            links.insert(link, node.path.clone());
        }
        if node.kind == NodeKind::File {
            offset += node.size_bytes;
            contents.push(node.handle);
        }
    }
    write(&text::data_mark())?;
    let mut piece = vec![0; PIECE_BYTES];
    for mut handle in contents {
        let text = |error: hedgerow::image::NodeError| error.to_string();
        let mut content = handle.open().map_err(text)?;
        loop {
            let count = content.read(&mut piece).map_err(text)?;
            if count == 0 {
                break;
            }
            write(piece.get(..count).unwrap_or_default())?;
        }
    }
    Ok(code)
}
