//! The branches that a branch is compared with for the eyes of the user: `status.compareBranches`
//! in git-config(1).

use super::Tracking;
use crate::repository::Repository;
use crate::Result;
use bstr::{BStr, BString, ByteSlice};

/// How a branch stands to one that it is compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// The full name of the other.
    pub with: BString,
    /// Whether it is the upstream.
    pub is_upstream: bool,
    /// Whether pushes go there.
    pub is_pushed_to: bool,
    /// Where else than from the upstream it can be pulled from: a remote, and a name there.
    pub pulled_from: Option<(BString, BString)>,
    /// Whether it does not exist (any more). That is told of the upstream only.
    pub is_gone: bool,
    /// Commits that only the branch has; see [`Repository::tracking_difference`].
    pub ahead: usize,
    /// Commits that only the other has.
    pub behind: usize,
}

impl Repository {
    /// How the branch with the full name `branch` stands to those that it is to be compared with:
    /// its upstream as `upstream` has it, unless the configuration says otherwise, and where it is
    /// pushed to, `counted` or not. `warn` is told of words that mean nothing, in git's words.
    pub fn comparisons(
        &self,
        branch: &BStr,
        upstream: Option<&Tracking>,
        counted: bool,
        warn: &mut dyn FnMut(String),
    ) -> Result<Vec<Comparison>> {
        let wanted = self.config().string("status.compareBranches");
        let wanted = wanted.unwrap_or_else(|| "@{upstream}".into());
        let pushed = self.push_destination(branch)?;
        let upstream_name = upstream.map(|found| found.upstream.tracking.as_bstr());
        let mut compared: Vec<Comparison> = Vec::new();
        for word in wanted
            .split(|byte| *byte == b' ')
            .filter(|word| !word.is_empty())
        {
            let with = match word.to_ascii_lowercase().as_slice() {
                b"@{upstream}" => upstream_name,
                b"@{push}" => pushed.as_ref().map(|name| name.as_bstr()),
                _ => {
                    warn(format!(
                        "ignoring value '{}' for status.compareBranches, only @{{upstream}} and \
                         @{{push}} are supported",
                        word.as_bstr()
                    ));
                    None
                }
            };
            let is_known = |with: &&BStr| compared.iter().any(|known| known.with == **with);
            let Some(with) = with.filter(|with| !is_known(with)) else {
                continue;
            };
            let is_upstream = upstream_name == Some(with);
            let distance = match upstream.filter(|_| is_upstream) {
                Some(found) => (!found.is_gone).then_some((found.ahead, found.behind)),
                None => self.distance(branch, with, counted)?,
            };
            if distance.is_none() && !is_upstream {
                continue;
            }
            let (ahead, behind) = distance.unwrap_or_default();
            let is_pushed_to = pushed
                .as_ref()
                .map_or(is_upstream, |pushed| *pushed == with);
            compared.push(Comparison {
                with: with.to_owned(),
                is_upstream,
                is_pushed_to,
                pulled_from: if is_upstream {
                    None
                } else {
                    self.pulled_from(branch, with)
                },
                is_gone: distance.is_none(),
                ahead,
                behind,
            });
        }
        Ok(compared)
    }

    /// The remote to which `branch` is pushed, and what follows its name in that of `tracking`.
    fn pulled_from(&self, branch: &BStr, tracking: &BStr) -> Option<(BString, BString)> {
        let remote = self.push_remote(branch)?;
        let there = tracking.strip_prefix(b"refs/remotes/")?;
        let there = there.strip_prefix(remote.as_slice())?;
        let there = there.strip_prefix(b"/")?;
        Some((remote, there.into()))
    }
}
