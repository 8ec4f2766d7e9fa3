//! The objects that some tips reach.

use super::finding::{plain, root, Aim, Finding};
use super::set::ObjectSet;
use super::shared::SharedSet;
use super::tips::{follow_all, BitmapUse, Followed, Marked, Trace};
use super::trees::{self, Like, Pending};
use crate::commits::{CommitIndex, Commits};
use crate::filter::not_spared;
use crate::ids::IdSet;
use crate::source::Source;
use crate::{Error, Result};
use gix_hash::ObjectId;
use hedgerow_pack::{Bitmaps, ObjectKind, Words};

/// Finds the objects that tips reach, first for the haves, then for the wants.
pub(super) struct Closure<'b, 's> {
    source: Source<'s>,
    bitmaps: Option<&'b Bitmaps<'s>>,
    commits: Commits<'s>,
    threads: usize,
    trace: Trace,
    /// The tips and what tags among them point to, step by step: no filter leaves them out.
    ends: Vec<Marked>,
    /// The trees and blobs that the tips of the last search lead to.
    named: Vec<(ObjectId, ObjectKind)>,
}

impl<'b, 's> Closure<'b, 's> {
    pub fn new(source: Source<'s>, bitmaps: Option<&'b Bitmaps<'s>>, threads: usize) -> Self {
        Closure {
            source,
            bitmaps,
            commits: Commits::new(source),
            threads,
            trace: Trace::default(),
            ends: Vec::new(),
            named: Vec::new(),
        }
    }

    /// How it was found, and the objects that no filter leaves out.
    pub fn into_parts(self) -> (Trace, Vec<Marked>) {
        (self.trace, self.ends)
    }

    /// What the receiver has. Objects that are missing here are ignored.
    pub fn of_haves(&mut self, haves: &[ObjectId], needs_trees: bool) -> Result<ObjectSet<'b, 's>> {
        let aim = Aim {
            needs_trees,
            ..Aim::default()
        };
        let (set, used) = self.find(haves, aim, true)?;
        self.trace.haves = used;
        Ok(set)
    }

    /// What the wants reach.
    pub fn of_wants(
        &mut self,
        wants: &[ObjectId],
        aim: Aim<'_, 'b, 's>,
    ) -> Result<ObjectSet<'b, 's>> {
        let (set, used) = self.find(wants, aim, false)?;
        self.trace.wants = used;
        Ok(set)
    }

    /// Fails if one of `tips` is missing.
    pub fn require(&self, tips: &[ObjectId]) -> Result<()> {
        let followed = follow_all(self.source, self.bitmaps, tips, self.threads)?;
        let mut missing = tips.iter().zip(&followed).filter(|(_, it)| it.is_none());
        missing.next().map_or(Ok(()), |(tip, _)| Err(bad_tip(tip)))
    }

