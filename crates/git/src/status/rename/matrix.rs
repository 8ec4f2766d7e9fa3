//! Renames with similar contents: every remaining source against every remaining destination.

use super::candidates::{Candidate, Candidates};
use super::search::Search;
use super::similarity::{basename, sizes_allow};
use super::sizes::{sizes, Partners};
use super::spans::{Spans, Tally, HASHES};
use super::{spread, Contents, Detected, Detection, RenameOptions, Score, Side};
use crate::Result;
use bstr::BString;
use hedgerow_engine::Options;
use std::ops::Range;

/// Memory limits for the spans of the sources, in bytes.
#[derive(Clone, Copy)]
pub(super) struct Budget {
    /// For all sources compared at a time; more sources are compared in several batches.
    pub batch_bytes: u64,
    /// For the sources added in one step, by their largest possible size.
    pub step_bytes: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Budget {
            batch_bytes: 256 << 20,
            step_bytes: 64 << 20,
        }
    }
}

/// Size of a span in memory, in bytes.
const SPAN_BYTES: u64 = 8;

/// Compares all that remain. If these are too many, returns the limit that would be needed.
pub(super) fn find<C: Contents>(
    search: &mut Search<'_>,
    options: &RenameOptions,
    contents: &C,
    engine: &Options,
    budget: Budget,
) -> Result<Detected> {
    let (sources, destinations) = (search.relevant(), search.waiting());
    if sources.is_empty() || destinations.is_empty() {
        return Ok(Detected::default());
    }
    if let Some(limit) = options.limit.map(u128::from) {
        let (a, b) = (sources.len(), destinations.len());
        if a as u128 * b as u128 > limit * limit {
            return Ok(Detected {
                needed_limit: Some(a.max(b) as u64),
                ..Detected::default()
            });
        }
    }
    let from: Vec<&Side> = sources.iter().map(|at| search.sources[*at].side).collect();
    let to: Vec<&Side> = destinations
        .iter()
        .map(|at| search.destinations[*at].side)
        .collect();
    let matrix = Matrix {
        from_sizes: sizes(&from, contents, engine)?,
        to_sizes: sizes(&to, contents, engine)?,
        from_names: from.iter().map(|side| basename(side)).collect(),
        from,
        to,
        minimum: options.minimum,
        contents,
        engine,
        budget,
    };
    let again = matrix.read_again(|to| search.destinations[destinations[to]].compared);
    let mut ranked: Vec<(usize, Candidate)> = Vec::new();
    for (to, candidates) in matrix.candidates()?.iter().enumerate() {
        let good = candidates.iter().filter(|one| one.score >= options.minimum);
        ranked.extend(good.map(|one| (to, one)));
    }
    // The sort is stable: among equal ranks, destinations keep their order.
    ranked.sort_by_key(|(_, candidate)| std::cmp::Reverse(candidate.rank()));
    let mut take = |again: bool| {
        for (to, Candidate { source, score, .. }) in &ranked {
            let (source, destination) = (sources[*source], destinations[*to]);
            if !search.is_found(destination) && (again || !search.is_used(source)) {
                search.record(destination, source, *score);
            }
        }
    };
    // First each source is used once; for copies, used sources are then allowed, too.
    take(false);
    if options.detection == Detection::Copies {
        take(true);
    }
    Ok(Detected {
        needed_limit: None,
        read_again: again,
    })
}

struct Matrix<'s, 'c, C> {
    from: Vec<&'s Side>,
    from_names: Vec<&'s [u8]>,
    from_sizes: Vec<Option<u64>>,
    to: Vec<&'s Side>,
    to_sizes: Vec<Option<u64>>,
    minimum: Score,
    contents: &'c C,
    engine: &'c Options,
    budget: Budget,
}

impl<C: Contents> Matrix<'_, '_, C> {
    /// The destinations that git reads again here. It still holds their contents from the search for
    /// equal ones, but frees a content at the first source, unless the sizes of the two allow a
    /// comparison or it was compared before.
    fn read_again(&self, is_compared: impl Fn(usize) -> bool) -> Vec<BString> {
        let partners = Partners::new(&self.from_sizes, self.minimum);
        let mut paths = Vec::new();
        for (to, size) in self.to_sizes.iter().enumerate() {
            let first = self.from_sizes[0].zip(*size);
            let is_kept = first.is_some_and(|(a, b)| sizes_allow(a, b, self.minimum));
            if !is_kept && !is_compared(to) && partners.has_any(*size) {
                paths.push(self.to[to].path.clone());
            }
        }
        paths
    }

