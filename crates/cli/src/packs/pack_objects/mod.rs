//! `hedgerow pack-objects`: git-pack-objects(1).

mod settings;

pub use settings::{asked_threads, jobs, parse_bytes, parse_count};

use super::pack_progress;
use super::watcher::Watcher;
use crate::environment;
use crate::execution;
use crate::failure::{Failure, INTERRUPTED};
use crate::global::Global;
use crate::output::Output;
use crate::progress::lines::Showing;
use clap::Args;
use hedgerow::plumbing::git::reachability::Roots;
use hedgerow::plumbing::maintain::repack::WriteBitmaps;
use hedgerow::plumbing::maintain::{write_packs, KeptPackOptions};
use hedgerow::plumbing::pack::IndexLayout;
use hedgerow::plumbing::reach::Filter;
use hedgerow::plumbing::serve::{
    write_pack, Contents, Enumerated, Enumeration, Error, PackOptions, PackWritten,
};
use hedgerow::Repository;
use hedgerow_fs::{StandardInput, StandardOutput};
use settings::{options, parse_layout};
use std::io::{BufReader, ErrorKind};
use std::path::PathBuf;

/// Create a pack from a list of objects or from revisions
#[derive(Debug, Args)]
pub struct PackObjects {
    /// Write the pack to standard output
    #[arg(long)]
    pub stdout: bool,
    /// Try each object against N others (pack.window)
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_count)]
    pub window: Option<u32>,
    /// Maximum length of delta chains (pack.depth)
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_count)]
    pub depth: Option<u32>,
    /// Memory limit for each thread's window; 0 means none (pack.windowMemory)
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    pub window_memory: Option<u64>,
    /// Number of threads; 0 means one per processor (pack.threads)
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// Refer to delta bases by offset, which is shorter
    #[arg(long)]
    pub delta_base_offset: bool,
    /// Create a thin pack: delta bases may be objects that the receiver has
    #[arg(long)]
    pub thin: bool,
    /// Do not write an empty pack
    #[arg(long)]
    pub non_empty: bool,
    /// Compression level, 0 to 9, or -1 for the default (pack.compression)
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub compression: Option<i32>,
    /// Recompute all deltas
    #[arg(long)]
    pub no_reuse_delta: bool,
    /// Recompress all objects, too
    #[arg(long)]
    pub no_reuse_object: bool,
    /// Omit objects of local packs that have a .keep file
    #[arg(long)]
    pub honor_pack_keep: bool,
    /// Omit objects of this local pack
    #[arg(long, value_name = "PACK")]
    pub keep_pack: Vec<String>,
    /// Omit objects of alternates
    #[arg(long)]
    pub local: bool,
    /// Omit objects that are already packed
    #[arg(long)]
    pub incremental: bool,
    /// Index version, and the offset from which on offsets take 64 bits
    #[arg(long, value_name = "VERSION[,OFFSET]", value_parser = parse_layout)]
    pub index_version: Option<IndexLayout>,
    /// Read revisions from standard input and pack everything reachable from them
    #[arg(long)]
    pub revs: bool,
    /// Pack everything reachable from references
    #[arg(long)]
    pub all: bool,
    /// Pack everything reachable from reflogs
    #[arg(long)]
    pub reflog: bool,
    /// Pack everything that the indexes of working trees refer to
    #[arg(long)]
    pub indexed_objects: bool,
    /// Skip commits that are already packed; with --stdin-packs, include loose objects
    #[arg(long)]
    pub unpacked: bool,
    /// Pack the objects of the packs that standard input names, without those of packs after ^
    ///
    /// With 'follow', also what they reach, up to the packs after ^; packs after ! are left out,
    /// but what they reach is not.
    #[arg(long, value_name = "follow", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub stdin_packs: Option<String>,
    /// Also pack unreachable objects of local packs
    #[arg(long)]
    pub keep_unreachable: bool,
    /// Also pack unreachable loose objects
    #[arg(long)]
    pub pack_loose_unreachable: bool,
    /// Omit objects promised by the remote of a partial clone
    #[arg(long)]
    pub exclude_promisor_objects: bool,
    /// Write reachability bitmaps of the pack; only with --all
    #[arg(long, overrides_with = "no_write_bitmap_index")]
    pub write_bitmap_index: bool,
    /// Write no bitmaps
    #[arg(long)]
    pub no_write_bitmap_index: bool,
    /// The same where it is possible
    #[arg(long, hide = true)]
    pub write_bitmap_index_quiet: bool,
    /// Maximum size of a pack; larger ones are split (pack.packSizeLimit)
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    pub max_pack_size: Option<u64>,
    /// Also pack annotated tags of packed objects
    #[arg(long)]
    pub include_tag: bool,
    /// Omit objects that the filter excludes, as in rev-list; repeat to combine
    #[arg(long, value_name = "FILTER")]
    pub filter: Vec<String>,
    /// Cancel the filters before this option
    #[arg(long, overrides_with = "filter")]
    pub no_filter: bool,
    /// Use reachability bitmaps (pack.useBitmaps, which is for --stdout alone)
    #[arg(long, overrides_with = "no_use_bitmap_index")]
    pub use_bitmap_index: bool,
    /// Use no reachability bitmaps
    #[arg(long)]
    pub no_use_bitmap_index: bool,
    /// What git passes: parents are those of commits in any case
    #[arg(long, hide = true)]
    pub keep_true_parents: bool,
    /// What git passes: a way to walk, which changes no pack
    #[arg(long, hide = true, overrides_with = "no_sparse")]
    pub sparse: bool,
    /// See there
    #[arg(long, hide = true)]
    pub no_sparse: bool,
    /// What git-repack passes
    #[arg(long, hide = true)]
    pub all_progress: bool,
    /// What git-repack passes
    #[arg(long, hide = true)]
    pub all_progress_implied: bool,
    /// Prefix of the file names, before a dash, the checksum and the extension
    #[arg(
        value_name = "BASE-NAME",
        required_unless_present = "stdout",
        conflicts_with = "stdout"
    )]
    pub base_name: Option<PathBuf>,
}

