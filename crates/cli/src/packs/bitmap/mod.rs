//! `hedgerow bitmap`: writes, checks and lists reachability bitmaps.

mod explain;

use crate::environment;
use crate::execution;
use crate::failure::{Failure, REFUSED};
use crate::global::Global;
use crate::output::Output;
use crate::packs::watcher::Watcher;
use clap::{Args, Subcommand};
use explain::Explain;
use hedgerow::numbers::counted;
use hedgerow::plumbing::maintain::{write_pack_bitmaps, BitmapRequest};
use hedgerow::plumbing::pack::{BitOrder, Bitmaps};
use hedgerow::plumbing::reach::check;
use hedgerow::Repository;
use hedgerow_fs::cpu;
use std::path::{Path, PathBuf};

/// Write, check or list reachability bitmaps
#[derive(Debug, Args)]
pub struct Bitmap {
    #[command(subcommand)]
    pub action: Action,
}

#[derive(Debug, Subcommand)]
pub enum Action {
    /// Write the bitmaps of a pack, by default the largest one
    Write {
        /// The pack
        #[arg(value_name = "PACK")]
        pack: Option<PathBuf>,
        /// Compute all bitmaps anew instead of keeping existing ones
        #[arg(long)]
        anew: bool,
    },
    /// Check every bitmap against what is reachable
    Verify,
    /// Explain which bitmaps a fetch uses and what has to be walked
    Explain(Explain),
    /// List the commits that have a bitmap, and how many objects each reaches
    List,
}

impl Bitmap {
    /// Whether it prints JSON.
    pub fn takes_json(&self) -> bool {
        matches!(self.action, Action::Explain(_))
    }
}

pub fn run(command: &Bitmap, global: &Global, output: &Output) -> Result<u8, Failure> {
    let repository = environment::for_packs(&environment::of_git_unreplaced(global)?, output)?;
    let code = match &command.action {
        Action::Write { pack, anew } => write(&repository, pack.as_deref(), *anew, global, output),
        Action::Verify => verify(&repository, global, output),
        Action::Explain(command) => explain::run(command, &repository, global, output),
        Action::List => list(&repository, output),
    };
    let warnings = repository.objects().warnings();
    warnings.iter().for_each(|warning| output.warn(warning));
    code
}

fn write(
    repository: &Repository,
    pack: Option<&Path>,
    anew: bool,
    global: &Global,
    output: &Output,
) -> Result<u8, Failure> {
    let pack = pack.map(|pack| environment::from_directory(global, pack));
    let request = BitmapRequest {
        execution: execution::interruptible(global)?,
        refs_snapshot: None,
    };
    let watcher = Watcher::new(global, output);
    let written = write_pack_bitmaps(repository, pack.as_deref(), anew, &request, &watcher);
    let (count, path) = written?;
    output.for_people(
        global,
        format_args!("{count} bitmaps in '{}'", path.display()),
    );
    Ok(0)
}

fn verify(repository: &Repository, global: &Global, output: &Output) -> Result<u8, Failure> {
    let store = repository.objects();
    let bitmaps = bitmaps(repository)?;
    let shallow = repository.grafts()?.shallow().iter().copied().collect();
    let execution = execution::interruptible(global)?;
    let (threads, cancel) = (execution.threads().get(), &execution.cancel);
    let wrong = check(store, &bitmaps, &shallow, threads, cancel);
    let wrong = wrong.map_err(Failure::fatal)?;
    for id in &wrong {
        output.error(format_args!("the bitmap of commit {id} is wrong"));
    }
    output.for_people(
        global,
        format_args!("{} checked", counted(bitmaps.commit_count(), "bitmap")),
    );
    Ok(if wrong.is_empty() { 0 } else { REFUSED })
}

fn list(repository: &Repository, output: &Output) -> Result<u8, Failure> {
    let bitmaps = bitmaps(repository)?;
    let mut lines = String::new();
    for bit in bitmaps.commits().map_err(Failure::fatal)? {
        let mut reached = bitmaps.empty();
        bitmaps
            .add_reachable_from(bit, &mut reached)
            .map_err(Failure::fatal)?;
        if let Some(id) = BitOrder::id(bitmaps.order(), bit) {
            lines.push_str(&format!("{id} {}\n", reached.count()));
        }
    }
    output.data(lines.as_bytes());
    Ok(0)
}

fn bitmaps(repository: &Repository) -> Result<Bitmaps<'_>, Failure> {
    let none = || Failure::refused("this repository has no bitmap that can be used");
    Bitmaps::open(repository.objects()).ok_or_else(none)
}

fn threads(global: &Global) -> usize {
    match global.jobs() {
        hedgerow::Jobs::Fixed(count) => count.get(),
        _ => cpu::available(),
    }
}
