//! Creates images from directories, commits, archives and images.

use super::files::{own_path, FilesSource};
use super::progress::count;
use super::recipe::Recipe;
use super::{AnyImage, Kind};
use bstr::BStr;
use hedgerow_engine::{Execution, Stage};
use hedgerow_erofs::CreateOptions as ErofsOptions;
use hedgerow_fs::threads::start_scoped;
use hedgerow_fs::{FileKind, ReadFile};
use hedgerow_git::archive::{nodes_of_commit, ArchiveOptions, EntryCounter};
use hedgerow_git::repository::Repository;
use hedgerow_image::{Created, Error, Item, WriteError};
use hedgerow_numbers::Shard;
use hedgerow_squashfs::recipe::{Defaults, Description, SortRules};
use hedgerow_squashfs::rules::{Fit, PathRules};
use hedgerow_squashfs::{create_part, CreateOptions, Outline};
use hedgerow_tar::{nodes_of_archive, NodeOptions, Warning};
use hedgerow_tree::{Node, NodeError, NodeKind};
use hedgerow_walk::{nodes_of_directory, Patterns, Selection, WalkOptions};
use std::path::{Path, PathBuf};

/// The source of an image.
#[derive(Debug)]
pub enum Source<'s> {
    /// A directory: all of it, or the part that the recipe's description names.
    Directory(DirectorySource<'s>),
    /// A commit, with the entries that `git archive` would list.
    Commit(CommitSource<'s>),
    /// A tar archive.
    Archive(ArchiveSource),
    /// Another image.
    Image(InnerSource),
    /// Several files and directories.
    Files(FilesSource<'s>),
    /// Nothing: all entries are defined by the recipe's edits.
    Nothing,
}

/// A directory as a source.
#[derive(Debug)]
pub struct DirectorySource<'s> {
    /// The directory.
    pub directory: &'s Path,
    /// Which entries are included. Not used with a description.
    pub selection: Selection,
    /// Whether the walk stays on one file system.
    pub one_file_system: bool,
    /// Attributes of directories that the description does not contain.
    pub defaults: Defaults,
}

/// A commit as a source.
#[derive(Debug)]
pub struct CommitSource<'s> {
    /// The repository.
    pub repository: &'s Repository,
    /// The commit or tree.
    pub revision: &'s BStr,
    /// Which entries are left out.
    pub exclude: Patterns,
    /// Whether attributes files in the working tree take precedence over those in the tree.
    pub worktree_attributes: bool,
    /// Modification time of the entries if the revision is a tree, which has no time; in seconds
    /// since 1970.
    pub tree_mtime_s: i64,
}

/// An archive as a source.
#[derive(Debug)]
pub struct ArchiveSource {
    /// The archive, compressed or not; a regular file is read from its current position.
    pub file: ReadFile,
    /// How members become a tree. `spool_directory` is ignored: contents are spooled to the image's
    /// directory.
    pub nodes: NodeOptions,
    /// Which entries are left out.
    pub exclude: Patterns,
    /// What else is left out.
    pub exclude_paths: PathRules,
    /// Whether skipped members cause warnings only.
    pub skips_quietly: bool,
    /// Whether extended attributes that SquashFS cannot hold are errors.
    pub xattrs_must_fit: bool,
}

/// An image as a source: the tree in it.
pub struct InnerSource {
    /// The image.
    pub image: AnyImage,
    /// Which entries are left out.
    pub exclude: Patterns,
}

impl std::fmt::Debug for InnerSource {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("InnerSource")
            .finish_non_exhaustive()
    }
}

impl<'s> Source<'s> {
    /// The archive, or the image that stands in its place. An image must be a regular file, because it
    /// is not read in order.
    ///
    /// # Errors
    /// The file cannot be read, or is an image that cannot be used.
    pub fn archive_or_image(archive: ArchiveSource) -> Result<Self, WriteError> {
        let file = &archive.file;
        if file.stat()?.kind != FileKind::File {
            return Ok(Source::Archive(archive));
        }
        let position = file.position()?;
        match Kind::of(file, position) {
            Ok(_) => {}
            Err(Error::Fs(error)) => return Err(error.into()),
            Err(_) => return Ok(Source::Archive(archive)),
        }
        let path = file.path().to_owned();
        let image = AnyImage::new(Box::new(archive.file), position);
        let image = image.map_err(|error| unreadable(&path, error))?;
        Ok(Source::Image(InnerSource {
            image,
            exclude: archive.exclude,
        }))
    }

