//! `hedgerow checkout`: which of its forms is meant, and what is said about it.

use crate::arguments::{Checkout, Global, Workers};
use crate::failure::{Failure, INTERRUPTED, PARTIAL, REFUSED};
use crate::messages;
use crate::output::Output;
use crate::progress::Meter;
use bstr::{BString, ByteSlice};
use hedgerow_engine::{CancelToken, Jobs};
use hedgerow_git::checkout::{
    checkout_paths, switch, Done, Execution, Outcome, PathOptions, PathOutcome, Progress,
    SwitchOptions, Target,
};
use hedgerow_git::repository::{Environment, Repository};
use std::num::NonZeroUsize;
use std::os::unix::ffi::OsStringExt;
use std::sync::Arc;
use std::time::Instant;

/// What the words of the command line ask for.
enum Form {
    Switch(Target),
    Paths {
        tree: Option<BString>,
        pathspecs: Vec<BString>,
        count: bool,
    },
}

pub fn run(command: &Checkout, global: &Global, output: &Output) -> Result<u8, Failure> {
    let started = Instant::now();
    let repository = Repository::discover(&environment(global)?)?;
    repository.require_work_tree().map_err(Failure::fatal)?;
    let form = form(&repository, command)?;
    let execution = execution(&repository, command, global)?;
    let meter = Meter::start(global, &execution.progress);
    match form {
        Form::Switch(target) => {
            let options = SwitchOptions {
                force: command.force,
                list_changes: !command.force && !global.quiet,
                execution,
            };
            let switched = switch(&repository, &target, &options)?;
            drop(meter);
            match &switched.outcome {
                Outcome::Rejected(rejects) => {
                    messages::rejected(rejects, output);
                    Ok(REFUSED)
                }
                Outcome::Unmerged(paths) => {
                    paths.iter().for_each(|path| {
                        output.data(format!("{path}: needs merge\n").as_bytes());
                    });
                    Err(Failure::refused(
                        "you need to resolve your current index first",
                    ))
                }
                Outcome::Done(done) => {
                    for change in &done.local_changes {
                        output.data(format!("{}\t{}\n", change.status, change.path).as_bytes());
                    }
                    messages::switched(&repository, &target, &switched, command.detach, output)?;
                    summary(done, started, output);
                    let code = tell_failures(done, output);
                    Ok(if switched.hook_failure.is_some() {
                        code.max(1)
                    } else {
                        code
                    })
                }
            }
        }
        Form::Paths {
            tree,
            pathspecs,
            count,
        } => {
            let tree_id = tree
                .as_ref()
                .map(|tree| repository.resolve_tree(tree.as_bstr()));
            let tree_id = tree_id.transpose()?;
            let force = command.force;
            let options = PathOptions {
                pathspecs,
                tree: tree_id,
                force,
                execution,
            };
            let outcome = checkout_paths(&repository, &options)?;
            drop(meter);
            match outcome {
                PathOutcome::Unmatched(specs) => {
                    for spec in &specs {
                        output.error(messages::unknown(spec.as_bstr()).message);
                    }
                    Ok(REFUSED)
                }
                PathOutcome::Unmerged(paths) => {
                    paths.iter().for_each(|path| {
                        output.error(format_args!("path '{path}' is unmerged"));
                    });
                    Ok(REFUSED)
                }
                PathOutcome::Done(done) => {
                    if count {
                        let paths = if done.written == 1 { "path" } else { "paths" };
                        let from = match tree_id {
                            Some(id) => repository.short_id(&id)?,
                            None => "the index".into(),
                        };
                        output.say(format_args!("Updated {} {paths} from {from}", done.written));
                    }
                    summary(&done, started, output);
                    Ok(tell_failures(&done, output))
                }
            }
        }
    }
}

fn environment(global: &Global) -> Result<Environment, Failure> {
    let mut directory = std::env::current_dir().map_err(|error| {
        Failure::fatal(format_args!("cannot find the current directory: {error}"))
    })?;
    for part in &global.directory {
        directory.push(part);
    }
    Environment::from_vars(std::env::vars_os(), directory).map_err(Failure::from)
}

