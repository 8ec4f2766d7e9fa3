//! `hedgerow pack-objects`: git-pack-objects(1).

pub mod revisions;
pub mod serve;

use super::object_list;
use crate::arguments::{Global, Workers};
use crate::environment;
use crate::failure::{Failure, INTERRUPTED};
use crate::output::Output;
use crate::progress::{Amounts, Meter};
use clap::Args;
use hedgerow_engine::CancelToken;
use hedgerow_fs::StandardOutput;
use hedgerow_git::repository::Repository;
use hedgerow_pack::IndexLayout;
use hedgerow_serve::{
    write_pack, write_pack_files, Contents, Error, FileOptions, PackOptions, PackReuse,
    PackWritten, Progress, Selection,
};
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// Pack the objects whose ids come from standard input, or what revisions reach
#[derive(Debug, Args)]
pub struct PackObjects {
    /// Write the pack to standard output
    #[arg(long)]
    pub stdout: bool,
    /// Try each object against N others (pack.window)
    #[arg(long, value_name = "N")]
    pub window: Option<usize>,
    /// Let no chain of deltas be longer than N (pack.depth)
    #[arg(long, value_name = "N")]
    pub depth: Option<u32>,
    /// Let no thread's window take more memory; 0 means any (pack.windowMemory)
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    pub window_memory: Option<u64>,
    /// How many threads to use; 0 means one for each processor (pack.threads)
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// Name the bases of deltas by their offset, which is shorter
    #[arg(long)]
    pub delta_base_offset: bool,
    /// Make deltas against objects that the receiver has
    #[arg(long)]
    pub thin: bool,
    /// Write nothing where there is nothing to pack
    #[arg(long)]
    pub non_empty: bool,
    /// The level of compression, 0 to 9, or -1 for the usual one (pack.compression)
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub compression: Option<i32>,
    /// Search all deltas anew
    #[arg(long)]
    pub no_reuse_delta: bool,
    /// Compress all objects anew, too
    #[arg(long)]
    pub no_reuse_object: bool,
    /// Leave out what is in a local pack that has a .keep file
    #[arg(long)]
    pub honor_pack_keep: bool,
    /// Leave out what an alternate has
    #[arg(long)]
    pub local: bool,
    /// Leave out what is in a pack already
    #[arg(long)]
    pub incremental: bool,
    /// The version of the index, and from where on offsets take 64 bits
    #[arg(long, value_name = "VERSION[,OFFSET]", value_parser = parse_layout)]
    pub index_version: Option<IndexLayout>,
    /// Read revisions from standard input and pack what they reach
    #[arg(long)]
    pub revs: bool,
    /// Pack what all references reach
    #[arg(long)]
    pub all: bool,
    /// Pack annotated tags along with what they are of
    #[arg(long)]
    pub include_tag: bool,
    /// Leave out what the filter says, as for rev-list
    #[arg(long, value_name = "FILTER")]
    pub filter: Option<String>,
    /// Leave out nothing
    #[arg(long, overrides_with = "filter")]
    pub no_filter: bool,
    /// Use reachability bitmaps (pack.useBitmaps)
    #[arg(long, overrides_with = "no_use_bitmap_index")]
    pub use_bitmap_index: bool,
    /// Use no reachability bitmaps
    #[arg(long)]
    pub no_use_bitmap_index: bool,
    /// What git-repack passes
    #[arg(long, hide = true)]
    pub all_progress: bool,
    /// What git-repack passes
    #[arg(long, hide = true)]
    pub all_progress_implied: bool,
    /// What the names of the files start with: a dash, the checksum and the extensions follow
    #[arg(
        value_name = "BASE-NAME",
        required_unless_present = "stdout",
        conflicts_with = "stdout"
    )]
    pub base_name: Option<PathBuf>,
}

