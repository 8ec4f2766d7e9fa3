//! What an image is made of: a directory, a commit or an archive.

use super::archive::{self, ArchiveImage};
use super::commit::{self, CommitImage};
use super::recipe::{DirectoryImage, Recipe};
use super::{exclude, unwritten};
use crate::environment::from_directory;
use crate::failure::Failure;
use crate::global::Global;
use crate::image::arguments::Create;
use crate::walk::not_started;
use hedgerow_engine::{CancelToken, Options};
use hedgerow_fs::ReadFile;
use hedgerow_git::archive::ArchiveOptions;
use hedgerow_squashfs::recipe::Defaults;
use hedgerow_squashfs::{CreateOptions, Created};
use hedgerow_tar::NodeOptions;
use hedgerow_tree::Node;
use hedgerow_walk::{Selection, WalkOptions};
use std::path::{Path, PathBuf};

/// The SOURCE of the command line.
pub enum Source<'c> {
    /// Also what only has a description: it names the files that it wants.
    Directory(PathBuf),
    /// The revision of a commit.
    Commit(&'c [u8]),
    /// A file that is an archive.
    Archive(PathBuf),
    /// An archive on standard input.
    Stream,
}

impl<'c> Source<'c> {
    /// What `command` names. Refuses options that have no meaning for it.
    pub fn of(command: &'c Create, global: &Global, recipe: &Recipe) -> Result<Self, Failure> {
        let path = from_directory(global, &command.source);
        let is_stdin = command.source == Path::new("-");
        let is_directory = !is_stdin && hedgerow_fs::is_directory(&path);
        let source = if is_directory || command.pack_file.is_some() {
            Self::Directory(path)
        } else if let Some(revision) = commit::revision(&command.source) {
            Self::Commit(revision)
        } else if is_stdin {
            Self::Stream
        } else {
            Self::Archive(path)
        };
        let refused = if recipe.sorts() && !matches!(source, Self::Directory(_)) {
            "--sort-file needs a directory as SOURCE"
        } else if command.one_file_system && !is_directory {
            "--one-file-system needs a directory as SOURCE"
        } else if command.worktree_attributes && !matches!(source, Self::Commit(_)) {
            "--worktree-attributes needs git:REVISION as SOURCE"
        } else {
            return Ok(source);
        };
        Err(not_started(refused))
    }
}

/// How an image is made, whatever its source.
pub struct Packing<'a> {
    pub command: &'a Create,
    pub global: &'a Global,
    pub options: &'a CreateOptions,
    /// The image's file.
    pub target: &'a Path,
    /// The newest time that an entry may have.
    pub epoch: Option<u32>,
    pub cancel: CancelToken,
}

impl Packing<'_> {
    /// Makes the image of `source`, of entries as `change` wants them. `warn` is told what is
    /// strange.
    pub fn create(
        self,
        source: &Source<'_>,
        recipe: Recipe,
        change: impl Fn(Node) -> Node + Send + Sync,
        warn: &dyn Fn(String),
    ) -> Result<Created, Failure> {
        let created = match source {
            Source::Directory(path) => self.directory(path, recipe).create(change, warn),
            Source::Commit(revision) => {
                let repository = commit::repository(self.global)?;
                let image = CommitImage {
                    repository: &repository,
                    revision,
                    archive: ArchiveOptions {
                        tree_mtime_s: self.epoch.map_or(0, i64::from),
                        cancel: self.cancel,
                        worktree_attributes: self.command.worktree_attributes,
                    },
                    exclude: exclude(self.command),
                    target: self.target,
                    options: self.options,
                };
                image.create(labelled(&recipe, change), warn)
            }
            Source::Archive(path) => {
                let file = ReadFile::open_stream(path).map_err(not_started)?;
                self.archive(file).create(labelled(&recipe, change), warn)
            }
            Source::Stream => {
                let file = ReadFile::standard_input().map_err(not_started)?;
                self.archive(file).create(labelled(&recipe, change), warn)
            }
        };
        created.map_err(unwritten)
    }
}

impl<'a> Packing<'a> {
    fn directory(&self, directory: &'a Path, recipe: Recipe) -> DirectoryImage<'a> {
        let mtime_s = self.command.default_mtime.or(self.epoch).unwrap_or(0);
        DirectoryImage {
            directory,
            recipe,
            defaults: Defaults {
                mtime_s: mtime_s.into(),
                ..Defaults::default()
            },
            walk: walk(self.command, self.options),
            target: self.target,
            options: self.options,
        }
    }

    fn archive(self, file: ReadFile) -> ArchiveImage<'a> {
        ArchiveImage {
            file,
            archive: NodeOptions {
                spool_directory: archive::directory_of(self.target),
                skip_unusable: self.command.skip_unreadable,
                cancel: self.cancel,
                ..NodeOptions::default()
            },
            exclude: exclude(self.command),
            skips_quietly: false,
            xattrs_must_fit: false,
            target: self.target,
            options: self.options,
        }
    }
}

/// An entry with the attributes that a recipe gives it.
fn labelled<'r>(
    recipe: &'r Recipe,
    change: impl Fn(Node) -> Node + Send + 'r,
) -> impl Fn(Node) -> Node + Send + 'r {
    move |node| {
        let path = node.path.clone();
        recipe.labels.applied(change(node), &path)
    }
}

fn walk(command: &Create, options: &CreateOptions) -> WalkOptions {
    WalkOptions {
        engine: Options {
            name: "walk",
            ..options.readers.clone()
        },
        one_file_system: command.one_file_system,
        metadata: true,
        selection: Selection {
            exclude: exclude(command),
            ..Selection::default()
        },
    }
}
