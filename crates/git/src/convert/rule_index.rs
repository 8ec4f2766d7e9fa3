//! Finds the rules of a file that may match a path without trying all of them: files that name
//! thousands of single paths are common where large files are tracked.

use std::collections::HashMap;

use bstr::{BStr, BString, ByteSlice};
use gix_glob::pattern::Mode;
use gix_glob::Pattern;

use super::attribute_rules::Rule;

/// Files with fewer rules are scanned from end to start, which is as fast.
const MIN_RULES: usize = 16;

/// Rules by a property that a path needs to match them; each list is in file order.
#[derive(Debug, Default)]
pub(super) struct RuleIndex {
    /// Patterns without wildcards that have a slash: the whole path.
    paths: HashMap<BString, Vec<u32>>,
    /// Patterns without wildcards and slashes: the last component.
    names: HashMap<BString, Vec<u32>>,
    /// Patterns like `*.c`: what follows the last dot of the last component.
    extensions: HashMap<BString, Vec<u32>>,
    /// All others.
    rest: Vec<u32>,
    ignore_case: bool,
}

/// Result of the look-up for a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Candidate {
    /// It matches.
    Match,
    /// Its pattern has to be tried.
    Maybe,
}

impl RuleIndex {
    pub(super) fn new(rules: &[Rule], ignore_case: bool) -> RuleIndex {
        let mut index = RuleIndex {
            ignore_case,
            ..RuleIndex::default()
        };
        for (number, rule) in (0..).zip(rules) {
            let pattern = &rule.pattern;
            let is_for_all = !pattern.mode.contains(Mode::MUST_BE_DIR);
            let is_indexed = is_for_all && rules.len() >= MIN_RULES;
            match index.table(pattern).filter(|_| is_indexed) {
                Some((table, key)) => table.entry(key).or_default().push(number),
                None => index.rest.push(number),
            }
        }
        index
    }

    /// The table that a pattern belongs in, and its key there.
    fn table(&mut self, pattern: &Pattern) -> Option<(&mut HashMap<BString, Vec<u32>>, BString)> {
        let text = pattern.text.as_bstr();
        let any_depth =
            pattern.mode.contains(Mode::NO_SUB_DIR) && !pattern.mode.contains(Mode::ABSOLUTE);
        if pattern.first_wildcard_pos.is_none() {
            let key = folded(text, self.ignore_case);
            let table = if any_depth {
                &mut self.names
            } else {
                &mut self.paths
            };
            return Some((table, key));
        }
        let extension = text.strip_prefix(b"*.").filter(|extension| {
            any_depth && pattern.mode.contains(Mode::ENDS_WITH) && !extension.contains(&b'.')
        })?;
        let key = folded(extension.as_bstr(), self.ignore_case);
        Some((&mut self.extensions, key))
    }

    /// Passes each rule that may match `path` to `found`, the last of the file first, until it
    /// returns false.
    pub(super) fn candidates(&self, path: &BStr, mut found: impl FnMut(u32, Candidate) -> bool) {
        let name_start = path.rfind_byte(b'/').map_or(0, |at| at + 1);
        let name = path[name_start..].as_bstr();
        let extension = name.rfind_byte(b'.').map(|dot| name[dot + 1..].as_bstr());
        let mut lists = [
            self.find(&self.paths, Some(path)),
            self.find(&self.names, Some(name)),
            self.find(&self.extensions, extension),
            &self.rest,
        ];
        let rest = lists.len() - 1;
        while let Some((at, number)) = last_rule(&lists) {
            if let Some((_, before)) = lists[at].split_last() {
                lists[at] = before;
            }
            let candidate = if at == rest {
                Candidate::Maybe
            } else {
                Candidate::Match
            };
            if !found(number, candidate) {
                return;
            }
        }
    }

    fn find<'a>(&self, table: &'a HashMap<BString, Vec<u32>>, key: Option<&BStr>) -> &'a [u32] {
        let Some(key) = key.filter(|_| !table.is_empty()) else {
            return &[];
        };
        let list = if self.ignore_case {
            table.get(&folded(key, true))
        } else {
            table.get(key)
        };
        list.map(Vec::as_slice).unwrap_or_default()
    }
}

/// The list whose last rule is furthest down in the file, and that rule.
fn last_rule(lists: &[&[u32]]) -> Option<(usize, u32)> {
    let ends = lists.iter().enumerate();
    ends.filter_map(|(at, list)| Some((at, *list.last()?)))
        .max_by_key(|(_, number)| *number)
}

fn folded(key: &BStr, ignore_case: bool) -> BString {
    if ignore_case {
        key.to_ascii_lowercase().into()
    } else {
        key.to_owned()
    }
}
