//! Which objects are reachable from some objects and not from others, as a set: from bitmaps as far
//! as they go, then by walking. `closure` finds what a few tips reach; `filter` applies object
//! filters.

mod closure;
mod filter;
mod finding;
mod listed;
mod set;
mod shared;
mod tips;
mod trees;

pub use set::{Extra, ObjectSet};
pub use tips::{BitmapUse, Trace};

use crate::ids::IdSet;
use crate::source::Source;
use crate::{Filter, Result};
use closure::Closure;
use filter::Spared;
use finding::Aim;
use gix_hash::ObjectId;
use hedgerow_pack::Bitmaps;
use std::borrow::Cow;

/// A question about reachability.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// The objects to start from.
    pub wants: Vec<ObjectId>,
    /// What these reach is excluded. Missing objects are ignored.
    pub haves: Vec<ObjectId>,
    /// Which reachable objects are left out.
    pub filter: Option<Filter>,
    /// Whether the filter applies to `wants`, too.
    pub filter_wants: bool,
    /// Whether trees and blobs among `wants` are in the answer even if commits among `haves` reach
    /// them, or a commit before them and the filter leaves them out: a partial clone has commits
    /// without their contents.
    pub keeps_named: bool,
    /// Whether only commits and tags are wanted.
    pub only_commits: bool,
    /// Maximum number of threads.
    pub threads: usize,
}

impl Question {
    /// Whether it can be answered as a set: no filter depends on the depth of a path.
    pub fn is_set(&self) -> bool {
        self.filter.as_ref().is_none_or(filter::is_possible)
    }

    /// Whether each want is itself a have: then what else the haves reach does not matter.
    fn wants_what_it_has(&self) -> bool {
        let haves: IdSet = self.haves.iter().copied().collect();
        !haves.is_empty() && self.wants.iter().all(|want| haves.contains(want))
    }

    /// Whether trees have to be walked, because their objects may be wanted.
    fn needs_trees(&self) -> bool {
        !self.only_commits && !self.filter.as_ref().is_some_and(filter::leaves_out_trees)
    }

    /// Whether a walk with the filter goes through trees, where it may meet named objects.
    fn walks_trees(&self) -> bool {
        !self.only_commits && !self.filter.as_ref().is_some_and(crate::filter::skips_trees)
    }
}

/// The answer.
#[derive(Debug)]
pub struct Answer<'b, 's> {
    /// The objects reachable from the wants, not from the haves, and not filtered.
    pub objects: ObjectSet<'b, 's>,
    /// What the receiver has, as far as it was determined.
    pub had: Option<ObjectSet<'b, 's>>,
    /// How it was found.
    pub trace: Trace,
}

/// Finds the objects reachable from the wants of `question` and not from its haves.
///
/// # Errors
/// [`Error::DamagedBitmap`](crate::Error::DamagedBitmap): the caller must ask again without
/// bitmaps. Other errors if an object reachable from a want is missing or damaged.
pub fn reachable<'b, 's>(
    source: Source<'s>,
    bitmaps: Option<&'b Bitmaps<'s>>,
    question: &Question,
) -> Result<Answer<'b, 's>> {
    let mut closure = Closure::new(source, bitmaps, question.threads);
    if question.wants_what_it_has() {
        closure.require(&question.wants)?;
        return Ok(Answer {
            objects: ObjectSet::new(bitmaps),
            had: None,
            trace: Trace::default(),
        });
    }
    let mut haves = Cow::from(&question.haves);
    if question.keeps_named && !haves.is_empty() && !closure.has_commit(&question.wants)? {
        haves = closure.without_commits(&haves)?.into();
    }
    let had = if haves.is_empty() {
        None
    } else {
        Some(closure.of_haves(&haves, question.walks_trees())?)
    };
    let named_haves = closure.take_named();
    let aim = Aim {
        needs_trees: question.needs_trees(),
        had: had.as_ref(),
        filter: (question.filter.as_ref())
            .filter(|_| !question.filter_wants && !question.keeps_named),
    };
    let mut objects = closure.of_wants(&question.wants, aim)?;
    if let Some(had) = &had {
        objects.subtract(had);
        if question.keeps_named {
            closure.add_named(&mut objects, &named_haves)?;
        }
    }
    let (mut trace, ends) = closure.into_parts();
    if let Some(filter) = &question.filter {
        let spared: Spared = if question.filter_wants {
            Spared::default()
        } else {
            ends.into_iter().collect()
        };
        filter::apply(filter, source, &mut objects, &spared, question.threads)?;
    }
    trace.objects = objects.count();
    Ok(Answer {
        objects,
        had,
        trace,
    })
}
