//! Commits, as far as a checkout looks into them: git-commit-tree(1).

use super::Repository;
use crate::convert::{are_same, reencoded};
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use hedgerow_object::Malformed;
use hedgerow_pack::{oid, ObjectId, ObjectKind, Reader};

/// A parsed commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// Its id.
    pub id: ObjectId,
    /// Its tree.
    pub tree: ObjectId,
    /// Its parents, first one first.
    pub parents: Vec<ObjectId>,
    /// Who wrote it: `NAME <MAIL> SECONDS ZONE`, as it stands there.
    pub author: BString,
    /// Who committed it, likewise.
    pub committer: BString,
    /// When it was committed, in seconds since the epoch; 0 if that cannot be read.
    pub seconds: i64,
    /// The encoding of its message, if it names one.
    pub encoding: Option<BString>,
    /// Its message, in whatever encoding it has.
    pub message: BString,
}

impl Commit {
    /// The first paragraph of the message in one line, in the encoding of the commit.
    /// [`Repository::subject`] shows it as git does.
    pub fn subject(&self) -> BString {
        subject(&self.message)
    }
}

/// The first paragraph of a message in one line.
fn subject(message: &[u8]) -> BString {
    let lines: Vec<&[u8]> = message
        .lines()
        .map(<[u8]>::trim_end)
        .skip_while(|line| line.is_empty())
        .take_while(|line| !line.is_empty())
        .collect();
    bstr::join(" ", lines).into()
}

impl Repository {
    /// The subject of `commit` in the encoding of all output, `i18n.logOutputEncoding`; as it stands
    /// if it cannot be converted.
    pub fn subject(&self, commit: &Commit) -> BString {
        let config = self.config();
        let shown = config.string("i18n.logOutputEncoding");
        let shown = shown.or_else(|| config.string("i18n.commitEncoding"));
        let shown = shown.unwrap_or_else(|| "UTF-8".into());
        let own = commit
            .encoding
            .as_ref()
            .map_or("UTF-8".into(), |own| own.as_bstr());
        if shown.is_empty() || are_same(shown.as_bstr(), own) {
            return commit.subject();
        }
        match reencoded(shown.as_bstr(), own, &commit.message) {
            Some(message) => subject(&message),
            None => commit.subject(),
        }
    }

    /// The commit `id`, replaced where a replacement is set, with the parents that grafts give it. An object of another kind, or one
    /// that is no proper commit, is [`Error::CorruptObject`].
    pub fn commit(&self, id: &oid) -> Result<Commit> {
        self.commit_with(&mut Reader::new(&self.objects), id)
    }

    /// As [`Repository::commit`], with a reader that is kept for many.
    pub(crate) fn commit_with(&self, reader: &mut Reader<'_>, id: &oid) -> Result<Commit> {
        let found = self.replacement(id)?;
        let missing = || hedgerow_pack::Error::Missing { id: found };
        let location = self.objects.locate(&found)?.ok_or_else(missing)?;
        let (kind, content) = reader.read(&found, location)?;
        let corrupt = |reason: String| Error::CorruptObject {
            kind: "commit",
            id: id.to_owned(),
            reason,
        };
        if kind != ObjectKind::Commit {
            return Err(corrupt(format!("it is a {}", kind_name(kind))));
        }
        let mut commit = match gix_object::CommitRef::from_bytes(content, self.hash) {
            Ok(parsed) => Commit {
                id: id.to_owned(),
                tree: parsed.tree(),
                parents: parsed.parents().collect(),
                author: parsed.author.to_owned(),
                committer: parsed.committer.to_owned(),
                seconds: parsed.time().map_or(0, |time| time.seconds),
                encoding: parsed.encoding.map(BStr::to_owned),
                message: parsed.message.to_owned(),
            },
            Err(error) => {
                incomplete(id, content).map_err(|_| corrupt(error.probable_cause().to_string()))?
            }
        };
        if let Some(parents) = self.grafts()?.parents(id) {
            commit.parents = parents.to_vec();
        }
        Ok(commit)
    }

    /// The object that the tag `id` points to, and its kind as the tag has it.
    pub(crate) fn tag_target(&self, id: &oid) -> Result<ObjectId> {
        let (_, content) = self.read_object(id)?;
        let parsed = gix_object::TagRef::from_bytes(&content, self.hash).map_err(|error| {
            Error::CorruptObject {
                kind: "tag",
                id: id.to_owned(),
                reason: error.probable_cause().to_string(),
            }
        })?;
        Ok(parsed.target())
    }
}

/// A commit that lacks lines: for git, a tree and proper parents are enough.
fn incomplete(id: &oid, content: &[u8]) -> std::result::Result<Commit, Malformed> {
    let parsed = hedgerow_object::CommitRef::parse(id, content)?;
    let (head, message) = content.split_once_str("\n\n").unwrap_or((content, b""));
    let line = |name: &str| {
        head.lines()
            .find_map(|line| line.strip_prefix(name.as_bytes()))
    };
    let text = |name| line(name).unwrap_or_default().into();
    Ok(Commit {
        id: id.to_owned(),
        tree: parsed.tree(),
        parents: parsed.parents().collect(),
        author: text("author "),
        committer: text("committer "),
        seconds: parsed.seconds().try_into().unwrap_or_default(),
        encoding: line("encoding ").map(BString::from),
        message: message.into(),
    })
}

/// The name of a kind of object, as git has it.
pub(crate) fn kind_name(kind: ObjectKind) -> &'static str {
    match kind {
        ObjectKind::Commit => "commit",
        ObjectKind::Tree => "tree",
        ObjectKind::Blob => "blob",
        ObjectKind::Tag => "tag",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_subject_is_the_first_paragraph() {
        let mut commit = Commit {
            id: ObjectId::null(gix_hash::Kind::Sha1),
            tree: ObjectId::null(gix_hash::Kind::Sha1),
            parents: Vec::new(),
            author: BString::default(),
            committer: BString::default(),
            seconds: 0,
            encoding: None,
            message: "\n  \nadd  \nthings\n\nbody\n".into(),
        };
        assert_eq!(commit.subject(), "add things");
        commit.message = "".into();
        assert_eq!(commit.subject(), "");
    }
}
