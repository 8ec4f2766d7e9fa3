//! The source of an image: a directory, a commit, an archive or another image.

use super::exclude;
use crate::environment::{from_directory, of_git, refuse_fakeroot};
use crate::failure::Failure;
use crate::global::Global;
use crate::image::arguments::Create;
use crate::walk::not_started;
use bstr::{BStr, ByteSlice};
use hedgerow::image::{
    create_with, ArchiveSource, CommitSource, Created, Defaults, DirectorySource, Format, Hooks,
    NodeOptions, Recipe, Source, WriteError,
};
use hedgerow::walk::Selection;
use hedgerow::Repository;
use hedgerow_fs::ReadFile;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The prefix of a source that is a commit.
const COMMIT_PREFIX: &[u8] = b"git:";

/// The SOURCE of the command line.
pub enum NamedSource<'c> {
    /// Also used with a description alone, which names the files that it needs.
    Directory(PathBuf),
    /// A revision in the repository that git would use here.
    Commit(Box<Repository>, &'c BStr),
    /// An archive or an image: a file, or standard input.
    Archive(ReadFile),
}

impl<'c> NamedSource<'c> {
    /// The source that `command` names. Refuses options that have no meaning for it.
    pub fn of(command: &'c Create, global: &Global, recipe: &Recipe) -> Result<Self, Failure> {
        let path = from_directory(global, &command.source);
        let is_stdin = command.source == Path::new("-");
        let is_directory = !is_stdin && hedgerow_fs::is_directory(&path);
        let takes_directory = is_directory || command.pack_file.is_some();
        // A directory with such a name needs `./` in front.
        let revision = command.source.as_os_str().as_bytes();
        let revision = revision.strip_prefix(COMMIT_PREFIX);
        let revision = revision.filter(|_| !takes_directory);
        let refused = if recipe.sorts() && !takes_directory {
            "--sort-file needs a directory as SOURCE"
        } else if command.one_file_system && !is_directory {
            "--one-file-system needs a directory as SOURCE"
        } else if command.worktree_attributes && revision.is_none() {
            "--worktree-attributes needs git:REVISION as SOURCE"
        } else if takes_directory {
            refuse_fakeroot(recipe.reads_owners()).map_err(not_started)?;
            return Ok(NamedSource::Directory(path));
        } else if let Some(revision) = revision {
            return Ok(NamedSource::Commit(
                Box::new(repository(global)?),
                revision.as_bstr(),
            ));
        } else if is_stdin {
            let file = ReadFile::standard_input().map_err(not_started)?;
            return Ok(NamedSource::Archive(file));
        } else {
            let file = ReadFile::open_stream(&path).map_err(not_started)?;
            return Ok(NamedSource::Archive(file));
        };
        Err(not_started(refused))
    }

    /// Makes the image `target`; no entry is newer than `epoch`, in seconds since 1970.
    pub fn create(
        self,
        command: &Create,
        epoch: Option<i64>,
        recipe: Recipe,
        target: &Path,
        options: Format<'_>,
        hooks: Hooks<'_>,
    ) -> Result<Created, WriteError> {
        let create = |source| create_with(source, recipe, target, options, hooks);
        match self {
            NamedSource::Directory(directory) => {
                let mtime_s = command.default_mtime.map(i64::from).or(epoch);
                create(Source::Directory(DirectorySource {
                    directory: &directory,
                    selection: Selection {
                        exclude: exclude(command),
                        ..Selection::default()
                    },
                    one_file_system: command.one_file_system,
                    defaults: Defaults {
                        mtime_s: mtime_s.unwrap_or(0),
                        ..Defaults::default()
                    },
                }))
            }
            NamedSource::Commit(repository, revision) => create(Source::Commit(CommitSource {
                repository: &repository,
                revision,
                exclude: exclude(command),
                worktree_attributes: command.worktree_attributes,
                tree_mtime_s: epoch.unwrap_or(0),
            })),
            NamedSource::Archive(file) => create(Source::archive_or_image(ArchiveSource {
                nodes: NodeOptions {
                    skip_unusable: command.skip_unreadable,
                    ..NodeOptions::default()
                },
                exclude: exclude(command),
                ..file.into()
            })?),
        }
    }
}

fn repository(global: &Global) -> Result<Repository, Failure> {
    let found = Repository::discover(&of_git(global)?);
    found.map_err(|error| {
        let failure = Failure::from(error);
        Failure {
            hint: failure.hint,
            ..not_started(failure.message)
        }
    })
}
