//! Options shared by `mksquashfs` and `sqfstar`.

use super::percentage::ProgressOptions;
use crate::applets::console::Console;
use crate::image::create::{block_bytes, clamped, epoch};
use crate::image::image_file;
use clap::Args;
use hedgerow::image::{
    memory_bytes, parse_owner, Changes, Compressor, CreateOptions, Created, Edits, FragmentPolicy,
    ModeChange, PseudoFiles, Settings, Time, TimeOptions, Uncompressed, XattrRules,
};
use hedgerow::numbers::size_bytes;
use hedgerow::{CancelToken, Execution, Jobs};
use hedgerow_fs::{Destination, ReadFile};
use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub struct Building {
    /// Block size in bytes: a power of two from 4K to 1M
    #[arg(long = "b", value_name = "SIZE", default_value = "128K")]
    block_size: String,
    /// The compressor: gzip, lzma, lzo, xz, lz4 or zstd
    #[arg(long = "comp", value_name = "NAME", default_value = "gzip")]
    compressor: String,
    /// Compression level, for gzip, lzo and zstd
    #[arg(long = "Xcompression-level", value_name = "LEVEL")]
    level: Option<String>,
    /// Window size of gzip: 8 to 15
    #[arg(long = "Xwindow-size", value_name = "SIZE")]
    window: Option<String>,
    /// Strategies of gzip that are tried one by one: default, filtered, huffman_only,
    /// run_length_encoded, fixed
    #[arg(long = "Xstrategy", value_name = "LIST")]
    strategies: Option<String>,
    /// Algorithm of lzo: lzo1x_1, lzo1x_1_11, lzo1x_1_12, lzo1x_1_15 or lzo1x_999
    #[arg(long = "Xalgorithm", value_name = "NAME")]
    algorithm: Option<String>,
    /// Compress harder with lz4
    #[arg(long = "Xhc")]
    hc: bool,
    /// Filters of xz that are tried one by one: x86, arm, armthumb, arm64, powerpc, sparc, ia64, riscv
    #[arg(long = "Xbcj", value_name = "LIST")]
    filters: Option<String>,
    /// Dictionary size of xz, in bytes or as a percentage of a block
    #[arg(long = "Xdict-size", value_name = "SIZE")]
    dictionary: Option<String>,
    /// Do not compress inodes, directories, owners and groups
    #[arg(long = "noI", alias = "noInodeCompression")]
    raw_inodes: bool,
    /// Do not compress owners and groups
    #[arg(long = "noId", alias = "noIdTableCompression")]
    raw_ids: bool,
    /// Do not compress data blocks
    #[arg(long = "noD", alias = "noDataCompression")]
    raw_data: bool,
    /// Do not compress fragment blocks
    #[arg(long = "noF", alias = "noFragmentCompression")]
    raw_fragments: bool,
    /// Do not compress extended attributes
    #[arg(long = "noX", alias = "noXattrCompression")]
    raw_xattrs: bool,
    /// Compress nothing
    #[arg(long)]
    no_compression: bool,
    /// Store blocks of zeros instead of leaving holes
    #[arg(long)]
    no_sparse: bool,
    /// Pack tails of large files into fragment blocks
    #[arg(long, alias = "always-use-fragments")]
    tailends: bool,
    /// Pack only small files into fragment blocks, which is the default
    #[arg(long)]
    no_tailends: bool,
    /// Do not use fragment blocks
    #[arg(long)]
    no_fragments: bool,
    /// Store equal contents again
    #[arg(long)]
    no_duplicates: bool,
    /// Store each hard link as a file of its own
    #[arg(long)]
    no_hardlinks: bool,
    /// Make the image usable for NFS exports
    #[arg(long)]
    pub exports: bool,
    /// Set the time of the image: seconds since 1970, a date that date(1) understands, or 'inode'
    /// for that of the newest entry, which is the default
    #[arg(long, value_name = "TIME", alias = "fstime")]
    mkfs_time: Option<String>,
    /// Set the time of all entries
    #[arg(long, value_name = "TIME", alias = "all-time")]
    inode_time: Option<String>,
    /// Set the time of the root
    #[arg(long, value_name = "TIME")]
    root_time: Option<String>,
    /// Set the time of the image to that of the newest entry
    #[arg(long, alias = "reproducible")]
    repro: bool,
    /// Set the time of the image and of all entries
    #[arg(long, value_name = "TIME")]
    repro_time: Option<String>,
    /// Set the owner and group of everything to root: -force-uid 0 -force-gid 0
    #[arg(long, alias = "root-owned")]
    all_root: bool,
    /// Set the permissions of the root, in octal or as for chmod
    #[arg(long, value_name = "MODE")]
    root_mode: Option<String>,
    /// Set the owner of the root
    #[arg(long, value_name = "USER")]
    root_uid: Option<String>,
    /// Set the group of the root
    #[arg(long, value_name = "GROUP")]
    root_gid: Option<String>,
    /// Set the permissions of everything but directories
    #[arg(long, value_name = "MODE")]
    force_file_mode: Option<String>,
    /// Set the permissions of directories
    #[arg(long, value_name = "MODE")]
    force_dir_mode: Option<String>,
    /// Set the owner of everything
    #[arg(long, value_name = "USER")]
    force_uid: Option<String>,
    /// Set the group of everything
    #[arg(long, value_name = "GROUP")]
    force_gid: Option<String>,
    /// Add a number to all owners and groups
    #[arg(long, value_name = "NUMBER")]
    uid_gid_offset: Option<u32>,
    /// Add or change an entry: 'NAME TYPE ...', with the types d, m, b, c, s, i, x, l, h and L
    #[arg(long = "p", value_name = "DEFINITION")]
    pseudo: Vec<OsString>,
    /// Read definitions from FILE; '-' is standard input
    #[arg(long = "pf", value_name = "FILE")]
    pseudo_files: Vec<PathBuf>,
    /// Attributes of missing directories of defined entries: 'd MODE UID GID'
    #[arg(long = "pd", value_name = "DEFINITION", alias = "pseudo-dir")]
    pseudo_directory: Option<OsString>,
    /// Keep the owners in definitions, whatever other options say
    #[arg(long)]
    pseudo_override: bool,
    /// Do not store extended attributes
    #[arg(long)]
    no_xattrs: bool,
    /// Store extended attributes, which is the default
    #[arg(long, overrides_with = "no_xattrs")]
    xattrs: bool,
    /// Leave out extended attributes whose names match a regular expression
    #[arg(long, value_name = "REGEX", overrides_with = "no_xattrs")]
    xattrs_exclude: Option<OsString>,
    /// Store only extended attributes whose names match a regular expression
    #[arg(long, value_name = "REGEX", overrides_with = "no_xattrs")]
    xattrs_include: Option<OsString>,
    /// Add an extended attribute to everything; user attributes to files and directories only
    #[arg(long, value_name = "NAME=VALUE", overrides_with = "no_xattrs")]
    xattrs_add: Vec<OsString>,
    /// End at the first error, which is the default
    #[arg(long)]
    exit_on_error: bool,
    /// Print only errors
    #[arg(long)]
    quiet: bool,
    /// Print the path of each entry
    #[arg(long)]
    pub info: bool,
    #[command(flatten)]
    pub progress: ProgressOptions,
    /// Use COUNT workers
    #[arg(long, value_name = "COUNT")]
    processors: Option<NonZeroUsize>,
    /// Accepted for compatibility: memory is bounded by the number of workers
    #[arg(long, value_name = "SIZE", value_parser = |word: &str| memory_bytes(word, 4 << 20))]
    mem: Option<u64>,
    /// Accepted for compatibility, as a part of the memory of this system
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(1..=75))]
    mem_percent: Option<u8>,
    /// Accepted for compatibility: there is nothing to print
    #[arg(long)]
    mem_default: bool,
    /// Accepted for compatibility: the number of readers is automatic
    #[arg(long, value_name = "COUNT", alias = "block-readers")]
    small_readers: Option<NonZeroUsize>,
    /// Accepted for compatibility: there is no such limit
    #[arg(long, value_name = "COUNT")]
    overcommit: Option<u32>,
    /// Accepted for compatibility: -processors 1 is the counterpart
    #[arg(long)]
    single_reader: bool,
    /// Do not pad the image to a multiple of 4 KiB
    #[arg(long)]
    nopad: bool,
    /// Begin the image after BYTES zero bytes
    #[arg(long, value_name = "BYTES", alias = "o", default_value = "0")]
    offset: String,
}

