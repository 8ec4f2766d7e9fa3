//! `hedgerow index-pack`: git-index-pack(1).

use super::fsync::Fsync;
use super::index_progress;
use super::strict::severities;
use super::surroundings::Surroundings;
use super::verify_pack;
use crate::arguments::Global;
use crate::environment;
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::lines::{Lines, Showing};
use bstr::ByteSlice;
use clap::Args;
use hedgerow_fs::ReadFile;
use hedgerow_pack::indexer::{
    index_pack_file, receive_pack, Counters, IndexOptions, IndexedPack, Installation,
};
use hedgerow_pack::{Error, HashKind, IndexLayout};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Make the index of a pack, which is a file or comes from standard input
#[derive(Debug, Args)]
pub struct IndexPack {
    /// Read the pack from standard input and put it into the repository
    #[arg(long)]
    pub stdin: bool,
    /// Add bases that the pack leaves out
    #[arg(long)]
    pub fix_thin: bool,
    /// Refuse broken objects and links; severities of single checks as git-fsck has them
    #[arg(long, value_name = "MSG-ID=SEVERITY,...", num_args = 0..=1, require_equals = true)]
    pub strict: Option<Option<String>>,
    /// Refuse broken objects
    #[arg(long, value_name = "MSG-ID=SEVERITY,...", num_args = 0..=1, require_equals = true)]
    pub fsck_objects: Option<Option<String>>,
    /// Refuse broken links; exit with 1 if there are some to what only the repository has
    #[arg(long)]
    pub check_self_contained_and_connected: bool,
    /// Write a reverse index, too (pack.writeReverseIndex)
    #[arg(long, overrides_with = "no_rev_index")]
    pub rev_index: bool,
    /// Write no reverse index
    #[arg(long)]
    pub no_rev_index: bool,
    /// Write the index to FILE
    #[arg(short = 'o', value_name = "FILE")]
    pub index: Option<PathBuf>,
    /// Mark the pack to be kept, for the reason MSG
    #[arg(long, value_name = "MSG", num_args = 0..=1, require_equals = true)]
    pub keep: Option<Option<String>>,
    /// Mark the pack as one of a promisor
    #[arg(long, value_name = "MSG", num_args = 0..=1, require_equals = true)]
    pub promisor: Option<Option<String>>,
    /// Only compare the index with the pack
    #[arg(long)]
    pub verify: bool,
    /// Likewise, and tell of each object
    #[arg(long)]
    pub verify_stat: bool,
    /// Likewise, and tell how long the chains of deltas are
    #[arg(long)]
    pub verify_stat_only: bool,
    /// The version of the index, and from where on offsets take 64 bits
    #[arg(long, value_name = "VERSION[,OFFSET]")]
    pub index_version: Option<String>,
    /// Refuse a larger pack
    #[arg(long, value_name = "BYTES")]
    pub max_input_size: Option<u64>,
    /// How many threads to use; 0 means one for each processor (pack.threads)
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// The hash function of the objects, outside of a repository
    #[arg(long, value_name = "sha1|sha256")]
    pub object_format: Option<String>,
    /// What progress calls the reception
    #[arg(long, value_name = "TITLE")]
    pub progress_title: Option<String>,
    /// Show progress of the second pass, too
    #[arg(long, hide = true)]
    pub show_resolving_progress: bool,
    /// Write a NUL to standard error when all of the pack was read
    #[arg(long, hide = true)]
    pub report_end_of_input: bool,
    /// The header of the pack, which the caller has read from standard input
    #[arg(long = "pack_header", value_name = "VERSION,COUNT", hide = true)]
    pub pack_header: Option<String>,
    /// The pack
    #[arg(value_name = "PACK")]
    pub pack: Option<PathBuf>,
}

