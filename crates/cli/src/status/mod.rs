//! `hedgerow status`: chooses the format, runs the status, and prints it.

mod arguments;
mod document;
mod long;
mod porcelain;
mod settings;
mod short;
mod submodule_commits;

pub use arguments::Status;

use crate::environment;
use crate::execution;
use crate::failure::{Failure, PARTIAL};
use crate::global::Global;
use crate::output::Output;
use crate::progress::Meter;
use crate::statistics;
use document::Document;
use hedgerow::display::PathStyle;
use hedgerow::repository::{CurrentBranch, Repository};
use hedgerow::status::{status, Remark, Status as FoundStatus};
use hedgerow::Stage;
use long::{long, LongOptions};
use porcelain::{porcelain, PorcelainOptions};
use settings::{Form, Settings};
use short::{short, ShortOptions};

pub fn run(command: &Status, global: &Global, output: &Output) -> Result<u8, Failure> {
    let execution = execution::interruptible(global)?;
    let repository = environment::repository(&environment::of_git(global)?, output)?;
    repository.require_work_tree()?;
    execution::tell_places(global, &repository);
    let mut settings = Settings::resolve(&repository, command, global.color)?;
    settings.options.execution = execution;
    let progress = &settings.options.execution.progress;
    let meter = Meter::of_our_own(global, "Comparing files", progress, Stage::Files);
    let found = status(&repository, &settings.options)?;
    drop(meter);
    for remark in &found.remarks {
        match remark {
            Remark::Error(text) => output.error(text),
            Remark::Warning(text) => output.warn(text),
        }
    }
    found
        .warnings
        .iter()
        .for_each(|warning| output.warn(warning));
    found
        .failures
        .iter()
        .for_each(|failure| output.error(failure));
    let text = if global.json {
        let branch = CurrentBranch::read(&repository, settings.ahead_behind)?;
        Document::new(&found, &branch).to_json().into_bytes()
    } else {
        text(&repository, &found, &settings, output)?
    };
    output.data(&text);
    statistics::tell(global, &settings.options.execution, output)?;
    Ok(if found.failures.is_empty() {
        0
    } else {
        PARTIAL
    })
}

/// The status in the requested format.
fn text(
    repository: &Repository,
    found: &FoundStatus,
    settings: &Settings,
    output: &Output,
) -> Result<Vec<u8>, hedgerow::repository::Error> {
    let branch = if settings.branch {
        Some(CurrentBranch::read(repository, settings.ahead_behind)?)
    } else {
        None
    };
    let shown = PathStyle {
        prefix: &settings.prefix,
        high: repository.settings().quote_path,
    };
    Ok(match settings.form {
        Form::Short | Form::PorcelainV1 => {
            let options = ShortOptions {
                shown,
                null: settings.null,
                porcelain: settings.form == Form::PorcelainV1,
                colors: &settings.colors.clone().unwrap_or_default(),
            };
            short(found, branch.as_ref(), &options)
        }
        Form::PorcelainV2 => {
            let stash = if settings.show_stash {
                Some(repository.reflog("refs/stash".into())?.len())
            } else {
                None
            };
            let options = PorcelainOptions {
                shown,
                null: settings.null,
                stash,
                null_id: repository.null_id(),
            };
            porcelain(found, branch.as_ref(), &options)
        }
        Form::Long => {
            let commits = submodule_commits::list(repository, found, settings, output);
            let options = LongOptions {
                submodule_commits: &commits,
                ..LongOptions::new(settings, shown)
            };
            long(repository, found, &options, &mut |warning| {
                output.warn(warning)
            })?
        }
    })
}
