//! Patches: the header of each file, then its changed lines.

mod hunks;

pub(crate) use hunks::{hunks, HunkOptions};

use super::contents::{FileContents, FileWorker};
use super::{DiffAttributes, DiffOptions};
use crate::display::quoted;
use crate::index::Mode;
use crate::lines::Algorithm;
use crate::merge::is_binary;
use crate::repository::{Objects, Repository};
use crate::revision::Digits;
use crate::status::rename::{Filepair, Side};
use crate::status::ChangeKind;
use crate::{Error, Result};
use bstr::BString;
use gix_hash::ObjectId;

/// How patches are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchOptions {
    /// So many unchanged lines are shown around changes.
    pub context: usize,
    /// Changes with no more lines between what is shown of them are shown together.
    pub between: usize,
    /// Changes that can be at several places are where the indentation fits best.
    pub indent: bool,
    /// An empty line of context has no space either.
    pub bare_blanks: bool,
    /// What stands before the old and the new paths.
    pub prefixes: [BString; 2],
    /// Whole names of objects are shown.
    pub full_ids: bool,
    /// All files are taken for text.
    pub text: bool,
}

impl Default for PatchOptions {
    fn default() -> Self {
        PatchOptions {
            context: 3,
            between: 0,
            indent: true,
            bare_blanks: false,
            prefixes: ["a/".into(), "b/".into()],
            full_ids: false,
            text: false,
        }
    }
}

/// Writes the patches of pairs.
pub(super) struct Writer<'a> {
    objects: Objects<'a>,
    null: ObjectId,
    /// The fewest digits of objects' names.
    digits: usize,
    contents: &'a FileContents<'a>,
    attributes: &'a [DiffAttributes],
    options: &'a DiffOptions,
    big_file_bytes: u64,
    high: bool,
}

/// Which sides of a pair a patch shows: a file that becomes a link is deleted and created.
#[derive(Clone, Copy)]
struct Shown<'p> {
    old: Option<&'p Side>,
    new: Option<&'p Side>,
}

impl<'a> Writer<'a> {
    pub(super) fn new(
        repository: &'a Repository,
        contents: &'a FileContents<'a>,
        attributes: &'a [DiffAttributes],
        options: &'a DiffOptions,
    ) -> Self {
        let digits = match options.digits {
            _ if options.patch.full_ids => Digits::All,
            Digits::All => Digits::Configured,
            other => other,
        };
        Writer {
            objects: repository.shared_objects(),
            null: repository.null_id(),
            digits: digits.least(repository),
            contents,
            attributes,
            options,
            big_file_bytes: repository.settings().big_file_bytes,
            high: repository.settings().quote_path,
        }
    }

    /// The patch of the pair at the place `at`; empty if there is nothing to show.
    pub(super) fn patch(
        &self,
        worker: &mut FileWorker<'a>,
        pair: &Filepair,
        at: usize,
    ) -> Result<Vec<u8>> {
        let mut text = Vec::new();
        if pair.unmerged {
            let path = pair.path().unwrap_or_default();
            return Ok([&b"* Unmerged path "[..], path, b"\n"].concat());
        }
        if self.contents.is_same(pair) {
            return Ok(text);
        }
        let (old, new) = (pair.old.as_ref(), pair.new.as_ref());
        if pair.kind() == Some(ChangeKind::TypeChanged) {
            self.one(worker, pair, Shown { old, new: None }, at, &mut text)?;
            self.one(worker, pair, Shown { old: None, new }, at, &mut text)?;
        } else {
            self.one(worker, pair, Shown { old, new }, at, &mut text)?;
        }
        Ok(text)
    }

    fn one(
        &self,
        worker: &mut FileWorker<'a>,
        pair: &Filepair,
        shown: Shown<'_>,
        at: usize,
        text: &mut Vec<u8>,
    ) -> Result<()> {
        let contents = [
            self.contents.content(worker, shown.old, false)?,
            self.contents.content(worker, shown.new, true)?,
        ];
        let attributes = &self.attributes[at];
        let is_binary = self.is_binary(shown, attributes, &contents);
        let names = self.names(shown, pair);
        let mut header = [b"diff --git ", &names[0][..], b" ", &names[1], b"\n"].concat();
        let is_told = modes(shown, &mut header) | self.origin(pair, &mut header);
        self.index_line(worker, shown, &mut header)?;
        if is_told {
            text.append(&mut header);
        }
        if contents[0] == contents[1] {
            return Ok(());
        }
        let sides = [shown.old.is_some(), shown.new.is_some()];
        let null = BString::from("/dev/null");
        let label = |number: usize| {
            let name = if sides[number] { &names[number] } else { &null };
            let tab: &[u8] = if name.contains(&b' ') { b"\t" } else { b"" };
            (name, tab)
        };
        let (old, new) = (label(0), label(1));
        if is_binary {
            text.append(&mut header);
            text.extend([b"Binary files ", &old.0[..], b" and ", new.0, b" differ\n"].concat());
            return Ok(());
        }
        self.refuse_functions(shown, attributes)?;
        header.extend([b"--- ", &old.0[..], old.1, b"\n+++ ", new.0, new.1, b"\n"].concat());
        let patch = &self.options.patch;
        let options = HunkOptions {
            algorithm: self
                .options
                .algorithm
                .or(attributes.algorithm())
                .unwrap_or(Algorithm::Myers),
            context: patch.context,
            between: patch.between,
            indent: patch.indent,
            bare_blanks: patch.bare_blanks,
        };
        let hunks = hunks(&contents[0], &contents[1], &options);
        if !hunks.is_empty() {
            text.append(&mut header);
            text.extend(hunks);
        }
        Ok(())
    }