pub fn run(command: &PackObjects, global: &Global, output: &Output) -> Result<u8, Failure> {
    let interrupted = hedgerow_fs::catch_interrupts().map_err(Failure::fatal)?;
    let repository = Repository::discover(&environment::of_git(global)?)?;
    let options = PackOptions {
        cancel: CancelToken::from_static(interrupted),
        ..options(command, global, &repository)?
    };
    let selection = Selection {
        incremental: command.incremental,
        local: command.local,
        honor_pack_keep: command.honor_pack_keep,
    };
    let store = repository.objects();
    // As with git, what is thin is asked for by revisions, too.
    if command.revs || command.all || command.thin {
        return serve::run(command, global, &repository, &options, output);
    }
    let list = object_list::read(std::io::stdin().lock(), store, selection, options.window)?;
    let contents = Contents {
        wanted: list.wanted,
        had: list.had,
        ..Contents::default()
    };
    if command.non_empty && contents.wanted.is_empty() {
        return Ok(0);
    }
    // As with git, edges in the list are bases with or without --thin.
    let options = PackOptions {
        thin: options.thin || !contents.had.is_empty(),
        ..options
    };
    let meter = Meter::start(global, "Packing objects", &options.progress);
    let written = write(command, global, &repository, &contents, &options)?;
    drop(meter);
    tell(command, global, &repository, &written, output);
    Ok(0)
}

/// Says what was packed.
fn tell(
    command: &PackObjects,
    global: &Global,
    repository: &Repository,
    written: &PackWritten,
    output: &Output,
) {
    let warnings = repository.objects().warnings();
    warnings.iter().for_each(|warning| output.warn(warning));
    if !command.stdout {
        output.data(format!("{}\n", written.checksum).as_bytes());
    }
    output.for_people(global, written);
}

fn write(
    command: &PackObjects,
    global: &Global,
    repository: &Repository,
    contents: &Contents<'_>,
    options: &PackOptions,
) -> Result<PackWritten, Failure> {
    let store = repository.objects();
    let Some(base) = &command.base_name else {
        return Ok(write_pack(
            store,
            contents,
            options,
            false,
            &mut StandardOutput,
        )?);
    };
    let config = repository.config();
    let files = FileOptions {
        index: command.index_version.clone().unwrap_or_default(),
        reverse_index: config.bool("pack.writeReverseIndex")?.unwrap_or(true),
        sync: true,
    };
    let base = environment::from_directory(global, base);
    Ok(write_pack_files(store, contents, options, &files, &base)?)
}

/// What the command line asks for, over the configuration, over git's defaults.
fn options(
    command: &PackObjects,
    global: &Global,
    repository: &Repository,
) -> Result<PackOptions, Failure> {
    let usual = pack_options(repository)?;
    let jobs = match global.jobs {
        Some(Workers::Count(count)) => Some(count.get()),
        _ => None,
    };
    let threads = command.threads.or(jobs).map(|threads| match threads {
        0 => hedgerow_fs::cpu::available(),
        threads => threads,
    });
    let level = match command.compression {
        Some(level) => compression(level.into())?,
        None => usual.level,
    };
    Ok(PackOptions {
        window: command.window.unwrap_or(usual.window),
        depth: command.depth.unwrap_or(usual.depth),
        window_memory_bytes: command.window_memory.unwrap_or(usual.window_memory_bytes),
        level,
        threads: threads.and_then(NonZeroUsize::new).unwrap_or(usual.threads),
        delta_base_offset: command.delta_base_offset,
        thin: command.thin,
        reuse_deltas: !command.no_reuse_delta && !command.no_reuse_object,
        reuse_objects: !command.no_reuse_object,
        ..usual
    })
}

