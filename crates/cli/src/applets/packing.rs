//! Options shared by the tools that create images.

use super::console::Console;
use crate::image::create::{block_bytes, clamped, hole_limit_bytes};
use crate::image::image_file;
use clap::Args;
use hedgerow::image::Defaults;
use hedgerow::image::{Compressor, Settings};
use hedgerow::image::{CreateOptions, Created, FragmentPolicy};
use hedgerow::numbers::counted;
use hedgerow::numbers::{c_number, size_bytes};
use hedgerow::{CancelToken, Execution, Jobs};
use hedgerow_fs::Destination;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// The smallest device block size that the tools accept, in bytes.
const LEAST_PADDING_BYTES: u64 = 1024;

/// The compressors in the form that scripts look for.
pub const BLOCK_COMPRESSORS: &str = "\
Available SquashFS block compressors:
\tgzip
\tlzma
\tlzo
\txz (default)
\tlz4
\tzstd";

#[derive(Debug, Args)]
pub struct Packing {
    /// The compressor: gzip, lzma, lzo, xz, lz4 or zstd
    #[arg(short, long, value_name = "NAME", default_value = "xz")]
    pub compressor: String,
    /// Compressor settings, separated by commas; 'help' lists them
    #[arg(short = 'X', long, value_name = "OPTIONS")]
    pub comp_extra: Option<String>,
    /// Number of blocks compressed at a time
    #[arg(short = 'j', long, value_name = "COUNT")]
    pub num_jobs: Option<usize>,
    /// Accepted for compatibility; the queue is bounded in bytes
    #[arg(short = 'Q', long, value_name = "COUNT")]
    pub queue_backlog: Option<usize>,
    /// Block size in bytes: a power of two from 4K to 1M
    #[arg(short, long, value_name = "SIZE", default_value = "128K")]
    pub block_size: String,
    /// Maximum total size of holes in large files, such as 20T; by default 2^25 blocks
    #[arg(long, value_name = "SIZE")]
    pub max_holes: Option<String>,
    /// Pad the image to a multiple of SIZE bytes
    #[arg(short = 'B', long, value_name = "SIZE", default_value = "4096")]
    pub dev_block_size: String,
    /// Metadata of directories that are not described: uid=N,gid=N,mode=N,mtime=N
    #[arg(short, long, value_name = "OPTIONS")]
    pub defaults: Option<String>,
    /// Make the image usable for NFS exports
    #[arg(short, long)]
    pub exportable: bool,
    /// Do not pack tails of files larger than a block into fragment blocks
    #[arg(short = 'T', long)]
    pub no_tail_packing: bool,
    /// Replace the image if it exists
    #[arg(short, long)]
    pub force: bool,
    /// Print only errors
    #[arg(short, long)]
    pub quiet: bool,
    /// The image file
    #[arg(value_name = "SQFSFILE")]
    image: Option<PathBuf>,
}

impl Packing {
    /// Lists the settings of the compressor, if requested.
    pub fn help(&self, console: Console) -> Result<bool, String> {
        if self.comp_extra.as_deref() != Some("help") {
            return Ok(false);
        }
        let compressor = self.compressor()?;
        let (name, settings) = (compressor.name(), settings_of(compressor));
        console.say(format_args!("Settings of {name}: {settings}"));
        Ok(true)
    }

    /// The path of the image. Fails if a file there may not be replaced.
    pub fn image(&self) -> Result<PathBuf, String> {
        let image = self
            .image
            .as_deref()
            .ok_or("the name of the image is missing")?;
        let is_taken = hedgerow_fs::is_there(image).map_err(|error| error.to_string());
        if !self.force && is_taken? {
            let image = image.display();
            return Err(format!("'{image}' exists: --force replaces it"));
        }
        let place = Destination::of(image).map_err(|error| error.to_string())?;
        image_file(place, image)
    }

    fn compressor(&self) -> Result<Compressor, String> {
        Compressor::from_name(&self.compressor).map_err(|error| error.to_string())
    }

