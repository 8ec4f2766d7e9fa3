//! Writes the definitions of existing entries, which mksquashfs reads.

use super::DATA_MARK;
use hedgerow_tree::{Node, NodeError, NodeKind, Xattr};

/// The definition of a node, with those of its attributes. `known` is the path of an entry that the
/// node is a hard link to; `offset` is the position of its content in the data.
///
/// # Errors
/// What the entry contains cannot be read, or cannot be written as a definition.
pub fn definitions(
    node: &mut Node,
    known: Option<&[u8]>,
    offset: u64,
) -> Result<Vec<u8>, NodeError> {
    let mut text = name(&node.path);
    if let Some(known) = known {
        text.extend_from_slice(b" L ");
        text.extend_from_slice(&name(known));
        text.push(b'\n');
        return Ok(text);
    }
    let (letter, rest) = match node.kind {
        NodeKind::Directory => ('D', Vec::new()),
        NodeKind::File => ('R', format!(" {} {offset} 0", node.size_bytes).into_bytes()),
        NodeKind::Symlink => {
            let target = node.handle.target()?;
            let is_plain = !target.contains(&b'\n') && !target.ends_with(b"\\");
            if !is_plain || target.starts_with(b" ") || target.starts_with(b"\t") {
                let path = String::from_utf8_lossy(&node.path);
                return Err(NodeError::entry(format!(
                    "'{path}': no definition can have the target of this link"
                )));
            }
            ('S', [b" ", target.as_slice()].concat())
        }
        NodeKind::Fifo => ('I', b" f".to_vec()),
        NodeKind::Socket => ('I', b" s".to_vec()),
        NodeKind::BlockDevice | NodeKind::CharacterDevice => {
            let letter = if node.kind == NodeKind::BlockDevice {
                'B'
            } else {
                'C'
            };
            let (major, minor) = node.device;
            (letter, format!(" {major} {minor}").into_bytes())
        }
    };
    let mode = node.mode;
    let head = format!(
        " {letter} {} {mode:o} {} {}",
        node.mtime_s, node.uid, node.gid
    );
    text.extend_from_slice(head.as_bytes());
    text.extend_from_slice(&rest);
    text.push(b'\n');
    let mut xattrs = node.handle.xattrs()?;
    xattrs.sort();
    for xattr in &xattrs {
        text.extend_from_slice(&name(&node.path));
        text.extend_from_slice(b" x ");
        text.extend_from_slice(&xattr.name);
        text.push(b'=');
        text.extend_from_slice(&value(xattr));
        text.push(b'\n');
    }
    Ok(text)
}

/// The lines between the definitions and the data.
pub fn data_mark() -> Vec<u8> {
    [b"#\n", DATA_MARK, b"\n#\n"].concat()
}

/// A name with backslashes where it needs them.
fn name(path: &[u8]) -> Vec<u8> {
    if path.is_empty() {
        return b"/".to_vec();
    }
    let mut text = Vec::with_capacity(path.len());
    for (at, byte) in path.iter().enumerate() {
        let is_mark = at == 0 && *byte == b'#';
        if is_mark
            || matches!(
                byte,
                b' ' | b'\t' | b'\n' | b'\\' | b'"' | 0x0b | 0x0c | b'\r'
            )
        {
            text.push(b'\\');
        }
        text.push(*byte);
    }
    text
}

fn value(xattr: &Xattr) -> Vec<u8> {
    let value = &xattr.value;
    let is_plain = value
        .iter()
        .all(|byte| matches!(byte, b'!'..=b'~' | b' ') && *byte != b'\\');
    let is_coded = value.first() == Some(&b'0') || value.ends_with(b" ") || value.starts_with(b" ");
    if is_plain && !is_coded {
        return value.clone();
    }
    let mut text = b"0t".to_vec();
    for byte in value {
        match byte {
            b'!'..=b'~' if *byte != b'\\' => text.push(*byte),
            byte => text.extend_from_slice(format!("\\{byte:03o}").as_bytes()),
        }
    }
    text
}
