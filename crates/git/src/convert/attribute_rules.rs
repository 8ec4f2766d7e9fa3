//! The rules of one attributes file, and their application to a path.

use bstr::{BStr, ByteSlice};
use gix_glob::pattern::Case;
use gix_glob::wildmatch::Mode;
use gix_glob::Pattern;

use super::attributes::{AttributeId, State, KNOWN};
use super::rule_index::{Candidate, RuleIndex};

/// A pattern, and the attributes of the paths that it matches.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) pattern: Pattern,
    pub(super) assignments: Box<[(AttributeId, State)]>,
}

/// The rules of one file; later ones take precedence.
#[derive(Debug)]
pub(super) struct RuleSet {
    rules: Vec<Rule>,
    index: RuleIndex,
    ignore_case: bool,
}

impl RuleSet {
    pub(super) fn new(rules: Vec<Rule>, ignore_case: bool) -> RuleSet {
        RuleSet {
            index: RuleIndex::new(&rules, ignore_case),
            rules,
            ignore_case,
        }
    }

    /// Applies the rules that match `path`, which is relative to the file's directory.
    pub(super) fn apply(&self, path: &BStr, is_directory: bool, scratch: &mut Scratch<'_>) {
        let basename_start = path.rfind_byte(b'/').map(|at| at + 1);
        let case = if self.ignore_case {
            Case::Fold
        } else {
            Case::Sensitive
        };
        self.index.candidates(path, |number, candidate| {
            let rule = &self.rules[number as usize];
            let matches = candidate == Candidate::Match
                || rule.pattern.matches_repo_relative_path(
                    path,
                    basename_start,
                    Some(is_directory),
                    case,
                    Mode::NO_MATCH_SLASH_LITERAL,
                );
            if matches {
                scratch.assign(&rule.assignments);
            }
            !scratch.is_complete()
        });
    }
}

/// The decisions so far about one path. The first assignment to an attribute wins.
pub(super) struct Scratch<'a> {
    known: [Option<State>; KNOWN.len()],
    /// Number of relevant attributes.
    count: usize,
    open: usize,
    macros: &'a [Box<[(AttributeId, State)]>],
    decided: Decided,
}

/// The set of macros that were assigned to; a single word suffices nearly always.
enum Decided {
    Word(u64),
    Words(Vec<bool>),
}

impl<'a> Scratch<'a> {
    pub(super) fn new(count: usize, macros: &'a [Box<[(AttributeId, State)]>]) -> Scratch<'a> {
        let decided = if macros.len() <= 64 {
            Decided::Word(0)
        } else {
            Decided::Words(vec![false; macros.len()])
        };
        Scratch {
            known: [None; KNOWN.len()],
            count,
            open: count,
            macros,
            decided,
        }
    }

    /// Whether every relevant attribute is decided.
    pub(super) fn is_complete(&self) -> bool {
        self.open == 0
    }

    pub(super) fn into_known(self) -> [State; KNOWN.len()] {
        self.known.map(|state| state.unwrap_or(State::Unspecified))
    }

    /// Applies the assignments of one line; the last one is the strongest.
    fn assign(&mut self, assignments: &[(AttributeId, State)]) {
        for &(id, state) in assignments.iter().rev() {
            if self.decide(id as usize, state) && state == State::Set {
                self.expand(id as usize);
            }
        }
    }

    /// Applies the assignments of a macro. Uses a work list instead of recursion, because a chain
    /// of macros may be as long as the file that defines them.
    fn expand(&mut self, id: usize) {
        let Some(expansion) = self
            .macros
            .get(id)
            .filter(|expansion| !expansion.is_empty())
        else {
            return;
        };
        let mut pending = vec![&**expansion];
        while let Some(list) = pending.pop() {
            let Some((&(id, state), left)) = list.split_last() else {
                continue;
            };
            pending.push(left);
            let id = id as usize;
            if self.decide(id, state) && state == State::Set {
                pending.extend(self.macros.get(id).map(|expansion| &**expansion));
            }
        }
    }

    /// Assigns to an attribute; false if it was assigned before.
    fn decide(&mut self, id: usize, state: State) -> bool {
        if let Some(slot) = self.known[..self.count].get_mut(id) {
            let fresh = slot.is_none();
            if fresh {
                *slot = Some(state);
                self.open -= 1;
            }
            return fresh;
        }
        let number = id - self.count;
        match &mut self.decided {
            Decided::Word(word) => {
                let bit = 1u64.checked_shl(number as u32).unwrap_or(0);
                let fresh = *word & bit == 0;
                *word |= bit;
                fresh
            }
            Decided::Words(flags) => flags
                .get_mut(number)
                .is_some_and(|flag| !std::mem::replace(flag, true)),
        }
    }
}
