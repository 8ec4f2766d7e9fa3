//! `unsquashfs`: lists and extracts images.

mod extract;
mod list;
mod pseudo;
mod stat;

use super::percentage::ProgressOptions;
use super::refused;
use super::single_dash::Grammar;
use crate::applets::console::{print, unreadable, Console};
use clap::{CommandFactory, Parser};
use hedgerow::image::{
    memory_bytes, nodes_of_image, read_list, Fit, Image, Node, NodeError, NodeKind, PathRules,
    Syntax,
};
use hedgerow::numbers::size_bytes;
use std::ffi::{OsStr, OsString};
use std::num::{NonZeroU32, NonZeroUsize};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::Arc;

pub const CONSOLE: Console = Console {
    name: "unsquashfs",
    failed: 1,
};
pub const GRAMMAR: Grammar = Grammar {
    rest: &[],
    listed: &["ex"],
    operands_end_options: true,
    refused: refused::UNSQUASHFS,
};
/// The options that list.
const LISTS: [&str; 5] = ["list", "long", "numeric", "concise", "long_concise"];
/// The exit code if some entries failed.
const SOME_FAILED: u8 = 2;

/// List or extract a SquashFS image
///
/// The options are those of unsquashfs 4.7. Without a FILE, everything is extracted.
#[derive(Debug, Parser)]
#[command(
    name = "unsquashfs",
    override_usage = "unsquashfs [OPTIONS] IMAGE [FILE]...",
    disable_help_flag = true,
    args_override_self = true
)]
struct Arguments {
    /// Extract to DIRECTORY, which is also the prefix of listed paths
    #[arg(
        long = "d",
        alias = "dest",
        value_name = "DIRECTORY",
        default_value = "squashfs-root"
    )]
    destination: OsString,
    /// Descend at most LEVELS directories
    #[arg(long = "max", alias = "max-depth", value_name = "LEVELS")]
    max_depth: Option<usize>,
    /// Each FILE is left out
    #[arg(long)]
    excludes: bool,
    /// Leave out these files; the list ends with ';'
    #[arg(long = "ex", alias = "exclude-list", value_name = "FILE")]
    exclude_list: Vec<OsString>,
    /// Extract what is named in LIST, which has a name in each line
    #[arg(long = "ef", aliases = ["e", "extract-file"], value_name = "LIST")]
    extract_files: Vec<PathBuf>,
    /// Leave out what is named in LIST
    #[arg(long = "excf", aliases = ["exc", "exclude-file"], value_name = "LIST")]
    exclude_files: Vec<PathBuf>,
    /// Take names literally, not as patterns
    #[arg(long = "no-wild", alias = "no-wildcards", conflicts_with = "regex")]
    no_wildcards: bool,
    /// Names are regular expressions
    #[arg(long = "r", alias = "regex")]
    regex: bool,
    /// Set the time of all entries: seconds since 1970, or a date that date(1) understands
    #[arg(long = "all", alias = "all-time", value_name = "TIME")]
    all_time: Option<String>,
    /// Print the contents of each FILE, which may be a pattern
    #[arg(long)]
    cat: bool,
    /// Extract into an existing directory and replace files
    #[arg(long = "f", alias = "force")]
    force: bool,
    /// Write definitions for mksquashfs -pf to FILE; '-' is standard output
    #[arg(long = "pf", alias = "pseudo-file", value_name = "FILE", conflicts_with_all = LISTS)]
    pseudo_file: Option<PathBuf>,
    /// Print information about the image
    #[arg(long = "s", alias = "stat")]
    stat: bool,
    /// Print the path of each extracted entry
    #[arg(long = "i", alias = "info")]
    info: bool,
    /// Print each extracted entry with its attributes
    #[arg(long = "li", alias = "linfo")]
    long_info: bool,
    /// List the image
    #[arg(long = "l", alias = "ls")]
    list: bool,
    /// List with attributes
    #[arg(long = "ll", alias = "lls")]
    long: bool,
    /// List with attributes and numeric owners
    #[arg(long = "lln", alias = "llnumeric")]
    numeric: bool,
    /// List files and empty directories only
    #[arg(long = "lc")]
    concise: bool,
    /// List files and empty directories only, with attributes
    #[arg(long = "llc")]
    long_concise: bool,
    /// List times with seconds
    #[arg(long = "full", alias = "full-precision")]
    full: bool,
    /// List times in UTC
    #[arg(long = "UTC")]
    utc: bool,
    /// Print the time of the image in seconds since 1970
    #[arg(long = "mkfs-time", alias = "fstime")]
    mkfs_time: bool,
    /// Do not set extended attributes
    #[arg(long = "no", alias = "no-xattrs")]
    no_xattrs: bool,
    /// Set extended attributes, which is the default
    #[arg(long = "x", alias = "xattrs", overrides_with = "no_xattrs")]
    xattrs: bool,
    /// Set only extended attributes in 'user.'
    #[arg(long = "user-xattrs", alias = "u")]
    user_xattrs: bool,
    /// Do not set extended attributes whose names match a regular expression
    #[arg(long, value_name = "REGEX", overrides_with = "no_xattrs")]
    xattrs_exclude: Option<OsString>,
    /// Set only extended attributes whose names match a regular expression
    #[arg(long, value_name = "REGEX", overrides_with = "no_xattrs")]
    xattrs_include: Option<OsString>,
    /// Use COUNT workers
    #[arg(long = "p", alias = "processors", value_name = "COUNT")]
    processors: Option<NonZeroUsize>,
    /// Accepted for compatibility: memory is bounded by the number of workers
    #[arg(long, value_name = "SIZE", value_parser = |word: &str| memory_bytes(word, 2 << 20))]
    mem: Option<u64>,
    /// Accepted for compatibility, as a part of the memory of this system
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(1..=75))]
    mem_percent: Option<u8>,
    /// Accepted for compatibility: there are no queues of this kind
    #[arg(long = "da", value_name = "SIZE", aliases = ["data-queue", "fr", "frag-queue"])]
    queue: Option<NonZeroU32>,
    /// Print only errors
    #[arg(long = "q", alias = "quiet")]
    quiet: bool,
    /// Do not show progress, which is the default
    #[arg(long = "n")]
    no_meter: bool,
    #[command(flatten)]
    progress: ProgressOptions,
    /// Go on after errors, which is the default
    #[arg(long = "ig", alias = "ignore-errors")]
    ignore_errors: bool,
    /// Exit with 1 if anything failed
    #[arg(long = "st", alias = "strict-errors", conflicts_with_all = ["no_exit_code", "ignore_errors"])]
    strict_errors: bool,
    /// Exit with 0 if only some entries failed
    #[arg(long = "no-exit", alias = "no-exit-code")]
    no_exit_code: bool,
    /// The image begins after BYTES
    #[arg(
        long = "o",
        alias = "offset",
        value_name = "BYTES",
        default_value = "0"
    )]
    offset: String,
    /// The image file
    #[arg(value_name = "IMAGE")]
    image: PathBuf,
    /// What is extracted or listed: names or patterns
    #[arg(value_name = "FILE")]
    files: Vec<OsString>,
}

