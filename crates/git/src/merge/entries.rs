//! Merging what three trees have at one path: the rules of git's strategy `ort`, without renames.

use super::content::{
    is_binary, merge_contents, Algorithm, ConflictStyle, ContentOptions, Favor, MARKER_SIZE,
};
use crate::convert::{Attributes, MergeAttribute};
use crate::objects::ObjectWriter;
use crate::repository::Repository;
use crate::tree::Side;
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use hedgerow_object::ObjectKind;
use hedgerow_tree::EntryKind;

/// What the base, ours and theirs have at a path.
pub(crate) type Sides = [Option<Side>; 3];

/// How the sides are named in messages and conflict markers.
#[derive(Clone, Debug)]
pub(crate) struct Labels {
    pub base: BString,
    pub ours: BString,
    pub theirs: BString,
}

impl Labels {
    /// The names with the paths that the base, ours and theirs have a file at.
    pub(super) fn at(&self, paths: [&BString; 3]) -> Labels {
        let at = |label: &BString, path: &BString| {
            BString::from([label.as_bytes(), b":", path.as_bytes()].concat())
        };
        let [base, ours, theirs] = paths;
        Labels {
            base: at(&self.base, base),
            ours: at(&self.ours, ours),
            theirs: at(&self.theirs, theirs),
        }
    }
}

/// What both sides' changes of a path come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MergedEntry {
    /// What the merged tree has there.
    pub result: Option<Side>,
    pub is_clean: bool,
    /// What git says of it, in order.
    pub messages: Vec<BString>,
}

/// What is needed to merge entries.
pub(crate) struct EntryMerger<'a> {
    pub repository: &'a Repository,
    pub writer: &'a ObjectWriter<'a>,
    pub attributes: &'a Attributes,
    pub labels: &'a Labels,
    pub style: ConflictStyle,
    /// How contents are compared.
    pub algorithm: Algorithm,
    /// Programs that merge are run. If not, what they would merge stays ours.
    pub runs_programs: bool,
    /// By how many characters conflict markers are longer than usual.
    pub marker_growth: usize,
}

/// Regular files, links and submodules cannot be merged with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    File,
    Link,
    Submodule,
}

pub(super) fn class(side: &Side) -> Class {
    match side.kind {
        EntryKind::Symlink => Class::Link,
        EntryKind::Gitlink => Class::Submodule,
        EntryKind::File | EntryKind::Executable | EntryKind::Directory => Class::File,
    }
}

impl EntryMerger<'_> {
    /// Merges the sides of `path`, which both differ from the base and from each other, and are of
    /// one class if both are there.
    pub(crate) fn merge(&self, path: &BStr, sides: &Sides) -> Result<MergedEntry> {
        self.merge_named(path, sides, &self.labels.clone())
    }

    /// The same; `labels` name the sides in conflict markers.
    pub(crate) fn merge_named(
        &self,
        path: &BStr,
        sides: &Sides,
        labels: &Labels,
    ) -> Result<MergedEntry> {
        let [base, ours, theirs] = *sides;
        match (ours, theirs) {
            (Some(ours), Some(theirs)) => self.merge_both(path, base, (ours, theirs), labels),
            (Some(_), None) | (None, Some(_)) if base.is_none() => Ok(MergedEntry {
                result: ours.or(theirs),
                is_clean: true,
                messages: Vec::new(),
            }),
            (Some(side), None) => {
                Ok(self.modified_and_deleted(path, side, (&self.labels.ours, &self.labels.theirs)))
            }
            (None, Some(side)) => {
                Ok(self.modified_and_deleted(path, side, (&self.labels.theirs, &self.labels.ours)))
            }
            (None, None) => Ok(MergedEntry {
                result: None,
                is_clean: true,
                messages: Vec::new(),
            }),
        }
    }

    fn modified_and_deleted(
        &self,
        path: &BStr,
        side: Side,
        (modified, deleted): (&BString, &BString),
    ) -> MergedEntry {
        let message = format!(
            "CONFLICT (modify/delete): {path} deleted in {deleted} and modified in {modified}.  \
             Version {modified} of {path} left in tree."
        );
        MergedEntry {
            result: Some(side),
            is_clean: false,
            messages: vec![exact(&message, path)],
        }
    }

    fn merge_both(
        &self,
        path: &BStr,
        base: Option<Side>,
        (ours, theirs): (Side, Side),
        labels: &Labels,
    ) -> Result<MergedEntry> {
        let base_kind = base.map(|base| base.kind);
        let base_id = base.map(|base| base.id);
        let (kind, mut is_clean) = if ours.kind == theirs.kind || base_kind == Some(ours.kind) {
            (theirs.kind, true)
        } else {
            (ours.kind, base_kind == Some(theirs.kind))
        };
        let mut messages = Vec::new();
        let id = if ours.id == theirs.id || base_id == Some(ours.id) {
            theirs.id
        } else if base_id == Some(theirs.id) {
            ours.id
        } else {
            match class(&ours) {
                Class::Submodule => {
                    return Err(Error::NotBuilt {
                        reason: format!("merging the commits of the submodule '{path}'"),
                    })
                }
                Class::Link => {
                    is_clean = false;
                    ours.id
                }
                Class::File => {
                    let common = base.filter(|base| class(base) == Class::File);
                    let sides = [common, Some(ours), Some(theirs)];
                    let merged = self.merge_files(path, sides, labels)?;
                    is_clean &= merged.is_clean;
                    messages.extend(merged.warning);
                    messages.push(line(&["Auto-merging ".into(), path]));
                    self.writer.write_one(ObjectKind::Blob, &merged.content)?
                }
            }
        };
        if !is_clean {
            let reason = match (class(&ours), base) {
                (Class::Submodule, _) => "submodule",
                (_, None) => "add/add",
                _ => "content",
            };
            let start = format!("CONFLICT ({reason}): Merge conflict in ");
            messages.push(line(&[start.as_str().into(), path]));
        }
        Ok(MergedEntry {
            result: Some(Side { kind, id }),
            is_clean,
            messages,
        })
    }

    /// Merges contents; a side that is not there is empty.
    pub(crate) fn merge_files(
        &self,
        path: &BStr,
        sides: Sides,
        labels: &Labels,
    ) -> Result<MergedFile> {
        let mut contents = Vec::with_capacity(sides.len());
        for side in sides {
            contents.push(match side {
                None => Vec::new(),
                Some(side) => self.repository.read_object(&side.id)?.1,
            });
        }
        let driver = Driver::of(self.repository, self.attributes, path)?;
        let marker_size = driver.marker_size + self.marker_growth;
        if let Form::Program(command) = &driver.form {
            if self.runs_programs {
                let (command, names) = (command.as_bstr(), (labels, marker_size));
                return super::program::merge(self.repository, command, path, &contents, names);
            }
            return Ok(MergedFile {
                content: contents.swap_remove(1),
                is_clean: false,
                warning: None,
            });
        }
        let is_text = !contents.iter().any(|content| is_binary(content));
        if driver.form == Form::Binary || !is_text {
            let start = format!("warning: Cannot merge binary files: {path} (");
            let warning = [
                &exact(&start, path)[..],
                &labels.ours,
                b" vs. ",
                &labels.theirs,
                b")",
            ];
            return Ok(MergedFile {
                content: contents.swap_remove(1),
                is_clean: false,
                warning: Some(warning.concat().into()),
            });
        }
        let options = ContentOptions {
            style: self.style,
            favor: if driver.form == Form::Union {
                Favor::Union
            } else {
                Favor::Neither
            },
            marker_size,
            algorithm: self.algorithm,
            labels: [
                labels.ours.as_bstr(),
                labels.base.as_bstr(),
                labels.theirs.as_bstr(),
            ],
            ..ContentOptions::default()
        };
        let merged = merge_contents(&contents[0], &contents[1], &contents[2], &options);
        Ok(MergedFile {
            content: merged.text,
            is_clean: merged.conflicts == 0,
            warning: None,
        })
    }
}

