//! Several files and directories as one source, laid out as by mksquashfs.

use hedgerow_fs::real_path;
use hedgerow_squashfs::recipe::Defaults;
use hedgerow_squashfs::rules::{Fit, PathRules, RuleError, Syntax};
use hedgerow_squashfs::WriteError;
use hedgerow_tree::{split_path, Node, NodeError, NodeKind};
use hedgerow_walk::{node_at, nodes_of_directory, Selection, Skip, WalkOptions};
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// Files and directories as a source.
#[derive(Debug)]
pub struct FilesSource<'s> {
    /// Their paths.
    pub paths: &'s [PathBuf],
    /// Where they are in the image.
    pub layout: Layout,
    /// Whether directories come with what is in them.
    pub recurse: bool,
    /// What is left out.
    pub exclude: Exclusion,
    /// Only entries up to this depth: 1 for those of the root.
    pub max_depth: Option<usize>,
    /// Whether directories of other file systems are not entered.
    pub one_file_system: bool,
    /// Attributes of the root if no directory of the source becomes it. Its time is that of the
    /// newest entry unless `edits` set it.
    pub root: Defaults,
}

/// Where sources are in an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// The contents of a single directory are in the root.
    Contents,
    /// Each source is in the root under its last component. A number is added to a name that is
    /// taken.
    Names,
    /// Each source is at its path, without leading `/` and `..`.
    Paths,
}

/// What is left out of a tree.
#[derive(Clone, Debug, Default)]
pub struct Exclusion {
    /// Paths of the image.
    patterns: PathRules,
    /// Paths of the file system, without symbolic links.
    names: PathRules,
    /// Device and inode number of excluded files, which may have other names.
    files: HashSet<(u64, u64)>,
}

impl Exclusion {
    /// Leaves out the paths of the image that `patterns` match.
    pub fn of_patterns(patterns: PathRules) -> Self {
        Exclusion {
            patterns,
            ..Exclusion::default()
        }
    }

    /// Leaves out files by their paths: behind `/`, `./` and `../` those of the file system, else
    /// those below each source. Returns the paths that do not exist, too.
    ///
    /// # Errors
    /// There are too many.
    pub fn of_files(
        words: &[Vec<u8>],
        paths: &[PathBuf],
    ) -> Result<(Self, Vec<PathBuf>), RuleError> {
        let mut exclusion = Exclusion {
            names: PathRules::new(Syntax::Literal),
            ..Exclusion::default()
        };
        let mut missing = Vec::new();
        let roots = paths.iter().filter_map(|path| real_path(path).ok());
        let roots: Vec<PathBuf> = roots.collect();
        for word in words {
            let name = Path::new(std::ffi::OsStr::from_bytes(word));
            let is_own = [&b"/"[..], b"./", b"../"]
                .iter()
                .any(|start| word.starts_with(start));
            let candidates: Vec<PathBuf> = if is_own {
                vec![name.to_owned()]
            } else {
                roots.iter().map(|root| root.join(name)).collect()
            };
            for path in candidates {
                if !exclusion.add_file(&path)? && is_own {
                    missing.push(path);
                }
            }
        }
        Ok((exclusion, missing))
    }

    /// Adds a file. Returns whether it exists.
    fn add_file(&mut self, path: &Path) -> Result<bool, RuleError> {
        let Ok(path) = followed(path) else {
            return Ok(false);
        };
        let (Ok(node), Some(path)) = (node_at(&path), located(&path)) else {
            return Ok(false);
        };
        self.files.extend(node.link);
        // The root of a file system has no name; it is never left out.
        if path.file_name().is_some() {
            self.names.add(path.as_os_str().as_bytes(), false)?;
        }
        Ok(true)
    }

    /// Whether an entry is left out, with everything below it: `place` is its path in the image, `path`
    /// that in the file system.
    fn excludes(&self, place: &[u8], path: &[u8]) -> bool {
        let fits = |rules: &PathRules, path| !rules.is_empty() && rules.fit(path) == Fit::Whole;
        fits(&self.patterns, place) || fits(&self.names, path)
    }

    /// Whether a source is left out by its path. Where directories above it are stored, as many as
    /// `depth` counts with its own name, they are looked at, too.
    fn excludes_source(&self, path: &Path, depth: usize) -> bool {
        let mut above = path.ancestors().take(depth);
        !self.names.is_empty()
            && above.any(|path| {
                let located = located(path);
                located.is_some_and(|path| self.excludes(b"", path.as_os_str().as_bytes()))
            })
    }

    fn excludes_node(&self, node: &Node) -> bool {
        node.link.is_some_and(|link| self.files.contains(&link))
    }
}

