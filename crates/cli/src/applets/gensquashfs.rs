//! `gensquashfs`: an image of a directory or of a description.

use super::console::Console;
use super::packing::{number, Packing, BLOCK_COMPRESSORS};
use crate::environment::refuse_fakeroot;
use crate::image::create::epoch;
use clap::{CommandFactory, Parser};
use hedgerow::image::{create_with, Defaults, DirectorySource, Hooks, Recipe, RecipeFiles, Source};
use hedgerow::plumbing::tree::Node;
use hedgerow::walk::Selection;
use hedgerow::CancelToken;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

pub const CONSOLE: Console = Console {
    name: "gensquashfs",
    failed: 1,
};

/// Create a SquashFS image of a directory or of a description
#[derive(Debug, Parser)]
#[command(
    name = "gensquashfs",
    version = super::console::VERSION,
    args_override_self = true,
    infer_long_args = true,
    after_long_help = format!("{FORMATS}\n\n{BLOCK_COMPRESSORS}")
)]
struct Arguments {
    /// Pack the files that FILE describes; inputs are relative to DIRECTORY, else to FILE's
    /// directory
    #[arg(short = 'F', long, value_name = "FILE")]
    pack_file: Option<PathBuf>,
    /// Pack DIRECTORY; with a description, the directory of its inputs
    #[arg(short = 'D', long, value_name = "DIRECTORY")]
    pack_dir: Option<PathBuf>,
    #[command(flatten)]
    packing: Packing,
    /// Set the owner of everything
    #[arg(short = 'u', long, value_name = "NUMBER", value_parser = owner)]
    set_uid: Option<u32>,
    /// Set the group of everything
    #[arg(short = 'g', long, value_name = "NUMBER", value_parser = owner)]
    set_gid: Option<u32>,
    /// Set the owner and group of everything to root; of this, -u and -g, the last one holds
    #[arg(long)]
    all_root: bool,
    /// Store contents in the order and manner given in FILE
    #[arg(short = 'S', long, value_name = "FILE")]
    sort_file: Option<PathBuf>,
    /// Set the security contexts given in FILE, in the format of SELinux's file_contexts
    #[arg(short = 's', long, value_name = "FILE")]
    selinux: Option<PathBuf>,
    /// Set the extended attributes given in FILE, in the format of 'getfattr --dump'
    #[arg(short = 'A', long, value_name = "FILE")]
    xattr_file: Option<PathBuf>,
    /// Keep the times of the directory's entries
    #[arg(short, long)]
    keep_time: bool,
    /// Keep the extended attributes of the directory's entries
    #[arg(short = 'x', long)]
    keep_xattr: bool,
    /// Do not enter directories of other file systems
    #[arg(short, long)]
    one_file_system: bool,
}

/// The formats of the files, as the long help shows them.
const FORMATS: &str = "\
A description has a line for each entry, lines of comments begin with '#':
  dir, pipe, sock   PATH MODE UID GID
  file              PATH MODE UID GID [INPUT]
  slink             PATH MODE UID GID TARGET
  link              PATH MODE UID GID OTHER-PATH
  nod               PATH MODE UID GID c|b MAJOR MINOR
  glob              PATH MODE|* UID|* GID|* [OPTIONS] [--] [DIRECTORY]
Options of glob: -type b|c|d|f|l|p|s, -name PATTERN, -path PATTERN,
-xdev, -mount, -keeptime, -nonrecursive.
A PATH with blanks stands in double quotes.

A sort file has lines 'PRIORITY [FLAG,FLAG] PATH'. Low priorities are
stored first; the default is 0. Flags: glob, glob_no_path,
dont_compress, dont_fragment, dont_deduplicate, nosparse, align.";

/// The definition of the options.
pub fn command() -> clap::Command {
    Arguments::command()
}

pub fn run(words: Vec<OsString>) -> Result<u8, String> {
    let (mut arguments, matches) = match CONSOLE.parse_in_order::<Arguments>(words) {
        Ok(parsed) => parsed,
        Err(code) => return Ok(code),
    };
    let last = |option| matches.indices_of(option).and_then(Iterator::last);
    for (option, owner) in [
        ("set_uid", &mut arguments.set_uid),
        ("set_gid", &mut arguments.set_gid),
    ] {
        if arguments.all_root && last(option) < last("all_root") {
            *owner = Some(0);
        }
    }
    pack(&arguments).map(|()| 0)
}

fn pack(arguments: &Arguments) -> Result<(), String> {
    let packing = &arguments.packing;
    if packing.help(CONSOLE)? {
        return Ok(());
    }
    let directory = match (&arguments.pack_dir, &arguments.pack_file) {
        (Some(directory), _) => directory.clone(),
        (None, Some(file)) => directory_of(file),
        (None, None) => return Err("neither a directory (-D) nor a description (-F)".into()),
    };
    let target = packing.image()?;
    let interrupted = hedgerow_fs::catch_interrupts().map_err(|error| error.to_string())?;
    let packed = packing.defaults(epoch()?)?;
    let defaults = Defaults {
        uid: packed.uid,
        gid: packed.gid,
        mode: packed.mode,
        mtime_s: packed.mtime_s,
    };
    let options = packing.options(&CancelToken::from_static(interrupted), &packed)?;
    let files = RecipeFiles {
        pack_file: arguments.pack_file.as_deref(),
        sort_file: arguments.sort_file.as_deref(),
        xattr_file: arguments.xattr_file.as_deref(),
        selinux: arguments.selinux.as_deref(),
    };
    let recipe = Recipe::read(files, arguments.keep_xattr, Path::to_owned);
    let recipe = recipe.map_err(|error| error.to_string())?;
    refuse_fakeroot(recipe.reads_owners()).map_err(|it| it.to_string())?;
    let source = Source::Directory(DirectorySource {
        directory: &directory,
        selection: Selection::default(),
        one_file_system: arguments.one_file_system,
        defaults,
    });
    let hooks = Hooks {
        change: &|node| changed(node, arguments, defaults),
        warn: &|warning| CONSOLE.complain(warning),
        ..Hooks::default()
    };
    let created = create_with(source, recipe, &target, &options, hooks);
    packing.tell(&created.map_err(|error| error.to_string())?, CONSOLE);
    Ok(())
}

/// The directory that contains a file.
fn directory_of(file: &Path) -> PathBuf {
    match file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// An entry with the changes that the options ask for. The root of a packed directory gets its
/// metadata from the defaults, not from the directory.
fn changed(mut node: Node, arguments: &Arguments, defaults: Defaults) -> Node {
    if arguments.pack_file.is_none() {
        // Hard links become separate files with the same content.
        node.link = None;
        if !arguments.keep_time || node.path.is_empty() {
            node.mtime_s = defaults.mtime_s;
        }
        if node.path.is_empty() {
            node.mode = defaults.mode;
            node.uid = defaults.uid;
            node.gid = defaults.gid;
        }
    }
    node.uid = arguments.set_uid.unwrap_or(node.uid);
    node.gid = arguments.set_gid.unwrap_or(node.gid);
    node
}

fn owner(word: &str) -> Result<u32, String> {
    number(word).ok_or_else(|| format!("'{word}' is not a 32-bit number"))
}
