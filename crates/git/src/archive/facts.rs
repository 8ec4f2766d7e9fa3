//! The values of all placeholders for a commit.

use super::mailmap::Mailmap;
use crate::config::Environment;
use crate::convert::{is_utf8, reencoded};
use crate::repository::Repository;
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use gix_date::Time;
use hedgerow_pack::{oid, ObjectId, ObjectKind};

/// The data of a commit.
pub(super) struct Facts {
    pub commit: Id,
    pub tree: Id,
    pub parents: Vec<Id>,
    /// `None` if the line is malformed.
    pub author: Option<Person>,
    pub committer: Option<Person>,
    /// The encoding declared for the message.
    pub encoding: BString,
    /// In UTF-8, if it could be converted.
    pub message: BString,
    /// The references that point to it, as `git log --decorate` shows them.
    pub decorations: Vec<BString>,
}

/// An object id.
pub(super) struct Id {
    pub full: String,
    pub short: String,
}

/// A person and a time.
pub(super) struct Person {
    pub name: BString,
    pub mail: BString,
    /// After applying the mailmap.
    pub mapped_name: BString,
    pub mapped_mail: BString,
    pub time: Time,
}

impl Facts {
    /// Text in the encoding of the commit, if that is not UTF-8 and can express it.
    pub fn encode(&self, text: &[u8]) -> Option<Vec<u8>> {
        let encoding = self.encoding.as_bstr();
        is_foreign(encoding).then(|| reencoded(encoding, "UTF-8".into(), text))?
    }

    /// Collects everything about the commit `id` of the repository of `environment`.
    pub fn collect(environment: &Environment, id: &oid) -> Result<Self> {
        let repository = Repository::discover(environment)?;
        let (_, content) = repository.read_object(id)?;
        let corrupt = |reason: String| Error::CorruptObject {
            kind: "commit",
            id: id.to_owned(),
            reason,
        };
        let parse = |content| {
            let parsed = gix_object::CommitRef::from_bytes(content, repository.hash_kind());
            parsed.map_err(|error| corrupt(error.probable_cause().to_string()))
        };
        let encoding = parse(&content)?.encoding;
        let encoding = encoding.map(BString::from).unwrap_or_default();
        // Text that cannot be decoded stays as it is.
        let decoded = if is_foreign(encoding.as_bstr()) {
            reencoded("UTF-8".into(), encoding.as_bstr(), &content)
        } else {
            None
        };
        let commit = parse(decoded.as_deref().unwrap_or(&content))?;
        let mailmap = Mailmap::of(&repository)?;
        let person = |line: &BStr| person(line, &mailmap);
        let (author, committer) = (person(commit.author), person(commit.committer));
        let identified = |id: &oid| -> Result<Id> {
            Ok(Id {
                full: id.to_string(),
                short: repository.short_id(id)?,
            })
        };
        Ok(Facts {
            commit: identified(id)?,
            tree: identified(&commit.tree())?,
            parents: commit
                .parents()
                .map(|id| identified(&id))
                .collect::<Result<_>>()?,
            author,
            committer,
            message: commit.message.to_owned(),
            encoding,
            decorations: decorations(&repository, id)?,
        })
    }
}

/// Whether a commit declares an encoding other than UTF-8.
fn is_foreign(encoding: &BStr) -> bool {
    !encoding.is_empty() && !is_utf8(encoding)
}

/// Parses `NAME <MAIL> SECONDS ZONE`.
fn person(line: &BStr, mailmap: &Mailmap) -> Option<Person> {
    let open = line.find_byte(b'<')?;
    let close = line.get(open..)?.find_byte(b'>')? + open;
    let last = line.rfind_byte(b'>')?;
    let name: BString = line[..open].trim_end().into();
    let mail: BString = line.get(open + 1..close)?.into();
    let date = line.get(last + 1..)?.to_str().ok()?;
    let mut words = date.split_ascii_whitespace();
    let seconds = words.next()?.parse().ok()?;
    let (mapped_name, mapped_mail) = mailmap.map(name.as_bstr(), mail.as_bstr());
    Some(Person {
        name,
        mail,
        mapped_name,
        mapped_mail,
        time: Time::new(seconds, offset(words.next()?)?),
    })
}

/// The offset of a zone such as `+0530`, in seconds.
fn offset(zone: &str) -> Option<i32> {
    let number: i32 = zone.parse().ok()?;
    Some((number / 100 * 60 + number % 100) * 60)
}

/// The references that lead to a commit, in descending order, HEAD first.
fn decorations(repository: &Repository, id: &oid) -> Result<Vec<BString>> {
    let head = repository.head()?;
    let branch = match (&head, head.id()) {
        (head, Some(_)) => head.branch().map(ToOwned::to_owned),
        _ => None,
    };
    let mut names = Vec::new();
    for reference in repository.references_below("refs/".into())? {
        let Some(target) = reference.id else { continue };
        if leads_to(repository, target, id) && branch.as_ref() != Some(&reference.name) {
            names.push(shown(reference.name.as_bstr()));
        }
    }
    if head
        .id()
        .is_some_and(|target| leads_to(repository, target, id))
    {
        names.push(match &branch {
            Some(branch) => format!("HEAD -> {}", shown(branch.as_bstr())).into(),
            None => "HEAD".into(),
        });
    }
    names.reverse();
    Ok(names)
}

/// Whether a reference leads to the commit `id`; a broken one does not.
fn leads_to(repository: &Repository, from: ObjectId, id: &oid) -> bool {
    *from == *id
        || matches!(repository.object_kind(&from), Ok(ObjectKind::Tag))
            && matches!(repository.peel(&from, None), Ok(Some(peeled)) if *peeled == *id)
}

fn shown(name: &BStr) -> BString {
    if let Some(tag) = name.strip_prefix(b"refs/tags/") {
        return format!("tag: {}", tag.as_bstr()).into();
    }
    let prefixes: [&[u8]; 2] = [b"refs/heads/", b"refs/remotes/"];
    let short = prefixes
        .iter()
        .find_map(|prefix| name.strip_prefix(*prefix));
    short.map_or_else(|| name.to_owned(), BString::from)
}