/// Merged content.
pub(crate) struct MergedFile {
    pub content: Vec<u8>,
    pub is_clean: bool,
    pub warning: Option<BString>,
}

/// How the content of a file is merged: gitattributes(5) under `merge`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Driver {
    pub form: Form,
    pub marker_size: usize,
}

/// The drivers that git has built in, and programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Text,
    Binary,
    Union,
    /// This command merges.
    Program(BString),
}

impl Driver {
    /// The driver of `path`.
    ///
    /// # Errors
    /// A driver that is configured without a command.
    pub(crate) fn of(
        repository: &Repository,
        attributes: &Attributes,
        path: &BStr,
    ) -> Result<Driver> {
        let found = attributes.merge(path);
        let default = repository.config().string("merge.default");
        let name: Option<&BStr> = match found.merge {
            MergeAttribute::Set => None,
            MergeAttribute::Unset => Some("binary".into()),
            MergeAttribute::Unspecified => default.as_ref().map(|name| name.as_bstr()),
            MergeAttribute::Driver(name) => Some(name),
        };
        let form = match name {
            None => Form::Text,
            Some(name) => Self::named(repository, found.merge, name)?,
        };
        let size = found.marker_size.and_then(leading_number);
        Ok(Driver {
            form,
            marker_size: size.unwrap_or(MARKER_SIZE),
        })
    }

    fn named(repository: &Repository, attribute: MergeAttribute<'_>, name: &BStr) -> Result<Form> {
        let is_configured = attribute != MergeAttribute::Unset
            && repository
                .config()
                .subsections("merge")
                .iter()
                .any(|known| known == name);
        if is_configured {
            let command = repository.config().string_in("merge", name, "driver");
            return match command {
                Some(command) => Ok(Form::Program(command.as_bstr().to_owned())),
                None => Err(Error::Setup {
                    reason: format!("custom merge driver {name} lacks command line."),
                }),
            };
        }
        Ok(match name.as_bytes() {
            b"binary" => Form::Binary,
            b"union" => Form::Union,
            _ => Form::Text,
        })
    }
}

/// The number that `text` starts with, if it is one above 0.
fn leading_number(text: &BStr) -> Option<usize> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number = text[..digits].to_str().ok()?.parse().ok()?;
    (1..=1 << 16).contains(&number).then_some(number)
}

fn line(parts: &[&BStr]) -> BString {
    let parts: Vec<&[u8]> = parts.iter().map(|part| part.as_bytes()).collect();
    parts.concat().into()
}

/// A message that was put together as text, with the path as it is.
pub(super) fn exact(message: &str, path: &BStr) -> BString {
    let shown = path.to_string();
    if shown.as_bytes() == path.as_bytes() {
        return message.into();
    }
    message.as_bytes().replace(shown, path).into()
}