/// What the configuration asks for, over git's defaults.
pub fn pack_options(repository: &Repository) -> Result<PackOptions, Failure> {
    let config = repository.config();
    let number = |key: &str| -> Result<Option<u64>, Failure> {
        let number = config.integer(key)?;
        Ok(number.map(|number| u64::try_from(number).unwrap_or(0)))
    };
    let usual = PackOptions::default();
    let level = match config.integer("pack.compression")? {
        Some(level) => Some(level),
        None => config.integer("core.compression")?,
    };
    let threads = number("pack.threads")?.filter(|threads| *threads > 0);
    let threads = threads.map_or_else(hedgerow_fs::cpu::available, |threads| threads as usize);
    let depth = number("pack.depth")?;
    Ok(PackOptions {
        window: number("pack.window")?.map_or(usual.window, |window| window as usize),
        depth: depth.map_or(usual.depth, |depth| {
            u32::try_from(depth).unwrap_or(u32::MAX)
        }),
        window_memory_bytes: number("pack.windowMemory")?.unwrap_or(0),
        delta_cache_bytes: number("pack.deltaCacheSize")?.unwrap_or(usual.delta_cache_bytes),
        big_file_bytes: repository.settings().big_file_bytes,
        level: compression(level.unwrap_or(-1))?,
        threads: NonZeroUsize::new(threads).unwrap_or(NonZeroUsize::MIN),
        ..usual
    })
}

/// What `pack.allowPackReuse` says.
pub fn pack_reuse(repository: &Repository) -> Result<PackReuse, Failure> {
    let config = repository.config();
    match config.string("pack.allowPackReuse").as_deref() {
        Some(value) if value.eq_ignore_ascii_case(b"single") => Ok(PackReuse::Single),
        Some(value) if value.eq_ignore_ascii_case(b"multi") => Ok(PackReuse::Multi),
        _ => Ok(match config.bool("pack.allowPackReuse")? {
            Some(false) => PackReuse::None,
            _ => PackReuse::Single,
        }),
    }
}

fn compression(level: i64) -> Result<i32, Failure> {
    let level = i32::try_from(level)
        .ok()
        .filter(|level| (-1..=9).contains(level));
    level.ok_or_else(|| Failure::fatal("bad pack compression level"))
}

/// A number of bytes, with a unit of `k`, `m` or `g`.
fn parse_bytes(text: &str) -> Result<u64, String> {
    let (digits, shift) = match text.as_bytes().last() {
        Some(b'k' | b'K') => (text.get(..text.len() - 1), 10),
        Some(b'm' | b'M') => (text.get(..text.len() - 1), 20),
        Some(b'g' | b'G') => (text.get(..text.len() - 1), 30),
        _ => (Some(text), 0),
    };
    let number: Option<u64> = digits.and_then(|digits| digits.parse().ok());
    let bytes = number.and_then(|number| number.checked_mul(1 << shift));
    bytes.ok_or_else(|| "not a number of bytes".to_owned())
}

fn parse_layout(text: &str) -> Result<IndexLayout, String> {
    let (version, offset) = match text.split_once(',') {
        Some((version, offset)) => (version, Some(offset)),
        None => (text, None),
    };
    let mut layout = IndexLayout {
        version: match version {
            "1" => 1,
            "2" => 2,
            _ => return Err("the version is 1 or 2".to_owned()),
        },
        ..IndexLayout::default()
    };
    if let Some(offset) = offset {
        let (digits, radix) = match offset.strip_prefix("0x") {
            Some(digits) => (digits, 16),
            None => (offset, 10),
        };
        let offset = u32::from_str_radix(digits, radix);
        layout.last_small_offset = offset.map_err(|_| "the offset is no number".to_owned())?;
    }
    Ok(layout)
}

impl Amounts for Progress {
    fn done(&self) -> u64 {
        Progress::done(self)
    }

    fn total(&self) -> Option<u64> {
        Some(Progress::total(self))
    }

    fn bytes(&self) -> u64 {
        Progress::bytes(self)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let mut failure = Failure::fatal(&error);
        if let Error::Cancelled = error {
            failure.severity = "error";
            failure.exit_code = INTERRUPTED;
        }
        failure
    }
}
