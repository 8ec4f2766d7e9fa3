//! A pack file from which gensquashfs makes the same image.

use hedgerow::image::{append_quoted, nodes_of_image, Image};
use hedgerow::plumbing::tree::{NodeError, NodeKind};
use std::sync::Arc;

/// Output is buffered up to this many bytes.
const BUFFER_BYTES: usize = 64 << 10;

/// Prints a line for each entry of an image; input files are given as paths below `root`.
pub fn describe(
    image: &Arc<Image>,
    root: Option<&[u8]>,
    mut print: impl FnMut(Vec<u8>) -> Result<(), String>,
) -> Result<(), String> {
    let nodes = nodes_of_image(image, &[]).map_err(|error| error.to_string())?;
    let mut text = Vec::new();
    for node in nodes {
        let mut node = node.map_err(|error: NodeError| error.to_string())?;
        if node.path.is_empty() {
            continue;
        }
        let word: &[u8] = match node.kind {
            NodeKind::File => b"file ",
            NodeKind::Directory => b"dir ",
            NodeKind::Symlink => b"slink ",
            NodeKind::Fifo => b"pipe ",
            NodeKind::Socket => b"sock ",
            NodeKind::BlockDevice | NodeKind::CharacterDevice => b"nod ",
        };
        text.extend_from_slice(word);
        append_quoted(&node.path, &mut text);
        let numbers = format!(" {:#05o} {} {}", node.mode, node.uid, node.gid);
        text.extend_from_slice(numbers.replacen("0o", "0", 1).as_bytes());
        let (major, minor) = node.device;
        match node.kind {
            NodeKind::File => {
                if let Some(root) = root {
                    for part in [b" ", root, b"/", &node.path] {
                        text.extend_from_slice(part);
                    }
                }
            }
            NodeKind::Symlink => {
                text.push(b' ');
                let target = node.handle.target().map_err(|error| error.to_string())?;
                text.extend_from_slice(&target);
            }
            NodeKind::BlockDevice => {
                text.extend_from_slice(format!(" b {major} {minor}").as_bytes());
            }
            NodeKind::CharacterDevice => {
                text.extend_from_slice(format!(" c {major} {minor}").as_bytes());
            }
            NodeKind::Directory | NodeKind::Fifo | NodeKind::Socket => {}
        }
        text.push(b'\n');
        if text.len() >= BUFFER_BYTES {
            print(std::mem::take(&mut text))?;
        }
    }
    print(text)
}