impl FilesSource<'_> {
    /// Whether the source is a directory whose contents can be passed on while they are listed.
    pub(super) fn directory(&self) -> Option<&Path> {
        match (self.layout, self.paths) {
            (Layout::Contents, [path]) => Some(path),
            _ => None,
        }
    }

    /// How the source `path`, which is at `place` in the image, is listed.
    pub(super) fn walk(&self, path: &Path, place: &[u8], target: &Path) -> WalkOptions {
        let exclude = Arc::new(self.exclude.clone());
        let own = own_path(path, target);
        let depth = depth(place);
        let place = place.to_vec();
        let here = real_path(path).unwrap_or_default().into_os_string();
        WalkOptions {
            one_file_system: self.one_file_system,
            metadata: true,
            // A file may be in several sources.
            numbered: self.paths.len() > 1,
            selection: Selection {
                max_depth: if self.recurse {
                    self.max_depth.map(|most| most.saturating_sub(depth))
                } else {
                    Some(0)
                },
                skip: Skip::new(move |path| {
                    own.as_deref() == Some(path)
                        || exclude.excludes(&joined(&place, path), &joined(here.as_bytes(), path))
                }),
                ..Selection::default()
            },
            ..WalkOptions::default()
        }
    }

    /// Whether a listed node is kept.
    pub(super) fn keeps(&self, node: &Node) -> bool {
        !self.exclude.excludes_node(node)
    }

    /// All nodes of the source; the root first, the others in any order.
    pub(super) fn collect(
        &self,
        target: &Path,
        execution: &hedgerow_engine::Execution,
        warn: &dyn Fn(String),
    ) -> Result<Vec<Node>, WriteError> {
        let mut collected = Collected {
            nodes: vec![self.default_root()?],
            has_root: false,
            taken: HashMap::from([(Vec::new(), NodeKind::Directory)]),
        };
        let mut starts = BTreeSet::new();
        for (given, mut place) in places(self.paths, self.layout) {
            let path = match self.layout {
                Layout::Paths => Cow::Borrowed(given),
                _ => followed(given).map_err(NodeError::source)?,
            };
            let path = path.as_ref();
            let start = start_of(path, self.layout)?;
            let first = source_node(path)?;
            let is_excluded = self.exclude.excludes_source(path, depth(&place));
            if is_excluded || !self.keeps(&first) {
                continue;
            }
            if self.layout == Layout::Names && self.paths.len() > 1 {
                let free = collected.free(&place);
                if free != place {
                    let (name, used) = (shown(&place), shown(&free));
                    warn(format!(
                        "'{name}' is already in the image; storing '{}' as '{used}'",
                        given.display()
                    ));
                }
                place = free;
            }
            let is_too_deep = self.max_depth.is_some_and(|most| depth(&place) > most);
            if is_too_deep || self.exclude.patterns.contains(&place) {
                continue;
            }
            if self.layout == Layout::Paths {
                starts.insert(start);
                collected.add_parents(path, &place)?;
            }
            let walk = WalkOptions {
                execution: execution.clone(),
                ..self.walk(path, &place, target)
            };
            collected.add(first, path, &place, walk, |node| self.keeps(node))?;
        }
        // Without a single directory that all stored paths begin in, the root is that of options.
        if let (Some(start), true) = (starts.pop_first(), starts.is_empty()) {
            collected.replace_root(node_at(&start)?);
        }
        Ok(collected.finish())
    }

    fn default_root(&self) -> Result<Node, NodeError> {
        let Defaults { uid, gid, mode, .. } = self.root;
        // Its time is set when all others are known.
        Ok(Node {
            uid,
            gid,
            mode,
            mtime_s: 0,
            mtime_ns: 0,
            handle: Box::new(Bare),
            ..node_at(Path::new("."))?
        })
    }
}

/// The nodes found so far, the root first.
struct Collected {
    nodes: Vec<Node>,
    /// Whether the root is a directory of the source.
    has_root: bool,
    /// Their kinds by path.
    taken: HashMap<Vec<u8>, NodeKind>,
}

impl Collected {
    /// The name, with a number if it is taken.
    fn free(&self, name: &[u8]) -> Vec<u8> {
        let with = |number: u32| [name, format!("_{number}").as_bytes()].concat();
        let numbered = (1..).map(with);
        let mut names = std::iter::once(name.to_vec()).chain(numbered);
        let free = names.find(|name| !self.taken.contains_key(name));
        free.expect("there are more numbers than entries")
    }

    /// Adds the directories above a place, with the attributes of those above the source.
    fn add_parents(&mut self, path: &Path, place: &[u8]) -> Result<(), NodeError> {
        let (mut path, mut place) = (path, place);
        loop {
            place = split_path(place).0;
            if place.is_empty() {
                return Ok(());
            }
            path = path.parent().unwrap_or(Path::new("."));
            if !self.taken.contains_key(place) {
                let mut node = node_at(path)?;
                if node.kind == NodeKind::Symlink {
                    node = node_at(&real_path(path).map_err(NodeError::source)?)?;
                }
                self.push(place.to_vec(), node);
            }
        }
    }

    /// Adds a source, whose own node is `first`, with everything in it.
    fn add(
        &mut self,
        first: Node,
        path: &Path,
        place: &[u8],
        walk: WalkOptions,
        keeps: impl Fn(&Node) -> bool,
    ) -> Result<(), NodeError> {
        if first.kind != NodeKind::Directory {
            if !self.taken.contains_key(place) {
                self.push(place.to_vec(), first);
            }
            return Ok(());
        }
        nodes_of_directory(path, walk, |nodes| {
            for node in nodes {
                let node = node?;
                let path = joined(place, &node.path);
                if keeps(&node) && !self.taken.contains_key(&path) {
                    self.push(path, node);
                }
            }
            Ok(())
        })?
    }

