use crate::environment;
use crate::global::Global;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;

pub use crate::doctor::Doctor;
pub use crate::image::Image;
pub use crate::packs::bitmap::Bitmap;
pub use crate::packs::cat_file::CatFile;
pub use crate::packs::index_pack::IndexPack;
pub use crate::packs::maintenance::Maintenance;
pub use crate::packs::multi_pack_index::MultiPackIndex;
pub use crate::packs::pack_objects::PackObjects;
pub use crate::packs::repack::Repack;
pub use crate::packs::rev_list::RevList;
pub use crate::packs::reverse_index::ReverseIndex;
pub use crate::packs::upload_pack_hook::UploadPackHook;
pub use crate::packs::verify_pack::VerifyPack;
pub use crate::shim::Shim;
pub use crate::status::Status;
pub use crate::trees::archive::Archive;
pub use crate::trees::checkout::Checkout;
pub use crate::trees::checkout_index::CheckoutIndex;
pub use crate::trees::clean::Clean;
pub use crate::trees::clone::Clone;
pub use crate::trees::diff::{DiffFiles, DiffIndex};
pub use crate::trees::fetch::Fetch;
pub use crate::trees::ls_files::LsFiles;
pub use crate::trees::merge::Merge;
pub use crate::trees::mounts::{ImageStore, Mount, Unmount};
pub use crate::trees::read_tree::ReadTree;
pub use crate::trees::reset::Reset;
pub use crate::trees::restore::Restore;
pub use crate::trees::sparse_checkout::SparseCheckout;
pub use crate::trees::stash::Stash;
pub use crate::trees::submodule::Submodule;
pub use crate::trees::switch::Switch;
pub use crate::trees::worktree::Worktree;
pub use crate::walk::Walk;

/// Moves file trees between Git packs, working trees, tar streams, SquashFS and EROFS images.
#[derive(Debug, Parser)]
#[command(
    name = "hedgerow",
    arg_required_else_help = true,
    args_override_self = true,
    disable_version_flag = true,
    after_help = crate::help::topics::sentence()
)]
pub struct Arguments {
    #[command(flatten)]
    pub options: Options,
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// What stands before or behind any command.
#[derive(Debug, Args)]
pub struct Options {
    /// Print the version; with --verbose, also the versions of libraries
    #[arg(short = 'V', long)]
    pub version: bool,
    #[command(flatten, next_help_heading = "Options of every command")]
    pub global: Global,
}

impl Arguments {
    /// Parses the words of a command line on which `name` is the first word that is no option. Only
    /// that command is defined: the definitions of all take a tenth of the shortest one's time.
    ///
    /// # Errors
    /// The words are wrong, or ask for help.
    pub fn parse_only(words: &[OsString], name: Option<&str>) -> Result<Self, clap::Error> {
        let few = Options::augment_args(clap::Command::new("hedgerow"))
            .arg_required_else_help(true)
            .args_override_self(true)
            .disable_version_flag(true);
        match (name, name.and_then(Command::definition)) {
            (None, _) => Self::parsed(few, words).or_else(|_| Self::parsed(Self::command(), words)),
            (Some(_), None) => Self::parsed(Self::command(), words),
            (Some(_), Some(named)) => Self::parsed(few.subcommand(named), words),
        }
    }

    fn parsed(command: clap::Command, words: &[OsString]) -> Result<Self, clap::Error> {
        let mut command = environment::with_width(command);
        let mut matches = command.try_get_matches_from_mut(words)?;
        Arguments::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))
    }
}

