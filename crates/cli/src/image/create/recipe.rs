//! An image by recipe: files that say what is in it, in which order, and with which attributes.

use hedgerow_squashfs::recipe::{
    read, Defaults, Description, FileContexts, Labels, RecipeError, SortRules, XattrFile,
};
use hedgerow_squashfs::{CreateOptions, Created, WriteError};
use hedgerow_tree::{Node, NodeError};
use hedgerow_walk::{nodes_of_directory, WalkOptions};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The files as the user named them.
#[derive(Clone, Copy, Debug, Default)]
pub struct RecipeFiles<'a> {
    pub pack_file: Option<&'a Path>,
    pub sort_file: Option<&'a Path>,
    pub xattr_file: Option<&'a Path>,
    pub selinux: Option<&'a Path>,
}

/// What they say.
#[derive(Debug)]
pub struct Recipe {
    description: Option<(PathBuf, Vec<u8>)>,
    sort: Option<SortRules>,
    pub labels: Arc<Labels>,
}

impl Recipe {
    /// Reads the files; `find` tells where one is. `keep`: attributes of the source stay.
    pub fn read(
        files: RecipeFiles<'_>,
        keep: bool,
        find: impl Fn(&Path) -> PathBuf,
    ) -> Result<Self, RecipeError> {
        let content = |file: &Path| read(&find(file));
        let described = |file: &Path| Ok::<_, RecipeError>((file.to_owned(), content(file)?));
        let description = files.pack_file.map(described);
        let sort = files
            .sort_file
            .map(|file| SortRules::parse(file, &content(file)?));
        let xattrs = files
            .xattr_file
            .map(|file| XattrFile::parse(file, &content(file)?));
        let contexts = files
            .selinux
            .map(|file| FileContexts::parse(file, &content(file)?));
        let labels = Labels {
            keep,
            xattrs: xattrs.transpose()?,
            contexts: contexts.transpose()?,
        };
        Ok(Recipe {
            description: description.transpose()?,
            sort: sort.transpose()?,
            labels: Arc::new(labels),
        })
    }

    /// Whether the contents have an order of their own.
    pub fn sorts(&self) -> bool {
        self.sort.is_some()
    }
}

/// An image that is to be made of a directory: of all of it, or of what a description takes from it.
pub struct DirectoryImage<'a> {
    pub directory: &'a Path,
    pub recipe: Recipe,
    /// What a description does not say.
    pub defaults: Defaults,
    /// Without a description, how the directory is listed.
    pub walk: WalkOptions,
    pub target: &'a Path,
    pub options: &'a CreateOptions,
}

impl DirectoryImage<'_> {
    /// Makes it, of entries as `change` wants them. `warn` is told what is strange.
    pub fn create(
        self,
        change: impl Fn(Node) -> Node + Sync,
        warn: &dyn Fn(String),
    ) -> Result<Created, WriteError> {
        let (sort, labels) = (self.recipe.sort, self.recipe.labels);
        let store = Store {
            sort: sort.as_ref(),
            target: self.target,
            options: self.options,
            warn,
        };
        if let Some((file, content)) = self.recipe.description {
            let parsed = Description::parse(&file, &content, self.directory, self.defaults);
            drop(content);
            let nodes = parsed.map_err(NodeError::source)?.into_nodes(labels);
            return store.store(nodes.map(|node| node.map(&change)));
        }
        let labelled = |node: Node| {
            let path = node.path.clone();
            labels.applied(change(node), &path)
        };
        let own = own_path(self.directory, self.target);
        let is_own = |node: &Node| own.as_deref() == Some(node.path.as_slice());
        nodes_of_directory(self.directory, self.walk, |nodes| {
            let nodes = nodes.filter(|node| !node.as_ref().is_ok_and(is_own));
            store.store(nodes.map(|node| node.map(&labelled)))
        })?
    }
}

/// Where below `directory` the image is to be, if it is there: an older one under that name is no
/// part of it, or each would hold the one before.
fn own_path(directory: &Path, target: &Path) -> Option<Vec<u8>> {
    let (parent, name) = (target.parent()?, target.file_name()?);
    let parent = if parent.as_os_str().is_empty() {
        Path::new(".")
    } else {
        parent
    };
    let directory = hedgerow_fs::real_path(directory).ok()?;
    let target = hedgerow_fs::real_path(parent).ok()?.join(name);
    let path = target.strip_prefix(directory).ok()?;
    Some(path.as_os_str().as_bytes().to_vec())
}

struct Store<'a> {
    sort: Option<&'a SortRules>,
    target: &'a Path,
    options: &'a CreateOptions,
    warn: &'a dyn Fn(String),
}

impl Store<'_> {
    fn store(
        self,
        nodes: impl Iterator<Item = Result<Node, NodeError>> + Send,
    ) -> Result<Created, WriteError> {
        let Some(rules) = self.sort else {
            return hedgerow_squashfs::create(nodes, self.target, self.options);
        };
        let arranged = rules.arrange(nodes)?;
        rules.ignored().chain(arranged.unused).for_each(self.warn);
        hedgerow_squashfs::create(arranged.items, self.target, self.options)
    }
}
