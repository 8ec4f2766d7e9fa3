//! `hedgerow stash`: git-stash(1).

pub use super::stash_options::spelled_out;

use super::advice;
use super::diff_shown::{Settings, ShownDifferences};
use super::pathspec_file::PathspecFile;
use super::run::Run;
use super::writing::Writing;
use crate::arguments::{Arguments, Command};
use crate::failure::{Failure, REFUSED};
use crate::global::Global;
use crate::output::Output;
use crate::trees::{self, checkout_options, messages};
use crate::{git_options, status};
use bstr::{BStr, BString, ByteSlice};
use clap::{Args, Parser, Subcommand};
use hedgerow::diff::{show, supply_contents, FileContents, Formats};
use hedgerow::repository::{locked, Error};
use hedgerow::stash::{
    apply, clear_stash, create_entry, drop_entry, entry_changes, prefixed, push, store_entry,
    Applied, ApplyLabels, ApplyOptions, ApplyOutcome, PushOptions, PushOutcome, Said,
    ShownUntracked, StashEntry, UntrackedWish, STASH,
};
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

/// Stash local changes, and restore them
///
/// Without a subcommand, same as push.
#[derive(Debug, Args)]
pub struct Stash {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Stash local changes, and reset the index and the working tree to HEAD
    Push(Push),
    /// The same; all words are the message
    #[command(hide = true)]
    Save(Push),
    /// Apply an entry and drop it
    Pop(Apply),
    /// Apply an entry
    Apply(Apply),
    /// Delete an entry
    Drop(Entry),
    /// Delete all entries
    Clear(Words),
    /// List the entries
    List,
    /// Show what an entry changes: numbers of lines, or what the options say
    Show(Box<Show>),
    /// Create a branch at the base of an entry, and apply the entry there
    Branch(Words),
    /// Create the commits of an entry without storing it
    Create(Words),
    /// Store a commit as the newest entry
    Store(Store),
}

#[derive(Debug, Args)]
struct Push {
    /// Keep staged changes in the index and the working tree
    #[arg(short, long)]
    keep_index: bool,
    /// Do not
    #[arg(long)]
    no_keep_index: bool,
    /// Stash only staged changes
    #[arg(short = 'S', long)]
    staged: bool,
    /// Also stash untracked files
    #[arg(short = 'u', long)]
    include_untracked: bool,
    /// Also stash untracked and ignored files
    #[arg(short, long)]
    all: bool,
    /// The message of the entry
    #[arg(short, long, allow_hyphen_values = true, overrides_with = "message")]
    message: Option<OsString>,
    #[command(flatten)]
    file: PathspecFile,
    #[command(flatten)]
    writing: Writing,
    /// Only paths that match
    #[arg(value_name = "PATHSPEC")]
    words: Vec<OsString>,
}

#[derive(Debug, Args)]
struct Apply {
    /// Also restore the index
    #[arg(long)]
    index: bool,
    /// Do not
    #[arg(long)]
    no_index: bool,
    /// Label of the current side in conflicts
    #[arg(long, allow_hyphen_values = true)]
    label_ours: Option<OsString>,
    /// Label of the stashed side in conflicts
    #[arg(long, allow_hyphen_values = true)]
    label_theirs: Option<OsString>,
    /// Label of the common base in conflicts
    #[arg(long, allow_hyphen_values = true)]
    label_base: Option<OsString>,
    #[command(flatten)]
    writing: Writing,
    /// A number or a revision [default: the newest entry]
    #[arg(value_name = "STASH")]
    words: Vec<OsString>,
}

#[derive(Debug, Args)]
struct Entry {
    /// A number or a revision [default: the newest entry]
    #[arg(value_name = "STASH")]
    words: Vec<OsString>,
}

#[derive(Debug, Args)]
struct Show {
    #[command(flatten)]
    shown: ShownDifferences,
    /// Show untracked files, too
    #[arg(short = 'u', long)]
    include_untracked: bool,
    /// Do not
    #[arg(long)]
    no_include_untracked: bool,
    /// Show only untracked files
    #[arg(long)]
    only_untracked: bool,
    /// A number, or a revision; the newest entry if none is given
    #[arg(value_name = "STASH")]
    words: Vec<OsString>,
}

#[derive(Debug, Args)]
struct Words {
    #[arg(value_name = "WORD", allow_hyphen_values = true)]
    words: Vec<OsString>,
}

#[derive(Debug, Args)]
struct Store {
    /// The message of the entry
    #[arg(short, long, allow_hyphen_values = true, overrides_with = "message")]
    message: Option<OsString>,
    #[arg(value_name = "COMMIT")]
    words: Vec<OsString>,
}

