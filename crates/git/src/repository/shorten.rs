//! Full names of references made short, as git shows them: git-for-each-ref(1) under
//! `refname:short`.

use super::refs::NAME_RULES;
use super::Repository;
use bstr::{BStr, BString};

impl Repository {
    /// The shortest name that means the reference `name` by git's rules and none that would be
    /// tried earlier; `name` itself if there is none.
    pub fn shorten_reference(&self, name: &BStr) -> BString {
        for (at, (before, after)) in NAME_RULES.iter().enumerate().skip(1).rev() {
            let short = name
                .strip_prefix(before.as_bytes())
                .and_then(|short| short.strip_suffix(after.as_bytes()));
            let Some(short) = short.filter(|short| !short.is_empty()) else {
                continue;
            };
            let earlier = NAME_RULES.iter().take(at);
            let mut meant = earlier.map(|(before, after)| {
                BString::from([before.as_bytes(), short, after.as_bytes()].concat())
            });
            if !meant.any(|full| self.exists(full.as_ref())) {
                return short.into();
            }
        }
        name.to_owned()
    }

    fn exists(&self, name: &BStr) -> bool {
        matches!(self.reference(name), Ok(Some(found)) if found.id.is_some())
    }
}
