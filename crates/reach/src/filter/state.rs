use super::Filter;
use crate::ids::{IdMap, IdSet};
use gix_hash::ObjectId;
use hedgerow_pack::ObjectKind;

/// The event of a walk that a filter decides about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Situation {
    Commit,
    Tag,
    /// Before the entries of a tree.
    BeginTree,
    /// After the entries of a tree.
    EndTree,
    /// A blob, and its size, if it exists and the filter needs it.
    Blob(Option<u64>),
}

/// What to do with an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// The object need not be examined again.
    pub mark_seen: bool,
    pub show: bool,
    /// The entries of the tree are skipped.
    pub skip_tree: bool,
}

impl Verdict {
    pub const SHOW: Verdict = Verdict {
        mark_seen: true,
        show: true,
        skip_tree: false,
    };
    const HIDE: Verdict = Verdict {
        mark_seen: true,
        show: false,
        skip_tree: false,
    };
    const SKIP: Verdict = Verdict {
        mark_seen: false,
        show: false,
        skip_tree: true,
    };
    const NOTHING: Verdict = Verdict {
        mark_seen: false,
        show: false,
        skip_tree: false,
    };
}

/// The state of a filter during a walk.
#[derive(Debug)]
pub(crate) struct FilterState {
    rule: Rule,
    /// The objects left out, if they are to be collected.
    omitted: Option<IdSet>,
}

#[derive(Debug)]
enum Rule {
    BlobNone,
    BlobLimit(u64),
    TreeDepth {
        limit: u64,
        current: u64,
        /// The smallest depth at which each tree was seen.
        seen: IdMap<u64>,
    },
    Kind(ObjectKind),
    Combine(Vec<Part>),
}

#[derive(Debug)]
struct Part {
    state: FilterState,
    seen: IdSet,
    /// The tree whose entries this part skips.
    skipping: Option<ObjectId>,
}

impl FilterState {
    pub fn new(filter: &Filter, keep_omitted: bool) -> Self {
        let rule = match filter {
            Filter::BlobNone => Rule::BlobNone,
            Filter::BlobLimit(limit) => Rule::BlobLimit(*limit),
            Filter::TreeDepth(limit) => Rule::TreeDepth {
                limit: *limit,
                current: 0,
                seen: IdMap::default(),
            },
            Filter::Kind(kind) => Rule::Kind(*kind),
            Filter::Combine(filters) => {
                let part = |filter| Part {
                    state: FilterState::new(filter, keep_omitted),
                    seen: IdSet::default(),
                    skipping: None,
                };
                Rule::Combine(filters.iter().map(part).collect())
            }
        };
        FilterState {
            rule,
            omitted: keep_omitted.then(IdSet::default),
        }
    }

    /// Whether the filter needs sizes of blobs.
    pub fn needs_sizes(&self) -> bool {
        match &self.rule {
            Rule::BlobLimit(_) => true,
            Rule::Combine(parts) => parts.iter().any(|part| part.state.needs_sizes()),
            _ => false,
        }
    }