/// The commands with their names and arguments.
macro_rules! commands {
    ($($(#[$attribute:meta])* $name:literal $variant:ident($arguments:ty),)*) => {
        /// What is done.
        #[derive(Debug, Subcommand)]
        #[command(defer = true)]
        pub enum Command {
            $($(#[$attribute])* #[command(name = $name)] $variant($arguments),)*
            /// Print completions or manual pages
            #[command(subcommand, hide = true)]
            Generate(Generate),
        }

        impl Command {
            /// The definition of the command with this name, if it has no commands of its own kind.
            pub fn definition(name: &str) -> Option<clap::Command> {
                match name {
                    $($name => Some(<$arguments>::augment_args(clap::Command::new($name))),)*
                    _ => None,
                }
            }
        }
    };
}

commands! {
    /// Write a commit as a tar archive
    "archive" Archive(Archive),
    /// Write, check or list reachability bitmaps
    "bitmap" Bitmap(Bitmap),
    /// Print the content, type or size of objects
    "cat-file" CatFile(CatFile),
    /// Check out a branch, a commit, or paths of one, into the working tree
    "checkout" Checkout(Checkout),
    /// Remove untracked files from the working tree
    "clean" Clean(Clean),
    /// Clone a repository, and check out its files in parallel
    "clone" Clone(Clone),
    /// List the differences between the index and the working tree
    "diff-files" DiffFiles(DiffFiles),
    /// List the differences between a tree and the working tree or the index
    "diff-index" DiffIndex(DiffIndex),
    /// Check a directory, its repository and the machine, and say what would make commands faster
    "doctor" Doctor(Doctor),
    /// Fetch with git, while hedgerow indexes and checks what arrives
    "fetch" Fetch(Fetch),
    /// List files in the index and the working tree
    "ls-files" LsFiles(LsFiles),
    /// Copy files from the index to the working tree or elsewhere
    "checkout-index" CheckoutIndex(CheckoutIndex),
    /// Show the working tree status
    "status" Status(Status),
    /// The form of `status` in a Mercurial working copy
    #[command(hide = true)]
    "hg-status" HgStatus(HgStatus),
    /// Create, extract and inspect images, in SquashFS and in EROFS
    "image" Image(Image),
    /// Make, list, remove and check the images that working trees are mounted over
    "image-store" ImageStore(ImageStore),
    /// Build the index of a pack read from a file or standard input
    "index-pack" IndexPack(IndexPack),
    /// Repack a repository if needed
    "maintenance" Maintenance(Maintenance),
    /// Fast-forward the branch to another commit
    "merge" Merge(Merge),
    /// Mount the files of a commit on a directory, without a working tree
    "mount" Mount(Mount),
    /// Write or verify multi-pack-indexes
    "multi-pack-index" MultiPackIndex(MultiPackIndex),
    /// Create a pack from a list of objects or from revisions
    "pack-objects" PackObjects(PackObjects),
    /// Read trees into the index, with or without a merge
    "read-tree" ReadTree(ReadTree),
    /// Repack objects
    "repack" Repack(Repack),
    /// Restore paths of the working tree, or of the index
    "restore" Restore(Restore),
    /// Stash local changes, and restore them
    "stash" Stash(Stash),
    /// Reset HEAD to a commit, or paths of the index to their state in a commit
    "reset" Reset(Reset),
    /// Write missing or broken reverse indexes
    "reverse-index" ReverseIndex(ReverseIndex),
    /// List reachable commits, and with --objects all reachable objects
    "rev-list" RevList(RevList),
    /// Run git commands through hedgerow when it supports every option
    "shim" Shim(Shim),
    /// Reduce the working tree to a part of the tracked files
    "sparse-checkout" SparseCheckout(SparseCheckout),
    /// Summarize, compare or plot what --stats=FILE recorded
    "stats" Stats(Stats),
    /// Register, update and list submodules
    "submodule" Submodule(Submodule),
    /// Switch to a branch
    "switch" Switch(Switch),
    /// Measure a file system and set the number of checkout workers for it
    "tune" Tune(Tune),
    /// Remove a mount that 'hedgerow mount' made
    "unmount" Unmount(Unmount),
    /// Serve fetches of a git server (uploadpack.packObjectsHook)
    "upload-pack-hook" UploadPackHook(UploadPackHook),
    /// Verify packs against their indexes
    "verify-pack" VerifyPack(VerifyPack),
    /// List a directory tree, in parallel
    "walk" Walk(Walk),
    /// Add, list, move and remove working trees of a repository
    "worktree" Worktree(Worktree),
}

impl Command {
    /// Whether it prints JSON, or says by itself that it cannot.
    pub fn takes_json(&self) -> bool {
        match self {
            Command::Bitmap(bitmap) => bitmap.takes_json(),
            Command::Checkout(_)
            | Command::Clean(_)
            | Command::CatFile(_)
            | Command::Doctor(_)
            | Command::HgStatus(_)
            | Command::Image(_)
            | Command::LsFiles(_)
            | Command::Restore(_)
            | Command::RevList(_)
            | Command::Stats(_)
            | Command::Status(_)
            | Command::Switch(_)
            | Command::Tune(_)
            | Command::Walk(_) => true,
            _ => false,
        }
    }

    /// What programs may read of a command that prints no JSON.
    pub fn json_hint(&self) -> Option<&'static str> {
        match self {
            Command::CheckoutIndex(_)
            | Command::Merge(_)
            | Command::ReadTree(_)
            | Command::Reset(_)
            | Command::Stash(_) => Some("for the state afterwards: hedgerow status --json"),
            Command::DiffFiles(_) | Command::DiffIndex(_) => {
                Some("for programs: --raw -z, or hedgerow status --json")
            }
            Command::SparseCheckout(_) => Some("for programs: sparse-checkout list, a rule a line"),
            Command::Worktree(_) => Some("for programs: worktree list --porcelain -z"),
            _ => None,
        }
    }

    /// Whether it has workers whose work `--trace` records.
    pub fn takes_trace(&self) -> bool {
        !matches!(
            self,
            Command::CatFile(_)
                | Command::Doctor(_)
                | Command::Fetch(_)
                | Command::Generate(_)
                | Command::IndexPack(_)
                | Command::ReverseIndex(_)
                | Command::RevList(_)
                | Command::Shim(_)
                | Command::Stats(_)
                | Command::Tune(_)
                | Command::UploadPackHook(_)
                | Command::VerifyPack(_)
        )
    }

    /// Whether it uses the engine, whose figures `--stats` shows.
    pub fn takes_stats(&self) -> bool {
        match self {
            Command::Image(image) => image.takes_stats(),
            Command::Archive(_)
            | Command::Checkout(_)
            | Command::Clean(_)
            | Command::Clone(_)
            | Command::CheckoutIndex(_)
            | Command::DiffFiles(_)
            | Command::DiffIndex(_)
            | Command::HgStatus(_)
            | Command::LsFiles(_)
            | Command::Merge(_)
            | Command::ReadTree(_)
            | Command::Reset(_)
            | Command::Restore(_)
            | Command::Status(_)
            | Command::Switch(_)
            | Command::Walk(_) => true,
            _ => false,
        }
    }
}

#[derive(Debug, Subcommand)]
pub enum Generate {
    /// Print the completions for a shell
    Completions {
        /// Which shell
        shell: Shell,
    },
    /// Print the reference of a command as Markdown; without one, the list of commands
    Reference {
        /// The command
        command: Option<String>,
    },
    /// Print a manual page
    Man {
        /// Print the names of all pages instead, a line each
        #[arg(long)]
        list: bool,
        /// The command, such as 'image create', or a tool such as 'tar2sqfs' [default: hedgerow
        /// itself]
        command: Vec<String>,
    },
    /// Print what the last word of a command line may become: for completions
    Candidates {
        /// The program: hedgerow, or a tool such as 'tar2sqfs'
        program: String,
        /// The words after the program's name; the last one is completed
        #[arg(last = true)]
        words: Vec<OsString>,
    },
}

/// The shells that there are completions for.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Shell {
    Bash,
    Zsh,
    Fish,
}

/// Show changed, added, removed, missing and unknown files of a Mercurial working copy
#[derive(Debug, Args)]
pub struct HgStatus {
    /// Show modified files
    #[arg(short, long)]
    pub modified: bool,
    /// Show added files
    #[arg(short, long)]
    pub added: bool,
    /// Show removed files
    #[arg(short, long)]
    pub removed: bool,
    /// Show missing (tracked but deleted) files
    #[arg(short, long)]
    pub deleted: bool,
    /// Show unknown (not tracked) files
    #[arg(short, long)]
    pub unknown: bool,
    /// Show files without changes
    #[arg(short, long)]
    pub clean: bool,
    /// Show ignored files
    #[arg(short, long)]
    pub ignored: bool,
    /// Show all files and the sources of copies
    #[arg(short = 'A', long)]
    pub all: bool,
    /// Hide the status letters
    #[arg(short, long)]
    pub no_status: bool,
    /// Show the sources of copied files
    #[arg(long)]
    pub copies: bool,
    /// End paths with NUL instead of a newline
    #[arg(short = '0', long)]
    pub print0: bool,
    /// Files and directories to show (default: all)
    #[arg(value_name = "PATH")]
    pub paths: Vec<OsString>,
}

/// Summarize, compare or plot what --stats=FILE recorded
#[derive(Debug, Args)]
pub struct Stats {
    /// Write a page (.html) or a plot (SVG) into PLOT instead; '-' means standard output
    #[arg(short, long, value_name = "PLOT")]
    pub output: Option<PathBuf>,
    /// What to write into PLOT [default: by its name]
    #[arg(long, value_name = "FORMAT", requires = "output")]
    pub format: Option<StatsFormat>,
    /// Replace PLOT if it exists
    #[arg(short, long, requires = "output")]
    pub force: bool,
    /// The file written by --stats=FILE
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Another one, of a later run, to compare it with
    #[arg(value_name = "OTHER")]
    pub other: Option<PathBuf>,
}

/// How statistics are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum StatsFormat {
    /// A page of HTML, with tables
    Html,
    /// A picture
    Svg,
}

/// Measure a file system and set the number of checkout workers for it
///
/// Creates, stats and removes small files in a directory of its own, with 1, 2, 4, ... up to 64
/// workers, two to five times, for about six seconds. Writes checkout.workers and
/// checkout.thresholdForParallelism to the repository's configuration, which git reads too: the
/// smallest number of workers within 5 % of the best, and the number of files from which these
/// workers gain more time than git needs to start them (5 ms per worker are assumed). Nothing is
/// written if the results of single measurements differ by more than a factor of two. The repository
/// is that of the current directory or of -C, even if another directory is measured.
#[derive(Debug, Args)]
pub struct Tune {
    /// Set the values even if the measurements vary a lot
    #[arg(short, long)]
    pub force: bool,
    /// Only print what would be set
    #[arg(long)]
    pub dry_run: bool,
    /// Directory to measure, whatever is set [default: the working tree, or the current directory]
    #[arg(value_name = "DIR")]
    pub measured: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn a_command_is_defined_alone_as_among_all() {
        let said = |parsed: Result<Arguments, clap::Error>| match parsed {
            Ok(arguments) => format!("{arguments:?}"),
            Err(error) => error.to_string(),
        };
        for command in Arguments::command().get_subcommands() {
            let name = command.get_name();
            let is_alone = Command::definition(name).is_some();
            assert_eq!(is_alone, name != "generate", "{name}");
            for option in ["--help", "-h", "--no-such-option"] {
                let words = ["hedgerow", name, option].map(OsString::from);
                let alone = Arguments::parse_only(&words, Some(name));
                assert_eq!(said(alone), said(Arguments::try_parse_from(words)));
            }
        }
    }

    #[test]
    fn the_list_of_commands_says_of_each_what_its_own_help_says() {
        let listed = Arguments::command();
        let mut built = Arguments::command();
        built.build();
        let is_listed = |it: &&clap::Command| !it.is_hide_set() && it.get_name() != "help";
        for command in built.get_subcommands().filter(is_listed) {
            let short = listed.find_subcommand(command.get_name());
            let short = short.and_then(clap::Command::get_about);
            let full = command.get_about();
            assert!(short.is_some(), "{}", command.get_name());
            assert_eq!(
                short.map(|it| it.to_string()),
                full.map(|it| it.to_string())
            );
        }
    }
}
