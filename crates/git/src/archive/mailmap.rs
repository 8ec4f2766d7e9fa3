//! Maps names and addresses to the ones to show: gitmailmap(5).

use crate::repository::Repository;
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use std::collections::HashMap;
use std::path::Path;

/// Upper size limit of a mailmap, in bytes.
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
    /// Reads the `.mailmap` of the working tree, or of HEAD if there is no working tree, then
    /// `mailmap.blob` and `mailmap.file`; later lines take precedence.
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
            // A blob that does not exist counts as empty.
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

    /// Parses `NAME <MAIL>`, `[NAME] <MAIL> <OLD MAIL>` or `[NAME] <MAIL> OLD NAME <OLD MAIL>`.
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
        // If a line lacks the name or the address, the previous one is kept.
        slot.name = proper.name.or(slot.name.take());
        slot.mail = proper.mail.or(slot.mail.take());
    }

    /// The name and address to show.
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

/// A name, the address in angle brackets after it, and the rest of the line.
fn name_and_mail(line: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let open = line.find_byte(b'<')?;
    let (name, rest) = (line.get(..open)?, line.get(open + 1..)?);
    let close = rest.find_byte(b'>')?;
    Some((name.trim(), rest.get(..close)?, rest.get(close + 1..)?))
}
