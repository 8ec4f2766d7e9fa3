//! `hedgerow repack`: git-repack(1).

use crate::environment;
use crate::execution;
use crate::failure::Failure;
use crate::global::Global;
use crate::output::Output;
use crate::packs::pack_objects::jobs;
use crate::packs::watcher::Watcher;
use clap::Args;
use hedgerow::numbers::counted;
use hedgerow::plumbing::maintain::repack::{
    carry_out, count_loose, ExistingPack, NewRole, PackFate, Plan, Request, Settings,
};
use hedgerow::Repository;

/// Repack objects
#[derive(Debug, Default, Args)]
pub struct Repack {
    /// Pack everything reachable into one pack
    #[arg(short = 'a')]
    pub all: bool,
    /// Like -a, and with -d unpack unreachable objects
    #[arg(short = 'A')]
    pub all_and_loosen: bool,
    /// Delete redundant packs and loose objects
    #[arg(short = 'd')]
    pub delete: bool,
    /// Recompute all deltas
    #[arg(short = 'f')]
    pub no_reuse_delta: bool,
    /// Recompress all objects, too
    #[arg(short = 'F')]
    pub no_reuse_object: bool,
    /// Do not update the files for dumb servers (repack.updateServerInfo)
    #[arg(short = 'n')]
    pub no_server_info: bool,
    /// Omit objects of alternates
    #[arg(short = 'l', long)]
    pub local: bool,
    /// Write reachability bitmaps (repack.writeBitmaps)
    #[arg(short = 'b', long, overrides_with = "no_write_bitmap_index")]
    pub write_bitmap_index: bool,
    /// Write no bitmaps
    #[arg(long)]
    pub no_write_bitmap_index: bool,
    /// With -a, pack unreachable objects separately, with their ages
    #[arg(long)]
    pub cruft: bool,
    /// With --cruft, drop objects unreachable since before TIME
    #[arg(long, value_name = "TIME", requires = "cruft")]
    pub cruft_expiration: Option<String>,
    /// With -A, drop unreachable objects older than TIME
    #[arg(long, value_name = "TIME")]
    pub unpack_unreachable: Option<String>,
    /// With -a and -d, pack unreachable objects, too
    #[arg(short = 'k', long)]
    pub keep_unreachable: bool,
    /// Try each object against N others (pack.window)
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = crate::packs::pack_objects::parse_count)]
    pub window: Option<u32>,
    /// Memory limit for each thread's window (pack.windowMemory)
    #[arg(long, value_name = "BYTES", value_parser = crate::packs::pack_objects::parse_bytes)]
    pub window_memory: Option<u64>,
    /// Maximum length of delta chains (pack.depth)
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = crate::packs::pack_objects::parse_count)]
    pub depth: Option<u32>,
    /// Number of threads; 0 means one per processor (pack.threads)
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// Maximum size of a pack; larger ones are split (pack.packSizeLimit)
    #[arg(long, value_name = "BYTES", value_parser = crate::packs::pack_objects::parse_bytes)]
    pub max_pack_size: Option<u64>,
    /// Repack packs that have a .keep file, too (repack.packKeptObjects)
    #[arg(long, overrides_with = "no_pack_kept_objects")]
    pub pack_kept_objects: bool,
    /// Keep packs that have a .keep file
    #[arg(long)]
    pub no_pack_kept_objects: bool,
    /// Keep the pack with this file name
    #[arg(long, value_name = "PACK")]
    pub keep_pack: Vec<String>,
    /// Join small packs until each pack has at least FACTOR times the objects of the next smaller
    /// one
    #[arg(short = 'g', long, value_name = "FACTOR")]
    pub geometric: Option<u32>,
    /// Write a multi-pack-index of the resulting packs
    #[arg(short = 'm', long, overrides_with = "no_write_midx")]
    pub write_midx: bool,
    /// Write no multi-pack-index
    #[arg(long)]
    pub no_write_midx: bool,
    /// Only print what would be done
    #[arg(long)]
    pub dry_run: bool,
}