    /// The options for writing the image.
    pub fn options(
        &self,
        cancel: &CancelToken,
        defaults: &Defaults,
    ) -> Result<CreateOptions, String> {
        let block_bytes = block_bytes(&self.block_size).map_err(|failure| failure.message)?;
        let padding_bytes = size_bytes(self.dev_block_size.as_bytes())
            .filter(|bytes| *bytes >= LEAST_PADDING_BYTES)
            .ok_or(format!(
                "blocks of a device of '{}' bytes: it must be {LEAST_PADDING_BYTES} at least",
                self.dev_block_size
            ))?;
        let jobs = match self.num_jobs {
            None => Jobs::Auto,
            Some(count) => Jobs::Fixed(NonZeroUsize::new(count).unwrap_or(NonZeroUsize::MIN)),
        };
        Ok(CreateOptions {
            settings: self.settings(block_bytes)?,
            block_bytes,
            fragments: if self.no_tail_packing {
                FragmentPolicy::SmallFiles
            } else {
                FragmentPolicy::Always
            },
            dedup: true,
            hole_limit_bytes: hole_limit_bytes(self.max_holes.as_deref(), block_bytes)?,
            exportable: self.exportable,
            mtime_s: Some(defaults.mtime_s.clamp(0, u32::MAX.into()) as u32),
            padding_bytes,
            replace: self.force,
            execution: Execution {
                jobs,
                cancel: cancel.clone(),
                ..Execution::default()
            },
            ..CreateOptions::default()
        })
    }

    fn settings(&self, block_bytes: u32) -> Result<Settings, String> {
        let compressor = self.compressor()?;
        let words = self.comp_extra.as_deref().unwrap_or_default().split(',');
        let mut words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        // The tools ignore a level where it has no meaning.
        let is_fast = |word: &&str| word.starts_with("algorithm=lzo1x_1");
        if compressor == Compressor::Lzo && words.iter().any(is_fast) {
            words.retain(|word| !word.starts_with("level="));
        }
        let settings = Settings::parse(compressor, block_bytes, None, words);
        settings.map_err(|error| error.to_string())
    }

    /// The metadata of directories that are not described; their time is `epoch` unless given.
    pub fn defaults(&self, epoch: Option<u32>) -> Result<Defaults, String> {
        let mut defaults = Defaults {
            mtime_s: epoch.unwrap_or_default().into(),
            ..Defaults::default()
        };
        let words = self.defaults.as_deref().unwrap_or_default().split(',');
        for word in words.filter(|word| !word.is_empty()) {
            let wrong = || format!("'{word}' is none of uid=N, gid=N, mode=N and mtime=N");
            let (key, value) = word.split_once('=').ok_or_else(wrong)?;
            let number = |limit| {
                let value = number(value).filter(|value| *value <= limit);
                value.ok_or_else(wrong)
            };
            match key {
                "uid" => defaults.uid = number(u32::MAX)?,
                "gid" => defaults.gid = number(u32::MAX)?,
                "mtime" => defaults.mtime_s = number(u32::MAX)?.into(),
                "mode" => defaults.mode = number(0o7777)? as u16,
                _ => return Err(wrong()),
            }
        }
        Ok(defaults)
    }

    /// Reports what was written and what was left out.
    pub fn tell(&self, created: &Created, console: Console) {
        if let Some(warning) = clamped(created) {
            console.complain(warning);
        }
        let unstored = &created.unstored_xattrs;
        if let Some((path, name)) = &unstored.first {
            console.complain(format_args!(
                "{} cannot be stored, first '{}' of '{}'",
                counted(unstored.count, "extended attribute"),
                String::from_utf8_lossy(name),
                String::from_utf8_lossy(path),
            ));
        }
        if !self.quiet {
            console.say(format_args!(
                "{}, {}, {}",
                counted(created.inodes, "inode"),
                counted(created.stored_files, "content"),
                counted(created.bytes, "byte")
            ));
        }
    }
}

fn settings_of(compressor: Compressor) -> &'static str {
    match compressor {
        Compressor::Gzip => {
            "level=1..9 (9), window=8..15 (15); tried one by one: default, filtered, huffman, rle, \
             fixed"
        }
        Compressor::Lzma => {
            "level=0..9 (5), dictsize=BYTES or PERCENT% of a block (100%), lc=0..4 (3), lp=0..4 \
             (0), pb=0..4 (2), extreme"
        }
        Compressor::Xz => {
            "level=0..9 (6), dictsize=BYTES or PERCENT% of a block (100%), lc=0..4 (3), lp=0..4 \
             (0), pb=0..4 (2), extreme; tried one by one: x86, powerpc, ia64, arm, armthumb, sparc"
        }
        Compressor::Lzo => {
            "algorithm=lzo1x_1, lzo1x_1_11, lzo1x_1_12, lzo1x_1_15 or lzo1x_999 (which is usual), \
             level=1..9 of lzo1x_999 (8)"
        }
        Compressor::Lz4 => "hc",
        Compressor::Zstd => "level=1..22 (15)",
    }
}

/// Parses a number in C syntax: `0755` is octal, `0x1ed` hexadecimal.
pub fn number(word: &str) -> Option<u32> {
    u32::try_from(c_number(word.as_bytes())?).ok()
}
