//! Everything taken from the environment. No other module reads it.
#![allow(
    clippy::disallowed_methods,
    reason = "libraries get it from here as plain data"
)]

use crate::as_git;
use crate::failure::Failure;
use crate::global::Global;
use crate::output::Output;
use bstr::ByteSlice;
use hedgerow::clone::{AssistedGit, Helper};
use hedgerow::repository::{Environment, Repository, Trouble, TroubleListener};
use hedgerow::shim::{words_of_git, Taken};
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

/// The value of a variable, if it is set.
pub fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

/// How long a search for untracked files is said to have taken, whatever it took: git's switch for
/// tests of that advice.
pub fn search_time_to_report() -> Option<Duration> {
    variable("GIT_TEST_UF_DELAY_WARNING").map(|_| Duration::from_millis(3250))
}

/// Whether somebody reads standard output: it is a terminal, or git has started a pager for it.
pub fn output_is_read() -> bool {
    hedgerow_fs::StandardOutput::is_terminal() || pager_in_use()
}

/// Whether standard output is shown with colors; `paged`: whether a pager started by git shows them
/// too.
pub fn output_takes_colors(paged: bool) -> bool {
    let is_capable = variable("TERM").is_some_and(|terminal| terminal != "dumb");
    let is_read = hedgerow_fs::StandardOutput::is_terminal() || paged && pager_in_use();
    is_read && is_capable && variable("NO_COLOR").is_none()
}

/// Whether standard error is a terminal that shows colors, which are wanted. Git's are plain.
pub fn errors_take_colors() -> bool {
    use std::io::IsTerminal;
    let is_capable = variable("TERM").is_some_and(|terminal| terminal != "dumb");
    let is_shown = std::io::stderr().is_terminal() && is_capable;
    is_shown && variable("NO_COLOR").is_none() && words_of_git(words()).is_none()
}

fn pager_in_use() -> bool {
    let value = variable("GIT_PAGER_IN_USE").unwrap_or_default();
    hedgerow::repository::boolean(value.as_bytes().as_bstr()).unwrap_or(false)
}

/// Characters per line of standard output: from `COLUMNS`, or the terminal, or 80.
pub fn output_width() -> usize {
    let asked = variable("COLUMNS").unwrap_or_default();
    let asked = asked.as_bytes().trim_ascii_start();
    let (digits, _) = asked.split_at(asked.iter().take_while(|it| it.is_ascii_digit()).count());
    match digits.to_str().unwrap_or_default().parse().unwrap_or(0) {
        0 => hedgerow_fs::terminal_width(hedgerow_fs::StandardOutput).map_or(80, usize::from),
        asked => asked,
    }
}

/// The definition with help in lines of some width, also where COLUMNS is 0.
pub fn with_width(command: clap::Command) -> clap::Command {
    match variable("COLUMNS") {
        Some(asked) if asked == "0" => command.term_width(output_width()),
        _ => command,
    }
}

/// Refuses to make an image of files under fakeroot, if it gets their owners.
pub fn refuse_fakeroot(reads_owners: bool) -> Result<(), hedgerow::image::UnderFakeroot> {
    hedgerow::image::refuse_fakeroot(variable("LD_PRELOAD").filter(|_| reads_owners))
}

/// Resolves a path relative to the directory that `-C` names.
pub fn from_directory(global: &Global, path: &Path) -> PathBuf {
    let mut from = PathBuf::new();
    global.directory.iter().for_each(|part| from.push(part));
    from.push(path);
    from
}

/// The environment variables that git reads, relative to the directory that `-C` names.
pub fn of_git(global: &Global) -> Result<Environment, Failure> {
    of_git_in(start(global)?, global)
}

/// As [`of_git`], for a clone, which need not be made below the current directory: that may be gone.
pub fn of_clone(global: &Global) -> Result<Environment, Failure> {
    let here = start(global).unwrap_or_else(|_| hedgerow_fs::NAMELESS_DIRECTORY.into());
    of_git_in(here, global)
}

fn of_git_in(directory: PathBuf, global: &Global) -> Result<Environment, Failure> {
    let output = Output::new(global);
    let troubles = TroubleListener::new(move |trouble| match trouble {
        Trouble::IgnoredHook(advice) => output.advise(advice),
        Trouble::UnstartableHook(words) => output.fatal(words),
        Trouble::UnreadRules(words) => output.warn(words),
    });
    Ok(Environment {
        troubles,
        own_program: hedgerow_fs::own_program().ok(),
        in_place_of: as_git::call(),
        ..Environment::from_vars(std::env::vars_os(), directory)?
    })
}

