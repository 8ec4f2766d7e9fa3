//! Makes a directory of an archive the root of the tree.

use crate::{name, Member, MemberKind, Unusable};
use hedgerow_tree::NodeKind;

/// The directory that becomes the root.
#[derive(Clone, Debug)]
pub struct NewRoot {
    /// Its path in the archive, in the form of [`Member::path`].
    pub path: Vec<u8>,
    /// Whether symbolic links into this directory, absolute or relative to the archive's root, get
    /// absolute targets without its path.
    pub retarget_symlinks: bool,
}

impl NewRoot {
    /// The directory with this name, which may have leading and trailing slashes.
    ///
    /// Fails if no member can have this name.
    pub fn new(name: &[u8], retarget_symlinks: bool) -> Result<NewRoot, Unusable> {
        Ok(NewRoot {
            path: name::normalize(name, true)?,
            retarget_symlinks,
        })
    }

    /// The member with paths relative to the new root; `None` if it is outside.
    pub(super) fn inside(&self, mut member: Member) -> Option<Member> {
        member.path = if member.path == self.path {
            Vec::new()
        } else {
            self.below(&member.path)?.to_vec()
        };
        match member.kind {
            MemberKind::HardLink => {
                // The target of a link to the outside gets a path that no member has.
                let target = self.below(&member.link_target).map(<[u8]>::to_vec);
                member.link_target = target.unwrap_or([b"../", &member.link_target[..]].concat());
            }
            MemberKind::Node(NodeKind::Symlink) if self.retarget_symlinks => {
                let target = name::normalize(&member.link_target, true).ok();
                if let Some(below) = target.as_deref().and_then(|target| self.below(target)) {
                    member.link_target = [b"/", below].concat();
                }
            }
            MemberKind::Node(_) => {}
        }
        Some(member)
    }

    fn below<'p>(&self, path: &'p [u8]) -> Option<&'p [u8]> {
        if self.path.is_empty() {
            return Some(path);
        }
        path.strip_prefix(&self.path[..])?.strip_prefix(b"/")
    }
}
