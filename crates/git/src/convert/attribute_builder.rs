//! Turns attribute files into the rules that are relevant.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use bstr::{BStr, BString, ByteSlice};
use gix_glob::Pattern;
use hedgerow_walk::pattern_for_folding;

use super::attribute_line::{parse, Line, LineState, Subject};
use super::attribute_rules::{Rule, RuleSet};
use super::attributes::{AttributeId, AttributeSources, Attributes, State, MAX_FILE_BYTES};

/// The macro that git defines without any file.
const BUILTIN: &[u8] = b"[attr]binary -diff -merge -text";

type Assignments<'a> = Vec<(&'a BStr, LineState<'a>)>;

/// The lines of one file: patterns with their assignments.
type File<'a> = Vec<(BString, Assignments<'a>)>;

/// Collects all lines first: a macro may be used before its definition and in other files.
pub(super) struct Builder<'a> {
    info: File<'a>,
    directories: Vec<(&'a BStr, File<'a>)>,
    outer: Vec<File<'a>>,
    macros: HashMap<&'a BStr, Assignments<'a>>,
    ignore_case: bool,
    messages: Vec<String>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(sources: &AttributeSources<'a>) -> Builder<'a> {
        let mut builder = Builder {
            info: File::new(),
            directories: Vec::new(),
            outer: Vec::new(),
            macros: HashMap::new(),
            ignore_case: sources.ignore_case,
            messages: Vec::new(),
        };
        // From the strongest to the weakest source: the first definition of a macro wins.
        let info = without_bom(sources.info);
        builder.info = builder.read("info/attributes", info, true);
        let mut seen = HashSet::new();
        for &(directory, content) in &sources.directories {
            if !is_too_large(content) && !seen.insert(directory) {
                continue;
            }
            let mut name = directory.to_str_lossy().into_owned();
            if !name.is_empty() {
                name.push('/');
            }
            name.push_str(".gitattributes");
            // git ends a file from the index at a NUL byte.
            let text = content.split(|byte| *byte == 0).next().unwrap_or_default();
            let text = if is_too_large(content) { content } else { text };
            let file = builder.read(&name, text, directory.is_empty());
            builder.directories.push((directory, file));
        }
        for (name, content) in [
            ("core.attributesFile", sources.global),
            ("gitattributes of the system", sources.system),
            ("[builtin]", Some(BUILTIN)),
        ] {
            let file = builder.read(name, without_bom(content), true);
            builder.outer.push(file);
        }
        builder
    }

    /// Reads the lines of a file; macros go into the common table.
    fn read(&mut self, name: &str, content: &'a [u8], macros_allowed: bool) -> File<'a> {
        if is_too_large(content) {
            self.messages
                .push(format!("ignoring overly large gitattributes file '{name}'"));
            return File::new();
        }
        let mut file = File::new();
        let mut macros: HashMap<&'a BStr, Assignments<'a>> = HashMap::new();
        for (number, line) in content.split(|byte| *byte == b'\n').enumerate() {
            let number = number + 1;
            match parse(line) {
                Ok(None) => {}
                Ok(Some(Line {
                    subject,
                    assignments,
                })) => match subject {
                    Subject::Pattern(pattern) => file.push((pattern, assignments)),
                    Subject::Macro(_) if !macros_allowed => self
                        .messages
                        .push(format!("macro definition not allowed: {name}:{number}")),
                    Subject::Macro(name) => {
                        macros.insert(name, assignments);
                    }
                },
                Err(reason) => {
                    self.messages
                        .push(format!("ignoring {reason}: {name}:{number}"));
                }
            }
        }
        for (name, assignments) in macros {
            self.macros.entry(name).or_insert(assignments);
        }
        file
    }

    /// The rules of the files for the attributes in `known`.
    pub(super) fn build(self, known: &[&'a [u8]]) -> Attributes {
        let mut namer = Namer::new(known, &self.macros);
        let macros = namer.macros(&self.macros);
        let info = namer.rules(&self.info, self.ignore_case);
        let mut directories = HashMap::new();
        for (directory, file) in &self.directories {
            if let Some(rules) = namer.rules(file, self.ignore_case) {
                directories.insert((*directory).to_owned(), rules);
            }
        }
        let outer = self
            .outer
            .iter()
            .filter_map(|file| namer.rules(file, self.ignore_case))
            .collect();
        Attributes {
            info,
            directories,
            outer,
            known: known.len(),
            macros,
            values: namer.values,
            messages: self.messages,
        }
    }
}

fn is_too_large(content: &[u8]) -> bool {
    content.len() >= MAX_FILE_BYTES
}

/// A byte order mark is content in a blob, but not in a file.
fn without_bom(content: Option<&[u8]>) -> &[u8] {
    let content = content.unwrap_or_default();
    content
        .strip_prefix("\u{feff}".as_bytes())
        .unwrap_or(content)
}

/// Numbers the relevant attributes and their values.
struct Namer<'a> {
    ids: HashMap<&'a BStr, AttributeId>,
    values: Vec<BString>,
    value_ids: HashMap<&'a BStr, u32>,
}

impl<'a> Namer<'a> {
    /// Numbers macros in the order of their names, so that equal files give equal numbers.
    fn new(known: &[&'a [u8]], macros: &HashMap<&'a BStr, Assignments<'a>>) -> Namer<'a> {
        let mut ids: HashMap<&BStr, AttributeId> = HashMap::new();
        let mut names: Vec<&BStr> = relevant_macros(known, macros).into_iter().collect();
        names.sort_unstable();
        for (id, name) in known
            .iter()
            .map(|name| name.as_bstr())
            .chain(names)
            .enumerate()
        {
            ids.insert(name, id as AttributeId);
        }
        Namer {
            ids,
            values: Vec::new(),
            value_ids: HashMap::new(),
        }
    }

    fn macros(
        &mut self,
        macros: &HashMap<&'a BStr, Assignments<'a>>,
    ) -> Vec<Box<[(AttributeId, State)]>> {
        let mut table = vec![Box::default(); self.ids.len()];
        let mut ordered: Vec<_> = macros.iter().collect();
        ordered.sort_unstable_by_key(|(name, _)| **name);
        for (name, assignments) in ordered {
            if let Some(&id) = self.ids.get(*name) {
                table[id as usize] = self.assignments(assignments);
            }
        }
        table
    }

    /// The relevant rules of `file`, if any.
    fn rules(&mut self, file: &File<'a>, ignore_case: bool) -> Option<Arc<RuleSet>> {
        let mut rules = Vec::new();
        for (pattern, assignments) in file {
            let assignments = self.assignments(assignments);
            if assignments.is_empty() {
                continue;
            }
            let folded = if ignore_case {
                pattern_for_folding(pattern)
            } else {
                Some(pattern.clone())
            };
            if let Some(pattern) = folded.and_then(|text| Pattern::from_bytes(&text)) {
                rules.push(Rule {
                    pattern,
                    assignments,
                });
            }
        }
        (!rules.is_empty()).then(|| Arc::new(RuleSet::new(rules, ignore_case)))
    }

    fn assignments(&mut self, assignments: &Assignments<'a>) -> Box<[(AttributeId, State)]> {
        assignments
            .iter()
            .filter_map(|(name, state)| Some((*self.ids.get(*name)?, self.state(*state))))
            .collect()
    }

    fn state(&mut self, state: LineState<'a>) -> State {
        match state {
            LineState::Set => State::Set,
            LineState::Unset => State::Unset,
            LineState::Unspecified => State::Unspecified,
            LineState::Value(value) => {
                State::Value(*self.value_ids.entry(value).or_insert_with(|| {
                    self.values.push(value.to_owned());
                    (self.values.len() - 1) as u32
                }))
            }
        }
    }
}

/// The macros that set a relevant attribute, directly or through other macros.
fn relevant_macros<'a>(
    known: &[&'a [u8]],
    macros: &HashMap<&'a BStr, Assignments<'a>>,
) -> HashSet<&'a BStr> {
    let mut users: HashMap<&BStr, Vec<&'a BStr>> = HashMap::new();
    for (name, assignments) in macros {
        for (used, _) in assignments {
            users.entry(*used).or_default().push(name);
        }
    }
    let mut relevant = HashSet::new();
    let mut pending: Vec<&BStr> = known.iter().map(|name| name.as_bstr()).collect();
    while let Some(name) = pending.pop() {
        for user in users.get(name).into_iter().flatten() {
            let is_known = known.contains(&user.as_bytes());
            if !is_known && relevant.insert(*user) {
                pending.push(user);
            }
        }
    }
    relevant
}