impl Building {
    /// The path of the image. Fails if a file there may not be replaced; `option` allows that.
    pub fn target(&self, image: &Path, replace: bool, option: &str) -> Result<PathBuf, String> {
        if !replace && hedgerow_fs::is_there(image).map_err(|error| error.to_string())? {
            let image = image.display();
            return Err(format!(
                "'{image}' exists, and nothing is appended to images: {option} replaces it, and \
                 'hedgerow image create --reuse {image} SOURCE NEW-IMAGE' makes a new one from its \
                 blocks"
            ));
        }
        let place = Destination::of(image).map_err(|error| error.to_string())?;
        image_file(place, image)
    }

    /// The options for writing the image.
    pub fn options(
        &self,
        replace: bool,
        exportable: bool,
        cancel: &CancelToken,
    ) -> Result<CreateOptions, String> {
        let block_bytes =
            block_bytes(plain_size(&self.block_size)).map_err(|failure| failure.message)?;
        let offset_bytes = size_bytes(self.offset.as_bytes());
        let all = self.no_compression;
        Ok(CreateOptions {
            settings: self.settings(block_bytes)?,
            block_bytes,
            fragments: match (self.no_fragments, self.tailends && !self.no_tailends) {
                (true, _) => FragmentPolicy::Never,
                (false, true) => FragmentPolicy::Always,
                (false, false) => FragmentPolicy::SmallFiles,
            },
            dedup: !self.no_duplicates,
            holes: !self.no_sparse,
            uncompressed: Uncompressed {
                data: all || self.raw_data,
                fragments: all || self.raw_fragments,
                inodes: all || self.raw_inodes,
                ids: all || self.raw_inodes || self.raw_ids,
                xattrs: all || self.raw_xattrs,
            },
            xattrs: !self.no_xattrs,
            exportable,
            mtime_s: self.mkfs_time()?,
            offset_bytes: offset_bytes
                .ok_or_else(|| format!("'{}' is not a number of bytes", self.offset))?,
            padding_bytes: if self.nopad { 1 } else { 4096 },
            replace,
            execution: Execution {
                jobs: self.processors.map_or(Jobs::Auto, Jobs::Fixed),
                cancel: cancel.clone(),
                ..Execution::default()
            },
            ..CreateOptions::default()
        })
    }

