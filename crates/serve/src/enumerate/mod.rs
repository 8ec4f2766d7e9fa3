//! Which objects a pack is to hold: what revisions reach, or what packs have, besides what is left out
//! (git-pack-objects(1)).

mod packs;
mod revisions;
mod supply;

use crate::object_list::read_object_list;
use crate::{Contents, PackOptions, Result, Selection, Selector, Wanted};
use hedgerow_git::reachability::Roots;
use hedgerow_git::repository::Repository;
use hedgerow_pack::ObjectStore;
use hedgerow_reach::{Filter, Question};
use revisions::add_tags;
use std::io::BufRead;

/// What is asked for.
#[derive(Clone, Debug, Default)]
pub struct Enumeration {
    /// Whether the pack is sent and not kept: bitmaps may say what it holds.
    pub is_sent: bool,
    /// Whether what reaches the objects is named, and not the objects themselves.
    pub is_of_revisions: bool,
    /// What the pack holds whatever revisions are named: what these keep alive.
    pub roots: Roots,
    /// What is left out of what revisions reach.
    pub filter: Option<Filter>,
    /// Annotated tags go along with what they are of.
    pub include_tag: bool,
    /// Whether reachability bitmaps are used; else `pack.useBitmaps` says so.
    pub use_bitmaps: Option<bool>,
    /// Whether bitmaps of the pack are going to be written: none are used then.
    pub writes_bitmaps: bool,
    /// Objects of local packs that nothing reaches are added.
    pub keep_unreachable: bool,
    /// Loose objects that nothing reaches are added.
    pub pack_loose_unreachable: bool,
    /// What the remote of a partial clone has promised is left out.
    pub exclude_promised: bool,
    /// Commits that are in packs are passed over; where packs are named, loose objects are added.
    pub unpacked: bool,
    /// What is in a pack already is left out.
    pub incremental: bool,
    /// Objects of alternates are left out.
    pub local: bool,
    /// What is in a pack of the own directory that has a `.keep` file is left out.
    pub honor_pack_keep: bool,
    /// What is in these packs of the own directory is left out, by the names of their files.
    pub keep_packs: Vec<String>,
    /// How many threads walk.
    pub threads: usize,
}

/// The objects of a pack.
#[derive(Debug)]
pub struct Enumerated {
    /// The objects, each once.
    pub wanted: Vec<Wanted>,
    /// Whether all that they reach is among them.
    pub is_closed: bool,
}

impl Enumeration {
    /// Whether the objects must be listed one by one, as [`Enumeration::of_revisions`] does: what is
    /// left out, or added, goes by object.
    pub fn needs_list(&self) -> bool {
        let question = Question {
            filter: self.filter.clone(),
            ..Question::default()
        };
        !self.is_sent
            || self.local
            || self.incremental
            || self.honor_pack_keep
            || !self.keep_packs.is_empty()
            || self.unpacked
            || self.roots.logs
            || self.roots.indexes
            || self.keep_unreachable
            || self.pack_loose_unreachable
            || self.exclude_promised
            || !question.is_set()
    }

    /// The contents of a pack of the objects that `list` names, and how that is made. A line is an
    /// object id and, after a space, its path; or a dash and the id of a commit that the receiver has.
    ///
    /// # Errors
    /// [`Error::List`](crate::Error::List) for a line that is neither, or if the list cannot be read.
    pub fn of_list(
        &self,
        repository: &Repository,
        list: impl BufRead,
        options: &PackOptions,
    ) -> Result<(Contents<'static>, PackOptions)> {
        let store = repository.objects();
        let selection = self.selection(store, true);
        let mut list = read_object_list(list, store, &selection, options.window)?;
        if self.include_tag {
            add_tags(repository, &mut list.wanted)?;
            Selector::new(store, &selection).retain(&mut list.wanted);
        }
        // As with git, edges in the list are bases with or without --thin.
        let options = PackOptions {
            thin: options.thin || !list.had.is_empty(),
            ..options.clone()
        };
        let contents = Contents {
            wanted: list.wanted,
            had: list.had,
            ..Contents::default()
        };
        Ok((contents, options))
    }

    /// What is left out because of where it is. `by_walk`: of what is found by walking.
    fn selection(&self, store: &ObjectStore, by_walk: bool) -> Selection {
        Selection {
            // Commits that are passed over are not all that is in packs.
            incremental: self.incremental || self.unpacked && by_walk,
            local: self.local,
            honor_pack_keep: self.honor_pack_keep,
            left_out: Selection::named_packs(store, &self.keep_packs),
        }
    }
}
