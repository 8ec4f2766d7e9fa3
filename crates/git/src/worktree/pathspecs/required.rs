//! Attributes that a pathspec requires: gitglossary(7), "pathspec" under `attr`. Errors are in git's
//! words.

use super::magic;
use super::modes::{self, Modes};
use crate::convert::{AttributeValue, Attributes, MAX_FILE_BYTES, NAMES_LIMIT};
use crate::index::Stage;
use crate::repository::Repository;
use crate::tree::Difference;
use crate::worktree::attribute_files::OuterAttributes;
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use hedgerow_fs::Dir;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

pub(super) const FILE_NAME: &[u8] = b".gitattributes";

/// An attribute with the value that is required.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Wanted {
    name: BString,
    value: WantedValue,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum WantedValue {
    Set,
    Unset,
    Unspecified,
    Text(BString),
}

/// The attributes that a pathspec requires.
#[derive(Clone)]
pub(super) struct Required {
    wanted: Vec<Wanted>,
    /// The names of the attributes, each once.
    names: Vec<BString>,
    /// Absent until the pathspec is about a repository.
    known: Option<Arc<Known>>,
}

impl Required {
    /// What the magic of `spec` requires, if that is something.
    pub(super) fn read(spec: &BStr) -> std::result::Result<Option<Self>, String> {
        let lists = magic::attributes(spec);
        let list = match lists.as_slice() {
            [] => return Ok(None),
            [list] => *list,
            _ => return Err("Only one 'attr:' specification is allowed.".into()),
        };
        if list.is_empty() {
            return Err("attr spec must not be empty".into());
        }
        let words = list.split(|byte| *byte == b' ');
        let words = words.filter(|word| !word.is_empty());
        let wanted: Vec<Wanted> = words.map(wanted).collect::<std::result::Result<_, _>>()?;
        if wanted.len() > NAMES_LIMIT {
            return Err(format!(
                "more than {NAMES_LIMIT} attributes in a pathspec are not supported"
            ));
        }
        let mut names: Vec<BString> = Vec::new();
        for wanted in &wanted {
            if !names.contains(&wanted.name) {
                names.push(wanted.name.clone());
            }
        }
        Ok(Some(Required {
            wanted,
            names,
            known: None,
        }))
    }

    /// Looks the attributes up in `repository`, from now on.
    ///
    /// # Errors
    /// As of [`Modes::of_files`], which has the meaning of `leading`.
    pub(super) fn attach(&mut self, repository: &Repository, leading: &BStr) -> Result<()> {
        let mut known = Known::new(repository, self.names.clone())?;
        if self.wants_modes() {
            known.modes = Some(Modes::of_files(repository, leading)?);
        }
        self.known = Some(Arc::new(known));
        Ok(())
    }

    /// Looks them up in the tree `all` with the files `of_tree`, by directory, and not in the working
    /// tree.
    pub(super) fn attach_tree(
        &mut self,
        repository: &Repository,
        of_tree: &HashMap<BString, Vec<u8>>,
        all: &Difference,
    ) -> Result<()> {
        let known = Known {
            top: None,
            of_index: of_tree.clone(),
            modes: self.wants_modes().then(|| Modes::of_tree(all)),
            ..Known::new(repository, self.names.clone())?
        };
        self.known = Some(Arc::new(known));
        Ok(())
    }

    fn wants_modes(&self) -> bool {
        self.names.iter().any(|name| name == modes::NAME)
    }

    /// Whether `path` has them; that of a directory may have a slash at its end.
    pub(super) fn are_met(&self, path: &[u8]) -> bool {
        let Some(known) = &self.known else {
            return false;
        };
        let (path, is_directory) = match path.strip_suffix(b"/") {
            Some(path) => (path, true),
            None => (path, false),
        };
        let attributes = known.above(path);
        let number = |wanted: &Wanted| self.names.iter().position(|name| *name == wanted.name);
        let mut wanted = self.wanted.iter();
        wanted.all(|wanted| {
            let Some(number) = number(wanted) else {
                return false;
            };
            let mode = known.modes.as_ref().filter(|_| wanted.name == modes::NAME);
            let found = match mode.and_then(|modes| modes.of(path.as_bstr())) {
                Some(mode) => AttributeValue::Text(mode.into()),
                None => attributes.value_of(path.as_bstr(), is_directory, number),
            };
            match (found, &wanted.value) {
                (AttributeValue::Set, WantedValue::Set)
                | (AttributeValue::Unset, WantedValue::Unset)
                | (AttributeValue::Unspecified, WantedValue::Unspecified) => true,
                (AttributeValue::Text(found), WantedValue::Text(wanted)) => found == *wanted,
                _ => false,
            }
        })
    }
}

fn wanted(word: &[u8]) -> std::result::Result<Wanted, String> {
    let (name, value) = match word {
        [b'!', name @ ..] => (name, WantedValue::Unspecified),
        [b'-', name @ ..] => (name, WantedValue::Unset),
        word => match word.find_byte(b'=') {
            None => (word, WantedValue::Set),
            Some(at) => (&word[..at], WantedValue::Text(unescaped(&word[at + 1..])?)),
        },
    };
    let is_valid = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
    let name = name.as_bstr();
    if name.is_empty() || name.starts_with(b"-") || !name.iter().all(is_valid) {
        return Err(format!("invalid attribute name {name}"));
    }
    let name = name.to_owned();
    Ok(Wanted { name, value })
}

/// The value, in which a backslash stands before characters that would end it.
fn unescaped(value: &[u8]) -> std::result::Result<BString, String> {
    let mut plain = BString::default();
    let mut bytes = value.iter();
    while let Some(byte) = bytes.next() {
        let byte = match byte {
            b'\\' => bytes
                .next()
                .ok_or("Escape character '\\' not allowed as last character in attr value")?,
            byte => byte,
        };
        if !byte.is_ascii_alphanumeric() && !b",-_".contains(byte) {
            let byte = char::from(*byte);
            return Err(format!("cannot use '{byte}' for value matching"));
        }
        plain.push(*byte);
    }
    Ok(plain)
}