pub fn run(command: &Stash, global: &Global, output: &Output) -> Result<u8, Failure> {
    let plain = Writing::default();
    let writing = match &command.verb {
        Verb::Push(push) | Verb::Save(push) => &push.writing,
        Verb::Pop(apply) | Verb::Apply(apply) => &apply.writing,
        _ => &plain,
    };
    let run = Run::start(writing, global, output)?;
    let code = match &command.verb {
        Verb::Push(command) => pushed(&run, command, false),
        Verb::Save(command) => pushed(&run, command, true),
        Verb::Pop(command) => brought_back(&run, command, true),
        Verb::Apply(command) => brought_back(&run, command, false),
        Verb::Drop(command) => dropped(&run, &command.words),
        Verb::Clear(command) => cleared(&run, &command.words),
        Verb::List => listed(&run),
        Verb::Show(command) => shown(&run, command),
        Verb::Branch(command) => branched(&run, &command.words),
        Verb::Create(command) => created(&run, &command.words),
        Verb::Store(command) => stored(&run, command),
    }?;
    run.statistics()?;
    Ok(code)
}

fn bytes(word: &OsString) -> BString {
    word.as_bytes().into()
}

fn pushed(run: &Run<'_>, command: &Push, is_save: bool) -> Result<u8, Failure> {
    let (output, quiet) = (run.output, run.global.quiet);
    let untracked = match (command.all, command.include_untracked) {
        (true, _) => UntrackedWish::All,
        (false, true) => UntrackedWish::Untracked,
        (false, false) => UntrackedWish::None,
    };
    if command.staged && untracked != UntrackedWish::None {
        output.error_line("Can't use --staged and --include-untracked or --all at the same time");
        return Ok(REFUSED);
    }
    let words: Vec<BString> = command.words.iter().map(bytes).collect();
    let mut message = command.message.as_ref().map(bytes);
    let mut pathspecs = Vec::new();
    if is_save {
        if !words.is_empty() {
            message = Some(bstr::join(" ", &words).into());
        }
    } else {
        pathspecs = words.into_iter().skip_while(|word| word == "--").collect();
        if let Some(listed) = run.listed(&command.file)? {
            if command.staged {
                return Err(Failure::fatal(
                    "options '--pathspec-from-file' and '--staged' cannot be used together",
                ));
            }
            if !pathspecs.is_empty() {
                return Err(Failure::fatal(
                    "'--pathspec-from-file' and pathspec arguments cannot be used together",
                ));
            }
            pathspecs = listed;
        }
    }
    let options = PushOptions {
        pathspecs,
        message,
        keep_index: command.keep_index,
        staged: command.staged,
        untracked,
        threshold: run.threshold(),
        execution: run.execution().clone(),
    };
    let Some(outcome) = unless_locked(run.metered(|| push(&run.repository, &options)), output)?
    else {
        return Ok(REFUSED);
    };
    if let PushOutcome::Pushed(pushed) = &outcome {
        warn(&pushed.warnings, output);
        if !quiet {
            let line = [
                b"Saved working directory and index state ",
                &pushed.message[..],
            ];
            output.data(&[&line.concat()[..], b"\n"].concat());
        }
        tell(run, &pushed.said)?;
        if pushed.is_left && command.staged && !quiet {
            output.error_line("Cannot remove worktree changes");
        }
        for spec in &pushed.not_kept {
            output.error(messages::unknown(prefixed(&run.repository, spec).as_bstr()));
        }
        let code = run.told(&pushed.done).min(REFUSED);
        let is_done = pushed.not_kept.is_empty() && !pushed.is_left;
        let is_done = is_done && pushed.done.hook_failure.is_none();
        return Ok(if is_done { code } else { REFUSED });
    }
    Ok(not_pushed(run, &outcome, true))
}

/// Tells what git says of changes that are to go from the working tree.
fn tell(run: &Run<'_>, list: &[Said]) -> Result<(), Failure> {
    for said in list {
        run.output.error_line(&said.words);
        if let Some((key, text)) = &said.advice {
            if run.repository.advises(key)? {
                let text = advice::with_switch(&run.repository, key, text.clone());
                run.output.advise(&text);
            }
        }
    }
    Ok(())
}