    /// A whole directory.
    pub fn directory(directory: &'s Path) -> Self {
        Source::Directory(DirectorySource {
            directory,
            selection: Selection::default(),
            one_file_system: false,
            defaults: Defaults::default(),
        })
    }

    /// A whole commit.
    pub fn commit(repository: &'s Repository, revision: &'s BStr) -> Self {
        Source::Commit(CommitSource {
            repository,
            revision,
            exclude: Patterns::default(),
            worktree_attributes: false,
            tree_mtime_s: 0,
        })
    }

    /// A whole archive; a member that an image cannot store is an error.
    pub fn archive(file: ReadFile) -> Self {
        Source::Archive(file.into())
    }
}

impl From<ReadFile> for ArchiveSource {
    /// All of the archive; a member that an image cannot store is an error.
    fn from(file: ReadFile) -> Self {
        ArchiveSource {
            file,
            nodes: NodeOptions::default(),
            exclude: Patterns::default(),
            exclude_paths: PathRules::default(),
            skips_quietly: false,
            xattrs_must_fit: false,
        }
    }
}

/// The format of an image, with how it is written.
#[derive(Clone, Copy, Debug)]
pub enum Format<'o> {
    /// SquashFS.
    SquashFs(&'o CreateOptions),
    /// EROFS.
    Erofs(&'o ErofsOptions),
}

impl<'o> From<&'o CreateOptions> for Format<'o> {
    fn from(options: &'o CreateOptions) -> Self {
        Format::SquashFs(options)
    }
}

impl<'o> From<&'o ErofsOptions> for Format<'o> {
    fn from(options: &'o ErofsOptions) -> Self {
        Format::Erofs(options)
    }
}

impl<'o> Format<'o> {
    /// The name of the format.
    pub fn name(self) -> &'static str {
        match self {
            Format::SquashFs(_) => "squashfs",
            Format::Erofs(_) => "erofs",
        }
    }

    /// The name of the compressor; `none` if nothing is compressed.
    pub fn compressor(self) -> &'static str {
        match self {
            Format::SquashFs(options) => options.settings.compressor().name(),
            Format::Erofs(options) => options
                .compression
                .map_or("none", |with| with.settings.algorithm().name()),
        }
    }

    /// How it is run.
    pub fn execution(self) -> &'o Execution {
        match self {
            Format::SquashFs(options) => &options.execution,
            Format::Erofs(options) => &options.execution,
        }
    }

    fn stores_xattrs(self) -> bool {
        match self {
            Format::SquashFs(options) => options.xattrs,
            Format::Erofs(options) => options.xattrs,
        }
    }

    fn create<I: Into<Item>>(
        self,
        items: impl Iterator<Item = Result<I, NodeError>> + Send,
        target: &Path,
    ) -> Result<Created, WriteError> {
        match self {
            Format::SquashFs(options) => hedgerow_squashfs::create(items, target, options),
            Format::Erofs(options) => hedgerow_erofs::create(items, target, options),
        }
    }
}

/// Callbacks during the creation of an image.
#[derive(Clone, Copy)]
pub struct Hooks<'h> {
    /// Changes an entry before it is stored. Called by several workers at the same time.
    pub change: &'h (dyn Fn(Node) -> Node + Sync),
    /// Called with warnings.
    pub warn: &'h dyn Fn(String),
    /// Which part of the image is made, if not all of it, and what is noted in it for
    /// [`Parts::made`](super::Parts::made).
    pub part: Option<(Shard, &'h [u8])>,
}

impl Default for Hooks<'_> {
    /// Entries are not changed; warnings are ignored.
    fn default() -> Self {
        Hooks {
            change: &|node| node,
            warn: &|_| {},
            part: None,
        }
    }
}

/// Creates the image `target` from `source`. [`Stage::Entries`](crate::Stage::Entries) counts the
/// entries read.
///
/// # Errors
/// See [`WriteError`]. On error, no image is created, and an existing one stays as it is.
///
/// ```no_run
/// use hedgerow::image::{create, CreateOptions, Source};
///
/// # fn main() -> Result<(), hedgerow::image::WriteError> {
/// let source = Source::directory("tree".as_ref());
/// let created = create(source, "tree.sqfs".as_ref(), &CreateOptions::default())?;
/// println!("{} inodes in {} bytes", created.inodes, created.bytes);
/// # Ok(())
/// # }
/// ```
pub fn create<'o>(
    source: Source<'_>,
    target: &Path,
    options: impl Into<Format<'o>>,
) -> Result<Created, WriteError> {
    create_with(source, Recipe::default(), target, options, Hooks::default())
}

