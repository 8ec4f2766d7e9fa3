//! The settings of a status, from the command line and the configuration: git-status(1) under
//! "CONFIGURATION".

use super::arguments::Status as Command;
use crate::environment;
use crate::failure::Failure;
use crate::global::Color;
use bstr::{BString, ByteSlice};
use hedgerow::display::Columns;
use hedgerow::repository::Repository;
use hedgerow::status::Colors;
use hedgerow::status::Score;
use hedgerow::status::{ignored_in_submodules, untracked_mode, Configuration};
use hedgerow::status::{IgnoreSubmodules, IgnoredFiles, Options, RenameWish, UntrackedFiles};
use hedgerow::Execution;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

/// The output format of a status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Long,
    Short,
    PorcelainV1,
    PorcelainV2,
}

/// All settings that are decided before the repository is examined.
#[derive(Debug)]
pub struct Settings {
    pub form: Form,
    pub null: bool,
    /// Whether to show the branch, in the formats where that is optional.
    pub branch: bool,
    pub show_stash: bool,
    /// Whether to count commits between the branch and its upstream.
    pub ahead_behind: bool,
    /// The directory that shown paths are relative to, with a slash at its end.
    pub prefix: BString,
    pub options: Options,
    /// The colors; `None` without colors.
    pub colors: Option<Colors>,
    /// The layout of untracked and ignored paths in the long format; `None`: one per line.
    pub columns: Option<Columns>,
    /// `advice.statusHints`: show hints.
    pub hints: bool,
    /// The comment prefix for lines of the long format, if they are to be comments.
    pub comment: Option<BString>,
    /// `status.submoduleSummary`: how many commits of each changed submodule to list in the long
    /// format, all if it is negative.
    pub submodule_summary: Option<i64>,
    /// `advice.statusUoption`: say so if the search for untracked files is slow.
    pub advises_when_slow: bool,
    /// `core.fsmonitor` is set.
    pub is_monitored: bool,
}

impl Settings {
    /// Resolves the settings. Colors and many other configured values only apply to the formats for
    /// people.
    pub fn resolve(
        repository: &Repository,
        command: &Command,
        color: Color,
    ) -> Result<Self, Failure> {
        let configuration = Configuration::read(repository)?;
        let columns = configuration.columns.with(&command.column)?;
        let asked = asked_form(command)?;
        let is_porcelain = matches!(asked, Some(Form::PorcelainV1 | Form::PorcelainV2));
        let for_people = !is_porcelain && !command.null;
        let form = match asked {
            Some(form) => form,
            None if for_people && configuration.short == Some(true) && !command.no_form => {
                Form::Short
            }
            None => Form::Long,
        };
        let configured = |value: Option<bool>| value.filter(|_| for_people);
        let branch = wish(command.branch, command.no_branch);
        let stash = wish(command.show_stash, command.no_show_stash);
        let counted = wish(command.ahead_behind, command.no_ahead_behind);
        let is_colored = match color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => {
                let in_pager = configuration.color_in_pager;
                let takes_colors = environment::output_takes_colors(in_pager);
                configuration.color.applies(takes_colors)
            }
        };
        let options = options(command, configuration.untracked)?;
        let hides_submodules = options.ignore_submodules == Some(IgnoreSubmodules::All);
        Ok(Settings {
            form,
            null: command.null,
            branch: branch.or(configured(configuration.branch)) == Some(true),
            show_stash: stash.or(configuration.show_stash) == Some(true),
            ahead_behind: counted.or(configured(configuration.ahead_behind)) != Some(false),
            prefix: if configuration.relative_paths && form != Form::PorcelainV1 {
                repository.prefix().to_owned()
            } else {
                BString::default()
            },
            options,
            colors: Some(configuration.colors).filter(|_| is_colored && !is_porcelain),
            columns: Some(columns)
                .filter(|columns| columns.when.applies(environment::output_is_read())),
            hints: configuration.hints,
            comment: configuration.comment,
            submodule_summary: configuration
                .submodule_summary
                .filter(|_| form == Form::Long && !hides_submodules),
            advises_when_slow: configuration.advises_when_slow,
            is_monitored: configuration.is_monitored,
        })
    }
}

/// The format selected on the command line.
fn asked_form(command: &Command) -> Result<Option<Form>, Failure> {
    if let Some(version) = &command.porcelain {
        return match version.as_bytes() {
            b"v1" | b"1" => Ok(Some(Form::PorcelainV1)),
            b"v2" | b"2" => Ok(Some(Form::PorcelainV2)),
            version => Err(refused("unsupported porcelain version", version)),
        };
    }
    match (command.short, command.long, command.null) {
        (true, ..) => Ok(Some(Form::Short)),
        (_, true, true) => Err(Failure::fatal(
            "options '--long' and '-z' cannot be used together",
        )),
        (_, true, false) => Ok(Some(Form::Long)),
        (.., true) => Ok(Some(Form::PorcelainV1)),
        (.., false) => Ok(None),
    }
}

/// The value that two contradicting options give, if either is set.
fn wish(yes: bool, no: bool) -> Option<bool> {
    match (yes, no) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    }
}

fn options(command: &Command, configured: UntrackedFiles) -> Result<Options, Failure> {
    let untracked = match &command.untracked_files {
        Some(mode) => untracked_mode(mode.as_bytes().as_bstr())?,
        None => configured,
    };
    let ignored = match command.ignored.as_ref().map(|mode| mode.as_bytes()) {
        None | Some(b"no") => IgnoredFiles::No,
        Some(b"traditional") => IgnoredFiles::Traditional,
        Some(b"matching") => IgnoredFiles::Matching,
        Some(mode) => return Err(refused("Invalid ignored mode", mode)),
    };
    if ignored == IgnoredFiles::Matching && untracked == UntrackedFiles::No {
        return Err(Failure::fatal(
            "Unsupported combination of ignored and untracked-files arguments",
        ));
    }
    let ignore_submodules = command.ignore_submodules.as_ref();
    let ignore_submodules = ignore_submodules
        .map(|when| ignored_in_submodules(when.as_bytes().as_bstr()))
        .transpose()?;
    let bytes = |path: &OsString| BString::from(path.as_bytes());
    Ok(Options {
        untracked,
        ignored,
        ignore_submodules,
        renames: renames(command),
        optional_locks: !command.no_optional_locks,
        pathspecs: command.paths.iter().map(bytes).collect(),
        execution: Execution::default(),
    })
}

fn renames(command: &Command) -> RenameWish {
    let minimum = |words: &Option<OsString>| {
        let words = words.as_ref()?;
        Some(Score::from_words(words.as_bytes()))
    };
    match &command.find_renames {
        // --renames and --no-renames also override configured copy detection.
        Some(words) if command.renames || command.no_renames => RenameWish::Renames {
            minimum: minimum(words),
        },
        Some(words) => RenameWish::AtLeastRenames {
            minimum: minimum(words),
        },
        None if command.no_renames => RenameWish::No,
        None if command.renames => RenameWish::Renames { minimum: None },
        None => RenameWish::FromConfiguration,
    }
}

fn refused(what: &str, word: &[u8]) -> Failure {
    Failure::fatal(format_args!("{what} '{}'", word.as_bstr()))
}