    fn push(&mut self, path: Vec<u8>, node: Node) {
        self.taken.insert(path.clone(), node.kind);
        self.nodes.push(Node { path, ..node });
    }

    fn replace_root(&mut self, root: Node) {
        if let (false, Some(first)) = (self.has_root, self.nodes.first_mut()) {
            (*first, self.has_root) = (root, true);
        }
    }

    fn finish(mut self) -> Vec<Node> {
        let time = |node: &Node| (node.mtime_s, node.mtime_ns);
        let newest = self.nodes.iter().map(time).max();
        match (self.nodes.first_mut(), newest) {
            (Some(root), Some(newest)) if !self.has_root => {
                (root.mtime_s, root.mtime_ns) = newest;
            }
            _ => {}
        }
        self.nodes
    }
}

/// The sources with their places in the image.
fn places(paths: &[PathBuf], layout: Layout) -> impl Iterator<Item = (&Path, Vec<u8>)> {
    paths.iter().map(move |path| {
        let place = match layout {
            Layout::Contents => Vec::new(),
            Layout::Names => name_of(path),
            Layout::Paths => {
                let names = path.components().filter_map(|component| match component {
                    Component::Normal(name) => Some(name.as_bytes()),
                    _ => None,
                });
                names.collect::<Vec<_>>().join(&b'/')
            }
        };
        (path.as_path(), place)
    })
}

/// The node of a source itself.
fn source_node(path: &Path) -> Result<Node, NodeError> {
    node_at(path).map_err(|error| match error {
        NodeError::Entry(error) => NodeError::Source(error),
        error => error,
    })
}

/// The directory that a path begins in: `/`, `.`, or one of those above it.
fn start_of(path: &Path, layout: Layout) -> Result<PathBuf, NodeError> {
    let is_name = |part: &Component<'_>| matches!(part, Component::Normal(_));
    let mut parts = path.components().peekable();
    let mut start = PathBuf::from(".");
    while let Some(part) = parts.next_if(|part| !is_name(part)) {
        start.push(part);
    }
    if layout == Layout::Paths && !parts.all(|part| is_name(&part)) {
        let path = path.display();
        let reason = format!("'{path}': a path that is stored may have '..' only in front of it");
        return Err(NodeError::source(reason));
    }
    Ok(start)
}

/// The path, or what it leads to if it ends with a slash: then it must be a directory.
fn followed(path: &Path) -> Result<Cow<'_, Path>, hedgerow_fs::Error> {
    let bytes = path.as_os_str().as_bytes();
    if bytes.ends_with(b"/") || bytes.ends_with(b"/.") {
        hedgerow_fs::Dir::open(path)?;
        return real_path(path).map(Cow::Owned);
    }
    Ok(Cow::Borrowed(path))
}

/// The path of an existing file without symbolic links above it.
fn located(path: &Path) -> Option<PathBuf> {
    let Some(name) = path.file_name() else {
        return real_path(path).ok();
    };
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    let parent = real_path(parent.unwrap_or(Path::new("."))).ok()?;
    Some(parent.join(name))
}

/// The number of components of a path of the image.
fn depth(place: &[u8]) -> usize {
    let names = place.split(|byte| *byte == b'/');
    names.filter(|name| !name.is_empty()).count()
}

/// The last component of a path, also of `.` and `..`.
fn name_of(path: &Path) -> Vec<u8> {
    let named = path.file_name().map(|name| name.as_bytes().to_vec());
    let found = || {
        real_path(path)
            .ok()?
            .file_name()
            .map(|name| name.as_bytes().to_vec())
    };
    named.or_else(found).unwrap_or_default()
}

fn joined(place: &[u8], path: &[u8]) -> Vec<u8> {
    match (place, path) {
        (b"", path) => path.to_vec(),
        (place, b"") => place.to_vec(),
        (place, path) => [place, b"/", path].concat(),
    }
}

fn shown(path: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(path)
}

/// The path of the image relative to `directory`, if it is inside. An older image with this name is
/// left out, because otherwise each image would contain the previous one.
pub(super) fn own_path(directory: &Path, target: &Path) -> Option<Vec<u8>> {
    let name = target.file_name()?;
    let mut parent = super::create::directory_of(target);
    if parent.as_os_str().is_empty() {
        parent.push(".");
    }
    let directory = real_path(directory).ok()?;
    let target = real_path(&parent).ok()?.join(name);
    let path = target.strip_prefix(directory).ok()?;
    Some(path.as_os_str().as_bytes().to_vec())
}

/// A directory without extended attributes.
struct Bare;

impl hedgerow_tree::Handle for Bare {
    fn target(&mut self) -> Result<Vec<u8>, NodeError> {
        Err(NodeError::entry("it is no symbolic link"))
    }

    fn open(&mut self) -> Result<Box<dyn hedgerow_tree::Content>, NodeError> {
        Err(NodeError::entry("it is no regular file"))
    }
}
