//! Recipes: files that say what is in an image, in which order, and with which attributes.

use hedgerow_squashfs::recipe::{read, FileContexts, Labels, RecipeError, SortRules, XattrFile};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The files of a recipe, as the user named them. Their formats are those of gensquashfs.
#[derive(Clone, Copy, Debug, Default)]
pub struct RecipeFiles<'a> {
    /// Describes the entries of the image.
    pub pack_file: Option<&'a Path>,
    /// Says in which order contents are stored, and how.
    pub sort_file: Option<&'a Path>,
    /// Extended attributes by path, as `getfattr --dump` prints them.
    pub xattr_file: Option<&'a Path>,
    /// Security contexts by path, as SELinux's `file_contexts` has them.
    pub selinux: Option<&'a Path>,
}

/// What the files of a recipe say.
#[derive(Debug)]
pub struct Recipe {
    pub(super) description: Option<(PathBuf, Vec<u8>)>,
    pub(super) sort: Option<SortRules>,
    pub(super) labels: Arc<Labels>,
}

impl Default for Recipe {
    /// Everything that the source has, as it has it.
    fn default() -> Self {
        Recipe {
            description: None,
            sort: None,
            labels: Arc::new(Labels {
                keep: true,
                ..Labels::default()
            }),
        }
    }
}

impl Recipe {
    /// Reads the files; `find` tells where one is. `keep`: extended attributes of the source stay.
    ///
    /// # Errors
    /// A file cannot be read, or a line of it makes no sense; the error names both.
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

    /// Whether a sort file gives contents an order of their own: only a directory can be sorted.
    pub fn sorts(&self) -> bool {
        self.sort.is_some()
    }
}
