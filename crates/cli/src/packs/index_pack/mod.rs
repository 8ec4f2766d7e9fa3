//! `hedgerow index-pack`: git-index-pack(1).

mod settings;

use super::verify_pack;
use crate::environment;
use crate::execution::tell_threads;
use crate::failure::Failure;
use crate::global::Global;
use crate::output::Output;
use crate::progress::lines::{Lines, Phase, Showing};
use clap::Args;
use hedgerow::pack::{IndexOptions, IndexedPack, PackError};
use hedgerow::plumbing::git::indexing::{with_extension, IndexedFiles, IndexingPlace, Note};
use hedgerow::plumbing::pack::indexer::index_pack_file;
use hedgerow::{Progress, Stage};
use hedgerow_fs::ReadFile;
use settings::{check_combination, hash, layout, options, wants_reverse};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Build the index of a pack read from a file or standard input
#[derive(Debug, Args)]
pub struct IndexPack {
    /// Read the pack from standard input and put it into the repository
    #[arg(long)]
    pub stdin: bool,
    /// Complete a thin pack with the missing bases
    #[arg(long)]
    pub fix_thin: bool,
    /// Refuse broken objects and links; change the severity of checks as in git-fsck
    #[arg(long, value_name = "MSG-ID=SEVERITY,...", num_args = 0..=1, require_equals = true)]
    pub strict: Option<Option<String>>,
    /// Refuse broken objects
    #[arg(long, value_name = "MSG-ID=SEVERITY,...", num_args = 0..=1, require_equals = true)]
    pub fsck_objects: Option<Option<String>>,
    /// Refuse broken links; exit with 1 if objects outside of the pack are needed
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
    /// Create a .keep file with the reason MSG
    #[arg(long, value_name = "MSG", num_args = 0..=1, require_equals = true)]
    pub keep: Option<Option<String>>,
    /// Create a .promisor file
    #[arg(long, value_name = "MSG", num_args = 0..=1, require_equals = true)]
    pub promisor: Option<Option<String>>,
    /// Only compare the index with the pack
    #[arg(long)]
    pub verify: bool,
    /// Like --verify, and list each object
    #[arg(long)]
    pub verify_stat: bool,
    /// Like --verify, and print only statistics of delta chains
    #[arg(long)]
    pub verify_stat_only: bool,
    /// Index version, and the offset from which on offsets take 64 bits
    #[arg(long, value_name = "VERSION[,OFFSET]")]
    pub index_version: Option<String>,
    /// Refuse a larger pack
    #[arg(long, value_name = "BYTES")]
    pub max_input_size: Option<u64>,
    /// Number of threads; 0 means one per processor (pack.threads)
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// The hash function of the objects, outside of a repository
    #[arg(long, value_name = "sha1|sha256")]
    pub object_format: Option<String>,
    /// Title of the progress line
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
    let place = IndexingPlace::find(&environment::of_git(global)?)?;
    check_combination(command, &place)?;
    let hash = hash(command, &place)?;
    let options = options(command, global, &place, hash)?;
    let from_directory = |path: &PathBuf| environment::from_directory(global, path);
    let pack = command.pack.as_ref().map(from_directory);
    let index = match (&command.index, &pack) {
        (Some(index), _) => Some(from_directory(index)),
        (None, Some(pack)) => Some(with_extension(pack, "pack", "idx")?),
        (None, None) => None,
    };
    if let Some(pack) = pack.as_ref().filter(|_| command.stdin) {
        // A pack is not received under a name that is taken.
        if hedgerow_fs::exists(pack) {
            let pack = pack.display();
            let words = format_args!("unable to create '{pack}': File exists");
            return Err(Failure::fatal(words));
        }
    }
    tell_threads(
        global,
        &options.execution,
        "--threads, pack.threads or the processors",
    );
    let shown = Arc::clone(&options.execution.progress);
    let title = match (&command.progress_title, command.stdin) {
        (Some(title), _) => title,
        (None, true) => "Receiving objects",
        (None, false) => "Indexing objects",
    };
    let is_shown = global.verbose > 0 && !global.quiet;
    let showing = if is_shown {
        Showing::AtOnce
    } else {
        Showing::No
    };
    let (title, is_received) = (title.to_owned(), command.stdin);
    let lines = Lines::start(showing, move || phases(&title, is_received, &shown));
    let indexed = match &pack {
        Some(pack) if !command.stdin => index_pack_file(pack, &options),
        _ => receive(command, &place, pack.as_deref(), &options),
    };
    let mut indexed = indexed.map_err(|error| tell(error, output))?;
    lines.finish();
    indexed
        .warnings
        .iter()
        .for_each(|warning| output.warn(warning));
    let layout = layout(command, &place)?;
    if command.verify || command.verify_stat || command.verify_stat_only {
        let index = index.ok_or_else(|| Failure::fatal("--verify with no packfile name given"))?;
        verify(command, &place, &indexed, &index, &options)?;
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
    let notes = command.notes();
    let files = IndexedFiles {
        pack,
        is_received: command.stdin,
        index,
        layout,
        reverse: wants_reverse(command, &place)?,
        notes: &notes,
    };
    let (threads, mut warn) = (options.execution.threads(), |warning| output.warn(warning));
    let new_notes = place.install(&mut indexed, files, threads, &mut warn)?;
    let is_kept = command.keep.is_some() && new_notes.first() == Some(&true);
    let report = match (command.stdin, is_kept) {
        (false, _) => format!("{}\n", indexed.checksum),
        (true, true) => format!("keep\t{}\n", indexed.checksum),
        (true, false) => format!("pack\t{}\n", indexed.checksum),
    };
    output.data(report.as_bytes());
    output.data(&indexed.rest);
    let missing = indexed.missing_modules.iter().map(|id| format!("{id}\n"));
    output.data(missing.collect::<String>().as_bytes());
    let is_foreign = command.check_self_contained_and_connected && indexed.refers_outside;
    Ok(u8::from(is_foreign))
}

impl IndexPack {
    fn notes(&self) -> Vec<Note<'_>> {
        let mut notes = Vec::new();
        for (extension, note) in [("keep", &self.keep), ("promisor", &self.promisor)] {
            if let Some(message) = note {
                notes.push((extension, message.as_deref()));
            }
        }
        notes
    }
}

