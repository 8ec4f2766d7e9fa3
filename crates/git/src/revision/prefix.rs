//! Abbreviated ids, and what decides between several objects that one fits.

use super::{Resolver, RevisionProblem, Wanted};
use crate::{Error, Result};
use bstr::{BStr, ByteSlice};
use gix_hash::Prefix;
use hedgerow_pack::{ObjectId, ObjectKind};

/// The fewest digits that abbreviate an id.
const SHORTEST: usize = 4;

impl Resolver<'_> {
    /// The object whose id starts with the digits `spec`. Several are an error unless one of them
    /// alone is of a kind that is wanted.
    pub(super) fn abbreviated(&self, spec: &BStr, wanted: Wanted) -> Result<Option<ObjectId>> {
        let repository = self.repository;
        if spec.len() < SHORTEST
            || spec.len() > repository.hash_kind().len_in_hex()
            || !spec.iter().all(u8::is_ascii_hexdigit)
        {
            return Ok(None);
        }
        let Some(prefix) = spec
            .to_str()
            .ok()
            .and_then(|hex| Prefix::from_hex(hex).ok())
        else {
            return Ok(None);
        };
        let mut found = repository.objects().find_prefix(&prefix)?;
        if found.len() > 1 {
            let hint = self.hint(wanted);
            let mut fitting = Vec::new();
            for id in found {
                if self.fits(&id, &hint)? {
                    fitting.push(id);
                }
            }
            found = fitting;
            if found.len() != 1 {
                return Err(Error::Revision {
                    spec: spec.to_owned(),
                    reason: RevisionProblem::AmbiguousId(spec.to_owned()),
                });
            }
        }
        Ok(found.first().copied())
    }

    /// The kinds that are wanted, and whether what leads to them is too. `core.disambiguate` says
    /// it where nothing else does.
    fn hint(&self, wanted: Wanted) -> Option<(ObjectKind, bool)> {
        match wanted {
            Wanted::Commit => Some((ObjectKind::Commit, true)),
            Wanted::Tree => Some((ObjectKind::Tree, true)),
            Wanted::Blob => Some((ObjectKind::Blob, false)),
            Wanted::Any => {
                let configured = self.repository.config().string("core.disambiguate")?;
                match configured.as_slice() {
                    b"commit" => Some((ObjectKind::Commit, false)),
                    b"committish" => Some((ObjectKind::Commit, true)),
                    b"tree" => Some((ObjectKind::Tree, false)),
                    b"treeish" => Some((ObjectKind::Tree, true)),
                    b"blob" => Some((ObjectKind::Blob, false)),
                    _ => None,
                }
            }
        }
    }

    fn fits(&self, id: &ObjectId, hint: &Option<(ObjectKind, bool)>) -> Result<bool> {
        match hint {
            None => Ok(true),
            Some((kind, false)) => Ok(self.repository.object_kind(id)? == *kind),
            Some((kind, true)) => Ok(self.repository.peel(id, Some(*kind))?.is_some()),
        }
    }
}