/// The attributes of a working tree, of which files are read when they are needed.
struct Known {
    names: Vec<BString>,
    /// The top of the working tree, if there is one.
    top: Option<PathBuf>,
    /// The files of the index, by directory; they count where the working tree has none.
    of_index: HashMap<BString, Vec<u8>>,
    outer: OuterAttributes,
    ignore_case: bool,
    /// What the modes of paths are, if that is asked for.
    modes: Option<Modes>,
    /// What is known so far: for a directory, the contents down to it and what they say.
    levels: Mutex<HashMap<BString, Arc<LevelOf>>>,
}

struct LevelOf {
    files: Vec<(BString, Arc<[u8]>)>,
    attributes: Attributes,
}

impl Known {
    fn new(repository: &Repository, names: Vec<BString>) -> Result<Self> {
        let settings = repository.settings();
        if settings.attributes_tree.is_some() {
            return Err(Error::Unsupported {
                what: "pathspecs with attributes of a tree (attr.tree, GIT_ATTR_SOURCE)".into(),
            });
        }
        let mut of_index = HashMap::new();
        let loaded = repository.load_index()?;
        for entry in loaded.iter().flat_map(|(index, _)| index.entries()) {
            let Some((index, _)) = &loaded else { continue };
            let path = index.path(entry);
            let (directory, name) = hedgerow_tree::split_path(path);
            if name == FILE_NAME && entry.flags.stage == Stage::Merged {
                let content = repository.read_object(&entry.id)?.1;
                of_index.insert(directory.into(), content);
            }
        }
        Ok(Known {
            names,
            top: repository.work_tree().map(ToOwned::to_owned),
            of_index,
            outer: OuterAttributes::read(repository)?,
            ignore_case: settings.ignore_case,
            modes: None,
            levels: Mutex::default(),
        })
    }

    /// What is known of the entries of the directory that `path` is in.
    fn above(&self, path: &[u8]) -> KnownAttributes {
        let directory = hedgerow_tree::split_path(path).0;
        KnownAttributes(self.level(directory.as_bstr()))
    }

    fn level(&self, directory: &BStr) -> Arc<LevelOf> {
        let levels = self.levels.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(level) = levels.get(directory) {
            return level.clone();
        }
        drop(levels);
        let above = (!directory.is_empty()).then(|| {
            let above = hedgerow_tree::split_path(directory).0;
            self.level(above.as_bstr())
        });
        let level = match (self.content(directory), above) {
            (None, Some(above)) => above,
            (content, above) => {
                let mut files = above.map(|above| above.files.clone()).unwrap_or_default();
                files.extend(content.map(|content| (directory.to_owned(), content.into())));
                Arc::new(self.read(files))
            }
        };
        let mut levels = self.levels.lock().unwrap_or_else(PoisonError::into_inner);
        levels.insert(directory.to_owned(), level.clone());
        level
    }

    fn read(&self, files: Vec<(BString, Arc<[u8]>)>) -> LevelOf {
        let names: Vec<&[u8]> = self.names.iter().map(|name| name.as_bytes()).collect();
        let directories = files
            .iter()
            .map(|(directory, content)| (directory.as_bstr(), &**content));
        let attributes = Attributes::of_names(
            &self.outer.with(directories.collect(), self.ignore_case),
            &names,
        );
        LevelOf { files, attributes }
    }

    /// The file of a directory: of the working tree, or of the index. As by git, one that cannot be
    /// read is passed over.
    fn content(&self, directory: &BStr) -> Option<Vec<u8>> {
        let of_worktree = self.top.as_ref().and_then(|top| {
            let top = Dir::open(top).ok()?;
            let file = top.open_dir(directory).ok()?.open_file(FILE_NAME).ok()?;
            let mut content = Vec::new();
            file.read_to_end(&mut content, MAX_FILE_BYTES as u64).ok()?;
            Some(content)
        });
        of_worktree.or_else(|| self.of_index.get(directory).cloned())
    }
}

struct KnownAttributes(Arc<LevelOf>);

impl std::ops::Deref for KnownAttributes {
    type Target = Attributes;

    fn deref(&self) -> &Attributes {
        &self.0.attributes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_told() {
        for (spec, expected) in [
            (":(attr:)x", "attr spec must not be empty"),
            (
                ":(attr:a,attr:b)x",
                "Only one 'attr:' specification is allowed.",
            ),
            (":(attr:+a)x", "invalid attribute name +a"),
            (":(attr:--a)x", "invalid attribute name -a"),
            (":(attr:a=b?)x", "cannot use '?' for value matching"),
            (
                ":(attr:a=b\\)x",
                "Escape character '\\' not allowed as last character in attr value",
            ),
        ] {
            // The last one has no closing parenthesis either, which is told first elsewhere.
            let found = Required::read(spec.into()).err();
            if !spec.contains('\\') {
                assert_eq!(found.as_deref(), Some(expected), "{spec}");
            }
        }
        assert!(Required::read(":(top)x".into()).unwrap().is_none());
        let required = Required::read(":(attr:a -b !c d=e\\,f,top)x".into());
        let values: Vec<WantedValue> = required
            .unwrap()
            .unwrap()
            .wanted
            .into_iter()
            .map(|wanted| wanted.value)
            .collect();
        let expected = [
            WantedValue::Set,
            WantedValue::Unset,
            WantedValue::Unspecified,
            WantedValue::Text("e,f".into()),
        ];
        assert_eq!(values, expected);
    }
}