/// Like [`create`], with the entries, the order and the attributes of `recipe`, and with `hooks`.
///
/// # Errors
/// Like [`create`]; also if a recipe describes or sorts a source other than a directory.
pub fn create_with<'o>(
    source: Source<'_>,
    recipe: Recipe,
    target: &Path,
    options: impl Into<Format<'o>>,
    hooks: Hooks<'_>,
) -> Result<Created, WriteError> {
    let options = options.into();
    let change = |node: Node| {
        count(&node, options.execution());
        (hooks.change)(node)
    };
    let making = Making {
        target,
        options,
        change: &change,
        uncounted: hooks.change,
        warn: hooks.warn,
        part: hooks.part,
    };
    let is_whole_directory = matches!(source, Source::Directory(_)) && recipe.description.is_none();
    if hooks.part.is_some() && (recipe.sorts() || !is_whole_directory) {
        return Err(WriteError::Limit {
            reason: "only an image of a directory is made in parts, and it is not sorted".into(),
        });
    }
    let is_directory = matches!(source, Source::Directory(_));
    if !is_directory && (recipe.sorts() || recipe.description.is_some()) {
        return Err(WriteError::Limit {
            reason: "only a directory can be described or sorted".into(),
        });
    }
    match source {
        Source::Directory(source) => making.of_directory(source, recipe),
        Source::Commit(source) => making.of_commit(source, &recipe),
        Source::Archive(source) => making.of_archive(source, recipe),
        Source::Image(source) => making.of_image(&source, recipe),
        Source::Files(source) => making.of_files(&source, recipe),
        Source::Nothing => making.edited(Vec::new(), recipe),
    }
}

/// The error if the image that is the source cannot be read.
fn unreadable(path: &Path, error: Error) -> WriteError {
    let path = path.display();
    WriteError::Source(NodeError::source(format!(
        "cannot read the image '{path}': {error}"
    )))
}

/// Changes an entry, and gives it the labels of the recipe.
fn labelled_by<'l>(
    change: &'l (dyn Fn(Node) -> Node + Sync),
    recipe: &'l Recipe,
) -> impl Fn(Node) -> Node + Sync + 'l {
    move |node| {
        let path = node.path.clone();
        recipe.labels.applied(change(node), &path)
    }
}

/// An image that is being created.
struct Making<'m> {
    target: &'m Path,
    options: Format<'m>,
    change: &'m (dyn Fn(Node) -> Node + Sync),
    /// The same for an entry that will come once more: it is not counted.
    uncounted: &'m (dyn Fn(Node) -> Node + Sync),
    warn: &'m dyn Fn(String),
    part: Option<(Shard, &'m [u8])>,
}