pub fn run(command: &IndexPack, global: &Global, output: &Output) -> Result<u8, Failure> {
    let surroundings = Surroundings::find(global)?;
    check_combination(command, &surroundings)?;
    let hash = hash(command, &surroundings)?;
    let options = options(command, global, &surroundings, hash)?;
    let from_directory = |path: &PathBuf| environment::from_directory(global, path);
    let pack = command.pack.as_ref().map(from_directory);
    let index = match (&command.index, &pack) {
        (Some(index), _) => Some(from_directory(index)),
        (None, Some(pack)) => Some(derive(pack, "pack", "idx")?),
        (None, None) => None,
    };
    if let Some(pack) = pack.as_ref().filter(|_| command.stdin) {
        refuse_existing(pack)?;
    }
    let counters = Arc::new(Counters::default());
    let title = match (&command.progress_title, command.stdin) {
        (Some(title), _) => title,
        (None, true) => "Receiving objects",
        (None, false) => "Indexing objects",
    };
    let is_shown = global.verbose > 0 && !global.quiet;
    let showing = match is_shown {
        true => Showing::AtOnce,
        false => Showing::No,
    };
    let (title, is_received, shown) = (title.to_owned(), command.stdin, Arc::clone(&counters));
    let lines = Lines::start(showing, move || {
        index_progress::phases(&title, is_received, &shown)
    });
    let indexed = match &pack {
        Some(pack) if !command.stdin => index_pack_file(pack, &options, &counters),
        _ => receive(command, &surroundings, pack.as_deref(), &options, &counters),
    };
    let mut indexed = indexed.map_err(|error| tell(error, output))?;
    lines.finish();
    indexed
        .warnings
        .iter()
        .for_each(|warning| output.warn(warning));
    let layout = layout(command, &surroundings)?;
    if command.verify || command.verify_stat || command.verify_stat_only {
        let index = index.ok_or_else(|| Failure::fatal("--verify with no packfile name given"))?;
        verify(command, &surroundings, &indexed, &index, &options)?;
        if options.statistics {
            output.data(verify_pack::statistics(&indexed.objects, !command.verify_stat).as_bytes());
        }
        return Ok(0);
    }
    if command.report_end_of_input {
        output.raw_error(b"\0");
    }
    if indexed.added > 0 && is_shown {
        output.say(format_args!(
            "completed with {} local objects",
            indexed.added
        ));
    }
    install(
        command,
        &surroundings,
        &mut indexed,
        pack,
        index,
        layout,
        &options,
        output,
    )?;
    let missing = indexed.missing_modules.iter().map(|id| format!("{id}\n"));
    output.data(missing.collect::<String>().as_bytes());
    let is_foreign = command.check_self_contained_and_connected && indexed.refers_outside;
    Ok(u8::from(is_foreign))
}

fn check_combination(command: &IndexPack, surroundings: &Surroundings) -> Result<(), Failure> {
    if command.pack.is_none() && !command.stdin {
        return Err(Failure::usage(
            "a pack or --stdin is missing; see 'hedgerow index-pack -h'",
        ));
    }
    let reason = if command.fix_thin && !command.stdin {
        "the option '--fix-thin' requires '--stdin'"
    } else if matches!(command.promisor, Some(Some(_))) && command.pack.is_some() {
        "--promisor cannot be used with a pack name"
    } else if command.stdin && surroundings.repository.is_none() {
        "--stdin requires a git repository"
    } else if command.stdin && command.object_format.is_some() {
        "options '--object-format' and '--stdin' cannot be used together"
    } else {
        return Ok(());
    };
    Err(Failure::fatal(reason))
}

/// Refuses to receive a pack under a name that somebody gave, if that is taken.
fn refuse_existing(pack: &Path) -> Result<(), Failure> {
    match hedgerow_fs::exists(pack) {
        true => Err(Failure::fatal(format_args!(
            "unable to create '{}': File exists",
            pack.display()
        ))),
        false => Ok(()),
    }
}

fn hash(command: &IndexPack, surroundings: &Surroundings) -> Result<HashKind, Failure> {
    match command.object_format.as_deref() {
        None => Ok(surroundings.hash()),
        Some("sha1") => Ok(HashKind::Sha1),
        Some("sha256") => Ok(HashKind::Sha256),
        Some(other) => {
            let message = format_args!("unknown hash algorithm '{other}'").to_string();
            Err(Failure::fatal(message))
        }
    }
}