    fn settings(&self, block_bytes: u32) -> Result<Settings, String> {
        let compressor =
            Compressor::from_name(&self.compressor).map_err(|error| error.to_string())?;
        if self.level.is_some() && matches!(compressor, Compressor::Xz | Compressor::Lzma) {
            return Err(format!("{} has no -Xcompression-level", self.compressor));
        }
        let mut words = Vec::new();
        let mut set = |key: &str, value: &Option<String>| {
            words.extend(value.as_ref().map(|value| format!("{key}={value}")));
        };
        set("window", &self.window);
        set("algorithm", &self.algorithm);
        set("dictsize", &self.dictionary);
        if self.hc {
            words.push("hc".into());
        }
        for list in self.strategies.iter().chain(&self.filters) {
            words.extend(list.split(',').map(|name| match name {
                "huffman_only" => "huffman".to_owned(),
                "run_length_encoded" => "rle".to_owned(),
                name => name.to_owned(),
            }));
        }
        let words = words.iter().map(String::as_str);
        let settings = Settings::parse(compressor, block_bytes, self.level.as_deref(), words);
        settings.map_err(|error| error.to_string())
    }

    /// The time of the image; `None` for that of the newest entry.
    fn mkfs_time(&self) -> Result<Option<u32>, String> {
        let epoch = epoch()?;
        let (image, entries) = self.times()?;
        if epoch.is_some() && (image.is_some() || entries.is_some()) {
            return Err("SOURCE_DATE_EPOCH is set: options cannot set other times".into());
        }
        match image {
            Some(Time::At(seconds)) => Ok(Some(seconds)),
            _ => Ok(epoch),
        }
    }

