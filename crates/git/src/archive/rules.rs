//! The attributes of a directory and of everything below it, read on the way down.

use super::ArchiveOptions;
use crate::convert::{AttributeSources, Attributes, Conversion, ConvertOptions, Converter, Export};
use crate::repository::Repository;
use crate::worktree::attribute_files::OuterAttributes;
use crate::worktree::conversion_options;
use crate::Result;
use bstr::{BStr, BString, ByteSlice};
use std::path::PathBuf;
use std::sync::Arc;

/// Upper size limit of attribute files, in bytes; git ignores larger ones.
pub(super) const FILE_LIMIT_BYTES: u64 = 100 << 20;

/// The name of the file.
pub(super) const FILE_NAME: &[u8] = b".gitattributes";

/// The rules of a directory, shared by the directories below it that have no attributes of their
/// own.
pub(super) struct Rules {
    pub converter: Converter,
    exports: Attributes,
    /// The contents of the attribute files from the top down to this directory, the top first.
    files: Vec<(BString, Arc<[u8]>)>,
}

impl Rules {
    /// The conversion of a file's content.
    pub fn conversion(&self, path: &BStr) -> Conversion {
        self.converter.conversion(path)
    }

    /// Total size of all the files that apply here, in bytes.
    pub fn attribute_bytes(&self) -> u64 {
        self.files.iter().map(|(_, file)| file.len() as u64).sum()
    }

    /// Whether an entry is left out, and whether its placeholders are expanded.
    pub fn export(&self, path: &BStr, is_directory: bool) -> Export {
        if self.exports.is_empty() {
            Export {
                ignore: false,
                subst: false,
            }
        } else {
            self.exports.export(path, is_directory)
        }
    }
}

/// Creates rules; holds the attribute files outside the tree.
pub(super) struct RuleMaker {
    convert: ConvertOptions,
    ignore_case: bool,
    outer: OuterAttributes,
    /// The top of the working tree.
    worktree: Option<PathBuf>,
    /// Whether the attribute files there are read, and none of the tree.
    reads_worktree: bool,
    /// Whether entries are left out and placeholders expanded as attributes say.
    exports: bool,
}

impl RuleMaker {
    pub fn new(repository: &Repository, options: &ArchiveOptions) -> Result<Self> {
        let worktree = repository.work_tree().map(PathBuf::from);
        Ok(RuleMaker {
            convert: conversion_options::options(repository)?,
            ignore_case: repository.settings().ignore_case,
            outer: OuterAttributes::read(repository)?,
            worktree,
            reads_worktree: options.worktree_attributes,
            exports: !options.as_checkout,
        })
    }

    /// Whether the working tree's attribute files are read, and none of the tree that is listed, as by git.
    pub fn reads_worktree(&self) -> bool {
        self.reads_worktree
    }

    /// The content of the working tree's attribute file for a directory. Unreadable files are skipped, as by git.
    pub fn in_worktree(&self, directory: &BStr) -> Option<Vec<u8>> {
        let top = hedgerow_fs::Dir::open(self.worktree.as_ref()?).ok()?;
        let file = top.open_dir(directory).ok()?.open_file(FILE_NAME).ok()?;
        let mut content = Vec::new();
        file.read_to_end(&mut content, FILE_LIMIT_BYTES).ok()?;
        Some(content)
    }

    /// The rules of a directory with the given content of its attribute file, if it has one; and
    /// git's messages about it.
    pub fn rules(
        &self,
        above: Option<&Rules>,
        directory: &BStr,
        content: Option<&[u8]>,
    ) -> (Rules, Vec<String>) {
        let mut files = above.map(|rules| rules.files.clone()).unwrap_or_default();
        files.extend(content.map(|content| (directory.to_owned(), content.into())));
        let directories = files
            .iter()
            .map(|(directory, content)| (directory.as_bstr(), &**content));
        let sources = self.outer.with(directories.collect(), self.ignore_case);
        let attributes = Attributes::new(&sources);
        let exports = if self.exports {
            Attributes::of_archive(&sources)
        } else {
            Attributes::of_archive(&AttributeSources::default())
        };
        let messages = attributes.messages().to_vec();
        let rules = Rules {
            converter: Converter::new(self.convert.clone(), attributes),
            exports,
            files,
        };
        (rules, messages)
    }
}
