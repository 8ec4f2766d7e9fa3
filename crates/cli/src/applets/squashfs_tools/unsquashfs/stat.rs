//! Information about an image, in the form that scripts read.

use super::Arguments;
use hedgerow::image::{long_time, Error, Image};
use hedgerow::plumbing::squashfs::format::flags;
use std::fmt::Write;

/// The lines about an image.
pub fn stat(image: &Image, arguments: &Arguments) -> Result<String, Error> {
    let info = image.info()?;
    let is_set = |flag: u16| info.flags & flag != 0;
    let compressed = |flag| {
        if is_set(flag) {
            "uncompressed"
        } else {
            "compressed"
        }
    };
    let not = |is: bool| if is { "" } else { "not " };
    let mut text = String::new();
    let mut line = |words: String| {
        let _ = writeln!(text, "{words}");
    };
    let bytes = info.bytes_used;
    line(format!(
        "Found a valid SQUASHFS 4:0 superblock on {}.",
        arguments.image.display()
    ));
    line(format!(
        "Creation or last append time {}",
        long_time(info.mod_time.into(), arguments.utc)
    ));
    line(format!(
        "Filesystem size {bytes} bytes ({:.2} Kbytes / {:.2} Mbytes)",
        bytes as f64 / 1024.0,
        bytes as f64 / 1_048_576.0
    ));
    line(format!("Compression {}", info.settings.compressor().name()));
    line(format!("Block size {}", info.block_size));
    line(format!(
        "Filesystem is {}exportable via NFS",
        not(info.exportable)
    ));
    line(format!("Inodes are {}", compressed(flags::RAW_INODES)));
    line(format!("Data is {}", compressed(flags::RAW_DATA)));
    let ids = compressed(if is_set(flags::RAW_INODES) {
        flags::RAW_INODES
    } else {
        flags::RAW_IDS
    });
    line(format!("Uids/Gids (Id table) are {ids}"));
    if is_set(flags::NO_FRAGMENTS) {
        line("Fragments are not stored".into());
    } else {
        line(format!(
            "Fragments are {}",
            compressed(flags::RAW_FRAGMENTS)
        ));
        line(format!(
            "Tailends are {}packed into fragments",
            not(is_set(flags::ALWAYS_FRAGMENTS))
        ));
    }
    if is_set(flags::NO_XATTRS) {
        line("Xattrs are not stored".into());
    } else {
        line(format!("Xattrs are {}", compressed(flags::RAW_XATTRS)));
    }
    line(format!(
        "Duplicates are {}removed",
        not(is_set(flags::DUPLICATES))
    ));
    line(format!("Number of fragments {}", info.fragments));
    line(format!("Number of inodes {}", info.inodes));
    line(format!("Number of ids {}", info.ids));
    if !is_set(flags::NO_XATTRS) {
        line(format!("Number of xattr ids {}", info.xattrs));
    }
    Ok(text)
}