/// Compares the index at `index`, and the reverse index beside it, with the pack.
fn verify(
    command: &IndexPack,
    place: &IndexingPlace,
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
    let reverse = if wants_reverse(command, place)? {
        Some(with_extension(index, "idx", "rev")?).filter(|path| hedgerow_fs::exists(path))
    } else {
        None
    };
    let threads = options.execution.threads().get();
    let verified = indexed.verify(index, &layout, reverse.as_deref(), threads);
    verified.map_err(Failure::fatal)
}

fn receive(
    command: &IndexPack,
    place: &IndexingPlace,
    pack: Option<&Path>,
    options: &IndexOptions<'_>,
) -> Result<IndexedPack, PackError> {
    let input = ReadFile::standard_input()?;
    let before = command.pack_header.as_deref().and_then(pack_header);
    place.receive(&input, &before.unwrap_or_default(), pack, options)
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
fn tell(error: PackError, output: &Output) -> Failure {
    if let PackError::Checked {
        errors, warnings, ..
    } = &error
    {
        warnings.iter().for_each(|warning| output.warn(warning));
        errors.iter().for_each(|error| output.error(error));
    }
    Failure::fatal(error)
}

/// How far the two passes are. `title` is what git calls the first, in which a pack is received or
/// read.
fn phases(title: &str, is_received: bool, progress: &Progress) -> Vec<Phase> {
    let received = progress.stage(Stage::Receiving);
    let resolved = progress.stage(Stage::Resolving);
    vec![
        Phase {
            title: title.to_owned().into(),
            done: received.done(),
            total: Some(received.total()),
            bytes: is_received.then(|| received.bytes()),
            is_over: received.done() >= received.total() && resolved.total() > 0,
        },
        Phase {
            title: "Resolving deltas".into(),
            done: resolved.done().min(resolved.total()),
            total: Some(resolved.total()),
            ..Phase::default()
        },
    ]
}
