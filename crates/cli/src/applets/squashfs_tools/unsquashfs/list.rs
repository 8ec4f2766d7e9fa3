//! Listings, and contents on standard output.

use super::{prefixed, Arguments, Chosen, CONSOLE, SOME_FAILED};
use crate::applets::console::print_names;
use bstr::ByteSlice;
use hedgerow::image::{
    calendar, matching_paths, mode_letters, write_content, ContentError, Image, Node, NodeKind,
};
use hedgerow::Execution;
use hedgerow_fs::StandardOutput;
use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

/// The width of the columns of owner and size together.
const OWNER_AND_SIZE: usize = 27;

pub fn list(
    image: &Arc<Image>,
    chosen: &Chosen,
    arguments: &Arguments,
    is_long: bool,
) -> Result<u8, String> {
    let mut code = 0;
    let mut lines = Lines::new(arguments, is_long);
    let is_concise = arguments.concise || arguments.long_concise;
    for node in chosen.nodes(image)? {
        let mut node = match node {
            Ok(node) => node,
            Err(error) => {
                CONSOLE.complain(error);
                code = SOME_FAILED;
                continue;
            }
        };
        // A directory that -max-depth cuts off is not empty.
        if is_concise && node.kind == NodeKind::Directory && !is_empty(image, &node.path) {
            continue;
        }
        print_names(lines.line(image, &mut node)?)?;
    }
    Ok(code)
}

/// Whether the directory at `path` has no entries in the image.
fn is_empty(image: &Image, path: &[u8]) -> bool {
    let inode = image.find(path);
    let listing = inode.and_then(|inode| match &inode.body {
        hedgerow::image::Body::Directory(directory) => {
            Ok(image.listing(directory)?.iter().next().is_none())
        }
        _ => Ok(false),
    });
    listing.unwrap_or(false)
}

/// Makes lines of a listing.
pub struct Lines<'a> {
    arguments: &'a Arguments,
    is_long: bool,
    users: HashMap<u32, String>,
    groups: HashMap<u32, String>,
}

impl<'a> Lines<'a> {
    pub fn new(arguments: &'a Arguments, is_long: bool) -> Self {
        Lines {
            arguments,
            is_long,
            users: HashMap::new(),
            groups: HashMap::new(),
        }
    }

    pub fn line(&mut self, image: &Image, node: &mut Node) -> Result<Vec<u8>, String> {
        let mut line = Vec::new();
        if self.is_long {
            line.extend_from_slice(self.attributes(image, node)?.as_bytes());
        }
        line.extend_from_slice(&prefixed(&self.arguments.destination, &node.path));
        if self.is_long && node.kind == NodeKind::Symlink {
            line.extend_from_slice(b" -> ");
            line.extend_from_slice(&node.handle.target().map_err(|error| error.to_string())?);
        }
        line.push(b'\n');
        Ok(line)
    }

    fn attributes(&mut self, image: &Image, node: &Node) -> Result<String, String> {
        let is_numeric = self.arguments.numeric;
        let named = |name: Option<Vec<u8>>, id: u32| {
            let name = name.filter(|_| !is_numeric);
            name.map_or_else(
                || id.to_string(),
                |name| String::from_utf8_lossy(&name).into_owned(),
            )
        };
        let (uid, gid) = (node.uid, node.gid);
        let user = self
            .users
            .entry(uid)
            .or_insert_with(|| named(hedgerow_fs::account_by_uid(uid).map(|it| it.name), uid));
        let group = self
            .groups
            .entry(gid)
            .or_insert_with(|| named(hedgerow_fs::group_by_gid(gid).map(|it| it.name), gid));
        let owner = format!("{user}/{group}");
        let size = match node.kind {
            NodeKind::BlockDevice | NodeKind::CharacterDevice => {
                format!("{},{:>3}", node.device.0, node.device.1)
            }
            _ => size_of(image, node)?.to_string(),
        };
        let width = OWNER_AND_SIZE
            .saturating_sub(owner.len())
            .max(size.len() + 1);
        let time = self.time(node.mtime_s);
        let mode = mode_letters(node.kind, node.mode.into());
        Ok(format!("{mode} {owner}{size:>width$} {time} "))
    }

    fn time(&self, seconds: i64) -> String {
        let offset = if self.arguments.utc {
            0
        } else {
            hedgerow_fs::local_offset(seconds).seconds
        };
        let ((year, month, day), (hour, minute, second)) = calendar(seconds.saturating_add(offset));
        let short = format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}");
        if self.arguments.full {
            format!("{short}:{second:02}")
        } else {
            short
        }
    }
}

/// The size that a listing shows.
fn size_of(image: &Image, node: &Node) -> Result<u64, String> {
    if !matches!(node.kind, NodeKind::Directory | NodeKind::Symlink) {
        return Ok(node.size_bytes);
    }
    let inode = image.find(&node.path);
    let found = inode.and_then(|inode| image.metadata(&inode));
    found
        .map(|metadata| metadata.size_bytes)
        .map_err(|error| error.to_string())
}

/// Prints the contents of the files that are named, or that match a pattern.
pub fn cat(image: &Arc<Image>, arguments: &Arguments) -> Result<u8, String> {
    let mut code = 0;
    for operand in &arguments.files {
        let paths = matching_paths(image, operand.as_bytes(), super::syntax(arguments))?;
        for path in paths.iter().map(Vec::as_slice) {
            let written = write_content(image, path, &mut StandardOutput, &Execution::default());
            match written {
                Ok(()) => {}
                Err(ContentError::Write(error)) => {
                    let unwritten = |reason| format!("cannot write 'standard output': {reason}");
                    let told = crate::walk::closed_pipe_is_fine(error);
                    told.map_err(|error| unwritten(hedgerow_fs::reason(&error)))?;
                }
                Err(error) => {
                    CONSOLE.complain(format_args!("'{}': {error}", path.as_bstr()));
                    code = SOME_FAILED;
                }
            }
        }
    }
    Ok(code)
}