fn options<'s>(
    command: &IndexPack,
    global: &Global,
    surroundings: &'s Surroundings,
    hash: HashKind,
) -> Result<IndexOptions<'s>, Failure> {
    let repository = surroundings.repository.as_ref();
    let store = repository.map(|repository| repository.objects());
    let level = match surroundings.integer("pack.compression")? {
        None => surroundings.integer("core.compression")?,
        level => level,
    };
    let asked = [&command.strict, &command.fsck_objects];
    let words: Vec<&str> = asked
        .into_iter()
        .flatten()
        .flatten()
        .map(String::as_str)
        .collect();
    let is_checked = asked.into_iter().any(Option::is_some);
    let is_verified = command.verify || command.verify_stat || command.verify_stat_only;
    let links = command.strict.is_some() || command.check_self_contained_and_connected;
    Ok(IndexOptions {
        threads: surroundings.threads(command.threads, global)?,
        store: store.filter(|store| store.hash_kind() == hash),
        fix_thin: command.fix_thin,
        rules: is_checked.then(|| severities(&words)).transpose()?,
        links,
        unique: links || is_verified,
        max_input_bytes: command.max_input_size.filter(|limit| *limit > 0),
        compression: level
            .and_then(|level| i32::try_from(level).ok())
            .unwrap_or(-1),
        statistics: command.verify_stat || command.verify_stat_only,
        ..IndexOptions::new(hash)
    })
}

fn receive(
    command: &IndexPack,
    surroundings: &Surroundings,
    pack: Option<&Path>,
    options: &IndexOptions<'_>,
    counters: &Counters,
) -> Result<IndexedPack, Error> {
    let directory = match (pack.and_then(Path::parent), &surroundings.repository) {
        (Some(parent), _) => parent.to_owned(),
        (None, Some(repository)) => {
            let directory = repository.objects().directory().join("pack");
            hedgerow_fs::create_directories(&directory)?;
            directory
        }
        (None, None) => PathBuf::new(),
    };
    let input = ReadFile::standard_input()?;
    let before = command.pack_header.as_deref().and_then(pack_header);
    receive_pack(
        &input,
        &before.unwrap_or_default(),
        &directory,
        options,
        counters,
    )
}

/// The bytes of the header that `text` (`VERSION,COUNT`) stands for.
fn pack_header(text: &str) -> Option<Vec<u8>> {
    let (version, count) = text.split_once(',')?;
    let (version, count): (u32, u32) = (version.parse().ok()?, count.parse().ok()?);
    let header = [
        b"PACK".as_slice(),
        &version.to_be_bytes(),
        &count.to_be_bytes(),
    ];
    Some(header.concat())
}

/// Tells what was found wrong with objects; the rest is the failure.
fn tell(error: Error, output: &Output) -> Failure {
    if let Error::Checked {
        errors, warnings, ..
    } = &error
    {
        warnings.iter().for_each(|warning| output.warn(warning));
        errors.iter().for_each(|error| output.error(error));
    }
    Failure::fatal(error)
}

fn layout(command: &IndexPack, surroundings: &Surroundings) -> Result<IndexLayout, Failure> {
    let mut layout = IndexLayout::default();
    if let Some(version) = surroundings.integer("pack.indexVersion")? {
        layout.version = u32::try_from(version)
            .ok()
            .filter(|version| *version <= 2)
            .ok_or_else(|| Failure::fatal(format_args!("bad pack.indexVersion={version}")))?;
    }
    let Some(text) = &command.index_version else {
        return Ok(layout);
    };
    let parsed = parse_index_version(text);
    let bad = || Failure::fatal(format_args!("bad --index-version={text}"));
    let (version, last_small) = parsed.ok_or_else(bad)?;
    layout.version = version;
    if let Some(last_small) = last_small {
        layout.last_small_offset = last_small;
    }
    Ok(layout)
}

/// `VERSION[,OFFSET]`, the offset in decimal, octal or hexadecimal.
fn parse_index_version(text: &str) -> Option<(u32, Option<u32>)> {
    let (version, offset) = match text.split_once(',') {
        Some((version, offset)) => (version, Some(offset)),
        None => (text, None),
    };
    let version = version.parse().ok().filter(|version| *version <= 2)?;
    let Some(offset) = offset else {
        return Some((version, None));
    };
    let offset = match offset.strip_prefix("0x").or(offset.strip_prefix("0X")) {
        Some(digits) => u32::from_str_radix(digits, 16).ok()?,
        None if offset.starts_with('0') => u32::from_str_radix(offset, 8).ok()?,
        None => offset.parse().ok()?,
    };
    (offset & 0x8000_0000 == 0).then_some((version, Some(offset)))
}