pub fn run(command: &PackObjects, global: &Global, output: &Output) -> Result<u8, Failure> {
    let execution = execution::interruptible(global)?;
    // Packs that stay are made to take the place of others, which are deleted then: they believe no
    // accelerator, unless bitmaps are asked for by name.
    let environment = match command.base_name {
        Some(_) if !command.use_bitmap_index => environment::of_git_unaided(global)?,
        _ => environment::of_git_unreplaced(global)?,
    };
    let repository = environment::for_packs(&environment, output)?;
    check(command)?;
    let options = options(command, execution, global, &repository)?;
    let enumeration = command.enumeration(options.execution.threads().get())?;
    let input = BufReader::new(StandardInput);
    let input = enumeration.supplied(&repository, input)?;
    let warn = |warning| output.warn(warning);
    let job = PackJob {
        command,
        global,
        options,
        repository: &repository,
        output,
    };
    if let Some(mode) = &command.stdin_packs {
        let follows = mode == "follow";
        job.pack_wanted(enumeration.of_packs(&repository, input, follows, &warn)?)
    } else if !command.wants_revisions() {
        let (contents, options) = enumeration.of_list(&repository, input, &job.options)?;
        job.pack(&contents, contents.wanted.len() as u64, &options, false)
    } else if enumeration.needs_list() {
        job.pack_wanted(enumeration.of_revisions(&repository, input, &warn)?)
    } else {
        let make = |contents: &Contents<'_>, count| job.pack(contents, count, &job.options, false);
        enumeration.with_reachable(&repository, input, &job.options, &warn, make)
    }
}

/// Refuses options that do not go together, in git's words.
fn check(command: &PackObjects) -> Result<(), Failure> {
    if let Some(mode) = &command.stdin_packs {
        if !matches!(mode.as_str(), "" | "follow") {
            let words = format!("invalid value for 'stdin-packs': '{mode}'");
            return Err(Failure::fatal(words));
        }
    }
    if command.stdout && command.max_pack_size.is_some_and(|limit| limit > 0) {
        let words = "--max-pack-size cannot be used to build a pack for transfer";
        return Err(Failure::fatal(words));
    }
    if !command.stdout && command.thin {
        let words = "--thin cannot be used to build an indexable pack";
        return Err(Failure::fatal(words));
    }
    if command.stdin_packs.is_some() && !command.filter.is_empty() {
        let words = "options '--stdin-packs' and '--filter' cannot be used together";
        return Err(Failure::fatal(words));
    }
    let reaches = command.revs
        || command.all
        || command.reflog
        || command.indexed_objects
        || command.thin
        || command.keep_unreachable
        || command.pack_loose_unreachable;
    if command.stdin_packs.is_some() && reaches {
        let words = "cannot use internal rev list with --stdin-packs";
        return Err(Failure::fatal(words));
    }
    Ok(())
}

impl PackObjects {
    /// Whether objects are asked for by what reaches them. What is thin always is, as with git.
    fn wants_revisions(&self) -> bool {
        self.revs
            || self.all
            || self.thin
            || self.reflog
            || self.indexed_objects
            || self.keep_unreachable
            || self.pack_loose_unreachable
            || self.exclude_promisor_objects
            || self.unpacked && self.stdin_packs.is_none()
    }

    /// The filters that were given last, as one.
    fn filter(&self) -> Result<Option<Filter>, Failure> {
        let mut all: Option<Filter> = None;
        for spec in &self.filter {
            let filter = Filter::parse(spec.as_bytes()).map_err(Failure::fatal)?;
            all = Some(match all {
                Some(before) => before.and(filter),
                None => filter,
            });
        }
        Ok(all)
    }

