//! Looks for the sequence of instructions that takes the fewest bytes.
//!
//! For every place of the block the encoder knows the fewest bytes in which all before it can be
//! told, once for each way to get there: with a match, with 1, 2 or 3 literals after one, or with a
//! run. A match is cheaper after some of these than after others, and the first literals after a
//! match are cheaper than a fourth. From a place, literals and the matches found there lead on to
//! later places; at the end, the cheapest way is followed back.

use super::instructions::{match_bytes, run_grows_by, Writer, AFTER_RUN, PAIR_DISTANCE};
use super::matches::{Finder, Search};

/// No way leads here. Half of the range, so that a few bytes more do not overflow.
const NEVER: u32 = u32::MAX / 2;

#[derive(Debug)]
pub(in crate::block) struct Encoder {
    finder: Finder,
    /// For each place, the cheapest way that ends there in a match.
    steps: Vec<Step>,
    path: Vec<Step>,
}

/// The last step of a way: a match with the literals before it.
#[derive(Clone, Copy, Debug)]
struct Step {
    /// Bytes of the whole way.
    bytes: u32,
    run: u32,
    length: u32,
    distance: u32,
}

/// The fewest bytes to a place where the last `run` bytes are literals.
#[derive(Clone, Copy, Debug)]
struct Way {
    bytes: u32,
    run: u32,
}

/// The ways to one place.
#[derive(Clone, Copy, Debug)]
struct Ways {
    /// With 0 to 3 literals after the last match.
    few: [Way; 4],
    /// With at least four, or any number since the start.
    many: Way,
}

impl Encoder {
    pub(super) fn new(level: u32) -> Self {
        Encoder {
            finder: Finder::new(search(level)),
            steps: Vec::new(),
            path: Vec::new(),
        }
    }

    pub(super) fn compress(&mut self, input: &[u8], output: &mut [u8]) -> Option<usize> {
        let last = self.find_ways(input);
        self.follow_back(input.len(), last);
        let mut writer = Writer::new(output);
        let mut place = 0;
        for step in self.path.iter().rev() {
            let literals = place..place + step.run as usize;
            place = literals.end + step.length as usize;
            writer.literals(&input[literals]);
            writer.copy(step.length as usize, step.distance as usize);
        }
        writer.literals(&input[place..]);
        writer.finish()
    }

    /// Fills `steps`, and returns the literals of the cheapest way to the end.
    fn find_ways(&mut self, input: &[u8]) -> u32 {
        self.finder.reset(input.len());
        self.steps.clear();
        self.steps.resize(input.len() + 1, Step::NONE);
        let mut ways = Ways::start();
        let mut searched_to = 0;
        for place in 0..input.len() {
            ways.few[0].bytes = self.steps[place].bytes;
            if place < searched_to {
                self.finder.insert(input, place);
            } else {
                let length = self.search(input, place, &ways);
                if length >= self.finder.good_enough() {
                    searched_to = place + length;
                }
            }
            ways = ways.after_literal();
        }
        ways.few[0].bytes = self.steps[input.len()].bytes;
        ways.cheapest().run
    }

    /// Leads on from `place` with all matches found there; returns the length of the longest.
    fn search(&mut self, input: &[u8], place: usize, ways: &Ways) -> usize {
        let any = ways.cheapest();
        let few = ways.cheapest_few();
        let steps = &mut self.steps[place..];
        self.finder.search(input, place, |lengths, distance| {
            let (mut first, last) = lengths.into_inner();
            if first == 2 {
                if distance <= PAIR_DISTANCE {
                    steps[2].lower(few, 2, 2, distance);
                }
                first = 3;
            }
            if first == 3 && AFTER_RUN.contains(&distance) && ways.many.run >= 4 {
                steps[3].lower(ways.many, 2, 3, distance);
            }
            while first <= last {
                let (cost, same_to) = match_bytes(first, distance);
                let end = same_to.min(last);
                for (step, length) in steps[first..=end].iter_mut().zip(first..) {
                    step.lower(any, cost, length, distance);
                }
                first = end + 1;
            }
        })
    }

    /// Collects the steps of the way that ends in `run` literals, from the last to the first.
    fn follow_back(&mut self, end: usize, run: u32) {
        self.path.clear();
        let mut place = end - run as usize;
        while place > 0 {
            let step = self.steps[place];
            self.path.push(step);
            place -= (step.run + step.length) as usize;
        }
    }
}

impl Step {
    const NONE: Step = Step {
        bytes: NEVER,
        run: 0,
        length: 0,
        distance: 0,
    };

    /// Takes a match of `cost` bytes after `way` if that leads here with fewer bytes.
    #[inline]
    fn lower(&mut self, way: Way, cost: u32, length: usize, distance: usize) {
        let bytes = way.bytes + cost;
        if bytes < self.bytes {
            *self = Step {
                bytes,
                run: way.run,
                length: length as u32,
                distance: distance as u32,
            };
        }
    }
}

impl Ways {
    fn start() -> Self {
        let never = |run| Way { bytes: NEVER, run };
        Ways {
            few: [never(0), never(1), never(2), never(3)],
            many: Way { bytes: 1, run: 0 },
        }
    }

    fn after_literal(&self) -> Self {
        let [none, one, two, three] = self.few;
        let more = |way: Way, bytes| Way {
            bytes: way.bytes.saturating_add(bytes).min(NEVER),
            run: way.run + 1,
        };
        let begun = more(three, 2);
        let continued = more(self.many, 1 + run_grows_by(self.many.run));
        Ways {
            few: [none, more(none, 1), more(one, 1), more(two, 1)],
            many: if begun.bytes < continued.bytes {
                begun
            } else {
                continued
            },
        }
    }

    fn cheapest(&self) -> Way {
        self.few
            .iter()
            .fold(self.many, |best, way| cheaper(best, *way))
    }

    /// The cheapest of those with one to three literals.
    fn cheapest_few(&self) -> Way {
        let [_, one, two, three] = self.few;
        cheaper(one, cheaper(two, three))
    }
}

fn cheaper(one: Way, other: Way) -> Way {
    if other.bytes < one.bytes {
        other
    } else {
        one
    }
}

/// How hard to look for matches. On kernel source, level 8 writes 0.5 % less than level 8 of the
/// library's `lzo1x_999` in three quarters of its time.
fn search(level: u32) -> Search {
    let (tries, good_enough) = match level {
        0 | 1 => (1, 16),
        2 => (2, 16),
        3 => (4, 16),
        4 => (4, 24),
        5 => (6, 24),
        6 => (8, 32),
        7 => (12, 32),
        8 => (16, 32),
        _ => (64, 128),
    };
    Search { tries, good_enough }
}