/// The result; `None` if the index cannot be locked, which is told.
fn unless_locked<T>(result: Result<T, Error>, output: &Output) -> Result<Option<T>, Failure> {
    match result {
        Err(Error::Fs(error)) if error.path.ends_with("index.lock") => {
            output.error(locked(&error).unwrap_or_else(|| error.to_string()));
            output.error("could not write index");
            Ok(None)
        }
        other => Ok(Some(other?)),
    }
}

fn warn(warnings: &[String], output: &Output) {
    for warning in warnings {
        if warning.starts_with("Ignoring path ") || warning.starts_with("Warning: ") {
            output.error_line(warning);
        } else {
            output.warn(warning);
        }
    }
}

/// Tells why nothing was put aside. Only `stash push` can be quiet.
pub fn not_pushed(run: &Run<'_>, outcome: &PushOutcome, is_push: bool) -> u8 {
    let (output, quiet) = (run.output, run.global.quiet && is_push);
    let say = |line: &str| {
        if !quiet {
            output.error_line(line);
        }
    };
    match outcome {
        PushOutcome::Pushed(_) => return 0,
        PushOutcome::NoChanges(warnings) => {
            warn(warnings, output);
            if !quiet && is_push {
                output.data(b"No local changes to save\n");
            }
            return 0;
        }
        PushOutcome::NothingStaged => say("No staged changes"),
        PushOutcome::NoCommit => say("You do not have the initial commit yet"),
        PushOutcome::Unmatched(specs) => {
            for spec in specs {
                output.error(messages::unknown(prefixed(&run.repository, spec).as_bstr()));
            }
            output.error_line("Did you forget to 'git add'?");
        }
        PushOutcome::Unmerged(paths) => needs_merge(paths, output),
        PushOutcome::Unsaved {
            said,
            error,
            warnings,
        } => {
            warn(warnings, output);
            said.iter().for_each(|reason| output.error(reason));
            if said.is_empty() {
                output.error(error);
            } else {
                output.fatal(error);
            }
            say("Cannot save the current worktree state");
        }
        PushOutcome::UnsavedIndex(reason) => {
            output.error(reason);
            say("Cannot save the current index state");
        }
        PushOutcome::Unnamed(error) => {
            output.error(error);
            say("Cannot save the current status");
        }
    }
    REFUSED
}

fn needs_merge(paths: &[BString], output: &Output) {
    for path in paths {
        output.data(&[&path[..], b": needs merge\n"].concat());
    }
    output.error("could not write index");
}