impl Making<'_> {
    fn of_directory(
        &self,
        source: DirectorySource<'_>,
        recipe: Recipe,
    ) -> Result<Created, WriteError> {
        let sort = recipe.sort.as_ref();
        if let Some((file, content)) = recipe.description {
            let parsed = Description::parse(&file, &content, source.directory, source.defaults);
            drop(content);
            let nodes = parsed.map_err(NodeError::source)?.into_nodes(recipe.labels);
            let change = self.change;
            return self.store(nodes.map(move |node| node.map(change)), sort);
        }
        let walk = WalkOptions {
            execution: self.options.execution().clone(),
            one_file_system: source.one_file_system,
            selection: source.selection,
            ..WalkOptions::default()
        };
        let labelled = self.labelled(&recipe);
        let own = own_path(source.directory, self.target);
        let is_own = |node: &Node| own.as_deref() == Some(node.path.as_slice());
        let kept = |node: &Result<Node, NodeError>| !node.as_ref().is_ok_and(is_own);
        let Some((shard, made)) = self.part else {
            return nodes_of_directory(source.directory, walk, |nodes| {
                self.store(nodes.filter(kept).map(|node| node.map(&labelled)), sort)
            })?;
        };
        let Format::SquashFs(options) = self.options else {
            return Err(WriteError::Limit {
                reason: "only SquashFS images are made in parts".into(),
            });
        };
        // The tree is listed once to learn how much there is to divide, and whether it is the same as
        // for the other parts.
        let outline = nodes_of_directory(source.directory, walk.clone(), |nodes| {
            let nodes = nodes.filter(kept).flatten();
            let nodes = nodes.map(labelled_by(self.uncounted, &recipe));
            nodes.fold(Outline::default(), |mut outline, node| {
                outline.add(&node);
                outline
            })
        })?;
        let range = outline.range(shard);
        nodes_of_directory(source.directory, walk, |nodes| {
            let nodes = nodes.filter(kept).map(|node| node.map(&labelled));
            create_part(nodes, range, made, self.target, options)
        })?
    }

    fn of_commit(&self, source: CommitSource<'_>, recipe: &Recipe) -> Result<Created, WriteError> {
        let archive = ArchiveOptions {
            strict_placeholders: false,
            worktree_attributes: source.worktree_attributes,
            tree_mtime_s: source.tree_mtime_s,
            cancel: self.options.execution().cancel.clone(),
            ..ArchiveOptions::default()
        };
        let labelled = self.labelled(recipe);
        let repository = source.repository;
        let progress = &self.options.execution().progress;
        let counter = progress
            .is_watched()
            .then(|| EntryCounter::new(repository, source.revision, &archive));
        let listed = std::thread::scope(|threads| {
            // Without a counter or a thread for it there is no total; why is found out below.
            if let Some(Ok(counter)) = counter {
                let count = || {
                    let count = counter.count(keeps(&source.exclude));
                    count.map(|count| progress.stage(Stage::Entries).expect_all(count))
                };
                drop(start_scoped(threads, "count", count));
            }
            nodes_of_commit(repository, source.revision, &archive, |nodes| {
                let nodes = nodes.filter(kept(&source.exclude));
                let nodes = nodes.map(|node| node.map(&labelled));
                self.options.create(nodes, self.target)
            })
        });
        let listed = listed.map_err(|error| match error {
            hedgerow_git::Error::Interrupted => WriteError::Cancelled,
            error => WriteError::Source(NodeError::source(error)),
        })?;
        let warnings = repository.objects().warnings().into_iter();
        warnings.chain(listed.warnings).for_each(self.warn);
        listed.outcome
    }

    fn of_archive(&self, source: ArchiveSource, recipe: Recipe) -> Result<Created, WriteError> {
        let (options, warn) = (self.options, self.warn);
        let nodes = NodeOptions {
            spool_directory: directory_of(self.target),
            access_control_lists: matches!(options, Format::Erofs(_)),
            cancel: options.execution().cancel.clone(),
            ..source.nodes
        };
        let mut nodes = nodes_of_archive(source.file, &nodes)?;
        if source.skips_quietly {
            let skipped = nodes.take_skipped();
            skipped.iter().for_each(|error| warn(error.to_string()));
        }
        for warning in nodes.warnings() {
            // A volume label does not affect the contents.
            if !matches!(warning, Warning::VolumeLabel(_)) {
                warn(warning.to_string());
            }
        }
        let lists = nodes.access_control_lists();
        if lists > 0 && options.stores_xattrs() {
            let why = match options {
                Format::SquashFs(_) => "SquashFS has no access control lists",
                Format::Erofs(_) => {
                    "access control lists are damaged, or name users or groups that are not known here"
                }
            };
            warn(format!("{why}: those of {lists} members are left out"));
        }
        if source.xattrs_must_fit && options.stores_xattrs() {
            if let Some(name) = nodes.xattr_names().find(|name| !fits(name)) {
                return Err(WriteError::Limit {
                    reason: format!("SquashFS has no room for attributes such as '{name}'"),
                });
            }
        }
        let (exclude, paths) = (source.exclude, source.exclude_paths);
        let nodes = nodes.without(move |path, is_directory| {
            exclude.excludes(path, is_directory) || paths.fit(path) == Fit::Whole
        });
        if !recipe.edits.is_empty() {
            return self.edited(nodes.collect::<Result<_, _>>()?, recipe);
        }
        let labelled = self.labelled(&recipe);
        let nodes = nodes.map(|node| node.map(&labelled));
        options.create(nodes, self.target)
    }

    fn of_image(&self, source: &InnerSource, recipe: Recipe) -> Result<Created, WriteError> {
        let nodes = source.image.nodes(&[]).map_err(NodeError::source)?;
        let progress = &self.options.execution().progress;
        progress.stage(Stage::Entries).expect(source.image.inodes());
        let nodes = nodes.filter(kept(&source.exclude));
        if !recipe.edits.is_empty() {
            return self.edited(nodes.collect::<Result<_, _>>()?, recipe);
        }
        let labelled = self.labelled(&recipe);
        let nodes = nodes.map(|node| node.map(&labelled));
        self.options.create(nodes, self.target)
    }

    fn of_files(&self, source: &FilesSource<'_>, recipe: Recipe) -> Result<Created, WriteError> {
        let execution = self.options.execution();
        if let Some(directory) = source.directory() {
            let walk = WalkOptions {
                execution: execution.clone(),
                ..source.walk(directory, b"", self.target)
            };
            return nodes_of_directory(directory, walk, |nodes| {
                let is_kept = |node: &Result<Node, NodeError>| {
                    node.as_ref().map_or(true, |node| source.keeps(node))
                };
                let nodes = nodes.filter(is_kept);
                if !recipe.edits.is_empty() {
                    return self.edited(nodes.collect::<Result<_, _>>()?, recipe);
                }
                let labelled = self.labelled(&recipe);
                self.store(nodes.map(|node| node.map(&labelled)), None)
            })?;
        }
        let nodes = source.collect(self.target, execution, self.warn)?;
        self.edited(nodes, recipe)
    }

    /// Stores nodes, which come in any order, after the recipe's edits.
    fn edited(&self, nodes: Vec<Node>, mut recipe: Recipe) -> Result<Created, WriteError> {
        let edits = std::mem::take(&mut recipe.edits);
        let nodes = edits.apply(nodes, &recipe.labels, self.change, self.warn)?;
        self.store(nodes.into_iter().map(Ok), None)
    }

    /// Changes an entry, and adds the attributes of the recipe.
    fn labelled<'l>(&'l self, recipe: &'l Recipe) -> impl Fn(Node) -> Node + Sync + 'l {
        labelled_by(self.change, recipe)
    }

    /// Stores the nodes in their order, or in the order of the sort file.
    fn store(
        &self,
        nodes: impl Iterator<Item = Result<Node, NodeError>> + Send,
        sort: Option<&SortRules>,
    ) -> Result<Created, WriteError> {
        let Some(rules) = sort else {
            return self.options.create(nodes, self.target);
        };
        let arranged = rules.arrange(nodes)?;
        rules.ignored().chain(arranged.unused).for_each(self.warn);
        self.options.create(arranged.items, self.target)
    }
}

