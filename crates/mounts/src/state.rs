//! What is written of a tree.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// What a tree is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeState {
    /// The name of the image.
    pub image: String,
    /// The store that has it.
    pub store: PathBuf,
    /// The time of all files of the image, in seconds since 1970: what it takes to make it again.
    pub mtime_s: i64,
    /// Whether the notes of the overlay are in attributes that only root may write. An overlay that
    /// a user namespace mounts has others, and would not see those.
    pub is_privileged: bool,
    /// What its maker says of the settings of the image, on one line; empty if it says nothing.
    pub settings: String,
}

impl TreeState {
    /// Lines of KEY VALUE; the path of the store comes last and ends with a NUL. Settings may be missing.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let attributes = if self.is_privileged {
            "trusted"
        } else {
            "user"
        };
        let TreeState { image, mtime_s, .. } = self;
        let mut text = format!("image {image}\nmtime {mtime_s}\nattributes {attributes}\n");
        if !self.settings.is_empty() {
            text.push_str(&format!("settings {}\n", self.settings));
        }
        text.push_str("store ");
        let mut bytes = text.into_bytes();
        bytes.extend_from_slice(self.store.as_os_str().as_bytes());
        bytes.extend_from_slice(b"\0\n");
        bytes
    }

    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes;
        let mut value = |key: &str| {
            let value = rest.strip_prefix(key.as_bytes())?.strip_prefix(b" ")?;
            let end = value.iter().position(|byte| *byte == b'\n');
            // The path may have anything in it.
            let end = end.filter(|_| key != "store").unwrap_or(value.len());
            rest = value.get(end + 1..).unwrap_or_default();
            Some(&value[..end])
        };
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
        let image = text(value("image")?)?;
        let mtime_s = text(value("mtime")?)?.parse().ok()?;
        let is_privileged = match value("attributes")? {
            b"trusted" => true,
            b"user" => false,
            _ => return None,
        };
        let settings = text(value("settings").unwrap_or_default())?;
        let store = value("store")?.strip_suffix(b"\0\n")?;
        // It becomes part of paths.
        let is_name = !image.is_empty() && !image.contains('/') && !image.starts_with('.');
        (is_name && !store.is_empty()).then(|| TreeState {
            image,
            store: OsString::from_vec(store.to_vec()).into(),
            mtime_s,
            is_privileged,
            settings,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_read_as_it_was_written() {
        for settings in ["", "owner=0:0 umask=22"] {
            let state = TreeState {
                image: "0123-ab".into(),
                store: "/a b\n/c".into(),
                mtime_s: -5,
                is_privileged: true,
                settings: settings.into(),
            };
            let bytes = state.to_bytes();
            assert_eq!(TreeState::parse(&bytes), Some(state));
            for cut in 0..bytes.len() {
                assert_eq!(TreeState::parse(&bytes[..cut]), None, "{cut}");
            }
        }
        let hostile = b"image ../x\nmtime 1\nattributes trusted\nstore /s\0\n";
        assert_eq!(TreeState::parse(hostile), None);
    }
}