    /// Whether one of `tips` leads to a commit.
    pub fn has_commit(&self, tips: &[ObjectId]) -> Result<bool> {
        for tip in tips {
            if self.leads_to_commit(tip)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Those of `tips` that lead to no commit.
    pub fn without_commits(&self, tips: &[ObjectId]) -> Result<Vec<ObjectId>> {
        let mut others = Vec::new();
        for tip in tips {
            if !self.leads_to_commit(tip)? {
                others.push(*tip);
            }
        }
        Ok(others)
    }

    fn leads_to_commit(&self, tip: &ObjectId) -> Result<bool> {
        let followed = follow_all(self.source, self.bitmaps, std::slice::from_ref(tip), 1)?;
        let mut found = followed.into_iter().flatten();
        Ok(found.any(|it| it.kind == ObjectKind::Commit))
    }

    /// The trees and blobs that the tips of the last search lead to.
    pub fn take_named(&mut self) -> Vec<(ObjectId, ObjectKind)> {
        std::mem::take(&mut self.named)
    }

    /// Adds the trees and blobs that the wants lead to and `haves`, which are trees and blobs as well,
    /// do not reach.
    pub fn add_named(
        &mut self,
        objects: &mut ObjectSet<'b, 's>,
        haves: &[(ObjectId, ObjectKind)],
    ) -> Result<()> {
        let named = self.take_named();
        if named.is_empty() {
            return Ok(());
        }
        let haves: Vec<ObjectId> = haves.iter().map(|(id, _)| *id).collect();
        let (had, _) = self.find(&haves, Aim::default(), true)?;
        for (id, kind) in named {
            if !had.contains(&id) {
                objects.insert(plain(id, kind));
            }
        }
        Ok(())
    }

    /// Finds what `tips` reach, as `aim` asks. `missing_ok`: missing objects are ignored.
    fn find(
        &mut self,
        tips: &[ObjectId],
        aim: Aim<'_, 'b, 's>,
        missing_ok: bool,
    ) -> Result<(ObjectSet<'b, 's>, BitmapUse)> {
        let mut finding = Finding::new(aim, self.bitmaps, missing_ok);
        let mut commits = Vec::new();
        let followed = follow_all(self.source, self.bitmaps, tips, self.threads)?;
        for (tip, followed) in tips.iter().zip(followed) {
            match followed {
                Some(followed) => self.start(&mut finding, followed, &mut commits),
                None if missing_ok => {}
                None => return Err(bad_tip(tip)),
            }
        }
        self.include(&mut finding, &commits)?;
        self.walk_commits(&mut finding)?;
        // Named objects that the walk meets under another name are filtered like others.
        if let Some(filter) = aim.filter {
            let is_known = |id: &ObjectId| finding.set.contains(id);
            let is_had = |id: &ObjectId| aim.had.is_some_and(|set| set.contains(id));
            let passed = not_spared(filter, &finding.named, &self.commits, is_known, is_had)?;
            self.ends.retain(|end| !passed.contains(&end.id));
        }
        let of_commits = std::mem::take(&mut finding.trees);
        self.named = std::mem::take(&mut finding.named);
        for (id, kind) in &self.named {
            match kind {
                ObjectKind::Tree => finding.trees.push(root(*id)),
                _ => drop(finding.set.insert(plain(*id, *kind))),
            }
        }
        finding.trees.extend(of_commits);
        self.walk_trees(finding)
    }

    fn start(
        &mut self,
        finding: &mut Finding<'_, 'b, 's>,
        followed: Followed,
        commits: &mut Vec<Marked>,
    ) {
        let Followed { tags, end, kind } = followed;
        self.ends.extend(&tags);
        self.ends.push(end);
        for tag in tags {
            finding
                .set
                .insert_at(tag.bit, plain(tag.id, ObjectKind::Tag));
        }
        match kind {
            ObjectKind::Commit => commits.push(end),
            _ => finding.named.push((end.id, kind)),
        }
    }

    /// Includes the bitmaps of `tips` that have one, and queues the other tips.
    fn include(&mut self, finding: &mut Finding<'_, 'b, 's>, tips: &[Marked]) -> Result<()> {
        // Commits with a bit need not be read for their order: in a pack, newer ones usually come
        // first.
        let mut marked = Vec::with_capacity(tips.len());
        let mut dated = Vec::new();
        for Marked { id: tip, bit } in tips {
            match *bit {
                Some(bit) => marked.push((bit, tip)),
                None => {
                    let index = self.commits.index(tip);
                    if self.commits.load(index)? {
                        dated.push((self.commits.node(index).seconds, index));
                    } else if !finding.missing_ok {
                        return Err(missing_commit(tip));
                    }
                }
            }
        }
        finding.used.tips = (marked.len() + dated.len()) as u64;
        let mut rest = Vec::new();
        marked.sort_unstable();
        for (bit, tip) in marked {
            if finding.set.bits.contains(bit) {
                finding.used.included += 1;
            } else if !self.add_bitmap(finding, tip)? {
                let index = self.commits.index(tip);
                if self.commits.load(index)? {
                    rest.push(index)
                } else {
                    return Err(Error::DamagedBitmap);
                }
            }
        }
        // The newest commits include most of the others.
        dated.sort_unstable_by_key(|(seconds, _)| std::cmp::Reverse(*seconds));
        for (_, index) in dated {
            if finding.set.contains(&self.commits.id(index)) {
                finding.used.included += 1
            } else {
                rest.push(index)
            }
        }
        self.add_pseudo_merges(finding, &rest)?;
        for index in rest {
            finding.push(&self.commits, index);
        }
        Ok(())
    }

    /// Adds the bitmap of the commit `id`; returns whether it has one.
    fn add_bitmap(&self, finding: &mut Finding<'_, 'b, 's>, id: &ObjectId) -> Result<bool> {
        let Some(bitmaps) = self.bitmaps else {
            return Ok(false);
        };
        let added = bitmaps.add_reachable(id, &mut finding.set.bits);
        let added = added.map_err(|_| Error::DamagedBitmap)?;
        if added {
            finding.used.bitmaps.push(*id);
        }
        Ok(added)
    }

    /// ORs in each pseudo-merge whose commits are all tips.
    fn add_pseudo_merges(
        &self,
        finding: &mut Finding<'_, 'b, 's>,
        tips: &[CommitIndex],
    ) -> Result<()> {
        let Some(bitmaps) = self
            .bitmaps
            .filter(|bitmaps| bitmaps.pseudo_merge_count() > 0)
        else {
            return Ok(());
        };
        let bits = tips.iter().filter_map(|tip| {
            let id = self.commits.id(*tip);
            finding.set.bit(&id)
        });
        let tips: Words = bits.collect();
        let added = bitmaps.add_pseudo_merges(&tips, &mut finding.set.bits);
        finding.used.pseudo_merges += u64::from(added.map_err(|_| Error::DamagedBitmap)?);
        Ok(())
    }

    /// Follows parents until all queued commits are covered by bitmaps.
    fn walk_commits(&mut self, finding: &mut Finding<'_, 'b, 's>) -> Result<()> {
        while let Some((_, std::cmp::Reverse(index))) = finding.queue.pop() {
            let id = self.commits.id(index);
            if finding.is_known(&id) || self.add_bitmap(finding, &id)? {
                continue;
            }
            if !self.commits.load(index)? {
                if finding.missing_ok {
                    continue;
                } else {
                    return Err(missing_commit(&id));
                }
            }
            finding.used.commits_walked += 1;
            let kind = ObjectKind::Commit;
            finding.set.insert(plain(id, kind));
            let mut like = None;
            for at in 0.. {
                let Some(parent) = self.commits.parent(index, at) else {
                    break;
                };
                if self.commits.load(parent)? {
                    finding.push(&self.commits, parent);
                    like = like.or(Some(self.commits.node(parent).tree));
                } else if !finding.missing_ok {
                    return Err(missing_commit(&self.commits.id(parent)));
                }
            }
            if finding.aim.needs_trees {
                let like = like.map(Like::Known);
                let tree = root(self.commits.node(index).tree);
                finding.trees.push(Pending { like, ..tree });
            }
        }
        Ok(())
    }

    fn walk_trees(&self, finding: Finding<'_, 'b, 's>) -> Result<(ObjectSet<'b, 's>, BitmapUse)> {
        let Finding {
            mut set,
            aim,
            trees,
            missing_ok,
            mut used,
            ..
        } = finding;
        if trees.is_empty() {
            used.outside = set.extra.len() as u64;
            return Ok((set, used));
        }
        let shared = SharedSet::new(&set, aim.had, self.commits.false_commits());
        let is_new = |tree: &Pending| shared.insert(plain(tree.id, ObjectKind::Tree));
        let mut roots: Vec<Pending> = trees.into_iter().filter(is_new).collect();
        // The trees of parents come first.
        roots.reverse();
        let walked: IdSet = roots.iter().map(|root| root.id).collect();
        for root in &mut roots {
            if let Some(Like::Known(like)) = root.like.filter(|like| walked.contains(like.id())) {
                root.like = Some(Like::OnceMet(like));
            }
        }
        used.trees_read = trees::walk(self.source, &shared, roots, missing_ok, self.threads)?;
        let (bits, extra) = shared.into_parts();
        set.bits = bits;
        for extra in extra {
            set.insert_extra(extra);
        }
        used.outside = set.extra.len() as u64;
        Ok((set, used))
    }
}

fn missing_commit(id: &ObjectId) -> Error {
    Error::Missing {
        kind: ObjectKind::Commit.name(),
        id: *id,
    }
}

fn bad_tip(tip: &ObjectId) -> Error {
    Error::BadTip {
        name: tip.to_string(),
    }
}
