//! `hedgerow tune`: measures the file system and sets the checkout options for it.

use crate::arguments::Tune;
use crate::environment;
use crate::failure::{Failure, NOWHERE_TO_SET};
use crate::global::Global;
use crate::output::{shown, Output};
use crate::tune_report::{words, Report};
use hedgerow::repository::Error;
use hedgerow::repository::Repository;
use hedgerow::tune::{advise, combined, measure_repeatedly, Advice, Options, Spread};
use hedgerow::CancelToken;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Approximate time of one measurement.
const BUDGET: Duration = Duration::from_secs(3);

pub fn run(command: &Tune, global: &Global, output: &Output) -> Result<u8, Failure> {
    let started = Instant::now();
    let interrupted = hedgerow_fs::catch_interrupts().map_err(Failure::fatal)?;
    let environment = environment::of_git(global)?;
    let repository = match Repository::discover(&environment) {
        Err(Error::NotARepository | Error::NotARepositoryUpTo { .. }) => None,
        found => Some(found?),
    };
    if repository.is_none() && !command.dry_run {
        return Err(nowhere());
    }
    let work_tree = repository.as_ref().and_then(Repository::work_tree);
    let directory = match (&command.measured, work_tree) {
        (Some(named), _) => environment.cwd.join(named),
        (None, Some(work_tree)) => work_tree.to_owned(),
        (None, None) => environment.cwd.clone(),
    };
    let options = Options {
        budget: BUDGET,
        cancel: CancelToken::from_static(interrupted),
    };
    let measurements = measure_repeatedly(&directory, &options, started)?;
    let measured = combined(&measurements);
    let advice = advise(&measured);
    let spread = Spread::of(&measurements);
    // The measurements are shown even if the values cannot be set.
    let set = match repository.filter(|_| !command.dry_run) {
        None => Ok(None),
        Some(_) if spread.is_noisy() && !command.force => Err(noisy(&spread)),
        Some(repository) => set(&repository, &advice).map(Some),
    };
    let file = set.as_ref().ok().and_then(Option::as_ref);
    if global.json {
        let report = Report::new(
            &directory,
            &measured,
            (&advice, &spread),
            file,
            started.elapsed(),
        );
        output.data(report.to_json().as_bytes());
    } else if !global.quiet {
        let told = words(&directory, &measured, &advice, &spread);
        output.data(shown(told).as_bytes());
    }
    if let Some(file) = set? {
        output.say(format_args!("Set in '{}'.", file.display()));
    }
    Ok(0)
}

/// Writes the advice to the configuration, where git finds it too; returns the file.
fn set(repository: &Repository, advice: &Advice) -> Result<PathBuf, Failure> {
    let settings = [
        ("workers", advice.workers.to_string().into()),
        (
            "thresholdForParallelism",
            advice.threshold.to_string().into(),
        ),
    ];
    repository.set_config("checkout", &settings)?;
    Ok(repository.config_path())
}

fn noisy(spread: &Spread) -> Failure {
    let (few, many) = spread.workers;
    let hint = "measure again when the machine does nothing else, or set it all the same with \
                --force";
    Failure {
        hint: Some(hint.to_owned()),
        ..Failure::refused(format_args!(
            "nothing was set: {} measurements advise between {few} and {many} workers",
            spread.measurements
        ))
    }
}

fn nowhere() -> Failure {
    Failure {
        severity: "error",
        exit_code: NOWHERE_TO_SET,
        hint: Some(
            "name the repository with -C, or ask with --dry-run what would be set".to_owned(),
        ),
        ..Failure::fatal("there is no repository here whose configuration could be set")
    }
}
