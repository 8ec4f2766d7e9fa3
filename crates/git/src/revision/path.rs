//! `REV:PATH`, `:PATH` and `:N:PATH`.

use super::{failed, Resolver};
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use hedgerow_object::{TreeEntries, TreeFault};
use hedgerow_pack::{ObjectId, ObjectKind};

impl Resolver<'_> {
    /// The entry `path` of the tree that `id` leads to; the tree itself for an empty path.
    pub(super) fn in_tree(
        &self,
        rev: &BStr,
        id: &ObjectId,
        path: &BStr,
    ) -> Result<Option<ObjectId>> {
        let repository = self.repository;
        let path = self.relative(path)?;
        let spec = BString::from([rev.as_bytes(), b":", &path].concat());
        let Some(tree) = repository.peel_if_there(id, Some(ObjectKind::Tree))? else {
            let reason = format!("invalid object name '{rev}'.");
            return Ok(self.absent(spec.as_ref(), &reason));
        };
        let absent = || {
            let reason = format!("path '{path}' does not exist in '{rev}'");
            Ok(self.absent(spec.as_ref(), &reason))
        };
        let mut found = (tree, None);
        // A slash at the end of a directory's name changes nothing.
        let names = path.strip_suffix(b"/").unwrap_or(&path);
        for name in names.split(|byte| *byte == b'/') {
            if names.is_empty() {
                break;
            }
            let (tree, mode) = found;
            if !mode.is_none_or(is_tree) {
                return absent();
            }
            let Some((id, mode)) = self.entry(&tree, name.as_bstr())? else {
                return absent();
            };
            found = (id, Some(mode));
        }
        if path.ends_with(b"/") && !found.1.is_none_or(is_tree) {
            return absent();
        }
        self.mode.set(found.1);
        Ok(Some(found.0))
    }

    pub(super) fn entry(&self, tree: &ObjectId, name: &BStr) -> Result<Option<(ObjectId, u32)>> {
        let (_, content) = self.repository.read_object(tree)?;
        let mut entries = TreeEntries::new(&content, self.repository.hash_kind());
        let corrupt = |fault: TreeFault| Error::CorruptObject {
            kind: "tree",
            id: *tree,
            reason: fault.reason().into(),
        };
        while let Some(entry) = entries.next_entry().map_err(corrupt)? {
            if entry.name == name {
                return Ok(Some((entry.id.to_owned(), entry.mode)));
            }
        }
        Ok(None)
    }

    /// `[N:]PATH` in the index.
    pub(super) fn in_index(&self, text: &BStr) -> Result<Option<ObjectId>> {
        let (stage, path) = match text.as_bytes() {
            [digit @ b'0'..=b'3', b':', path @ ..] => (digit - b'0', path.as_bstr()),
            path => (0, path.as_bstr()),
        };
        let Some(index) = self.index else {
            return Ok(None);
        };
        let path = self.relative(path)?;
        match index(path.as_ref(), stage)? {
            Some((id, mode)) => {
                self.mode.set(Some(mode));
                Ok(Some(id))
            }
            None => {
                let reason = format!("path '{path}' is not in the index");
                Ok(self.absent(text, &reason))
            }
        }
    }

    /// A path with `./` or `../` in front is relative to the current directory, others to the top
    /// of the tree.
    pub(super) fn relative(&self, path: &BStr) -> Result<BString> {
        if !path.starts_with(b"./") && !path.starts_with(b"../") {
            return Ok(path.to_owned());
        }
        let Some(top) = self.repository.work_tree() else {
            let reason = "relative path syntax can't be used outside working tree";
            return Err(failed(path, reason));
        };
        let whole = [self.repository.prefix().as_bytes(), path.as_bytes()].concat();
        let mut parts: Vec<&[u8]> = Vec::new();
        for part in whole.split(|byte| *byte == b'/') {
            match part {
                b"" | b"." => {}
                b".." => {
                    if parts.pop().is_none() {
                        let reason =
                            format!("'{path}' is outside repository at '{}'", top.display());
                        return Err(failed(path, &reason));
                    }
                }
                part => parts.push(part),
            }
        }
        let mut normal = bstr::join("/", parts);
        if whole.ends_with(b"/") && !normal.is_empty() {
            normal.push(b'/');
        }
        Ok(normal.into())
    }
}

/// Whether a mode of a tree's entry is that of a tree.
fn is_tree(mode: u32) -> bool {
    mode & 0o170_000 == 0o040_000
}