/// The repository that git would use in `environment`, after warnings of what is wrong with it and with
/// its objects.
pub fn repository(environment: &Environment, output: &Output) -> Result<Repository, Failure> {
    let repository = for_packs(environment, output)?;
    let warnings = repository.objects().warnings();
    warnings.iter().for_each(|warning| output.warn(warning));
    Ok(repository)
}

/// As [`repository`], for commands about packs: they tell what is wrong with the objects when they end.
pub fn for_packs(environment: &Environment, output: &Output) -> Result<Repository, Failure> {
    let repository = Repository::discover(environment)?;
    if repository.contradicts_itself() {
        output.warn("core.bare and core.worktree do not make sense");
    }
    Ok(repository)
}

/// As [`of_git`], for commands about packs: objects are read as stored, without replacements.
pub fn of_git_unreplaced(global: &Global) -> Result<Environment, Failure> {
    Ok(Environment {
        no_replace_objects: true,
        ..of_git(global)?
    })
}

/// As [`of_git_unreplaced`], for commands that delete unused objects: no accelerator is trusted.
pub fn of_git_unaided(global: &Global) -> Result<Environment, Failure> {
    Ok(Environment {
        unaided: true,
        ..of_git_unreplaced(global)?
    })
}

/// All variables, as this process found them if nothing was obeyed yet.
pub fn variables() -> hedgerow::shim::Variables {
    hedgerow::shim::Variables::new(std::env::vars_os().collect())
}

/// The real git, with hedgerow in the place of the programs that it starts, the `helper` among them.
///
/// # Errors
/// There is no git.
pub fn assisted_git(helper: Option<Helper>) -> Result<AssistedGit, Failure> {
    let program = hedgerow_fs::own_program().map_err(Failure::fatal)?;
    let temporary = std::env::temp_dir();
    AssistedGit::new(&variables(), &program, &temporary, helper).map_err(Failure::fatal)
}

/// The environment variables that Mercurial reads, likewise. The directory has its links resolved.
pub fn of_hg(global: &Global) -> Result<hedgerow::status::mercurial::Environment, Failure> {
    let directory = hedgerow_fs::real_path(&start(global)?).map_err(Failure::fatal)?;
    let vars = std::env::vars_os();
    Ok(hedgerow::status::mercurial::Environment::from_vars(
        vars, directory,
    ))
}

/// Refuses a `-C` directory that does not exist, before some file in it is reported missing.
pub fn check_start(global: &Global) -> Result<(), hedgerow_fs::Error> {
    let mut named = PathBuf::new();
    for part in &global.directory {
        named.push(part);
        if !named.as_os_str().is_empty() {
            // As in git, each is named as it was given.
            hedgerow_fs::check_directory(&named)
                .map_err(|error| hedgerow_fs::Error::new("change to", part, error.source))?;
        }
    }
    Ok(())
}

static WORDS: OnceLock<Vec<OsString>> = OnceLock::new();

/// The words of the command line: as they were typed, or without git's global options once these
/// were obeyed.
pub fn words() -> Vec<OsString> {
    let obeyed = WORDS.get().cloned();
    obeyed.unwrap_or_else(|| std::env::args_os().collect())
}

/// Obeys git's global options: sets their variables, for the programs that are started, too.
///
/// # Errors
/// There are threads already.
pub fn obey(taken: Taken) -> Result<(), hedgerow_fs::Error> {
    if !taken.variables.is_empty() {
        hedgerow_fs::set_variables(&taken.variables)?;
    }
    // Only the first call counts, and there is no other.
    let _ = WORDS.set(taken.words);
    Ok(())
}

/// The start directory with links resolved, if it can be determined; `parts` are the values of
/// `-C`.
pub fn start_directory(parts: &[PathBuf]) -> Option<PathBuf> {
    hedgerow_fs::real_path(&hedgerow_fs::start_directory(parts).ok()?).ok()
}

/// The start directory, which [`check_start`] has looked at.
fn start(global: &Global) -> Result<PathBuf, Failure> {
    hedgerow_fs::start_directory(&global.directory).map_err(|error| {
        let reason = hedgerow_fs::reason(&error);
        Failure::fatal(format_args!(
            "Unable to read current working directory: {reason}"
        ))
    })
}