/// The definition of the options.
pub fn command() -> clap::Command {
    Arguments::command()
}

pub fn run(words: Vec<OsString>) -> Result<u8, String> {
    match super::parse(CONSOLE, &GRAMMAR, words) {
        Ok(arguments) => read(&arguments),
        Err(code) => Ok(code),
    }
}

fn read(arguments: &Arguments) -> Result<u8, String> {
    let offset = size_bytes(arguments.offset.as_bytes());
    let offset =
        offset.ok_or_else(|| format!("'{}' is not a number of bytes", arguments.offset))?;
    let failed = |error| unreadable(&arguments.image, error);
    let image = Arc::new(Image::open(&arguments.image, offset).map_err(failed)?);
    if arguments.mkfs_time {
        CONSOLE.say(image.superblock().mod_time);
        return Ok(0);
    }
    if arguments.stat {
        return print(stat::stat(&image, arguments).map_err(failed)?).map(|()| 0);
    }
    let chosen = Chosen::of(arguments)?;
    let is_long = arguments.long || arguments.numeric || arguments.long_concise;
    let code = if arguments.cat {
        list::cat(&image, arguments)?
    } else if let Some(path) = &arguments.pseudo_file {
        pseudo::write(&image, &chosen, path)?
    } else if arguments.list || arguments.concise || is_long {
        list::list(&image, &chosen, arguments, is_long)?
    } else {
        extract::extract(&image, &chosen, arguments)?
    };
    Ok(match code {
        SOME_FAILED if arguments.no_exit_code => 0,
        SOME_FAILED if arguments.strict_errors => 1,
        code => code,
    })
}