/// The parent directory of a file.
pub(super) fn directory_of(target: &Path) -> PathBuf {
    target.parent().map(Path::to_owned).unwrap_or_default()
}

/// Whether an entry is kept. Remembers the last excluded directory, whose entries follow it
/// directly.
fn kept(exclude: &Patterns) -> impl FnMut(&Result<Node, NodeError>) -> bool + '_ {
    let mut keeps = keeps(exclude);
    move |node| match node {
        Ok(node) => keeps(&node.path, node.kind == NodeKind::Directory),
        Err(_) => true,
    }
}

/// The same for a path, and whether it is of a directory.
fn keeps(exclude: &Patterns) -> impl FnMut(&[u8], bool) -> bool + '_ {
    let mut excluded: Option<Vec<u8>> = None;
    move |path, is_directory| {
        let below = |directory: &Vec<u8>| {
            let rest = path.strip_prefix(directory.as_slice());
            rest.is_some_and(|rest| rest.starts_with(b"/"))
        };
        if path.is_empty() || excluded.as_ref().is_some_and(below) {
            return path.is_empty();
        }
        let is_excluded = exclude.excludes(path, is_directory);
        if is_excluded && is_directory {
            excluded = Some(path.to_owned());
        }
        !is_excluded
    }
}

/// Whether SquashFS has a type for the prefix of an attribute's name.
fn fits(name: &[u8]) -> bool {
    let prefixes: [&[u8]; 3] = [b"user.", b"trusted.", b"security."];
    prefixes.iter().any(|prefix| name.starts_with(prefix))
}
