//! `mksquashfs`: an image of files and directories, or of an archive.

use super::building::Building;
use super::refused;
use super::single_dash::Grammar;
use crate::applets::console::Console;
use clap::{CommandFactory, Parser};
use hedgerow::image::{
    create_with, path_rules, read_list, Defaults, Edits, Exclusion, FilesSource, Hooks, Layout,
    Node, PathRules, Recipe, Source, Syntax, LIST_BYTES,
};
use hedgerow::CancelToken;
use hedgerow_fs::ReadFile;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

pub const CONSOLE: Console = Console {
    name: "mksquashfs",
    failed: 1,
};
pub const GRAMMAR: Grammar = Grammar {
    rest: &["e"],
    listed: &[],
    operands_end_options: false,
    refused: refused::MKSQUASHFS,
};

/// Create a SquashFS image of files and directories
///
/// The options are those of mksquashfs 4.7. A single directory becomes the root; otherwise, each
/// SOURCE is in the root under its name. The same sources give the same image.
///
/// Nothing is appended to an existing image, and commands in definitions are never run.
#[derive(Debug, Parser)]
#[command(
    name = "mksquashfs",
    override_usage = "mksquashfs [OPTIONS] SOURCE... IMAGE [-e PATH...]",
    disable_help_flag = true,
    args_override_self = true
)]
struct Arguments {
    /// Replace the image if it exists
    #[arg(long)]
    noappend: bool,
    /// Read a tar archive from standard input; SOURCE is '-'
    #[arg(long)]
    tar: bool,
    /// Store each SOURCE at its path, with the directories that it is in
    #[arg(long, alias = "tarstyle")]
    no_strip: bool,
    /// Read the names of sources from standard input, a line each; SOURCE is '-'
    #[arg(long)]
    cpiostyle: bool,
    /// Read the names of sources from standard input, each with a NUL byte behind it
    #[arg(long)]
    cpiostyle0: bool,
    /// Store a single directory under its name in the root
    #[arg(long)]
    keep_as_directory: bool,
    /// Do not make the image usable for NFS exports
    #[arg(long)]
    no_exports: bool,
    /// Leave out these files; ends the options
    #[arg(long = "e", value_name = "PATH")]
    exclude: Vec<OsString>,
    /// Leave out the files in FILE, which has one in each line
    #[arg(long = "ef", value_name = "FILE")]
    exclude_files: Vec<PathBuf>,
    /// Exclusions are patterns; behind '... ', in any directory
    #[arg(long)]
    wildcards: bool,
    /// Exclusions are regular expressions; behind '... ', in any directory
    #[arg(long, overrides_with = "wildcards")]
    regex: bool,
    /// Descend at most LEVELS directories
    #[arg(long, value_name = "LEVELS")]
    max_depth: Option<usize>,
    /// Do not enter directories of other file systems
    #[arg(long)]
    one_file_system: bool,
    /// Accepted for compatibility: there are no recovery files
    #[arg(long)]
    no_recovery: bool,
    /// Permissions of directories that are missing in the archive, and of its root
    #[arg(long, value_name = "MODE")]
    default_mode: Option<String>,
    /// Owner of these directories
    #[arg(long, value_name = "USER")]
    default_uid: Option<String>,
    /// Group of these directories
    #[arg(long, value_name = "GROUP")]
    default_gid: Option<String>,
    /// Accepted for compatibility: names of owners in archives are never used
    #[arg(long)]
    numeric_owner: bool,
    #[command(flatten)]
    building: Building,
    /// Files and directories; '-' is nothing or standard input
    #[arg(value_name = "SOURCE", required = true)]
    sources: Vec<PathBuf>,
    /// The image file
    #[arg(value_name = "IMAGE", required = true)]
    image: PathBuf,
}

/// The definition of the options.
pub fn command() -> clap::Command {
    Arguments::command()
}

pub fn run(words: Vec<OsString>) -> Result<u8, String> {
    match super::parse(CONSOLE, &GRAMMAR, words) {
        Ok(arguments) => pack(&arguments).map(|()| 0),
        Err(code) => Ok(code),
    }
}

fn pack(arguments: &Arguments) -> Result<(), String> {
    if arguments.tar {
        return pack_archive(arguments);
    }
    crate::environment::refuse_fakeroot(true).map_err(|it| it.to_string())?;
    let building = &arguments.building;
    let target = building.target(&arguments.image, arguments.noappend, "-noappend")?;
    let edits = building.edits(&target)?;
    let sources = sources(arguments)?;
    let is_nothing = sources == [Path::new("-")];
    if is_nothing && !edits.pseudo.has_root() {
        return Err("'-' is nothing: define '/' by -p or -pf, or give -tar or -cpiostyle".into());
    }
    let layout = layout(arguments, &sources);
    let source = if is_nothing {
        Source::Nothing
    } else {
        Source::Files(FilesSource {
            paths: &sources,
            layout,
            recurse: !(arguments.cpiostyle || arguments.cpiostyle0),
            exclude: exclusion(arguments, &sources)?,
            max_depth: arguments.max_depth,
            one_file_system: arguments.one_file_system,
            root: Defaults {
                uid: hedgerow_fs::effective_ids().0,
                gid: hedgerow_fs::effective_ids().1,
                mode: 0o777,
                mtime_s: 0,
            },
        })
    };
    let exportable = !arguments.no_exports || building.exports;
    create(
        building,
        source,
        edits,
        &target,
        (arguments.noappend, exportable),
        CONSOLE,
    )
}

