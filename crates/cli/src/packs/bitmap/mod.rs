//! `hedgerow bitmap`: writes, checks and lists reachability bitmaps.

mod explain;

use crate::arguments::Global;
use crate::environment;
use crate::failure::{Failure, REFUSED};
use crate::output::Output;
use clap::{Args, Subcommand};
use explain::Explain;
use hedgerow_fs::cpu;
use hedgerow_git::repository::Repository;
use hedgerow_pack::{BitOrder, Bitmaps, ObjectId, ObjectKind};
use hedgerow_reach::{build, check, BuildOptions};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Write, check or list the reachability bitmaps of a pack
#[derive(Debug, Args)]
pub struct Bitmap {
    #[command(subcommand)]
    pub action: Action,
}

#[derive(Debug, Subcommand)]
pub enum Action {
    /// Write the bitmaps of a pack; without one, of that with the most objects
    Write {
        /// The pack
        #[arg(value_name = "PACK")]
        pack: Option<PathBuf>,
    },
    /// Check every bitmap against what is reachable
    Verify,
    /// Say which bitmaps a fetch uses, what has to be walked, and why it is not faster
    Explain(Explain),
    /// List the commits that have a bitmap, and how many objects each reaches
    List,
}

pub fn run(command: &Bitmap, global: &Global, output: &Output) -> Result<u8, Failure> {
    let repository = Repository::discover(&environment::of_git(global)?)?;
    let code = match &command.action {
        Action::Write { pack } => write(&repository, pack.as_deref(), global, output),
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
    global: &Global,
    output: &Output,
) -> Result<u8, Failure> {
    let number = chosen(
        repository,
        pack.map(|pack| environment::from_directory(global, pack)),
    )?;
    let store = repository.objects();
    let order = store.pack_order(number).map_err(Failure::fatal)?;
    let options = options(repository, threads(global))?;
    let contents = build(store, &order, &options).map_err(Failure::fatal)?;
    let path = contents
        .write(options.threads, true)
        .map_err(Failure::fatal)?;
    output.for_people(
        global,
        format_args!("{} bitmaps in '{}'", contents.commits.len(), path.display()),
    );
    Ok(0)
}

/// The number of the pack that is meant.
fn chosen(repository: &Repository, named: Option<PathBuf>) -> Result<u32, Failure> {
    let mut packs = repository.objects().pack_files();
    let Some(named) = named else {
        let usable = packs.filter_map(|(number, _, count)| Some((count?, number)));
        let largest = usable.max_by_key(|(count, number)| (*count, std::cmp::Reverse(*number)));
        let none = || Failure::fatal("this repository has no pack");
        return largest.map(|(_, number)| number).ok_or_else(none);
    };
    let found = packs.find(|(_, path, _)| path.file_stem() == named.file_stem());
    found.map(|(number, ..)| number).ok_or_else(|| {
        Failure::fatal(format_args!(
            "'{}' is no pack of this repository",
            named.display()
        ))
    })
}

/// How the bitmaps of a repository are made, by its references and its configuration.
pub fn options(repository: &Repository, threads: usize) -> Result<BuildOptions, Failure> {
    let config = repository.config();
    let flag = |key| config.bool(key).map_err(Failure::from);
    let mut tips = Vec::new();
    let mut preferred_tips = Vec::new();
    let prefixes = config.strings("pack.preferBitmapTips");
    for reference in repository.references_below("refs/".into())? {
        let Some(id) = reference.id else { continue };
        let Ok(Some(commit)) = repository.peel(&id, Some(ObjectKind::Commit)) else {
            continue;
        };
        tips.push(commit);
        if prefixes
            .iter()
            .any(|prefix| is_below(&reference.name, prefix))
        {
            preferred_tips.push(commit);
        }
    }
    tips.extend(repository.head().ok().and_then(|head| head.id()));
    Ok(BuildOptions {
        tips,
        preferred_tips,
        shallow: shallow(repository)?,
        name_hashes: flag("pack.writeBitmapHashCache")?.unwrap_or(true),
        lookup_table: flag("pack.writeBitmapLookupTable")?.unwrap_or(false),
        threads,
    })
}

/// Whether the reference `name` is `prefix` or in that directory.
fn is_below(name: &[u8], prefix: &[u8]) -> bool {
    let rest = name.strip_prefix(prefix);
    rest.is_some_and(|rest| rest.is_empty() || prefix.ends_with(b"/") || rest.starts_with(b"/"))
}

fn shallow(repository: &Repository) -> Result<HashSet<ObjectId>, Failure> {
    const LIMIT_BYTES: u64 = 64 << 20;
    let path = repository.common_dir().join("shallow");
    let content = hedgerow_fs::read_file(&path, LIMIT_BYTES).map_err(Failure::fatal)?;
    let content = content.unwrap_or_default();
    let lines = content.split(|byte| *byte == b'\n');
    Ok(lines
        .filter_map(|line| ObjectId::from_hex(line).ok())
        .collect())
}

fn threads(global: &Global) -> usize {
    match global.jobs() {
        hedgerow_engine::Jobs::Fixed(count) => count.get(),
        _ => cpu::available(),
    }
}

fn verify(repository: &Repository, global: &Global, output: &Output) -> Result<u8, Failure> {
    let store = repository.objects();
    let bitmaps = bitmaps(repository)?;
    let shallow = shallow(repository)?;
    let wrong = check(store, &bitmaps, &shallow, threads(global)).map_err(Failure::fatal)?;
    for id in &wrong {
        output.error(format_args!("the bitmap of commit {id} is wrong"));
    }
    output.for_people(
        global,
        format_args!("{} bitmaps checked", bitmaps.commit_count()),
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