    /// The objects left out.
    pub fn into_omitted(self) -> Vec<ObjectId> {
        let mut found: Vec<ObjectId> = self.omitted.into_iter().flatten().collect();
        if let Rule::Combine(parts) = self.rule {
            for part in parts {
                found.extend(part.state.into_omitted());
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    pub fn judge(&mut self, situation: Situation, id: &ObjectId) -> Verdict {
        match (&mut self.rule, situation) {
            (Rule::Combine(parts), _) => combined(parts, situation, id),
            (Rule::Kind(kind), _) => of_kind(*kind, situation),
            (_, Situation::Commit | Situation::Tag) => Verdict::SHOW,
            (Rule::TreeDepth { .. }, _) => self.by_depth(situation, id),
            (_, Situation::BeginTree) => Verdict::SHOW,
            (_, Situation::EndTree) => Verdict::NOTHING,
            (Rule::BlobNone, _) => self.omit(id),
            (Rule::BlobLimit(limit), Situation::Blob(size)) => {
                if size.is_some_and(|size| size >= *limit) {
                    return self.omit(id);
                }
                if let Some(omitted) = &mut self.omitted {
                    omitted.remove(id);
                }
                Verdict::SHOW
            }
        }
    }

    fn omit(&mut self, id: &ObjectId) -> Verdict {
        if let Some(omitted) = &mut self.omitted {
            omitted.insert(*id);
        }
        Verdict::HIDE
    }

    fn by_depth(&mut self, situation: Situation, id: &ObjectId) -> Verdict {
        let Rule::TreeDepth {
            limit,
            current,
            seen,
        } = &mut self.rule
        else {
            return Verdict::NOTHING;
        };
        let is_included = *current < *limit;
        let update = |omitted: &mut Option<IdSet>| match (omitted, is_included) {
            (None, _) => false,
            (Some(omitted), true) => omitted.remove(id),
            // Whether it was already in the set.
            (Some(omitted), false) => !omitted.insert(*id),
        };
        match situation {
            Situation::EndTree => {
                *current = current.saturating_sub(1);
                Verdict::NOTHING
            }
            Situation::Blob(_) => {
                update(&mut self.omitted);
                if is_included {
                    Verdict::SHOW
                } else {
                    Verdict::NOTHING
                }
            }
            _ => {
                let depth = *current;
                *current += 1;
                if seen.get(id).is_some_and(|least| *least <= depth) {
                    return Verdict::SKIP;
                }
                seen.insert(*id, depth);
                let was_omitted = update(&mut self.omitted);
                match (is_included, self.omitted.is_some() && !was_omitted) {
                    // It is not marked as seen: it may be met again at a smaller depth.
                    (true, _) => Verdict {
                        show: true,
                        ..Verdict::NOTHING
                    },
                    // Objects below it still have to be reported as left out.
                    (false, true) => Verdict::NOTHING,
                    (false, false) => Verdict::SKIP,
                }
            }
        }
    }
}

fn of_kind(kind: ObjectKind, situation: Situation) -> Verdict {
    let found = match situation {
        Situation::Commit => ObjectKind::Commit,
        Situation::Tag => ObjectKind::Tag,
        Situation::BeginTree => ObjectKind::Tree,
        Situation::Blob(_) => ObjectKind::Blob,
        Situation::EndTree => return Verdict::NOTHING,
    };
    let is_above = matches!(kind, ObjectKind::Commit | ObjectKind::Tag);
    match found == kind {
        true => Verdict::SHOW,
        false if found == ObjectKind::Tree && is_above => Verdict::SKIP,
        false => Verdict::HIDE,
    }
}

/// The verdict on which all parts agree.
fn combined(parts: &mut [Part], situation: Situation, id: &ObjectId) -> Verdict {
    let mut all = Verdict {
        mark_seen: true,
        show: true,
        skip_tree: true,
    };
    // A part never shows again what it has marked as seen, nor anything below. Other parts would
    // only look there for objects to report as left out.
    let is_done = situation == Situation::BeginTree
        && parts.iter().any(|part| part.seen.contains(id))
        && parts.iter().all(|part| part.state.omitted.is_none());
    for part in parts {
        let verdict = part.judge(situation, id);
        all.show &= verdict.show;
        all.mark_seen &= verdict.mark_seen;
        all.skip_tree &= part.skipping.is_some();
    }
    all.skip_tree |= is_done;
    all
}

impl Part {
    fn judge(&mut self, situation: Situation, id: &ObjectId) -> Verdict {
        if let Some(skipped) = &self.skipping {
            if situation != Situation::EndTree || skipped != id {
                return Verdict::NOTHING;
            }
            self.skipping = None;
        }
        if self.seen.contains(id) {
            return Verdict::NOTHING;
        }
        let verdict = self.state.judge(situation, id);
        if verdict.mark_seen {
            self.seen.insert(*id);
        }
        if verdict.skip_tree {
            self.skipping = Some(*id);
        }
        verdict
    }
}