    /// Whether bitmaps are to be written.
    fn writes_bitmaps(&self) -> WriteBitmaps {
        let is_possible = self.all && !self.stdout && !self.no_write_bitmap_index;
        match (self.write_bitmap_index, self.write_bitmap_index_quiet) {
            (true, _) if is_possible => WriteBitmaps::Asked,
            (_, true) if is_possible => WriteBitmaps::IfPossible,
            _ => WriteBitmaps::Never,
        }
    }

    /// Which objects are asked for. Filters are of revisions only.
    fn enumeration(&self, threads: usize) -> Result<Enumeration, Failure> {
        let is_walk = self.stdin_packs.is_none() && self.wants_revisions();
        Ok(Enumeration {
            is_sent: self.stdout,
            is_of_revisions: is_walk,
            roots: Roots {
                references: self.all,
                logs: self.reflog,
                indexes: self.indexed_objects,
            },
            filter: if is_walk { self.filter()? } else { None },
            include_tag: self.include_tag,
            use_bitmaps: match (self.use_bitmap_index, self.no_use_bitmap_index) {
                (true, _) => Some(true),
                (_, true) => Some(false),
                _ => None,
            },
            writes_bitmaps: self.writes_bitmaps() != WriteBitmaps::Never,
            keep_unreachable: self.keep_unreachable,
            pack_loose_unreachable: self.pack_loose_unreachable,
            exclude_promised: self.exclude_promisor_objects,
            unpacked: self.unpacked,
            incremental: self.incremental,
            local: self.local,
            honor_pack_keep: self.honor_pack_keep,
            keep_packs: self.keep_pack.clone(),
            threads,
        })
    }
}

/// A pack that is being made.
struct PackJob<'m> {
    command: &'m PackObjects,
    global: &'m Global,
    repository: &'m Repository,
    options: PackOptions,
    output: &'m Output,
}

impl PackJob<'_> {
    /// Packs what was enumerated.
    fn pack_wanted(&self, enumerated: Enumerated) -> Result<u8, Failure> {
        let count = enumerated.wanted.len() as u64;
        let contents = Contents {
            wanted: enumerated.wanted,
            ..Contents::default()
        };
        self.pack(&contents, count, &self.options, enumerated.is_closed)
    }

    /// Writes the pack of `contents`, which are `count` objects. `is_closed`: all that they reach
    /// is among them.
    fn pack(
        &self,
        contents: &Contents<'_>,
        count: u64,
        options: &PackOptions,
        is_closed: bool,
    ) -> Result<u8, Failure> {
        if self.command.non_empty && count == 0 {
            return Ok(0);
        }
        let command = self.command;
        let has_writing = !command.stdout || command.all_progress || command.all_progress_implied;
        let showing = if command.all_progress {
            Showing::AtOnce
        } else {
            Showing::at_once(self.global)
        };
        let lines = pack_progress::show(showing, count, has_writing, &options.execution.progress);
        let packs = self.write(contents, options, is_closed)?;
        lines.finish();
        let warnings = self.repository.objects().warnings();
        warnings
            .iter()
            .for_each(|warning| self.output.warn(warning));
        for written in &packs {
            if !self.command.stdout {
                self.output
                    .data(format!("{}\n", written.checksum).as_bytes());
            }
            self.output.with_progress(self.global, written);
        }
        Ok(0)
    }

    fn write(
        &self,
        contents: &Contents<'_>,
        options: &PackOptions,
        is_closed: bool,
    ) -> Result<Vec<PackWritten>, Failure> {
        let Some(base) = &self.command.base_name else {
            let (store, sink) = (self.repository.objects(), &mut StandardOutput);
            return match write_pack(store, contents, options, false, sink) {
                // Nobody wants the rest.
                Err(Error::Write(error)) if error.kind() == ErrorKind::BrokenPipe => Ok(Vec::new()),
                written => Ok(vec![written?]),
            };
        };
        let kept = KeptPackOptions {
            base: &environment::from_directory(self.global, base),
            index: self.command.index_version.clone().unwrap_or_default(),
            max_pack_bytes: self.command.max_pack_size,
            bitmaps: self.command.writes_bitmaps(),
            is_closed,
        };
        let watcher = Watcher::new(self.global, self.output);
        Ok(write_packs(
            self.repository,
            contents,
            options,
            &kept,
            &watcher,
        )?)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let words = error.to_string();
        match error {
            Error::Git(error) => error.into(),
            Error::Cancelled => Failure {
                severity: "error",
                exit_code: INTERRUPTED,
                ..Failure::fatal(words)
            },
            _ => Failure::fatal(words),
        }
    }
}
