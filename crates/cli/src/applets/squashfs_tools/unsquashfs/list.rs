//! Listings, and contents on standard output.

use super::{prefixed, Arguments, Chosen, CONSOLE, SOME_FAILED};
use crate::applets::console::print;
use crate::applets::rdsquashfs::mode;
use hedgerow::image::{write_content, ContentError, Image, Node, NodeKind};
use hedgerow::Execution;
use hedgerow_fs::StandardOutput;
use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

/// The width of the columns of owner and size together.
const OWNER_AND_SIZE: usize = 27;
const SECONDS_PER_DAY: i64 = 86_400;

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
        print(lines.line(image, &mut node)?)?;
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
        let mode = mode(node.kind, node.mode.into());
        Ok(format!("{mode} {owner}{size:>width$} {time} "))
    }

    fn time(&self, seconds: i64) -> String {
        let offset = if self.arguments.utc {
            0
        } else {
            hedgerow_fs::local_offset(seconds).seconds
        };
        let local = seconds.saturating_add(offset);
        let (year, month, day) = date(local.div_euclid(SECONDS_PER_DAY));
        let second = local.rem_euclid(SECONDS_PER_DAY);
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        let short = format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}");
        if self.arguments.full {
            format!("{short}:{second:02}")
        } else {
            short
        }
    }
}

/// A time in the form of ctime(3).
pub fn long_time(seconds: i64, utc: bool) -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let offset = if utc {
        0
    } else {
        hedgerow_fs::local_offset(seconds).seconds
    };
    let local = seconds.saturating_add(offset);
    let days = local.div_euclid(SECONDS_PER_DAY);
    let (year, month, day) = date(days);
    let second = local.rem_euclid(SECONDS_PER_DAY);
    let weekday = DAYS
        .get(days.rem_euclid(7) as usize)
        .copied()
        .unwrap_or_default();
    let month = MONTHS.get(month as usize - 1).copied().unwrap_or_default();
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{weekday} {month} {day:>2} {hour:02}:{minute:02}:{second:02} {year}")
}

/// The size that a listing shows.
fn size_of(image: &Image, node: &Node) -> Result<u64, String> {
    if !matches!(node.kind, NodeKind::Directory | NodeKind::Symlink) {
        return Ok(node.size_bytes);
    }
    let found = image
        .find(&node.path)
        .and_then(|inode| image.metadata(&inode));
    found
        .map(|metadata| metadata.size_bytes)
        .map_err(|error| error.to_string())
}

/// Year, month and day, from the days since 1970.
fn date(days: i64) -> (i64, i64, i64) {
    let is_leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let (mut year, mut rest) = (
        1970 + days.div_euclid(146_097) * 400,
        days.rem_euclid(146_097),
    );
    while rest >= 365 + i64::from(is_leap(year)) {
        rest -= 365 + i64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + i64::from(is_leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if rest < length {
            break;
        }
        rest -= length;
        month += 1;
    }
    (year, month, rest + 1)
}

/// Prints the contents of the named files.
pub fn cat(image: &Image, arguments: &Arguments) -> Result<u8, String> {
    let mut code = 0;
    for name in &arguments.files {
        let written = write_content(
            image,
            name.as_bytes(),
            &mut StandardOutput,
            &Execution::default(),
        );
        match written {
            Ok(()) => {}
            Err(ContentError::Write(error)) => {
                crate::walk::closed_pipe_is_fine(error).map_err(|error| error.to_string())?;
            }
            Err(error) => {
                CONSOLE.complain(format_args!("'{}': {error}", name.display()));
                code = SOME_FAILED;
            }
        }
    }
    Ok(code)
}
