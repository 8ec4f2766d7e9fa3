//! All fields of an inode.

use hedgerow::image::{Body, Error, File, Image, Inode};
use hedgerow::plumbing::tree::NodeKind;
use std::fmt::Write;

/// The value for a position that does not exist.
const NONE: u32 = u32::MAX;

/// Prints the inode, a line for each field.
pub fn stat(image: &Image, name: &[u8], inode: &Inode) -> Result<Vec<u8>, Error> {
    let metadata = image.metadata(inode)?;
    let mut text = String::new();
    // Writing to a string does not fail.
    let mut line = |name: &str, value: String| {
        let _ = writeln!(text, "{name}: {value}");
    };
    line("Inode type", kind(inode));
    line("Inode number", inode.number.to_string());
    line("Access", format!("0{:03o}", metadata.mode));
    line(
        "UID",
        format!("{} (index = {})", metadata.uid, inode.uid_index),
    );
    line(
        "GID",
        format!("{} (index = {})", metadata.gid, inode.gid_index),
    );
    line(
        "Last modified",
        format!("{} ({})", date(inode.mtime), inode.mtime),
    );
    let is_basic_file = inode.kind == NodeKind::File && !inode.extended;
    if !is_basic_file {
        line("Hard link count", inode.nlink.to_string());
    }
    if inode.extended {
        line(
            "Xattr index",
            format!("{:#X}", inode.xattrs.unwrap_or(NONE)).replace("0X", "0x"),
        );
    }
    match &inode.body {
        Body::Directory(directory) => {
            line("Start block", directory.listing.block().to_string());
            line("Offset", directory.listing.offset().to_string());
            line("Listing size", directory.size.to_string());
            line("Parent inode", directory.parent.to_string());
            if inode.extended {
                line("Directory index entries", directory.index_count.to_string());
            }
        }
        Body::File(file) => {
            let tail = file
                .tail
                .map_or((NONE, 0), |tail| (tail.index, tail.offset));
            line("Fragment index", format!("0x{:X}", tail.0));
            line("Fragment offset", tail.1.to_string());
            line("File size", file.size.to_string());
            if inode.extended {
                line("Sparse", file.sparse.to_string());
            }
            line("Blocks start", file.blocks_start.to_string());
            line("Block count", file.block_count.to_string());
            text.push_str(&blocks(image, file)?);
        }
        Body::Symlink(target) => line("Link target", target.to_string()),
        Body::Device(number) => {
            let (major, minor) = hedgerow_fs::device_numbers(metadata.rdev);
            line("Device number", format!("{major}:{minor} ({number})"));
        }
        Body::Ipc => {}
    }
    let mut bytes = [b"Name: ", name, b"\n"].concat();
    bytes.extend_from_slice(text.as_bytes());
    Ok(bytes)
}

/// How each block of a file is stored.
fn blocks(image: &Image, file: &File) -> Result<String, Error> {
    let mut text = String::new();
    let pieces = image.pieces(file)?.take(file.block_count as usize);
    for (number, piece) in pieces.enumerate() {
        let (bytes, is_raw) = piece?.stored_bytes();
        let how = if is_raw { "uncompressed" } else { "compressed" };
        // Writing to a string does not fail.
        let _ = writeln!(text, "\tBlock #{number} size: {bytes} ({how})");
    }
    Ok(text)
}

fn kind(inode: &Inode) -> String {
    let name = match inode.kind {
        NodeKind::File => "file",
        NodeKind::Directory => "directory",
        NodeKind::Symlink => "symbolic link",
        NodeKind::Fifo => "named pipe",
        NodeKind::Socket => "socket",
        NodeKind::BlockDevice => "block device",
        NodeKind::CharacterDevice => "character device",
    };
    let form = if inode.extended { "extended " } else { "" };
    format!("{form}{name}")
}

/// A time in the format of RFC 2822, in UTC.
fn date(seconds: u32) -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let weekday = DAYS.get(days as usize % 7).copied().unwrap_or_default();
    // Days since March 1 of year 0, so that the leap day is the last day of a year.
    let days = days + 719_468;
    let era = days / 146_097;
    let day_of_era = days % 146_097;
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = (march_month + 2) % 12;
    let year = era * 400 + year_of_era + u32::from(month < 2);
    let name = MONTHS.get(month as usize).copied().unwrap_or_default();
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{weekday}, {day:02} {name} {year} {hour:02}:{minute:02}:{second:02} +0000")
}

#[cfg(test)]
mod tests {
    use super::date;

    #[test]
    fn dates_of_leap_years_and_the_last_second() {
        for (seconds, expected) in [
            (0, "Thu, 01 Jan 1970 00:00:00 +0000"),
            (12_345, "Thu, 01 Jan 1970 03:25:45 +0000"),
            (951_782_399, "Mon, 28 Feb 2000 23:59:59 +0000"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 +0000"),
            (1_795_306_991, "Sun, 22 Nov 2026 00:23:11 +0000"),
            (u32::MAX, "Sun, 07 Feb 2106 06:28:15 +0000"),
        ] {
            assert_eq!(date(seconds), expected);
        }
    }
}