/// Whether a reverse index is wanted.
fn wants_reverse(command: &IndexPack, surroundings: &Surroundings) -> Result<bool, Failure> {
    if command.rev_index || command.no_rev_index {
        return Ok(command.rev_index);
    }
    let forbidden = environment::variable("GIT_TEST_NO_WRITE_REV_INDEX").unwrap_or_default();
    let forbidden = forbidden.to_string_lossy();
    if hedgerow_git::repository::boolean(forbidden.as_bytes().as_bstr()) == Some(true) {
        return Ok(false);
    }
    surroundings.boolean("pack.writeReverseIndex", true)
}

fn verify(
    command: &IndexPack,
    surroundings: &Surroundings,
    indexed: &IndexedPack,
    index: &Path,
    options: &IndexOptions<'_>,
) -> Result<(), Failure> {
    let layout = IndexedPack::layout_of(index, options.hash).map_err(|reason| {
        let index = index.display();
        Failure::fatal(format_args!(
            "Cannot open existing pack idx file for '{index}': {reason}"
        ))
    })?;
    let reverse = match wants_reverse(command, surroundings)? {
        true => Some(derive(index, "idx", "rev")?).filter(|path| hedgerow_fs::exists(path)),
        false => None,
    };
    let verified = indexed.verify(index, &layout, reverse.as_deref(), options.threads);
    verified.map_err(Failure::fatal)
}

#[allow(clippy::too_many_arguments, reason = "each is told apart by its type")]
fn install(
    command: &IndexPack,
    surroundings: &Surroundings,
    indexed: &mut IndexedPack,
    pack: Option<PathBuf>,
    index: Option<PathBuf>,
    layout: IndexLayout,
    options: &IndexOptions<'_>,
    output: &Output,
) -> Result<(), Failure> {
    let fsync = Fsync::resolve(surroundings)?;
    let pack = match (pack, &surroundings.repository) {
        (Some(pack), _) => pack,
        (None, Some(repository)) => {
            let directory = repository.objects().directory().join("pack");
            directory.join(format!("pack-{}.pack", indexed.checksum))
        }
        (None, None) => return Err(Failure::fatal("--stdin requires a git repository")),
    };
    let index = match index {
        Some(index) => index,
        None => pack.with_extension("idx"),
    };
    let reverse = match wants_reverse(command, surroundings)? {
        true => Some(derive(&index, "idx", "rev")?),
        false => None,
    };
    let mut notes = Vec::new();
    for (note, extension) in [(&command.keep, "keep"), (&command.promisor, "promisor")] {
        if let Some(message) = note {
            let text = message.as_ref().filter(|text| !text.is_empty());
            let text = text.map(|text| format!("{text}\n")).unwrap_or_default();
            notes.push((derive(&pack, "pack", extension)?, text.into_bytes()));
        }
    }
    let places = Installation {
        index,
        layout,
        reverse,
        pack: command.stdin.then_some(pack),
        notes,
        sync_pack: fsync.pack,
        sync_indexes: fsync.pack_metadata,
        threads: options.threads,
    };
    let new_notes = indexed.install(&places).map_err(Failure::fatal)?;
    let is_kept = command.keep.is_some() && new_notes.first() == Some(&true);
    let report = match (command.stdin, is_kept) {
        (false, _) => format!("{}\n", indexed.checksum),
        (true, true) => format!("keep\t{}\n", indexed.checksum),
        (true, false) => format!("pack\t{}\n", indexed.checksum),
    };
    output.data(report.as_bytes());
    output.data(&indexed.rest);
    Ok(())
}

/// `path` with another extension; it must have the one that belongs to it.
fn derive(path: &Path, extension: &str, other: &str) -> Result<PathBuf, Failure> {
    match path.extension().is_some_and(|found| found == extension) {
        true => Ok(path.with_extension(other)),
        false => Err(Failure::fatal(format_args!(
            "packfile name '{}' does not end with '.{extension}'",
            path.display()
        ))),
    }
}