    /// The best sources for each destination.
    fn candidates(&self) -> Result<Vec<Candidates>> {
        let mut best = vec![Candidates::default(); self.to.len()];
        let mut start = 0;
        while start < self.from.len() {
            let batch = self.batch(start)?;
            start = batch.rows.end;
            best = spread::map(
                self.contents,
                self.engine,
                self.to.len(),
                || (Tally::new(), Vec::new()),
                |worker, (tally, common), to| {
                    let mut candidates = best[to].clone();
                    self.compare(worker, tally, common, &batch, to, &mut candidates)?;
                    Ok(candidates)
                },
            )?;
        }
        Ok(best)
    }

    /// Offers all sources of `batch`, in order, to the destination `to`.
    fn compare(
        &self,
        worker: &mut C::Worker,
        tally: &mut Tally,
        common: &mut Vec<u64>,
        batch: &Batch,
        to: usize,
        candidates: &mut Candidates,
    ) -> Result<()> {
        common.clear();
        common.resize(batch.rows.len(), 0);
        let to_size = self.to_sizes[to];
        if batch.sizes.has_any(to_size) {
            tally.count(self.contents, worker, self.to[to])?;
            batch.add_common(tally, common);
        }
        let name = basename(self.to[to]);
        for (source, common) in batch.rows.clone().zip(common) {
            let score = match (self.from_sizes[source], to_size) {
                (Some(a), Some(b)) if sizes_allow(a, b, self.minimum) => {
                    Score::of_share(*common, a.max(b))
                }
                _ => Score::default(),
            };
            candidates.offer(Candidate {
                source,
                score,
                same_name: self.from_names[source] == name,
            });
        }
        Ok(())
    }

    /// The spans of as many sources, from `start` on, as the memory limits allow.
    fn batch(&self, start: usize) -> Result<Batch> {
        let partners = Partners::new(&self.to_sizes, self.minimum);
        let mut spans: Vec<Spans> = Vec::new();
        let (mut end, mut held) = (start, 0);
        while end < self.from.len() && held < self.budget.batch_bytes {
            let first = end;
            let mut at_most = 0;
            while end < self.from.len() && at_most < self.budget.step_bytes {
                let size = self.from_sizes[end].filter(|_| partners.has_any(self.from_sizes[end]));
                at_most += size.unwrap_or(0).min(HASHES as u64) * SPAN_BYTES;
                end += 1;
            }
            let step = spread::map(
                self.contents,
                self.engine,
                end - first,
                Tally::new,
                |worker, tally, at| {
                    if !partners.has_any(self.from_sizes[first + at]) {
                        return Ok(Spans::new());
                    }
                    tally.count(self.contents, worker, self.from[first + at])?;
                    Ok(tally.spans().collect())
                },
            )?;
            held += step.iter().map(|spans| spans.len() as u64).sum::<u64>() * SPAN_BYTES;
            spans.extend(step);
        }
        let sizes = Partners::new(&self.from_sizes[start..end], self.minimum);
        Ok(Batch::new(start..end, sizes, &spans))
    }
}

/// A batch of sources, and an index of their spans by hash.
struct Batch {
    rows: Range<usize>,
    sizes: Partners,
    /// Where the owners of each hash start; one more at the end.
    starts: Vec<usize>,
    /// For each span of a source: the source, counted from the start of the batch, and the span's
    /// bytes there.
    owners: Vec<(u32, u32)>,
}

impl Batch {
    fn new(rows: Range<usize>, sizes: Partners, spans: &[Spans]) -> Self {
        let mut starts = vec![0; HASHES + 1];
        for (hash, _) in spans.iter().flatten() {
            starts[*hash as usize + 1] += 1;
        }
        for hash in 0..HASHES {
            starts[hash + 1] += starts[hash];
        }
        let mut next = starts.clone();
        let mut owners = vec![(0, 0); starts[HASHES]];
        for (owner, spans) in spans.iter().enumerate() {
            for (hash, bytes) in spans {
                let place = &mut next[*hash as usize];
                owners[*place] = (owner as u32, *bytes);
                *place += 1;
            }
        }
        Batch {
            rows,
            sizes,
            starts,
            owners,
        }
    }

    /// Adds to `common`, for each source, the bytes that it shares with the counted content.
    fn add_common(&self, tally: &Tally, common: &mut [u64]) {
        for (hash, bytes) in tally.spans() {
            let owners = self.starts[hash as usize]..self.starts[hash as usize + 1];
            for (owner, theirs) in &self.owners[owners] {
                common[*owner as usize] += u64::from(bytes.min(*theirs));
            }
        }
    }
}
