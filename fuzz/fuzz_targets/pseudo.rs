//! Pseudo definitions from any bytes, a line each: they are refused, or what they make is in
//! canonical order, each entry once, and is the same when it is written and read again.
#![no_main]

use hedgerow_squashfs::pseudo::{text, PseudoFiles};
use hedgerow_tree::{canonical_order, Node, NodeKind};
use libfuzzer_sys::fuzz_target;
use std::sync::Arc;

fuzz_target!(|content: &[u8]| {
    let Some(made) = made(content) else {
        return;
    };
    for pair in made.windows(2) {
        assert!(canonical_order(&pair[0].path, &pair[1].path).is_lt());
    }
    let before: Vec<_> = made.iter().map(facts).collect();
    let mut written = Vec::new();
    for mut node in made {
        // Not every target of a link can be written.
        let Ok(lines) = text::definitions(&mut node, None, 0) else {
            return;
        };
        written.extend_from_slice(&lines);
    }
    let again = made_of(written.split(|byte| *byte == b'\n'));
    let again = again.expect("what was written can be applied");
    assert_eq!(again.iter().map(facts).collect::<Vec<_>>(), before);
});

/// The entries that the lines of `content` define.
fn made(content: &[u8]) -> Option<Vec<Node>> {
    // A link to a file would look at files of this machine.
    let is_link = |line: &[u8]| {
        let mut words = line.windows(3);
        words.any(|it| !it[0].is_ascii_alphanumeric() && it[1] == b'l' && it[2].is_ascii_whitespace())
    };
    let lines = content.split(|byte| *byte == b'\n');
    made_of(lines.filter(|line| !is_link(line)))
}

fn made_of<'a>(lines: impl Iterator<Item = &'a [u8]>) -> Option<Vec<Node>> {
    let mut definitions = PseudoFiles::default();
    for line in lines {
        // The others are used all the same.
        let _ = definitions.add(line);
    }
    let missing = definitions.set_missing_directories(b"D 7 755 0 0");
    missing.expect("they are right");
    let applied = definitions.apply(Vec::new(), 7, &Arc::default());
    applied.ok().map(|it| it.nodes)
}

type Facts = (Vec<u8>, NodeKind, u16, u32, u32, i64, (u32, u32));

fn facts(node: &Node) -> Facts {
    let Node { path, kind, .. } = node;
    // A definition of a link gives it all permissions; only a change of it can take them away.
    let is_link = *kind == NodeKind::Symlink;
    let mode = if is_link { 0o777 } else { node.mode };
    let (uid, gid, mtime_s, device) = (node.uid, node.gid, node.mtime_s, node.device);
    (path.clone(), *kind, mode, uid, gid, mtime_s, device)
}
