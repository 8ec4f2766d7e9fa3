//! What the tools have in common that write images.

use crate::failure::Failure;
use crate::walk::not_started;
use clap::Args;
use hedgerow_codec::block::{Compressor, Settings};
use hedgerow_engine::{CancelToken, Jobs, Options};
use hedgerow_squashfs::format::BLOCK_BYTES;
use hedgerow_squashfs::recipe::Defaults;
use hedgerow_squashfs::{CreateOptions, FragmentPolicy};
use std::num::NonZeroUsize;

/// The options of gensquashfs and tar2sqfs that are the same.
#[derive(Debug, Args)]
pub struct ImageOptions {
    /// The compressor: gzip, xz, lzma, lzo, lz4 or zstd
    #[arg(short, long, value_name = "NAME", default_value = "xz")]
    pub compressor: String,
    /// Settings of the compressor, with commas between them; 'help' lists them
    #[arg(short = 'X', long, value_name = "OPTIONS")]
    pub comp_extra: Option<String>,
    /// How many workers compress; one for each processor without it
    #[arg(short = 'j', long, value_name = "COUNT", value_parser = number, allow_negative_numbers = true)]
    pub num_jobs: Option<i64>,
    /// Taken and not used: what waits is bounded in bytes
    #[arg(short = 'Q', long, value_name = "COUNT", value_parser = number, allow_negative_numbers = true)]
    pub queue_backlog: Option<i64>,
    /// Bytes of a block: a power of two from 4K to 1M
    #[arg(short, long, value_name = "SIZE", default_value = "131072", value_parser = size)]
    pub block_size: u64,
    /// The image is padded to a multiple of so many bytes
    #[arg(short = 'B', long, value_name = "SIZE", default_value = "4096", value_parser = size)]
    pub dev_block_size: u64,
    /// What directories have that nothing describes, and the time of everything: uid=N, gid=N, mode=N
    /// or mtime=N, with commas between them
    #[arg(short, long, value_name = "OPTIONS")]
    pub defaults: Option<String>,
    /// Make the image usable for NFS exports
    #[arg(short, long)]
    pub exportable: bool,
    /// Put only files into common blocks that do not fill one
    #[arg(short = 'T', long)]
    pub no_tail_packing: bool,
    /// Replace the image if it exists
    #[arg(short, long)]
    pub force: bool,
    /// Say nothing but warnings and errors
    #[arg(short, long)]
    pub quiet: bool,
}

/// The smallest unit that an image may be padded to, in bytes.
const SMALLEST_UNIT: u64 = 1024;

impl ImageOptions {
    /// What `-X help` prints, if that is asked for.
    pub fn settings_help(&self) -> Result<Option<&'static str>, Failure> {
        let compressor = self.compressor()?;
        let is_asked = self.comp_extra.as_deref() == Some("help");
        Ok(is_asked.then_some(match compressor {
            Compressor::Gzip => {
                "level=N, 1 to 9; window=N, 8 to 15; strategies, of which the best one is taken for \
                 each block:\ndefault, filtered, huffman, rle, fixed\n"
            }
            Compressor::Lzma => LZMA,
            Compressor::Xz => XZ,
            Compressor::Lzo => {
                "algorithm=NAME: lzo1x_1, lzo1x_1_11, lzo1x_1_12, lzo1x_1_15 or lzo1x_999; level=N, 1 to \
                 9, for lzo1x_999\n"
            }
            Compressor::Lz4 => "hc: slower and smaller\n",
            Compressor::Zstd => "level=N, 1 to 22\n",
        }))
    }

    fn compressor(&self) -> Result<Compressor, Failure> {
        Compressor::from_name(&self.compressor).map_err(not_started)
    }

    /// How the image is to be written. Its time is that of `defaults`.
    pub fn options(
        &self,
        defaults: Defaults,
        cancel: &CancelToken,
    ) -> Result<CreateOptions, Failure> {
        let block_bytes = u32::try_from(self.block_size).unwrap_or(u32::MAX);
        if !block_bytes.is_power_of_two() || !BLOCK_BYTES.contains(&block_bytes) {
            let bytes = self.block_size;
            return Err(not_started(format_args!(
                "a block of {bytes} bytes: it must be a power of two from 4K to 1M"
            )));
        }
        if self.dev_block_size < SMALLEST_UNIT {
            return Err(not_started("-B takes at least 1024 bytes"));
        }
        let compressor = self.compressor()?;
        let extra = settings(compressor, self.comp_extra.as_deref().unwrap_or_default());
        let extra = extra.iter().map(String::as_str);
        let processors = hedgerow_fs::cpu::available();
        let jobs = self
            .num_jobs
            .map_or(processors, |count| usize::try_from(count).unwrap_or(1));
        let workers = |name, jobs| Options {
            jobs,
            cancel: cancel.clone(),
            name,
            recorder: None,
            hint: None,
        };
        Ok(CreateOptions {
            settings: Settings::parse(compressor, block_bytes, None, extra).map_err(not_started)?,
            block_bytes,
            fragments: match self.no_tail_packing {
                true => FragmentPolicy::SmallFiles,
                false => FragmentPolicy::Always,
            },
            dedup: true,
            xattrs: true,
            skip_unreadable: false,
            exportable: self.exportable,
            mtime_s: Some(u32::try_from(defaults.mtime_s).unwrap_or_default()),
            padding_bytes: self.dev_block_size,
            replace: self.force,
            readers: workers("read", Jobs::Auto),
            packers: workers(
                "pack",
                Jobs::Fixed(NonZeroUsize::new(jobs).unwrap_or(NonZeroUsize::MIN)),
            ),
        })
    }

    /// What `-d` says; without a time, it is `epoch` or 0.
    pub fn defaults(&self, epoch: Option<u32>) -> Result<Defaults, Failure> {
        let mut defaults = Defaults {
            mtime_s: epoch.unwrap_or(0).into(),
            ..Defaults::default()
        };
        let words = self.defaults.as_deref().unwrap_or_default().split(',');
        for word in words.filter(|word| !word.is_empty()) {
            let wrong = |reason: &str| not_started(format_args!("--defaults '{word}': {reason}"));
            let (key, value) = word
                .split_once('=')
                .ok_or_else(|| wrong("a value is missing"))?;
            let limit = match key {
                "mode" => 0o7777,
                "uid" | "gid" | "mtime" => i64::from(i32::MAX),
                _ => return Err(wrong("neither uid, gid, mode nor mtime")),
            };
            let value = number(value)
                .ok()
                .filter(|value| (0..=limit).contains(value));
            let value = value.ok_or_else(|| wrong(&format!("no number from 0 to {limit}")))?;
            match key {
                "mode" => defaults.mode = value as u16,
                "uid" => defaults.uid = value as u32,
                "gid" => defaults.gid = value as u32,
                _ => defaults.mtime_s = value,
            }
        }
        Ok(defaults)
    }
}

