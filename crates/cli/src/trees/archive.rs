//! `hedgerow archive`: git-archive(1) for tar archives.

use crate::environment;
use crate::execution;
use crate::failure::{Failure, FATAL};
use crate::git_options::{self, GitOption, GitOptions};
use crate::global::Global;
use crate::output::Output;
use crate::progress::Meter;
use crate::statistics;
use bstr::{BStr, BString, ByteSlice};
use clap::Args;
use hedgerow::archive::{
    write_archive, ArchiveFormat, ArchiveOutput, ExtraFile, TarOptions, FORMATS,
};
use hedgerow::repository::Repository;
use hedgerow::Stage;
use hedgerow_fs::{Destination, StandardOutput};
use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

pub const OPTIONS: GitOptions = GitOptions {
    command: "archive",
    keeps_separator: false,
    options: &[
        GitOption::switch(None, "format").with_value(),
        GitOption::switch(None, "prefix").with_value(),
        GitOption::switch(None, "add-file")
            .never_negated()
            .with_value(),
        GitOption::switch(None, "add-virtual-file")
            .never_negated()
            .with_value(),
        GitOption::switch(Some(b'o'), "output").with_value(),
        GitOption::switch(None, "worktree-attributes"),
        GitOption::switch(None, "mtime")
            .never_negated()
            .with_value(),
        GitOption::switch(Some(b'l'), "list"),
        GitOption::switch(None, "remote")
            .with_value()
            .refused("--remote=<repository> ..."),
        GitOption::switch(None, "exec")
            .with_value()
            .refused("--remote=<repository> --exec=<command> ..."),
    ],
};

/// Write a commit as a tar archive
///
/// Tar archives are the same, byte for byte, as git's. Options -0 to -9 set the level of compressed
/// archives.
#[derive(Debug, Args)]
#[command(
    override_usage = "hedgerow archive [OPTIONS] <TREE-ISH> [PATH]...\n       \
    hedgerow archive --list"
)]
pub struct Archive {
    /// The format: tar, or tar.gz or tgz [default: by the name of the output, else tar]
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<String>,
    /// Prepend PREFIX to all paths; usually a directory with a slash at its end
    #[arg(
        long,
        value_name = "PREFIX",
        default_value = "",
        hide_default_value = true
    )]
    pub prefix: OsString,
    /// Add a file, under the prefix given before this option
    #[arg(long, value_name = "FILE")]
    pub add_file: Vec<OsString>,
    /// Add a file with this content
    #[arg(long, value_name = "PATH:CONTENT")]
    pub add_virtual_file: Vec<OsString>,
    /// The values of both in the order in which they were given
    #[arg(long, hide = true)]
    pub extra: Vec<OsString>,
    /// The level of compression
    #[arg(long, hide = true)]
    pub level: Option<u32>,
    /// Write to FILE; an existing file is replaced when the archive is complete
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<OsString>,
    /// Read .gitattributes in the working tree instead of those in the tree
    #[arg(long)]
    pub worktree_attributes: bool,
    /// Modification time of all entries
    #[arg(long, value_name = "TIME")]
    pub mtime: Option<OsString>,
    /// List the formats
    #[arg(short, long)]
    pub list: bool,
    /// A commit or a tree, and paths in it
    #[arg(value_name = "TREE-ISH")]
    pub words: Vec<OsString>,
}

/// Ends the prefix in the value of `--extra`: no word of a command line has it.
const END: u8 = 0;

/// The words as clap expects them. The prefix of an added file is the one that stands before it.
///
/// # Errors
/// An option that is not supported, or that git would not take.
pub fn spelled_out(words: Vec<OsString>) -> Result<Vec<OsString>, Failure> {
    let is_level = |word: &OsStr| {
        let digits = word.as_bytes().strip_prefix(b"-").unwrap_or_default();
        !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
    };
    let end = words.iter().position(|word| word == "--");
    let (own, paths) = words.split_at(end.unwrap_or(words.len()));
    let mut level = None;
    let own = own.iter().filter(|word| {
        if is_level(word) {
            level = Some(OsString::from_vec(
                [b"--level=", &word.as_bytes()[1..]].concat(),
            ));
        }
        !is_level(word)
    });
    let words: Vec<OsString> = own.chain(paths).cloned().collect();
    let mut spelled = git_options::spelled_out(&OPTIONS, words)?;
    let mut prefix = Vec::new();
    for word in spelled.iter_mut().take_while(|word| *word != "--") {
        let bytes = word.as_bytes();
        if let Some(value) = bytes.strip_prefix(b"--prefix=") {
            prefix = value.to_vec();
        } else if let Some(file) = bytes.strip_prefix(b"--add-file=") {
            let value = [b"--extra=f", &prefix[..], &[END], file].concat();
            *word = OsString::from_vec(value);
        } else if let Some(text) = bytes.strip_prefix(b"--add-virtual-file=") {
            *word = OsString::from_vec([b"--extra=v", text].concat());
        }
    }
    if let Some(level) = level {
        spelled.insert(1, level);
    }
    Ok(spelled)
}

