//! Recipes: files that define the entries of an image, their order and their attributes.

use super::edits::Edits;
use hedgerow_squashfs::recipe::{read, FileContexts, Labels, RecipeError, SortRules, XattrFile};
use hedgerow_squashfs::rules::XattrRules;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The files of a recipe, as the user named them. Their formats are those of gensquashfs.
#[derive(Clone, Copy, Debug, Default)]
pub struct RecipeFiles<'a> {
    /// The description: the entries of the image.
    pub pack_file: Option<&'a Path>,
    /// The sort file: in which order contents are stored, and how.
    pub sort_file: Option<&'a Path>,
    /// Extended attributes by path, in the format of `getfattr --dump`.
    pub xattr_file: Option<&'a Path>,
    /// Security contexts by path, in the format of SELinux's `file_contexts`.
    pub selinux: Option<&'a Path>,
}

/// The parsed files of a recipe.
pub struct Recipe {
    pub(super) description: Option<(PathBuf, Vec<u8>)>,
    pub(super) sort: Option<SortRules>,
    pub(super) labels: Arc<Labels>,
    pub(super) edits: Edits,
}

impl Default for Recipe {
    /// All entries of the source, with their attributes.
    fn default() -> Self {
        Recipe {
            description: None,
            sort: None,
            labels: Arc::new(Labels {
                keep: true,
                ..Labels::default()
            }),
            edits: Edits::default(),
        }
    }
}

impl Recipe {
    /// Reads the files; `find` returns where a file is. If `keep`, extended attributes of the
    /// source are kept.
    ///
    /// # Errors
    /// A file cannot be read, or a line is invalid; the error names file and line.
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
            rules: XattrRules::default(),
        };
        Ok(Recipe {
            description: description.transpose()?,
            sort: sort.transpose()?,
            labels: Arc::new(labels),
            edits: Edits::default(),
        })
    }

    /// All entries of the source, with changes.
    pub fn edited(edits: Edits, xattrs: XattrRules) -> Self {
        Recipe {
            labels: Arc::new(Labels {
                keep: true,
                rules: xattrs,
                ..Labels::default()
            }),
            edits,
            ..Recipe::default()
        }
    }

    /// Whether entries get the owners and permissions of files: without a description, or if it has a
    /// `glob` line, which can keep them.
    pub fn reads_owners(&self) -> bool {
        let Some((_, description)) = &self.description else {
            return true;
        };
        let mut lines = description.split(|byte| *byte == b'\n');
        lines.any(|line| line.trim_ascii_start().starts_with(b"glob"))
    }

    /// Whether a sort file changes the order of contents, which only directories support.
    pub fn sorts(&self) -> bool {
        self.sort.is_some()
    }
}