    fn times(&self) -> Result<(Option<Time>, Option<Time>), String> {
        let options = TimeOptions {
            repro: self.repro,
            image: self.mkfs_time.as_deref(),
            entries: self.inode_time.as_deref(),
            both: self.repro_time.as_deref(),
        };
        options.times()
    }

    /// The changes of each entry.
    pub fn changes(&self) -> Result<Changes, String> {
        let mode = |word: &Option<String>| {
            let parsed = word.as_deref().map(ModeChange::parse).transpose();
            parsed.map_err(|error| error.to_string())
        };
        let owner = |word: &Option<String>, is_group| {
            let parsed = word.as_deref().map(|word| parse_owner(word, is_group));
            parsed.transpose()
        };
        Ok(Changes {
            root_uid: owner(&self.root_uid, false)?,
            root_gid: owner(&self.root_gid, true)?,
            root_mode: mode(&self.root_mode)?,
            uid: owner(&self.force_uid, false)?,
            gid: owner(&self.force_gid, true)?,
            file_mode: mode(&self.force_file_mode)?,
            directory_mode: mode(&self.force_dir_mode)?,
            no_hard_links: self.no_hardlinks,
            epoch: epoch()?,
        })
    }

    /// The changes of the whole tree. Reads the files of definitions.
    pub fn edits(&self, target: &Path) -> Result<Edits, String> {
        let mut pseudo = PseudoFiles::default();
        for definition in &self.pseudo {
            pseudo
                .add(definition.as_bytes())
                .map_err(|error| error.to_string())?;
        }
        if let Some(text) = &self.pseudo_directory {
            pseudo
                .set_missing_directories(text.as_bytes())
                .map_err(|error| error.to_string())?;
        }
        let spool = target.parent().filter(|path| !path.as_os_str().is_empty());
        for path in &self.pseudo_files {
            let file = match path.to_str() {
                Some("-") => ReadFile::standard_input(),
                _ => ReadFile::open_stream(path),
            };
            let file = file.map_err(|error| error.to_string())?;
            let read = pseudo.read(file, spool.unwrap_or(Path::new(".")));
            read.map_err(|error| error.to_string())?;
        }
        Ok(Edits {
            pseudo,
            keep_pseudo_owners: self.pseudo_override,
            implied_mtime_s: epoch()?,
            all_time: self.times()?.1,
            root_time: self.root_time.as_deref().map(Time::parse).transpose()?,
            owner_offset: self.uid_gid_offset,
        })
    }

    /// The rules about extended attributes.
    pub fn xattr_rules(&self) -> Result<XattrRules, String> {
        let mut rules = XattrRules::default();
        let wrong = |error: hedgerow::image::RuleError| error.to_string();
        if let Some(pattern) = &self.xattrs_include {
            rules.include(pattern.as_bytes()).map_err(wrong)?;
        }
        if let Some(pattern) = &self.xattrs_exclude {
            rules.exclude(pattern.as_bytes()).map_err(wrong)?;
        }
        for definition in &self.xattrs_add {
            rules.add(definition.as_bytes()).map_err(wrong)?;
        }
        Ok(rules)
    }

    /// Reports what was written.
    pub fn tell(&self, created: &Created, console: Console) {
        if let Some(warning) = clamped(created) {
            console.complain(warning);
        }
        let unstored = &created.unstored_xattrs;
        if let Some((path, name)) = &unstored.first {
            console.complain(format_args!(
                "{} extended attributes cannot be stored, first '{}' of '{}'",
                unstored.count,
                String::from_utf8_lossy(name),
                String::from_utf8_lossy(path),
            ));
        }
        if !self.quiet {
            let Created {
                inodes,
                stored_files,
                bytes,
                ..
            } = created;
            console.say(format_args!(
                "{inodes} inodes, {stored_files} contents, {bytes} bytes"
            ));
        }
    }
}

/// A size without the words behind its unit: `Kbytes`, `KB`.
fn plain_size(word: &str) -> &str {
    let word = word.strip_suffix("bytes").unwrap_or(word);
    word.strip_suffix('B').unwrap_or(word)
}
