//! The state of a detection: possible sources, waiting destinations, and the matches found.

use super::{ChangeKind, Detection, Filepair, IsRelevant, Origin, Score, Side};
use bstr::ByteSlice;

/// Added paths and their possible sources, in the order of the pairs.
pub(super) struct Search<'p> {
    pub detection: Detection,
    pub sources: Vec<Source<'p>>,
    pub destinations: Vec<Destination<'p>>,
}

pub(super) struct Source<'p> {
    pub side: &'p Side,
    pair: usize,
    /// Number of paths derived from it, including itself if it stays.
    used: u32,
    /// Whether it is compared with unequal contents.
    pub is_relevant: bool,
}

pub(super) struct Destination<'p> {
    pub side: &'p Side,
    pair: usize,
    /// A path in conflict is never shown as renamed or copied.
    unmerged: bool,
    /// Whether it was already compared with a source of about its size.
    pub compared: bool,
    /// The number and score of its source.
    found: Option<(usize, Score)>,
}

impl<'p> Search<'p> {
    pub fn new(pairs: &'p [Filepair], detection: Detection, is_relevant: IsRelevant<'_>) -> Self {
        let (mut sources, mut destinations) = (Vec::new(), Vec::new());
        for (pair, filepair) in pairs.iter().enumerate() {
            match (&filepair.old, &filepair.new) {
                (None, Some(side)) => destinations.push(Destination {
                    side,
                    pair,
                    unmerged: filepair.unmerged,
                    compared: false,
                    found: None,
                }),
                (Some(side), new) => {
                    let stays = new.is_some() || filepair.unmerged;
                    if !stays || detection == Detection::Copies {
                        let used = u32::from(stays);
                        sources.push(Source {
                            side,
                            pair,
                            used,
                            is_relevant: is_relevant(side.path.as_bstr()),
                        });
                    }
                }
                (None, None) => {}
            }
        }
        Search {
            detection,
            sources,
            destinations,
        }
    }

    /// Whether nothing more can be found.
    pub fn is_over(&self) -> bool {
        self.sources.is_empty() || self.waiting().is_empty()
    }

    /// Whether the source was already renamed, or stays.
    pub fn is_used(&self, source: usize) -> bool {
        self.sources[source].used > 0
    }

    pub fn is_found(&self, destination: usize) -> bool {
        self.destinations[destination].found.is_some()
    }

    /// The numbers of the sources that may still be used: all of them if copies are detected.
    pub fn usable(&self) -> Vec<usize> {
        let again = self.detection == Detection::Copies;
        let all = 0..self.sources.len();
        all.filter(|source| again || !self.is_used(*source))
            .collect()
    }

    /// Those of them that are compared with whatever destination is left.
    pub fn relevant(&self) -> Vec<usize> {
        let mut usable = self.usable();
        usable.retain(|source| self.sources[*source].is_relevant);
        usable
    }

    /// The numbers of the destinations that have no source yet.
    pub fn waiting(&self) -> Vec<usize> {
        let all = 0..self.destinations.len();
        all.filter(|destination| !self.is_found(*destination))
            .collect()
    }

    pub fn record(&mut self, destination: usize, source: usize, score: Score) {
        self.destinations[destination].found = Some((source, score));
        self.sources[source].used += 1;
    }

    /// The matches, without borrows of the pairs. If several paths derive from a deleted path, the
    /// last one is the rename and the others are copies.
    pub fn into_found(mut self) -> SearchResult {
        let renamed = self.sources.iter().filter(|source| source.used > 0);
        let renamed = renamed.map(|source| source.pair).collect();
        let mut made = Vec::new();
        for destination in &self.destinations {
            let Some((source, score)) = destination.found else {
                continue;
            };
            let source = &mut self.sources[source];
            source.used -= u32::from(!destination.unmerged);
            let kind = match source.used {
                0 => ChangeKind::Renamed,
                _ => ChangeKind::Copied,
            };
            let origin = Origin { kind, score };
            made.push((destination.pair, source.pair, origin));
        }
        SearchResult { made, renamed }
    }
}

/// The result of a search, by the positions of pairs.
pub(super) struct SearchResult {
    /// Added pairs, their source pairs, and the relation.
    made: Vec<(usize, usize, Origin)>,
    /// All pairs whose old side was used, ascending.
    renamed: Vec<usize>,
}

impl SearchResult {
    /// Applies the result to the pairs.
    pub fn apply(self, pairs: &mut Vec<Filepair>) {
        for (made, source, origin) in self.made {
            pairs[made].old = pairs[source].old.clone();
            pairs[made].origin = Some(origin);
        }
        let mut renamed = self.renamed.into_iter().peekable();
        let mut at = 0;
        pairs.retain(|pair| {
            let is_used = renamed.next_if_eq(&at).is_some();
            at += 1;
            !is_used || pair.new.is_some() || pair.unmerged
        });
    }
}
