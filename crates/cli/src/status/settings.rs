//! What the command line and the configuration together ask of a status: git-status(1) under
//! "CONFIGURATION".

use crate::arguments::Status as Command;
use crate::failure::Failure;
use bstr::{BString, ByteSlice};
use hedgerow_git::repository::Repository;
use hedgerow_git::status::rename::Score;
use hedgerow_git::status::{IgnoreSubmodules, IgnoredFiles, Options, RenameWish, UntrackedFiles};
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

/// The form in which a status is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Long,
    Short,
    PorcelainV1,
    PorcelainV2,
}

/// Everything that is decided before anything is looked at.
#[derive(Debug)]
pub struct Settings {
    pub form: Form,
    pub null: bool,
    /// Tell of the branch, in the forms that need not.
    pub branch: bool,
    pub show_stash: bool,
    /// Count commits between the branch and its upstream.
    pub ahead_behind: bool,
    /// The directory that paths are shown relative to, with a slash at its end.
    pub prefix: BString,
    pub options: Options,
}

impl Settings {
    /// Decides. The configuration has a say in the forms for people alone.
    pub fn resolve(repository: &Repository, command: &Command) -> Result<Self, Failure> {
        let config = repository.config();
        let version = command.porcelain.as_ref().map(|version| version.as_bytes());
        let asked = match (version, command.short, command.long) {
            (Some(b"v1" | b"1"), ..) => Some(Form::PorcelainV1),
            (Some(b"v2" | b"2"), ..) => Some(Form::PorcelainV2),
            (Some(version), ..) => {
                return Err(refused("unsupported porcelain version", version));
            }
            (None, true, _) => Some(Form::Short),
            (None, false, true) => Some(Form::Long),
            (None, false, false) => None,
        };
        if asked == Some(Form::Long) && command.null {
            return Err(Failure::fatal(
                "options '--long' and '-z' cannot be used together",
            ));
        }
        let asked = asked.or(command.null.then_some(Form::PorcelainV1));
        let for_people = !matches!(asked, Some(Form::PorcelainV1 | Form::PorcelainV2));
        let for_people = for_people && !command.null;
        // What makes no sense is an error even where it has no say.
        let configured = |key: &str| -> Result<Option<bool>, Failure> {
            Ok(config.bool(key)?.filter(|_| for_people))
        };
        let short = configured("status.short")?;
        let configured_branch = configured("status.branch")?;
        let configured_count = configured("status.aheadBehind")?;
        let form = match asked {
            Some(form) => form,
            None if short == Some(true) => Form::Short,
            None => Form::Long,
        };
        let wish = |yes: bool, no: bool| match (yes, no) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        };
        let branch = wish(command.branch, command.no_branch).or(configured_branch);
        let stash = wish(command.show_stash, command.no_show_stash);
        let configured_stash = config.bool("status.showStash")?;
        let counted = wish(command.ahead_behind, command.no_ahead_behind);
        let relative = config.bool("status.relativePaths")?.unwrap_or(true);
        Ok(Settings {
            form,
            null: command.null,
            branch: branch.unwrap_or(false),
            show_stash: stash.or(configured_stash).unwrap_or(false),
            ahead_behind: counted.or(configured_count).unwrap_or(true),
            prefix: match relative && form != Form::PorcelainV1 {
                true => repository.prefix().to_owned(),
                false => BString::default(),
            },
            options: options(repository, command)?,
        })
    }
}

fn options(repository: &Repository, command: &Command) -> Result<Options, Failure> {
    let untracked = untracked(repository, command)?;
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
    let bytes = |path: &std::ffi::OsString| BString::from(path.as_bytes());
    Ok(Options {
        untracked,
        ignored,
        ignore_submodules: ignore_submodules(command)?,
        renames: renames(command),
        optional_locks: !command.no_optional_locks,
        pathspecs: command.paths.iter().map(bytes).collect(),
    })
}

fn renames(command: &Command) -> RenameWish {
    let minimum = |words: &Option<OsString>| {
        let words = words.as_ref()?;
        Some(Score::from_words(words.as_bytes()))
    };
    match &command.find_renames {
        // To want renames, or none, says also that the configuration's copies are not wanted.
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

fn ignore_submodules(command: &Command) -> Result<Option<IgnoreSubmodules>, Failure> {
    let Some(when) = &command.ignore_submodules else {
        return Ok(None);
    };
    Ok(Some(match when.as_bytes() {
        b"all" => IgnoreSubmodules::All,
        b"dirty" => IgnoreSubmodules::Dirty,
        b"untracked" => IgnoreSubmodules::Untracked,
        b"none" => IgnoreSubmodules::None,
        when => {
            let when = when.as_bstr();
            let reason = format_args!("bad --ignore-submodules argument: {when}");
            return Err(Failure::fatal(reason));
        }
    }))
}

fn untracked(repository: &Repository, command: &Command) -> Result<UntrackedFiles, Failure> {
    let mode = match &command.untracked_files {
        Some(mode) => Some(BString::from(mode.as_bytes())),
        None => repository.config().string("status.showUntrackedFiles"),
    };
    let Some(mode) = mode else {
        return match repository.config().bool("status.showUntrackedFiles")? {
            // A name without a value is a boolean that is on.
            Some(true) | None => Ok(UntrackedFiles::Normal),
            Some(false) => Ok(UntrackedFiles::No),
        };
    };
    let is = |words: &[&str]| {
        let mut words = words.iter();
        words.any(|word| mode.eq_ignore_ascii_case(word.as_bytes()))
    };
    match mode.as_bytes() {
        b"all" => Ok(UntrackedFiles::All),
        b"normal" | b"1" => Ok(UntrackedFiles::Normal),
        b"" | b"0" => Ok(UntrackedFiles::No),
        _ if is(&["true", "yes", "on"]) => Ok(UntrackedFiles::Normal),
        _ if is(&["false", "no", "off"]) => Ok(UntrackedFiles::No),
        mode => Err(refused("Invalid untracked files mode", mode)),
    }
}

fn refused(what: &str, word: &[u8]) -> Failure {
    Failure::fatal(format_args!("{what} '{}'", word.as_bstr()))
}
