//! Remotes, as far as branches follow theirs: git-config(1) under `remote.<name>.fetch` and
//! `branch.<name>.merge`, gitrevisions(7) under `@{upstream}`.

use crate::repository::Repository;
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};

/// The branch that another one follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upstream {
    /// The remote's name; `.` for a branch of this repository.
    pub remote: BString,
    /// The full name of the branch at the remote.
    pub merge: BString,
    /// The full name of the reference here that tracks it.
    pub tracking: BString,
}

/// One `remote.<name>.fetch` or `.push`: `[+]SOURCE[:DESTINATION]`, each with at most one `*`.
struct Refspec<'a> {
    source: &'a BStr,
    destination: &'a BStr,
    is_negative: bool,
}

impl<'a> Refspec<'a> {
    fn parse(text: &'a BStr) -> Option<Self> {
        if let Some(source) = text.strip_prefix(b"^") {
            return Some(Refspec {
                source: source.as_bstr(),
                destination: b"".as_bstr(),
                is_negative: true,
            });
        }
        let text = text.strip_prefix(b"+").unwrap_or(text);
        let (source, destination) = text.split_once_str(":")?;
        (!source.is_empty() && !destination.is_empty()).then(|| Refspec {
            source: source.as_bstr(),
            destination: destination.as_bstr(),
            is_negative: false,
        })
    }
}

/// What the `*` of `pattern` stands for in `name`: the whole rule without one must be equal.
fn matched<'n>(pattern: &BStr, name: &'n BStr) -> Option<&'n [u8]> {
    match pattern.split_once_str("*") {
        None => (pattern == name).then_some(b"".as_slice()),
        Some((start, end)) => name.strip_prefix(start)?.strip_suffix(end),
    }
}

