//! `hedgerow maintenance`: what git-maintenance(1) does for packs, chosen by what there is.

use crate::environment;
use crate::execution;
use crate::failure::Failure;
use crate::global::Global;
use crate::output::Output;
use crate::packs::pack_objects::jobs;
use crate::packs::repack::repack;
use crate::packs::watcher::Watcher;
use clap::{Args, Subcommand};
use hedgerow::plumbing::maintain::maintenance::{choose, Choice, State, Task};
use hedgerow::plumbing::maintain::repack::Request;
use hedgerow::Repository;
use hedgerow_fs::LockFile;

/// Repack a repository if needed
#[derive(Debug, Args)]
pub struct Maintenance {
    #[command(subcommand)]
    pub action: Action,
}

#[derive(Debug, Subcommand)]
pub enum Action {
    Run(Run),
}

/// Inspect packs, loose objects and bitmaps, and repack if needed
///
/// Few loose objects and packs of very different sizes need nothing. Packs that pile up, or many
/// loose objects, are joined geometrically, with a multi-pack-index (geometric-repack). If bitmaps
/// are wanted and there are none, or they know less than half of the objects, or all packs would be
/// joined, everything goes into one pack, and what nothing reaches into another (full-repack).
///
/// The commit-graph, references, reflogs, prefetching and whatever else git-maintenance(1) cares
/// for are left to git. Both take the same lock, and never run at once.
#[derive(Debug, Args)]
pub struct Run {
    /// Run this task even if it is not needed; repeat for several
    #[arg(long, value_name = "TASK")]
    pub task: Vec<String>,
    /// Print nothing if there is nothing to do or another process is at work
    #[arg(long)]
    pub auto: bool,
    /// Only print what would be done
    #[arg(long)]
    pub dry_run: bool,
}

pub fn run(command: &Maintenance, global: &Global, output: &Output) -> Result<u8, Failure> {
    let Action::Run(command) = &command.action;
    let tasks: Result<Vec<Task>, Failure> = command.task.iter().map(|name| task(name)).collect();
    let tasks = tasks?;
    let repository = environment::for_packs(&environment::of_git_unaided(global)?, output)?;
    if command.dry_run {
        return run_tasks(&tasks, &repository, command, global, output);
    }
    let Some(lock) = lock(&repository, command, global, output)? else {
        return Ok(0);
    };
    let code = run_tasks(&tasks, &repository, command, global, output)?;
    lock.release().map_err(Failure::fatal)?;
    Ok(code)
}

/// Does `tasks`, or if there are none, what is due.
fn run_tasks(
    tasks: &[Task],
    repository: &Repository,
    command: &Run,
    global: &Global,
    output: &Output,
) -> Result<u8, Failure> {
    if tasks.is_empty() {
        let state = State::look(repository, &Watcher::new(global, output))?;
        match choose(&state) {
            Choice::Nothing { why } if !command.auto => tell(command, output, &why),
            Choice::Nothing { .. } => {}
            Choice::Do { task, why } => {
                tell(command, output, &format!("{}: {why}", task.name()));
                carry_out(task, repository, command, global, output)?;
            }
        }
        return Ok(0);
    }
    for task in tasks.iter().copied() {
        tell(command, output, &format!("{}: as asked", task.name()));
        // The task before has changed what there is.
        let repository = Repository::discover(repository.environment())?;
        carry_out(task, &repository, command, global, output)?;
    }
    Ok(0)
}

fn task(name: &str) -> Result<Task, Failure> {
    const OF_GIT: [&str; 9] = [
        "prefetch",
        "loose-objects",
        "incremental-repack",
        "gc",
        "commit-graph",
        "pack-refs",
        "reflog-expire",
        "worktree-prune",
        "rerere-gc",
    ];
    match Task::from_name(name) {
        Some(task) => Ok(task),
        None if OF_GIT.contains(&name) => Err(Failure::usage(format_args!(
            "hedgerow does not do '{name}': git maintenance run --task={name} does"
        ))),
        None => Err(Failure::usage(format_args!("'{name}' is not a valid task"))),
    }
}

/// Takes the lock that git takes; `None` if somebody has it.
fn lock(
    repository: &Repository,
    command: &Run,
    global: &Global,
    output: &Output,
) -> Result<Option<LockFile>, Failure> {
    let path = repository.objects().directory().join("maintenance");
    match LockFile::acquire(&path) {
        Ok(lock) => Ok(Some(lock)),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            if !command.auto && !global.quiet {
                let path = path.display();
                output.warn(format_args!(
                    "lock file '{path}' exists, skipping maintenance"
                ));
            }
            Ok(None)
        }
        Err(error) => Err(Failure::fatal(error)),
    }
}

fn tell(command: &Run, output: &Output, line: &str) {
    if command.dry_run {
        output.data(format!("{line}\n").as_bytes())
    } else {
        output.say(line)
    }
}

fn carry_out(
    task: Task,
    repository: &Repository,
    command: &Run,
    global: &Global,
    output: &Output,
) -> Result<(), Failure> {
    let request = task.request(repository)?;
    let execution = execution::interruptible(global)?;
    let request = Request {
        execution: execution.with_jobs(jobs(None, global)),
        ..request
    };
    let watcher = Watcher {
        // What there was to pack was told.
        is_told: true,
        ..Watcher::new(global, output)
    };
    repack(repository, &request, command.dry_run, &watcher)
}