fn pack_archive(arguments: &Arguments) -> Result<(), String> {
    if arguments.sources != [Path::new("-")] {
        return Err("-tar reads standard input: the source is '-'".into());
    }
    let syntax = if arguments.regex {
        Syntax::Regex
    } else {
        Syntax::Wildcards
    };
    let exclude = path_rules(syntax, &arguments.exclude, &arguments.exclude_files)?;
    let building = &arguments.building;
    let target = building.target(&arguments.image, arguments.noappend, "-noappend")?;
    let edits = building.edits(&target)?;
    let defaults = super::sqfstar::defaults(
        arguments.default_mode.as_deref(),
        arguments.default_uid.as_deref(),
        arguments.default_gid.as_deref(),
    )?;
    let source = super::sqfstar::archive(defaults, exclude)?;
    create(
        building,
        source,
        edits,
        &target,
        (arguments.noappend, building.exports),
        CONSOLE,
    )
}

/// Creates the image; `flags` are whether a file is replaced, and whether the image is exportable.
pub fn create(
    building: &Building,
    source: Source<'_>,
    edits: Edits,
    target: &Path,
    flags: (bool, bool),
    console: Console,
) -> Result<(), String> {
    let interrupted = hedgerow_fs::catch_interrupts().map_err(|error| error.to_string())?;
    let cancel = CancelToken::from_static(interrupted);
    let options = building.options(flags.0, flags.1, &cancel)?;
    let changes = building.changes()?;
    let recipe = Recipe::edited(edits, building.xattr_rules()?);
    let change = |node: Node| {
        if building.info {
            let path = String::from_utf8_lossy(&node.path)
                .replace(|letter: char| letter.is_ascii_control(), "?");
            console.say(format_args!("/{path}"));
        }
        changes.applied(node)
    };
    let hooks = Hooks {
        change: &change,
        warn: &|warning| console.complain(warning),
        ..Hooks::default()
    };
    let shown = building
        .progress
        .start("Packing", &options.execution.progress, console);
    let created = create_with(source, recipe, target, &options, hooks);
    shown.finish(created.is_ok());
    building.tell(&created.map_err(|error| error.to_string())?, console);
    Ok(())
}

/// The sources of the command line or of standard input.
fn sources(arguments: &Arguments) -> Result<Vec<PathBuf>, String> {
    let end = match (arguments.cpiostyle, arguments.cpiostyle0) {
        (_, true) => 0,
        (true, false) => b'\n',
        (false, false) => return Ok(arguments.sources.clone()),
    };
    if arguments.sources != [Path::new("-")] {
        return Err("-cpiostyle reads standard input: the source is '-'".into());
    }
    let text = |error: hedgerow_fs::Error| error.to_string();
    let mut names = Vec::new();
    let input = ReadFile::standard_input().map_err(text)?;
    input.read_to_end(&mut names, LIST_BYTES).map_err(text)?;
    let names = names
        .split(|byte| *byte == end)
        .filter(|name| !name.is_empty());
    Ok(names
        .map(|name| PathBuf::from(OsString::from_vec(name.to_vec())))
        .collect())
}

fn layout(arguments: &Arguments, sources: &[PathBuf]) -> Layout {
    let is_directory = |path: &Path| {
        let stat = hedgerow_fs::lstat(path).ok().flatten();
        stat.is_some_and(|stat| stat.kind == hedgerow_fs::FileKind::Directory)
    };
    if arguments.no_strip || arguments.cpiostyle || arguments.cpiostyle0 {
        return Layout::Paths;
    }
    match sources {
        [only] if !arguments.keep_as_directory && is_directory(only) => Layout::Contents,
        _ => Layout::Names,
    }
}

fn exclusion(arguments: &Arguments, sources: &[PathBuf]) -> Result<Exclusion, String> {
    let syntax = match (arguments.wildcards, arguments.regex) {
        (_, true) => Syntax::Regex,
        (true, false) => Syntax::Wildcards,
        (false, false) => {
            let words = arguments.exclude.iter();
            let mut words: Vec<_> = words.map(|word| word.as_bytes().to_vec()).collect();
            for path in &arguments.exclude_files {
                words.extend(PathRules::lines(&read_list(path)?).map(|(_, line)| line.to_vec()));
            }
            let found = Exclusion::of_files(&words, sources);
            let (exclusion, missing) = found.map_err(|error| error.to_string())?;
            for path in missing {
                CONSOLE.complain(format_args!(
                    "'{}' does not exist: nothing is left out for it",
                    path.display()
                ));
            }
            return Ok(exclusion);
        }
    };
    let rules = path_rules(syntax, &arguments.exclude, &arguments.exclude_files)?;
    Ok(Exclusion::of_patterns(rules))
}
