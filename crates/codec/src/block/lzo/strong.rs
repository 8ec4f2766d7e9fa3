//! Looks for the sequence of instructions that takes the fewest bytes.
//!
//! For every place of the block the encoder knows the fewest bytes in which all before it can be
//! told, once for each way to get there: with a match, with 1, 2 or 3 literals after one, or with a
//! run. A match is cheaper after some of these than after others, and the first literals after a
//! match are cheaper than a fourth. From a place, literals and the matches found there lead on to
//! later places; at the end, the cheapest way is followed back.

use super::instructions::{match_bytes, run_bytes, Writer, AFTER_RUN, PAIR_DISTANCE};
use super::matches::{Finder, Search};

/// No way leads here. Half of the range, so that a few bytes more do not overflow.
const NEVER: u32 = u32::MAX / 2;

#[derive(Debug)]
pub(in crate::block) struct Encoder {
    finder: Finder,
    /// For each place, the fewest bytes of a way that ends there in a match, and its last step.
    bytes: Vec<u32>,
    steps: Vec<Step>,
    path: Vec<Step>,
}

/// A match with the literals before it.
#[derive(Clone, Copy, Debug, Default)]
struct Step {
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
            bytes: Vec::new(),
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

    /// Fills `bytes` and `steps`, and returns the literals of the cheapest way to the end.
    fn find_ways(&mut self, input: &[u8]) -> u32 {
        self.finder.reset(input.len());
        self.bytes.clear();
        self.bytes.resize(input.len() + 1, NEVER);
        self.steps.resize(input.len() + 1, Step::default());
        let mut ways = Ways::start();
        let mut searched_to = 0;
        for place in 0..input.len() {
            ways.few[0].bytes = self.bytes[place];
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
        ways.few[0].bytes = self.bytes[input.len()];
        ways.cheapest().run
    }

    /// Leads on from `place` with all matches found there; returns the length of the longest.
    fn search(&mut self, input: &[u8], place: usize, ways: &Ways) -> usize {
        let any = ways.cheapest();
        let (bytes, steps) = (&mut self.bytes[place..], &mut self.steps[place..]);
        let mut lead = |way: Way, cost: u32, length: usize, distance: usize| {
            let total = way.bytes + cost;
            if total < bytes[length] {
                bytes[length] = total;
                steps[length] = Step {
                    run: way.run,
                    length: length as u32,
                    distance: distance as u32,
                };
            }
        };
        let few = ways.cheapest_few();
        self.finder.search(input, place, |lengths, distance| {
            for length in lengths {
                if length > 2 {
                    lead(any, match_bytes(length, distance), length, distance);
                }
                if length == 2 && distance <= PAIR_DISTANCE {
                    lead(few, 2, length, distance);
                }
                if length == 3 && AFTER_RUN.contains(&distance) && ways.many.run >= 4 {
                    lead(ways.many, 2, length, distance);
                }
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
        let longer = run_bytes(self.many.run as usize + 1) - run_bytes(self.many.run as usize);
        let begun = more(three, 1 + run_bytes(4));
        let continued = more(self.many, 1 + longer);
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

/// How hard to look for matches. Level 8 spends about the time of the library's `lzo1x_999`.
fn search(level: u32) -> Search {
    let (tries, good_enough) = match level {
        0 | 1 => (1, 16),
        2 => (2, 16),
        3 => (3, 32),
        4 => (4, 32),
        5 => (6, 48),
        6 => (8, 64),
        7 => (12, 96),
        8 => (24, 128),
        _ => (256, 1024),
    };
    Search { tries, good_enough }
}