const LZMA: &str = "\
level=N, 0 to 9; extreme; dictsize=BYTES, with K or M, or a percentage of the block size with %;
lc=N, lp=N, 0 to 4, together at most 4; pb=N, 0 to 4
";
const XZ: &str = "\
level=N, 0 to 9; extreme; dictsize=BYTES, with K or M, or a percentage of the block size with %;
lc=N, lp=N, 0 to 4, together at most 4; pb=N, 0 to 4; filters, of which the best one is taken for
each block: x86, powerpc, ia64, arm, armthumb, sparc
";

/// The settings as the codec takes them: there, strategies and filters have a key.
fn settings(compressor: Compressor, extra: &str) -> Vec<String> {
    let keyless: (&str, &[&str]) = match compressor {
        Compressor::Gzip => (
            "strategies",
            &["default", "filtered", "huffman", "rle", "fixed"],
        ),
        Compressor::Xz => (
            "filters",
            &["x86", "powerpc", "ia64", "arm", "armthumb", "sparc"],
        ),
        _ => ("", &[]),
    };
    let (key, words) = keyless;
    let setting = |word: &str| match words.contains(&word) {
        true => format!("{key}={word}"),
        false => word.to_owned(),
    };
    extra
        .split(',')
        .filter(|word| !word.is_empty())
        .map(setting)
        .collect()
}

/// A number as C writes it: `0755` is octal, `0x1ed` hexadecimal.
pub fn number(word: &str) -> Result<i64, String> {
    let (sign, digits) = match word.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, word),
    };
    let (digits, base) = match digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        Some(digits) => (digits, 16),
        None if digits.len() > 1 && digits.starts_with('0') => (digits, 8),
        None => (digits, 10),
    };
    let is_number = digits.chars().all(|digit| digit.is_digit(base));
    let number = i64::from_str_radix(digits, base).ok().filter(|_| is_number);
    number
        .map(|number| sign * number)
        .ok_or_else(|| format!("'{word}' is no number"))
}

/// A number of bytes, with `K`, `M` or `G`.
fn size(word: &str) -> Result<u64, String> {
    let (digits, unit) = match word.char_indices().last() {
        Some((at, 'k' | 'K')) => (word.get(..at), 1 << 10),
        Some((at, 'm' | 'M')) => (word.get(..at), 1 << 20),
        Some((at, 'g' | 'G')) => (word.get(..at), 1 << 30),
        _ => (Some(word), 1),
    };
    let digits = digits.filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
    let bytes = digits.and_then(|digits| digits.parse::<u64>().ok()?.checked_mul(unit));
    bytes.ok_or_else(|| format!("'{word}' is no number of bytes"))
}
