//! Repositories that are no submodules, in the place of untracked files. No entry has them; but git adds
//! them to the index and takes them out again.

use super::push::Said;
use crate::repository::Repository;
use bstr::{BStr, BString, ByteSlice};
use gix_hash::ObjectId;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

pub(super) struct Embedded {
    /// Without a slash at its end.
    pub path: BString,
    /// Its commit; git adds no repository that has none.
    pub head: Option<ObjectId>,
}

impl Embedded {
    /// The repository at an untracked `path`; `None` if it does not end in a slash.
    pub(super) fn find(outer: &Repository, path: &BStr) -> Option<Self> {
        let path = path.strip_suffix(b"/")?;
        let directory = outer.work_tree()?.join(OsStr::from_bytes(path));
        let opened = Repository::open_submodule_for_head(&directory, outer.environment());
        let head = opened.and_then(|repository| repository.head());
        Some(Embedded {
            path: path.into(),
            head: head.ok().and_then(|head| head.id()),
        })
    }

    /// What git says when it adds it; the first one is explained.
    pub(super) fn said_of_addition(&self, is_first: bool) -> Said {
        let path = self.path.as_bstr();
        if self.head.is_none() {
            let words = format!(
                "error: '{path}/' does not have a commit checked out\n\
                 error: unable to index file '{path}/'\n\
                 fatal: adding files failed"
            );
            return Said {
                words,
                advice: None,
            };
        }
        Said {
            words: format!("warning: adding embedded git repository: {path}"),
            advice: is_first.then(|| ("addEmbeddedRepo", advice(path))),
        }
    }

    /// What git says when it takes it back: the directory stays.
    pub(super) fn said_of_removal(&self) -> Said {
        Said {
            words: format!(
                "warning: unable to rmdir '{}': Directory not empty",
                self.path
            ),
            advice: None,
        }
    }
}

fn advice(path: &BStr) -> String {
    format!(
        "You've added another git repository inside your current repository.\n\
         Clones of the outer repository will not contain the contents of\n\
         the embedded repository and will not know how to obtain it.\n\
         If you meant to add a submodule, use:\n\
         \n\
         \tgit submodule add <url> {path}\n\
         \n\
         If you added this path by mistake, you can remove it from the\n\
         index with:\n\
         \n\
         \tgit rm --cached {path}\n\
         \n\
         See \"git help submodule\" for more information."
    )
}
