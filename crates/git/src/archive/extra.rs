//! Files of an archive that are not in the tree: `--add-file` and `--add-virtual-file` of
//! git-archive(1).

use super::ExtraFile;
use crate::display::unquoted_start;
use crate::repository::Repository;
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use hedgerow_fs::FileKind;
use std::path::Path;

/// A larger file is refused, in bytes.
const FILE_LIMIT_BYTES: u64 = 4 << 30;
/// The bit of a mode that lets the owner execute a file.
const OWNER_EXECUTES: u32 = 0o100;

fn refused(reason: String) -> Error {
    Error::Setup { reason }
}

impl ExtraFile {
    /// The file at `path`, which messages call `name`, with `prefix` before its name without
    /// directories.
    pub fn read(path: &Path, name: &BStr, prefix: &BStr) -> Result<Self> {
        let stat = hedgerow_fs::stat(path)?;
        let stat = stat.ok_or_else(|| refused(format!("File not found: {name}")))?;
        if stat.kind != FileKind::File {
            return Err(refused(format!("Not a regular file: {name}")));
        }
        let content = hedgerow_fs::read_file(path, FILE_LIMIT_BYTES)?;
        let content = content.ok_or_else(|| refused(format!("cannot read '{name}'")))?;
        let start = name.rfind_byte(b'/').map_or(0, |slash| slash + 1);
        Ok(ExtraFile {
            path: [prefix.as_bytes(), &name[start..]].concat().into(),
            is_executable: stat.mode & OWNER_EXECUTES != 0,
            content,
        })
    }

    /// The file that `PATH:CONTENT` describes; the path may be in quotes. It is relative to the
    /// user's current directory in the working tree.
    pub fn parse(repository: &Repository, text: &BStr) -> Result<Self> {
        let (path, rest) = if text.starts_with(b"\"") {
            unquoted_start(text).ok_or_else(|| refused(format!("unclosed quote: '{text}'")))?
        } else {
            let colon = text.find_byte(b':').unwrap_or(text.len());
            (BString::from(&text[..colon]), text[colon..].as_bytes())
        };
        let Some(content) = rest.strip_prefix(b":") else {
            return Err(refused(format!("missing colon: '{text}'")));
        };
        if text.starts_with(b":") {
            return Err(refused(format!("empty file name: '{text}'")));
        }
        let here: &[u8] = if path.starts_with(b"/") {
            b""
        } else {
            repository.prefix()
        };
        Ok(ExtraFile {
            path: [here, path.as_bytes()].concat().into(),
            is_executable: false,
            content: content.to_vec(),
        })
    }
}