/// What names stand for.
fn syntax(arguments: &Arguments) -> Syntax {
    match (arguments.no_wildcards, arguments.regex) {
        (_, true) => Syntax::Regex,
        (true, false) => Syntax::Literal,
        (false, false) => Syntax::Wildcards,
    }
}

/// Which entries are extracted or listed.
struct Chosen {
    extract: PathRules,
    exclude: PathRules,
    max_depth: usize,
}

impl Chosen {
    fn of(arguments: &Arguments) -> Result<Self, String> {
        let syntax = syntax(arguments);
        let mut chosen = Chosen {
            extract: PathRules::new(syntax),
            exclude: PathRules::new(syntax),
            max_depth: arguments.max_depth.unwrap_or(usize::MAX),
        };
        let text = |error: hedgerow::image::RuleError| error.to_string();
        let operands = if arguments.excludes {
            &mut chosen.exclude
        } else {
            &mut chosen.extract
        };
        for name in &arguments.files {
            operands.add(name.as_bytes(), false).map_err(text)?;
        }
        for name in &arguments.exclude_list {
            chosen.exclude.add(name.as_bytes(), false).map_err(text)?;
        }
        for path in &arguments.extract_files {
            let added = chosen.extract.add_lines(&read_list(path)?, false);
            added.map_err(|error| format!("{}: {error}", path.display()))?;
        }
        for path in &arguments.exclude_files {
            let added = chosen.exclude.add_lines(&read_list(path)?, false);
            added.map_err(|error| format!("{}: {error}", path.display()))?;
        }
        Ok(chosen)
    }

    /// The chosen nodes of an image with the directories that they are in. A directory that a rule
    /// only leads through is among them if something in it is.
    fn nodes<'c>(
        &'c self,
        image: &Arc<Image>,
    ) -> Result<impl Iterator<Item = Result<Node, NodeError>> + Send + 'c, String> {
        let nodes = nodes_of_image(image, &[]).map_err(|error| error.to_string())?;
        let mut held: Vec<Node> = Vec::new();
        let chosen = nodes.flat_map(move |node| {
            let node = match node {
                Ok(node) => node,
                Err(error) => return vec![Err(error)],
            };
            let is_below = |held: &Node| {
                let rest = node.path.strip_prefix(held.path.as_slice());
                held.path.is_empty() || rest.is_some_and(|rest| rest.starts_with(b"/"))
            };
            held.retain(is_below);
            if node.path.is_empty() {
                return vec![Ok(node)];
            }
            let depth = node.path.iter().filter(|byte| **byte == b'/').count() + 1;
            if depth > self.max_depth || self.exclude.contains(&node.path) {
                return Vec::new();
            }
            if self.extract.is_empty() || self.extract.contains(&node.path) {
                return held.drain(..).chain([node]).map(Ok).collect();
            }
            let leads = self.extract.fit(&node.path) == Fit::Above;
            if leads && node.kind == NodeKind::Directory {
                held.push(node);
            }
            Vec::new()
        });
        Ok(chosen)
    }
}

/// A path of the image behind the prefix of the destination.
fn prefixed(destination: &OsStr, path: &[u8]) -> Vec<u8> {
    match path {
        b"" => destination.as_bytes().to_vec(),
        path => [destination.as_bytes(), b"/", path].concat(),
    }
}