pub fn run(command: &Archive, global: &Global, output: &Output) -> Result<u8, Failure> {
    // What -v prints is git's: only the names of the files.
    let execution = execution::configurable(global)?;
    if command.list {
        if let Some(word) = command.words.first() {
            let word = word.as_bytes().as_bstr();
            let reason = format!("extra command line parameter '{word}'");
            return Err(Failure::fatal(reason));
        }
        let names = FORMATS.iter().map(|(name, _)| format!("{name}\n"));
        output.data(names.collect::<String>().as_bytes());
        return Ok(0);
    }
    let format = format(command)?;
    let Some((revision, paths)) = command.words.split_first() else {
        return Err(Failure::usage("a commit or a tree is missing"));
    };
    let repository = environment::repository(&environment::of_git(global)?, output)?;
    refuse_commands(&repository, command)?;
    let paths = paths.iter().map(|path| BString::from(path.as_bytes()));
    let options = TarOptions {
        prefix: command.prefix.as_bytes().into(),
        pathspecs: paths.collect(),
        extra: extra(command, &repository, global)?,
        mtime: command.mtime.as_ref().map(|time| time.as_bytes().into()),
        worktree_attributes: command.worktree_attributes,
        execution: execution.clone(),
    };
    let revision = revision.as_bytes().as_bstr();
    let meter = Meter::of_our_own(global, "Archiving", &execution.progress, Stage::Entries);
    let steps = execution.progress.stage(Stage::Entries);
    let mut told = |path: &BStr| {
        steps.step(1);
        if global.verbose > 0 {
            output.error_line(path);
        }
    };
    let mut write = |out: ArchiveOutput<'_>| {
        let written = write_archive(&repository, revision, format, &options, out, &mut told);
        written?.iter().for_each(|warning| output.warn(warning));
        Ok::<(), Failure>(())
    };
    let named = command.output.as_ref();
    let named = named.map(|path| environment::from_directory(global, Path::new(path)));
    let destination = named.map(|path| Destination::of(&path)).transpose();
    match destination.map_err(Failure::fatal)? {
        None => write(ArchiveOutput::Stream(&mut StandardOutput))?,
        Some(Destination::File(target)) => write(ArchiveOutput::File {
            path: &target,
            replace: true,
        })?,
        Some(Destination::Stream(sink)) => {
            let mut stream = sink.open().map_err(Failure::fatal)?;
            write(ArchiveOutput::Stream(&mut stream))?;
            if let Err(error) = stream.close() {
                if error.source.kind() != ErrorKind::BrokenPipe {
                    return Err(Failure::fatal(error));
                }
            }
        }
    }
    drop(meter);
    statistics::tell(global, &execution, output)?;
    Ok(0)
}

/// The format that is named, or that the name of the output ends with.
fn format(command: &Archive) -> Result<ArchiveFormat, Failure> {
    let output = command.output.as_ref().map(|name| name.as_bytes());
    let ends_with = |name: &str| {
        let start = output.and_then(|output| output.strip_suffix(name.as_bytes()));
        start.is_some_and(|start| start.len() >= 2 && start.ends_with(b"."))
    };
    let name = match &command.format {
        Some(name) => name.as_str(),
        None if ends_with("zip") => "zip",
        None => {
            let found = FORMATS.iter().find(|(name, _)| ends_with(name));
            found.map_or("tar", |(name, _)| name)
        }
    };
    if name == "zip" {
        return Err(Failure {
            hint: Some("use git: git archive --format=zip ...".into()),
            ..Failure::usage("'hedgerow archive' has no format zip; nothing was touched")
        });
    }
    let found = FORMATS.iter().find(|(known, _)| *known == name);
    let Some((_, format)) = found else {
        return Err(Failure::fatal(format_args!(
            "Unknown archive format '{name}'"
        )));
    };
    match (format, command.level) {
        (format, None) => Ok(*format),
        (ArchiveFormat::Gzip(_), Some(level @ 0..=9)) => Ok(ArchiveFormat::Gzip(Some(level))),
        (_, Some(level)) => Err(Failure::fatal(format_args!(
            "Argument not supported for format '{name}': -{level}"
        ))),
    }
}

/// Refuses to run a command of the configuration for a format.
fn refuse_commands(repository: &Repository, command: &Archive) -> Result<(), Failure> {
    let config = repository.config();
    for name in config.subsections("tar") {
        let Some(program) = config.string_in("tar", name.as_bstr(), "command") else {
            continue;
        };
        let is_named = command.format.as_ref().is_some_and(|it| name == *it);
        let ending = [b".", &name[..]].concat();
        let output = command.output.as_ref();
        let by_output = output.is_some_and(|output| output.as_bytes().ends_with(&ending));
        if is_named || command.format.is_none() && by_output {
            let reason = format!("tar.{name}.command ('{program}') is not run here");
            return Err(Failure {
                hint: Some("use git: git archive ...".into()),
                exit_code: FATAL,
                ..Failure::usage(reason)
            });
        }
    }
    Ok(())
}

/// The files that are not in the tree.
fn extra(
    command: &Archive,
    repository: &Repository,
    global: &Global,
) -> Result<Vec<ExtraFile>, Failure> {
    let mut files = Vec::new();
    for word in &command.extra {
        let word = word.as_bytes();
        files.push(match word.strip_prefix(b"f") {
            Some(file) => {
                let end = file.find_byte(END).unwrap_or(0);
                let (prefix, name) = (file[..end].as_bstr(), file[end + 1..].as_bstr());
                let path = Path::new(OsStr::from_bytes(name));
                let path = environment::from_directory(global, path);
                ExtraFile::read(&path, name, prefix)?
            }
            None => ExtraFile::parse(repository, word[1..].as_bstr())?,
        });
    }
    Ok(files)
}
