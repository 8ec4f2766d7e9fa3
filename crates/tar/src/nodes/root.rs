//! A directory of an archive as the root of the tree.

use crate::{name, Member, MemberKind, Unusable};
use hedgerow_tree::NodeKind;

/// Which directory becomes the root.
#[derive(Clone, Debug)]
pub struct NewRoot {
    /// Its path in the archive, as those of members are: see [`Member::path`].
    pub path: Vec<u8>,
    /// Whether targets of symbolic links that begin with it, absolute or relative to the archive's
    /// root, become absolute ones that begin behind it.
    pub retarget_symlinks: bool,
}

impl NewRoot {
    /// The directory of that name, which may have slashes at either end.
    ///
    /// Fails if no member can have that name.
    pub fn new(name: &[u8], retarget_symlinks: bool) -> Result<NewRoot, Unusable> {
        Ok(NewRoot {
            path: name::normalize(name, true)?,
            retarget_symlinks,
        })
    }

    /// The member as it is called below the new root; `None` if it is outside.
    pub(super) fn inside(&self, mut member: Member) -> Option<Member> {
        member.path = if member.path == self.path {
            Vec::new()
        } else {
            self.below(&member.path)?.to_vec()
        };
        match member.kind {
            MemberKind::HardLink => {
                // One that leads outside leads nowhere: no member is called so.
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