fn translate(specs: &[Refspec<'_>], name: &BStr, to_destination: bool) -> Option<BString> {
    let excluded = |source: &BStr| {
        let mut negative = specs.iter().filter(|spec| spec.is_negative);
        negative.any(|spec| matched(spec.source, source).is_some())
    };
    specs
        .iter()
        .filter(|spec| !spec.is_negative)
        .find_map(|spec| {
            let (from, to) = if to_destination {
                (spec.source, spec.destination)
            } else {
                (spec.destination, spec.source)
            };
            let star = matched(from, name)?;
            let result: BString = match to.split_once_str("*") {
                Some((start, end)) => [start, star, end].concat().into(),
                None => to.to_owned(),
            };
            let source = if to_destination {
                name
            } else {
                result.as_ref()
            };
            (!excluded(source)).then_some(result)
        })
}

impl Repository {
    /// The names of the remotes, in order of first mention.
    pub fn remotes(&self) -> Vec<BString> {
        self.config().subsections("remote")
    }

    /// Where the fetch rules of `remote` put its reference `name`.
    pub(crate) fn tracking_name(&self, remote: &BStr, name: &BStr) -> Option<BString> {
        let rules = self.config().strings_in("remote", remote, "fetch");
        translate(&parsed(&rules), name, true)
    }

    /// The remote whose fetch rules put something at `tracking`, and the name it has there; an
    /// error if there are several.
    pub fn tracked(&self, tracking: &BStr) -> Result<Option<Upstream>> {
        let mut found: Option<Upstream> = None;
        for remote in self.remotes() {
            let Some(upstream) = self.tracked_of(remote, tracking) else {
                continue;
            };
            if found.is_some() {
                return Err(Error::Setup {
                    reason: format!("not tracking: ambiguous information for ref '{tracking}'"),
                });
            }
            found = Some(upstream);
        }
        Ok(found)
    }

    /// What the fetch rules of `remote` put at `tracking`.
    pub(crate) fn tracked_of(&self, remote: BString, tracking: &BStr) -> Option<Upstream> {
        let rules = self.config().strings_in("remote", remote.as_ref(), "fetch");
        let merge = translate(&parsed(&rules), tracking, false)?;
        Some(Upstream {
            remote,
            merge,
            tracking: tracking.to_owned(),
        })
    }

    /// The branch that the branch with the full name `branch` follows; `None` if it follows none
    /// or one that is not fetched.
    pub fn upstream(&self, branch: &BStr) -> Result<Option<Upstream>> {
        let Some(short) = branch.strip_prefix(b"refs/heads/") else {
            return Ok(None);
        };
        let setting = |name| self.config().string_in("branch", short.as_bstr(), name);
        let (Some(remote), Some(merge)) = (setting("remote"), setting("merge")) else {
            return Ok(None);
        };
        let tracking = if remote == "." {
            Some(self.branch_here(&merge)?)
        } else {
            self.tracking_name(remote.as_ref(), merge.as_ref())
        };
        Ok(tracking.map(|tracking| Upstream {
            remote,
            merge,
            tracking,
        }))
    }

    /// The full name of what is followed in this repository itself, which may be named by a short
    /// one that means nothing else.
    fn branch_here(&self, name: &BString) -> Result<BString> {
        let found = self.find_reference(name.as_ref())?;
        let only = found.filter(|found| !found.is_ambiguous);
        Ok(only.map_or_else(
            || name.clone(),
            |found| found.reference.target.unwrap_or(found.reference.name),
        ))
    }

    /// The name of the remote to which the branch `branch` (a full name) is pushed.
    pub(crate) fn push_remote(&self, branch: &BStr) -> Option<BString> {
        let short = branch.strip_prefix(b"refs/heads/")?;
        let setting = |name| self.config().string_in("branch", short.as_bstr(), name);
        let found = setting("pushRemote")
            .or_else(|| self.config().string("remote.pushDefault"))
            .or_else(|| setting("remote"));
        Some(found.unwrap_or_else(|| "origin".into()))
    }

    /// The reference here that tracks where the branch `branch` (a full name) is pushed to:
    /// git-config(1) under `push.default`.
    pub fn push_destination(&self, branch: &BStr) -> Result<Option<BString>> {
        let Some(remote) = self.push_remote(branch) else {
            return Ok(None);
        };
        let rules = self.config().strings_in("remote", remote.as_ref(), "push");
        if !rules.is_empty() {
            let there = translate(&parsed(&rules), branch, true);
            return Ok(there.and_then(|there| self.tracking_name(remote.as_ref(), there.as_ref())));
        }
        let same = self.tracking_name(remote.as_ref(), branch);
        let upstream = self.upstream(branch)?.map(|upstream| upstream.tracking);
        let mode = self.config().string("push.default");
        Ok(
            match mode.as_deref().map_or(b"simple".as_slice(), |mode| mode) {
                b"nothing" => None,
                b"matching" | b"current" => same,
                b"upstream" | b"tracking" => upstream,
                _ => upstream.filter(|upstream| same.as_ref() == Some(upstream)),
            },
        )
    }
}

fn parsed(rules: &[BString]) -> Vec<Refspec<'_>> {
    rules
        .iter()
        .filter_map(|rule| Refspec::parse(rule.as_ref()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(rules: &[&str], name: &str, to_destination: bool) -> Option<String> {
        let rules: Vec<BString> = rules.iter().map(|rule| BString::from(*rule)).collect();
        translate(&parsed(&rules), name.into(), to_destination).map(|name| name.to_string())
    }

    #[test]
    fn rules_lead_there_and_back() {
        let rules = ["+refs/heads/*:refs/remotes/origin/*", "refs/x:refs/y"];
        assert_eq!(
            names(&rules, "refs/heads/a/b", true).as_deref(),
            Some("refs/remotes/origin/a/b")
        );
        assert_eq!(
            names(&rules, "refs/remotes/origin/a", false).as_deref(),
            Some("refs/heads/a")
        );
        assert_eq!(names(&rules, "refs/x", true).as_deref(), Some("refs/y"));
        assert_eq!(names(&rules, "refs/tags/a", true), None);
    }

    #[test]
    fn a_star_may_stand_inside_and_a_rule_may_exclude() {
        let rules = ["refs/heads/a*z:refs/r/*/end", "^refs/heads/amz"];
        assert_eq!(
            names(&rules, "refs/heads/abcz", true).as_deref(),
            Some("refs/r/bc/end")
        );
        assert_eq!(names(&rules, "refs/heads/amz", true), None);
        assert_eq!(names(&rules, "refs/r/m/end", false), None);
        assert_eq!(
            names(&["refs/heads/a", ":", "a:"], "refs/heads/a", true),
            None
        );
    }
}
