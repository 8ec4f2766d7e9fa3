//! What changed besides contents: files that come, go, move or get another mode.

use super::names::moved;
use crate::display::quoted;
use crate::status::rename::Filepair;
use crate::status::ChangeKind;

/// The line about a file, if there is something to tell.
pub(crate) fn line(pair: &Filepair, high: bool) -> Vec<u8> {
    let path = quoted(pair.path().unwrap_or_default(), high);
    let about = |words: String| [words.as_bytes(), &path, b"\n"].concat();
    if pair.unmerged {
        return Vec::new();
    }
    match (&pair.old, &pair.new, pair.origin) {
        (None, Some(new), _) => about(format!(" create mode {:06o} ", new.mode.to_u32())),
        (Some(old), None, _) => about(format!(" delete mode {:06o} ", old.mode.to_u32())),
        (Some(old), Some(new), origin) => {
            let mut text = Vec::new();
            if let Some(origin) = origin {
                let verb = match origin.kind {
                    ChangeKind::Copied => "copy",
                    _ => "rename",
                };
                text.extend_from_slice(format!(" {verb} ").as_bytes());
                text.extend(moved(pair, high));
                text.extend_from_slice(format!(" ({}%)\n", origin.score.percent()).as_bytes());
            }
            if old.mode != new.mode {
                let modes = [old.mode.to_u32(), new.mode.to_u32()];
                text.extend_from_slice(
                    format!(" mode change {:06o} => {:06o}", modes[0], modes[1]).as_bytes(),
                );
                // The line above names a file that was moved.
                if origin.is_none() {
                    text.push(b' ');
                    text.extend(path);
                }
                text.push(b'\n');
            }
            text
        }
        (None, None, _) => Vec::new(),
    }
}