impl Repack {
    fn request(&self, global: &Global) -> Result<Request, Failure> {
        let execution = execution::interruptible(global)?;
        let one_of = |yes, no| match (yes, no) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        };
        Ok(Request {
            all: self.all,
            all_and_loosen: self.all_and_loosen,
            delete: self.delete,
            no_reuse_delta: self.no_reuse_delta,
            no_reuse_object: self.no_reuse_object,
            no_server_info: self.no_server_info,
            local: self.local,
            write_bitmaps: one_of(self.write_bitmap_index, self.no_write_bitmap_index),
            cruft: self.cruft,
            cruft_expiration: self.cruft_expiration.clone(),
            unpack_unreachable: self.unpack_unreachable.clone(),
            keep_unreachable: self.keep_unreachable,
            window: self.window,
            window_memory_bytes: self.window_memory,
            depth: self.depth,
            max_pack_bytes: self.max_pack_size,
            pack_kept_objects: one_of(self.pack_kept_objects, self.no_pack_kept_objects),
            keep_packs: self.keep_pack.clone(),
            geometric: self.geometric,
            write_midx: self.write_midx && !self.no_write_midx,
            execution: execution.with_jobs(jobs(self.threads, global)),
        })
    }
}

pub fn run(command: &Repack, global: &Global, output: &Output) -> Result<u8, Failure> {
    let repository = environment::for_packs(&environment::of_git_unaided(global)?, output)?;
    let request = command.request(global)?;
    repack(
        &repository,
        &request,
        command.dry_run,
        &Watcher::new(global, output),
    )?;
    Ok(0)
}

/// Repacks `repository`, or says what that would do.
pub fn repack(
    repository: &Repository,
    request: &Request,
    is_dry_run: bool,
    watcher: &Watcher<'_>,
) -> Result<(), Failure> {
    let settings = Settings::resolve(request, repository, watcher)?;
    let plan = Plan::make(repository, &settings, watcher)?;
    if is_dry_run {
        tell(repository, &plan, &settings, watcher.output)
    } else {
        Ok(carry_out(repository, plan, &settings, watcher)?)
    }
}

/// Says what a repack would do.
fn tell(
    repository: &Repository,
    plan: &Plan,
    settings: &Settings,
    output: &Output,
) -> Result<(), Failure> {
    let store = repository.objects();
    let mut lines = String::new();
    for new in plan.packs.iter().filter(|new| !new.wanted.is_empty()) {
        let bytes = new.disk_bytes(store);
        let what = match new.role {
            NewRole::Plain { .. } => "a pack",
            NewRole::Promisor => "a pack of promised objects",
            NewRole::Cruft(_) => "a pack of unreachable objects",
        };
        let count = new.wanted.len();
        lines += &format!(
            "would write {what}: {}, about {}\n",
            counted(count, "object"),
            counted(bytes, "byte")
        );
    }
    if lines.is_empty() {
        lines += "would write no pack\n";
    }
    for pack in &plan.existing.packs {
        if pack.is_local {
            lines += &about(pack, plan, settings);
        }
    }
    if !plan.loosened.is_empty() {
        lines += &format!(
            "would make {} loose\n",
            counted(plan.loosened.len(), "object")
        );
    }
    let loose = count_loose(store)?;
    if settings.deletes {
        let gone = plan.count_packed_loose(store)?;
        lines += &format!(
            "would delete {gone} of {}, which are in packs then\n",
            counted(loose, "loose object")
        );
    } else {
        lines += &format!("would leave {}\n", counted(loose, "loose object"));
    }
    if settings.midx {
        lines += "would write a multi-pack-index\n";
    }
    output.data(lines.as_bytes());
    Ok(())
}

fn about(pack: &ExistingPack, plan: &Plan, settings: &Settings) -> String {
    let verb = match plan.fate(pack, settings) {
        PackFate::RolledUp => "would roll up",
        PackFate::Deleted => "would delete",
        PackFate::MarkedToStay => "would leave (kept)",
        PackFate::Needed => "would keep",
        PackFate::Left => "would leave",
    };
    let (stem, objects, bytes) = (&pack.stem, pack.objects, pack.bytes());
    format!("{verb} {stem}.pack: {objects} objects, {bytes} bytes\n")
}
