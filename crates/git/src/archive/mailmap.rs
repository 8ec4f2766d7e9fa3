//! Whose names and addresses are to be shown as others: gitmailmap(5).

use crate::repository::Repository;
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use std::collections::HashMap;
use std::path::Path;

/// Mailmaps are read up to this size.
const FILE_LIMIT_BYTES: u64 = 100 << 20;

/// The mailmap of a repository. Names and addresses are looked up in lower case.
#[derive(Default)]
pub(super) struct Mailmap {
    /// By address alone.
    by_mail: HashMap<Vec<u8>, Proper>,
    /// By address and name.
    by_both: HashMap<(Vec<u8>, Vec<u8>), Proper>,
}

#[derive(Clone, Default)]
struct Proper {
    name: Option<BString>,
    mail: Option<BString>,
}

impl Mailmap {
    /// Reads the `.mailmap` of the working tree, or of HEAD where there is none, then
    /// `mailmap.blob` and `mailmap.file`; later lines are stronger.
    pub fn of(repository: &Repository) -> Result<Self> {
        let config = repository.config();
        let mut map = Mailmap::default();
        let read = |path: &Path| hedgerow_fs::read_file(path, FILE_LIMIT_BYTES);
        if let Some(top) = repository.work_tree() {
            if let Some(content) = read(&top.join(".mailmap"))? {
                map.read(&content);
            }
        }
        let usual = repository.is_bare().then(|| BString::from("HEAD:.mailmap"));
        if let Some(blob) = config.string("mailmap.blob").or(usual) {
            // One that does not exist is none.
            if let Ok(id) = repository.resolve(blob.as_bstr()) {
                let size_bytes = repository.object_size(&id)?;
                if size_bytes > FILE_LIMIT_BYTES {
                    return Err(Error::Setup {
                        reason: format!(
                            "the mailmap '{blob}' has {size_bytes} bytes, \
                             more than the limit of {FILE_LIMIT_BYTES}"
                        ),
                    });
                }
                map.read(&repository.read_object(&id)?.1);
            }
        }
        if let Some(path) = config.path("mailmap.file")? {
            if let Some(content) = read(&repository.environment().cwd.join(path))? {
                map.read(&content);
            }
        }
        Ok(map)
    }

    fn read(&mut self, content: &[u8]) {
        for line in content.lines() {
            if !line.starts_with(b"#") {
                self.read_line(line);
            }
        }
    }

    /// `NAME <MAIL>`, `[NAME] <MAIL> <OLD MAIL>` or `[NAME] <MAIL> OLD NAME <OLD MAIL>`.
    fn read_line(&mut self, line: &[u8]) {
        let Some((name, mail, rest)) = name_and_mail(line) else {
            return;
        };
        let some = |text: &[u8]| (!text.is_empty()).then(|| BString::from(text));
        let (proper, old_name, old_mail) = match name_and_mail(rest) {
            Some((old_name, old_mail, _)) => {
                let proper = Proper {
                    name: some(name),
                    mail: some(mail),
                };
                (proper, old_name, old_mail)
            }
            None => {
                let proper = Proper {
                    name: some(name),
                    mail: None,
                };
                (proper, &b""[..], mail)
            }
        };
        let key = old_mail.to_ascii_lowercase();
        let slot = if old_name.is_empty() {
            self.by_mail.entry(key).or_default()
        } else {
            let key = (key, old_name.to_ascii_lowercase());
            self.by_both.entry(key).or_default()
        };
        // A line that says nothing about one of them leaves it as it was.
        slot.name = proper.name.or(slot.name.take());
        slot.mail = proper.mail.or(slot.mail.take());
    }

    /// The name and address that are to be shown.
    pub fn map(&self, name: &BStr, mail: &BStr) -> (BString, BString) {
        let key = (mail.to_ascii_lowercase(), name.to_ascii_lowercase());
        let found = self.by_both.get(&key).or_else(|| self.by_mail.get(&key.0));
        let proper = found.cloned().unwrap_or_default();
        (
            proper.name.unwrap_or_else(|| name.to_owned()),
            proper.mail.unwrap_or_else(|| mail.to_owned()),
        )
    }
}

/// A name and what is in angle brackets behind it, and the rest of the line.
fn name_and_mail(line: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let open = line.find_byte(b'<')?;
    let (name, rest) = (line.get(..open)?, line.get(open + 1..)?);
    let close = rest.find_byte(b'>')?;
    Some((name.trim(), rest.get(..close)?, rest.get(close + 1..)?))
}
