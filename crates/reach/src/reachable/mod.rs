//! What some objects reach and others do not, as a set: by bitmaps as far as they go, and by walks
//! from there on. `closure` finds what a few tips reach; `filter` leaves out what is not wanted.

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

use crate::source::Source;
use crate::{Filter, Result};
use closure::Closure;
use filter::Spared;
use finding::Aim;
use gix_hash::ObjectId;
use hedgerow_pack::Bitmaps;

/// What is asked.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// What the objects are to be reachable from.
    pub wants: Vec<ObjectId>,
    /// What they are not to be reachable from. One that is nowhere is passed over.
    pub haves: Vec<ObjectId>,
    /// Which of them are left out.
    pub filter: Option<Filter>,
    /// Whether the filter applies to `wants`, too.
    pub filter_wants: bool,
    /// Whether commits and tags are all that is wanted.
    pub only_commits: bool,
    /// How many threads walk.
    pub threads: usize,
}

impl Question {
    /// Whether it can be answered as a set: no filter depends on how deep a path is.
    pub fn is_set(&self) -> bool {
        self.filter.as_ref().is_none_or(filter::is_possible)
    }

    /// Whether trees need be walked: their objects may be wanted.
    fn needs_trees(&self) -> bool {
        !self.only_commits && !self.filter.as_ref().is_some_and(filter::leaves_out_trees)
    }

    /// Whether a walk with the filter would go through trees: then it meets there what is named.
    fn walks_trees(&self) -> bool {
        !self.only_commits && !self.filter.as_ref().is_some_and(crate::filter::skips_trees)
    }
}

/// The answer.
#[derive(Debug)]
pub struct Answer<'b, 's> {
    /// What is reachable from the wants, not from the haves, and not left out.
    pub objects: ObjectSet<'b, 's>,
    /// What the receiver has, as far as that was found out.
    pub had: Option<ObjectSet<'b, 's>>,
    /// How it was found.
    pub trace: Trace,
}

/// Finds what is reachable from the wants of `question` and not from its haves.
///
/// # Errors
/// [`Error::DamagedBitmap`](crate::Error::DamagedBitmap): the question is to be asked again without
/// bitmaps. Otherwise if an object that is reachable from a want is missing or damaged.
pub fn reachable<'b, 's>(
    source: Source<'s>,
    bitmaps: Option<&'b Bitmaps<'s>>,
    question: &Question,
) -> Result<Answer<'b, 's>> {
    let mut closure = Closure::new(source, bitmaps, question.threads);
    let had = if question.haves.is_empty() {
        None
    } else {
        Some(closure.of_haves(&question.haves, question.walks_trees())?)
    };
    let aim = Aim {
        needs_trees: question.needs_trees(),
        had: had.as_ref(),
        filter: (question.filter.as_ref()).filter(|_| !question.filter_wants),
    };
    let mut objects = closure.of_wants(&question.wants, aim)?;
    if let Some(had) = &had {
        objects.subtract(had);
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
