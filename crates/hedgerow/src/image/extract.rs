//! Extracts an image into a directory.

use super::progress::counted;
use super::AnyImage;
use bstr::ByteSlice;
use hedgerow_engine::Execution;
use hedgerow_fs::Dir;
use hedgerow_image::Error;
use hedgerow_tree::{Node, NodeError};
use hedgerow_writer::{Extracted, Failed, XattrRule};
use std::path::{Path, PathBuf};

/// How an image is extracted.
#[derive(Clone, Debug)]
pub struct ExtractOptions {
    /// The paths to extract, with everything below them; all if empty.
    pub paths: Vec<Vec<u8>>,
    /// The number of leading components removed from each path. Entries without further components
    /// are left out.
    pub strip_components: usize,
    /// Whether the target may be a nonempty directory, in which existing entries are replaced.
    pub replace: bool,
    /// Whether entries get their owners, if the user is root.
    pub owners: bool,
    /// Whether entries get extended attributes; those outside of `user.` only if root extracts with
    /// owners.
    pub xattrs: bool,
    /// Whether root creates setuid programs and devices even in a directory of another user.
    pub keep_privileges: bool,
    /// How it is run: [`Stage::Entries`](crate::Stage::Entries) counts the entries.
    pub execution: Execution,
}

impl Default for ExtractOptions {
    /// Everything, with all attributes, into a new or empty directory.
    fn default() -> Self {
        ExtractOptions {
            paths: Vec::new(),
            strip_components: 0,
            replace: false,
            owners: true,
            xattrs: true,
            keep_privileges: false,
            execution: Execution::default(),
        }
    }
}

/// Why nothing was extracted, or not everything.
#[derive(Debug, thiserror::Error)]
pub enum ExtractError {
    /// The image cannot be read, or has no such path.
    #[error(transparent)]
    Image(Error),
    /// The target cannot be created, examined or read.
    #[error(transparent)]
    Target(#[from] hedgerow_fs::Error),
    /// The target is a nonempty directory.
    #[error("'{}' is not empty", path.display())]
    NotEmpty {
        /// The path of the target.
        path: PathBuf,
    },
    /// Root would extract into a directory whose owner could use setuid programs and devices there.
    #[error(
        "'{}' belongs to user {owner}: setuid programs and devices that root extracts there \
         could give that user the rights of root", directory.display()
    )]
    ForeignOwner {
        /// The target, or its nearest existing parent directory.
        directory: PathBuf,
        /// The user id of the owner.
        owner: u32,
    },
    /// The run ended early; completed entries stay.
    #[error(transparent)]
    Ended(#[from] hedgerow_writer::ExtractError),
}

/// Extracts `image` into the directory `target`, which is created if it does not exist. Calls
/// `tell` for each failed entry, in canonical order; the others are extracted. Nothing is written
/// outside of `target`, whatever the image contains.
///
/// # Errors
/// See [`ExtractError`].
///
/// ```no_run
/// use hedgerow::image::{extract, AnyImage, ExtractOptions};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let image = AnyImage::open("tree.sqfs".as_ref(), 0)?;
/// let options = ExtractOptions::default();
/// let extracted = extract(&image, "tree".as_ref(), &options, |failed| {
///     eprintln!("{}", failed.problem);
/// })?;
/// println!("{} entries, {} failed", extracted.entries, extracted.failed);
/// # Ok(())
/// # }
/// ```
pub fn extract(
    image: impl Into<AnyImage>,
    target: &Path,
    options: &ExtractOptions,
    tell: impl FnMut(Failed),
) -> Result<Extracted, ExtractError> {
    let paths: Vec<&[u8]> = options.paths.iter().map(Vec::as_slice).collect();
    let image = image.into();
    let nodes = image.nodes(&paths).map_err(ExtractError::Image)?;
    let is_root = hedgerow_fs::effective_uid() == 0;
    let foreign = if is_root && !options.keep_privileges {
        foreign_directory(target)?
    } else {
        None
    };
    let is_foreign = foreign.is_some();
    if let Some((directory, owner)) = foreign.filter(|_| options.owners) {
        return Err(ExtractError::ForeignOwner { directory, owner });
    }
    let (root, is_new) = prepare(target, options.replace)?;
    let writing = hedgerow_writer::ExtractOptions {
        execution: options.execution.clone(),
        owners: is_root && options.owners,
        setuid_anyway: false,
        devices: !is_foreign,
        xattrs: match (options.xattrs, is_root && options.owners) {
            (false, _) => XattrRule::None,
            (true, true) => XattrRule::All,
            (true, false) => XattrRule::User,
        },
        permissions: true,
        times: true,
        replace: options.replace,
        root_attributes: is_new && options.strip_components == 0,
    };
    let nodes = counted(nodes, &image, paths.is_empty(), &options.execution);
    let nodes = nodes.filter_map(|node| stripped(node, options.strip_components));
    Ok(hedgerow_writer::extract(&root, nodes, &writing, tell)?)
}

/// Opens or creates the target directory. Also returns whether it was created.
fn prepare(target: &Path, replace: bool) -> Result<(Dir, bool), ExtractError> {
    let is_new = !hedgerow_fs::exists(target);
    if is_new {
        hedgerow_fs::create_directories(target)?;
    }
    let root = Dir::open(target)?;
    if !is_new && !replace && !root.list()?.is_empty() {
        let path = target.to_owned();
        return Err(ExtractError::NotEmpty { path });
    }
    Ok((root, is_new))
}

/// The target directory, or its nearest existing parent, if its owner is not root; with the owner.
fn foreign_directory(target: &Path) -> Result<Option<(PathBuf, u32)>, hedgerow_fs::Error> {
    let exists = |path: &&Path| hedgerow_fs::exists(path);
    let nearest = target.ancestors().find(exists);
    let nearest = nearest.unwrap_or(Path::new("."));
    let owner = Dir::open(nearest)?.stat_self()?.uid;
    Ok((owner != 0).then(|| (nearest.to_owned(), owner)))
}

/// Removes the leading components of a node's path. `None` if no components are left.
fn stripped(node: Result<Node, NodeError>, components: usize) -> Option<Result<Node, NodeError>> {
    let mut node = match node {
        Ok(node) if components > 0 && !node.path.is_empty() => node,
        other => return Some(other),
    };
    let mut names = node.path.splitn_str(components.saturating_add(1), "/");
    node.path = names.nth(components)?.to_vec();
    Some(Ok(node))
}