/// The entry that `words` name; `None` if that was told.
fn entry(run: &Run<'_>, words: &[OsString]) -> Result<Option<StashEntry>, Failure> {
    if let [_, _, ..] = words {
        let list: String = words
            .iter()
            .map(|word| format!(" '{}'", word.to_string_lossy()))
            .collect();
        run.output
            .error_line(format_args!("Too many revisions specified:{list}"));
        return Ok(None);
    }
    let word = words.first().map(bytes);
    let word: Option<&BStr> = word.as_ref().map(|word| word.as_bstr());
    match StashEntry::find(&run.repository, word) {
        Ok(Some(entry)) => Ok(Some(entry)),
        Ok(None) => {
            run.output.error_line("No stash entries found.");
            Ok(None)
        }
        Err(error @ Error::Usage { .. }) => {
            run.output.error(error);
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

/// The same, if it is one of the stash.
fn stashed(run: &Run<'_>, words: &[OsString]) -> Result<Option<StashEntry>, Failure> {
    let found = entry(run, words)?;
    if let Some(entry) = found.as_ref().filter(|entry| !entry.is_in_stash) {
        run.output.error(format_args!(
            "'{}' is not a stash reference",
            entry.revision
        ));
        return Ok(None);
    }
    Ok(found)
}

fn brought_back(run: &Run<'_>, command: &Apply, is_pop: bool) -> Result<u8, Failure> {
    let found = if is_pop {
        stashed(run, &command.words)?
    } else {
        entry(run, &command.words)?
    };
    let Some(entry) = found else {
        return Ok(REFUSED);
    };
    let configured = run.repository.config().bool("stash.index")? == Some(true);
    let label = |label: &Option<OsString>| label.as_ref().map(bytes);
    let options = ApplyOptions {
        index: !command.no_index && (command.index || configured),
        labels: ApplyLabels {
            ours: label(&command.label_ours),
            theirs: label(&command.label_theirs),
            base: label(&command.label_base),
        },
        threshold: run.threshold(),
        execution: run.execution().clone(),
        ..ApplyOptions::default()
    };
    let code = applied(run, &entry, &options)?;
    if !is_pop {
        return Ok(code);
    }
    if code != 0 {
        run.output
            .data(b"The stash entry is kept in case you need it again.\n");
        return Ok(code);
    }
    drop_found(run, &entry)
}

/// Brings an entry back and tells how that went; 0 if all came back.
fn applied(run: &Run<'_>, entry: &StashEntry, options: &ApplyOptions) -> Result<u8, Failure> {
    let (output, quiet) = (run.output, run.global.quiet);
    let applied = run.metered(|| apply(&run.repository, entry, options));
    let Some(applied) = unless_locked(applied, output)? else {
        return Ok(REFUSED);
    };
    let Applied {
        outcome,
        messages,
        done,
        in_the_way,
        not_unstaged,
    } = &applied;
    if !quiet
        || messages
            .iter()
            .any(|message| message == "Already up to date.")
    {
        for message in messages {
            output.data(&[&message[..], b"\n"].concat());
        }
    }
    match outcome {
        ApplyOutcome::Unmerged(paths) => {
            needs_merge(paths, output);
            return Ok(REFUSED);
        }
        ApplyOutcome::IndexMisfits(reasons) => {
            reasons.iter().for_each(|reason| output.error(reason));
            output.error("conflicts in index. Try without --index.");
            return Ok(REFUSED);
        }
        ApplyOutcome::Rejected(rejects) => {
            let advises = run.repository.advises(messages::REJECTED_HINT)?;
            messages::rejected_by_merge(rejects, advises, output);
        }
        ApplyOutcome::Staged(paths) => output.error(format_args!(
            "Your local changes to the following files would be overwritten by merge:\n  {}",
            BString::from(bstr::join(" ", paths))
        )),
        ApplyOutcome::Clean | ApplyOutcome::Conflicts | ApplyOutcome::Incomplete => {}
    }
    if !matches!(outcome, ApplyOutcome::Clean) && options.index {
        output.error_line("Index was not unstashed.");
    }
    run.told(done);
    for path in not_unstaged {
        output.error(format_args!(
            "'{path}' appears as both a file and as a directory"
        ));
    }
    for words in in_the_way {
        output.error_line(words);
    }
    if !in_the_way.is_empty() {
        output.error("could not restore untracked files from stash");
    }
    if !quiet {
        show_status(run)?;
    }
    Ok(if applied.is_complete() { 0 } else { REFUSED })
}

/// What `status` shows.
fn show_status(run: &Run<'_>) -> Result<(), Failure> {
    let arguments = Arguments::try_parse_from(["hedgerow", "status"]);
    let Ok(Some(Command::Status(command))) = arguments.map(|it| it.command) else {
        return Err(Failure::fatal("status takes no options here"));
    };
    status::run(&command, run.global, run.output).map(drop)
}

fn dropped(run: &Run<'_>, words: &[OsString]) -> Result<u8, Failure> {
    match stashed(run, words)? {
        Some(entry) => drop_found(run, &entry),
        None => Ok(REFUSED),
    }
}

fn drop_found(run: &Run<'_>, entry: &StashEntry) -> Result<u8, Failure> {
    match drop_entry(&run.repository, entry) {
        Ok(()) => {}
        Err(error @ Error::Usage { .. }) => {
            run.output.error(error);
            return Ok(REFUSED);
        }
        Err(error) => return Err(error.into()),
    }
    if !run.global.quiet {
        let id = format!(" ({})\n", entry.commit);
        let line = [b"Dropped ", &entry.revision[..], id.as_bytes()];
        run.output.data(&line.concat());
    }
    Ok(0)
}

fn cleared(run: &Run<'_>, words: &[OsString]) -> Result<u8, Failure> {
    if !words.is_empty() {
        let reason = "git stash clear with arguments is unimplemented";
        return Err(Failure::refused(reason));
    }
    clear_stash(&run.repository)?;
    Ok(0)
}

fn listed(run: &Run<'_>) -> Result<u8, Failure> {
    if run.repository.reference(STASH.into())?.is_none() {
        return Ok(0);
    }
    for (number, entry) in run.repository.reflog(STASH.into())?.iter().enumerate() {
        let start = format!("stash@{{{number}}}: ");
        let line = [start.as_bytes(), &entry.message, b"\n"];
        run.output.data(&line.concat());
    }
    Ok(0)
}

fn shown(run: &Run<'_>, command: &Show) -> Result<u8, Failure> {
    let Some(entry) = entry(run, &command.words)? else {
        return Ok(REFUSED);
    };
    let (repository, config) = (&run.repository, run.repository.config());
    let configured = |key: &str, default: bool| -> Result<bool, Error> {
        Ok(config.bool(key)?.unwrap_or(default))
    };
    let formats = if run.global.quiet {
        Formats::default()
    } else if command.shown == ShownDifferences::default() {
        Formats {
            stat: configured("stash.showStat", true)?,
            patch: configured("stash.showPatch", false)?,
            ..Formats::default()
        }
    } else {
        command.shown.formats()?.unwrap_or(Formats {
            patch: true,
            ..Formats::default()
        })
    };
    let included = !command.no_include_untracked
        && (command.include_untracked || configured("stash.showIncludeUntracked", false)?);
    let untracked = match (command.only_untracked, included) {
        (true, _) => ShownUntracked::Only,
        (false, true) => ShownUntracked::Included,
        (false, false) => ShownUntracked::None,
    };
    let (settings, execution) = (Settings::User, run.execution());
    let options = command
        .shown
        .options(repository, formats, settings, run.global, execution)?;
    let pairs = match entry_changes(repository, &entry, untracked, execution) {
        Err(error @ Error::Usage { .. }) => {
            run.output.error(error);
            return Err(Failure::fatal("failed to unpack trees"));
        }
        other => other?,
    };
    supply_contents(repository, &pairs, &options)?;
    let contents = FileContents::of_objects(repository);
    let mut sink = |text: &[u8]| run.output.data(text);
    let differs = show(repository, pairs, &contents, &options, &mut sink)?;
    let tells = command.shown.exit_code || run.global.quiet;
    Ok(if tells && differs { REFUSED } else { 0 })
}

fn branched(run: &Run<'_>, words: &[OsString]) -> Result<u8, Failure> {
    let Some((branch, words)) = words.split_first() else {
        run.output.error_line("No branch name specified");
        return Ok(REFUSED);
    };
    let Some(entry) = entry(run, words)? else {
        return Ok(REFUSED);
    };
    let base = entry.base.to_string();
    let checkout: Vec<OsString> =
        ["checkout".into(), "-b".into(), branch.clone(), base.into()].into();
    let spelled = git_options::spelled_out(&checkout_options::CHECKOUT, checkout)?;
    let arguments = Arguments::try_parse_from(std::iter::once("hedgerow".into()).chain(spelled));
    let Ok(Some(Command::Checkout(command))) = arguments.map(|it| it.command) else {
        return Err(Failure::fatal("checkout takes other words here"));
    };
    let code = match trees::checkout::run(&command, run.global, run.output) {
        Ok(code) => code,
        Err(failure) => {
            return Err(Failure {
                exit_code: REFUSED,
                ..failure
            })
        }
    };
    if code != 0 {
        return Ok(REFUSED);
    }
    let options = ApplyOptions {
        index: true,
        threshold: run.threshold(),
        execution: run.execution().clone(),
        ..ApplyOptions::default()
    };
    // HEAD has moved.
    let moved = Run::start(&Writing::default(), run.global, run.output)?;
    match applied(&moved, &entry, &options)? {
        0 if entry.is_in_stash => drop_found(&moved, &entry),
        code => Ok(code),
    }
}

fn created(run: &Run<'_>, words: &[OsString]) -> Result<u8, Failure> {
    let words: Vec<BString> = words.iter().map(bytes).collect();
    let options = PushOptions {
        message: Some(bstr::join(" ", &words).into()),
        execution: run.execution().clone(),
        ..PushOptions::default()
    };
    let created = create_entry(&run.repository, &options);
    let Some(outcome) = unless_locked(created, run.output)? else {
        return Ok(REFUSED);
    };
    if let PushOutcome::Pushed(created) = &outcome {
        warn(&created.warnings, run.output);
        run.output.data(format!("{}\n", created.commit).as_bytes());
    }
    Ok(not_pushed(run, &outcome, false))
}

fn stored(run: &Run<'_>, command: &Store) -> Result<u8, Failure> {
    let (output, quiet) = (run.output, run.global.quiet);
    let [word] = command.words.as_slice() else {
        if !quiet {
            output.error_line("\"git stash store\" requires one <commit> argument");
        }
        return Ok(REFUSED);
    };
    let word = bytes(word);
    let Ok(commit) = run.repository.resolve(word.as_bstr()) else {
        if !quiet {
            output.error_line(format_args!("Cannot update {STASH} with {word}"));
        }
        return Ok(REFUSED);
    };
    let message = command.message.as_ref().map(bytes);
    let message = message.unwrap_or_else(|| "Created via \"git stash store\".".into());
    store_entry(&run.repository, &commit, message.as_bstr())?;
    Ok(0)
}