/// Whether the words are a revision, paths, or both: git-checkout(1).
fn form(repository: &Repository, command: &Checkout) -> Result<Form, Failure> {
    let bytes = |word: &std::ffi::OsString| BString::from(word.clone().into_vec());
    let words: Vec<BString> = command.words.iter().map(bytes).collect();
    let paths: Vec<BString> = command.paths.iter().map(bytes).collect();
    let paths_follow = !paths.is_empty() || std::env::args_os().any(|word| word == "--");
    match (words.as_slice(), paths_follow) {
        ([], false) => Ok(Form::Switch(Target::head(repository)?)),
        ([], true) => Ok(Form::Paths {
            tree: None,
            pathspecs: paths,
            count: false,
        }),
        ([tree], true) if !paths.is_empty() => Ok(Form::Paths {
            tree: Some(tree.clone()),
            pathspecs: paths,
            count: false,
        }),
        ([word], _) => {
            let guess = repository.settings().guess && !paths_follow;
            match Target::named(repository, word.as_bstr(), command.detach, guess)? {
                Some(target) => Ok(Form::Switch(target)),
                None if paths_follow => {
                    Err(Failure::fatal(format_args!("invalid reference: {word}")))
                }
                None => Ok(Form::Paths {
                    tree: None,
                    pathspecs: words,
                    count: true,
                }),
            }
        }
        (_, true) => Err(Failure::fatal("only one reference expected")),
        ([first, rest @ ..], false) => {
            match Target::named(repository, first.as_bstr(), true, false)? {
                Some(_) => Ok(Form::Paths {
                    tree: Some(first.clone()),
                    pathspecs: rest.to_vec(),
                    count: true,
                }),
                None => Ok(Form::Paths {
                    tree: None,
                    pathspecs: words,
                    count: true,
                }),
            }
        }
    }
}

/// `--workers` over `--jobs` over `checkout.workers` over choosing by itself.
fn execution(
    repository: &Repository,
    command: &Checkout,
    global: &Global,
) -> Result<Execution, Failure> {
    let settings = repository.settings();
    let workers = command.workers.map(Workers::from_number);
    let workers = workers
        .or(global.jobs)
        .or(settings.workers.map(Workers::from_number));
    let jobs = match workers.unwrap_or(Workers::Auto) {
        Workers::Auto => Jobs::Auto,
        Workers::Count(count) => Jobs::Fixed(count),
        Workers::PerProcessor => Jobs::Fixed(NonZeroUsize::MIN),
    };
    let threshold = command.threshold.or(match jobs {
        Jobs::Auto => None,
        Jobs::Fixed(_) => Some(settings.parallel_threshold),
    });
    Ok(Execution {
        jobs,
        threshold: threshold.and_then(|threshold| u64::try_from(threshold).ok()),
        cancel: CancelToken::default(),
        recorder: None,
        progress: Arc::new(Progress::default()),
    })
}

fn summary(done: &Done, started: Instant, output: &Output) {
    output.detail(format_args!(
        "{} files written ({} bytes), {} removed, in {:.2} s by {} workers",
        done.written,
        done.bytes,
        done.removed,
        started.elapsed().as_secs_f64(),
        done.workers
    ));
}

fn tell_failures(done: &Done, output: &Output) -> u8 {
    done.warnings
        .iter()
        .for_each(|warning| output.warn(warning));
    if !done.collided.is_empty() {
        let list: String = done
            .collided
            .iter()
            .map(|path| format!("  '{path}'\n"))
            .collect();
        output.warn(format_args!(
            "the following paths have collided (e.g. case-sensitive paths\non a case-insensitive \
             filesystem) and only one from the same\ncolliding group is in the working tree:\n\n\
             {list}"
        ));
    }
    done.failures
        .iter()
        .for_each(|failure| output.error(&failure.reason));
    let _ = INTERRUPTED;
    match done.failures.is_empty() {
        true => 0,
        false => PARTIAL,
    }
}