    fn is_binary(
        &self,
        shown: Shown<'_>,
        attributes: &DiffAttributes,
        contents: &[Vec<u8>; 2],
    ) -> bool {
        let sides = [shown.old, shown.new].into_iter().zip(&attributes.sides);
        let mut sides = sides.zip(contents);
        let is_large = |content: &[u8]| content.len() as u64 > self.big_file_bytes;
        !self.options.patch.text
            && sides.any(|((side, driver), content)| {
                let by_content = || is_large(content) || is_binary(content);
                side.is_some() && driver.is_binary.unwrap_or_else(by_content)
            })
    }

    /// Git has rules for what a function is in some languages, and users may have their own.
    fn refuse_functions(&self, shown: Shown<'_>, attributes: &DiffAttributes) -> Result<()> {
        let sides = [shown.old, shown.new].into_iter().zip(&attributes.sides);
        let names = sides.filter_map(|(side, driver)| {
            side?;
            driver.functions.as_ref()
        });
        match names.into_iter().next() {
            None => Ok(()),
            Some(name) => Err(Error::NotBuilt {
                reason: format!("a patch with the function lines of the diff driver '{name}'"),
            }),
        }
    }

    /// Both names with their prefixes, in quotes if they need them.
    fn names(&self, shown: Shown<'_>, pair: &Filepair) -> [BString; 2] {
        let path = |side: Option<&Side>| side.map(|side| side.path.clone());
        let (old, new) = (path(shown.old), path(shown.new));
        let any = || pair.path().unwrap_or_default().to_owned();
        let [first, second] = &self.options.patch.prefixes;
        let prefixes = if self.options.reverse {
            [second, first]
        } else {
            [first, second]
        };
        let old_name = old.clone().or_else(|| new.clone()).unwrap_or_else(any);
        let new_name = new.or(old).unwrap_or_else(any);
        [(prefixes[0], old_name), (prefixes[1], new_name)].map(|(prefix, path)| {
            let name = [&prefix[..], path.as_slice()].concat();
            quoted(&name, self.high).into()
        })
    }

    /// Where the file came from. Returns whether it came from somewhere.
    fn origin(&self, pair: &Filepair, header: &mut Vec<u8>) -> bool {
        let (Some(origin), Some(old), Some(new)) = (pair.origin, &pair.old, &pair.new) else {
            return false;
        };
        let verb = match origin.kind {
            ChangeKind::Copied => "copy",
            _ => "rename",
        };
        let similarity = origin.score.percent();
        header.extend_from_slice(format!("similarity index {similarity}%\n").as_bytes());
        for (word, path) in [("from", &old.path), ("to", &new.path)] {
            header.extend_from_slice(format!("{verb} {word} ").as_bytes());
            header.extend(quoted(path, self.high));
            header.push(b'\n');
        }
        true
    }

    /// The names of the objects, if they differ.
    fn index_line(
        &self,
        worker: &mut FileWorker<'a>,
        shown: Shown<'_>,
        header: &mut Vec<u8>,
    ) -> Result<()> {
        let mut id = |side: Option<&Side>| match side {
            Some(side) => self.contents.known_id(worker, side),
            None => Ok(self.null),
        };
        let ids = [id(shown.old)?, id(shown.new)?];
        if ids[0] == ids[1] {
            return Ok(());
        }
        let [old, new] = ids.map(|id| self.objects.unique_id(&id, self.digits));
        header.extend_from_slice(format!("index {}..{}", old?, new?).as_bytes());
        if let (Some(old), Some(new)) = (shown.old, shown.new) {
            if old.mode == new.mode {
                header.extend_from_slice(format!(" {:06o}", old.mode.to_u32()).as_bytes());
            }
        }
        header.push(b'\n');
        Ok(())
    }
}

/// The lines about modes. Returns whether there are any.
fn modes(shown: Shown<'_>, header: &mut Vec<u8>) -> bool {
    let mut tell = |words: &str, mode: Mode| {
        header.extend_from_slice(format!("{words} {:06o}\n", mode.to_u32()).as_bytes());
    };
    match (shown.old, shown.new) {
        (None, Some(new)) => tell("new file mode", new.mode),
        (Some(old), None) => tell("deleted file mode", old.mode),
        (Some(old), Some(new)) if old.mode != new.mode => {
            tell("old mode", old.mode);
            tell("new mode", new.mode);
        }
        _ => return false,
    }
    true
}
