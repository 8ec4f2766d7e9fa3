//! Lists of paths and patterns, as `-e`, `-ef` and the operands of squashfs-tools give them.

use super::wildcard::Wildcard;
use super::{regex, RuleError, PATTERNS, RULES, RULE_BYTES};
use bstr::ByteSlice;
use std::collections::HashMap;

/// What the components of rules are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Syntax {
    /// Names.
    #[default]
    Literal,
    /// Patterns of fnmatch(3) with the extensions of the shell.
    Wildcards,
    /// Extended regular expressions, which may match any part of a name.
    Regex,
}

/// What a list says about a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fit {
    /// No rule can match it or anything below it.
    Nothing,
    /// A rule may match something below it.
    Above,
    /// A rule matches it.
    Whole,
}

/// Mark of a rule that may begin in any directory.
const ANYWHERE: &[u8] = b"... ";

/// A list of rules. A rule consists of components with slashes between them; it matches a path
/// with as many components. A rule behind `... ` may begin in any directory.
#[derive(Clone, Debug, Default)]
pub struct PathRules {
    syntax: Syntax,
    count: usize,
    /// The rules without a pattern, as a tree.
    names: Names,
    patterns: Vec<Pattern>,
}

/// What may follow a directory.
#[derive(Clone, Debug, Default)]
struct Names {
    is_end: bool,
    inner: HashMap<Vec<u8>, Names>,
}

#[derive(Clone, Debug)]
struct Pattern {
    anywhere: bool,
    components: Vec<Component>,
}

#[derive(Clone, Debug)]
enum Component {
    Wildcard(Wildcard),
    Regex(regex::bytes::Regex),
}

impl PathRules {
    /// An empty list.
    pub fn new(syntax: Syntax) -> Self {
        PathRules {
            syntax,
            ..PathRules::default()
        }
    }

    /// Whether there are no rules.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Adds a rule. With `anywhere`, it may be marked by `... `.
    ///
    /// # Errors
    /// A pattern that cannot be compiled, or a rule over the limits.
    pub fn add(&mut self, rule: &[u8], anywhere: bool) -> Result<(), RuleError> {
        self.count += 1;
        if self.count > RULES || rule.len() > RULE_BYTES || self.patterns.len() == PATTERNS {
            return Err(RuleError::new(format_args!(
                "more than {RULES} rules or {PATTERNS} patterns, or one of more than {RULE_BYTES} bytes"
            )));
        }
        let marked = rule.strip_prefix(ANYWHERE).filter(|_| anywhere);
        let components = marked.unwrap_or(rule).split_str("/");
        let components = components.filter(|name| !name.is_empty() && *name != b".");
        if self.syntax == Syntax::Literal {
            let mut place = &mut self.names;
            for name in components {
                place = place.inner.entry(name.to_vec()).or_default();
            }
            place.is_end = true;
            return Ok(());
        }
        let compile = |part: &[u8]| match self.syntax {
            Syntax::Regex => regex(part).map(Component::Regex),
            _ => Wildcard::new(part).map(Component::Wildcard),
        };
        let components = components.map(compile).collect::<Result<_, _>>()?;
        self.patterns.push(Pattern {
            anywhere: marked.is_some(),
            components,
        });
        Ok(())
    }

    /// Adds the rules of a file, one in each line. Blanks before a rule, empty lines and lines that
    /// begin with `#` are ignored. A backslash in front of a rule is not a part of it: behind it, the
    /// rule may begin with a blank, `#` or a backslash.
    ///
    /// # Errors
    /// Like [`add`](Self::add); the error names the line.
    pub fn add_lines(&mut self, content: &[u8], anywhere: bool) -> Result<(), RuleError> {
        for (number, line) in Self::lines(content) {
            let added = self.add(line, anywhere);
            added.map_err(|error| RuleError::new(format_args!("line {number}: {error}")))?;
        }
        Ok(())
    }

    /// The rules of a file, with the numbers of their lines.
    pub fn lines(content: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
        (1..)
            .zip(content.split_str("\n"))
            .filter_map(|(number, line)| {
                let line = line.strip_suffix(b"\r").unwrap_or(line);
                let line =
                    line.trim_start_with(|letter| letter == '\x0b' || letter.is_ascii_whitespace());
                match line {
                    [] | [b'\\'] | [b'#', ..] => None,
                    [b'\\', rule @ ..] | rule => Some((number, rule)),
                }
            })
    }

    /// What the list says about a path. Nothing is asked about paths below one that matches.
    pub fn fit(&self, path: &[u8]) -> Fit {
        let names: Vec<&[u8]> = path
            .split_str("/")
            .filter(|name| !name.is_empty())
            .collect();
        let patterns = self.patterns.iter().map(|pattern| pattern.fit(&names));
        let best = patterns.max().unwrap_or(Fit::Nothing);
        best.max(self.names.fit(&names))
    }

    /// Whether a path, or a directory that it is in, matches.
    pub fn contains(&self, path: &[u8]) -> bool {
        let ends = path.find_iter("/").chain([path.len()]);
        let mut prefixes = ends.filter_map(|end| path.get(..end));
        prefixes.any(|prefix| self.fit(prefix) == Fit::Whole)
    }
}

impl Names {
    fn fit(&self, names: &[&[u8]]) -> Fit {
        let mut place = self;
        for name in names {
            match place.inner.get(*name) {
                Some(inner) => place = inner,
                None => return Fit::Nothing,
            }
        }
        match (place.is_end, place.inner.is_empty()) {
            (true, _) => Fit::Whole,
            (false, true) => Fit::Nothing,
            (false, false) => Fit::Above,
        }
    }
}

impl Pattern {
    fn fit(&self, names: &[&[u8]]) -> Fit {
        let names = match names.len().checked_sub(self.components.len()) {
            Some(skipped) if self.anywhere => names.get(skipped..).unwrap_or_default(),
            Some(1..) => return Fit::Nothing,
            _ => names,
        };
        let mut pairs = self.components.iter().zip(names);
        match pairs.all(|(component, name)| component.matches(name)) {
            true if names.len() == self.components.len() => Fit::Whole,
            true => Fit::Above,
            false if self.anywhere => Fit::Above,
            false => Fit::Nothing,
        }
    }
}

impl Component {
    fn matches(&self, name: &[u8]) -> bool {
        match self {
            Component::Wildcard(wildcard) => wildcard.matches(name),
            Component::Regex(regex) => regex.is_match(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(syntax: Syntax, rules: &[&str], paths: &str) -> String {
        let mut list = PathRules::new(syntax);
        for rule in rules {
            list.add(rule.as_bytes(), true).unwrap();
        }
        let letters = paths
            .split(' ')
            .map(|path| match list.fit(path.as_bytes()) {
                Fit::Nothing => '-',
                Fit::Above => 'a',
                Fit::Whole => 'W',
            });
        letters.collect()
    }

    #[test]
    fn rules_match_component_by_component() {
        let paths = "f1 sub sub/f2 sub/deep sub/deep/f3";
        for (syntax, rules, expected) in [
            (Syntax::Literal, vec!["f1", "sub/f2"], "WaW--"),
            (Syntax::Literal, vec!["/sub//deep/./f3/"], "-a-aW"),
            (Syntax::Literal, vec!["*"], "-----"),
            (Syntax::Wildcards, vec!["f*"], "W----"),
            (Syntax::Wildcards, vec!["*/f*"], "aaW--"),
            (Syntax::Wildcards, vec!["... f*"], "WaWaW"),
            (Syntax::Wildcards, vec!["... deep/f*"], "aaaaW"),
            (Syntax::Wildcards, vec!["!(f1)"], "-W---"),
            (Syntax::Regex, vec!["1|^s", "x"], "WW---"),
            (Syntax::Regex, vec!["... ^f.$"], "WaWaW"),
        ] {
            assert_eq!(fits(syntax, &rules, paths), expected, "{rules:?}");
        }
        let hidden = ".a b .c/.d .c/e";
        for (rule, expected) in [
            ("*", "-W--"),
            ("?a", "----"),
            ("[.]a", "----"),
            (".*", "W---"),
            (".*/*", "a--W"),
            ("\\.a", "W---"),
            ("... *", "aWaW"),
            ("@(*|c)", "-W--"),
            ("?(x)*", "-W--"),
            ("*(x).a", "W---"),
            ("!(b)", "W---"),
        ] {
            let found = fits(Syntax::Wildcards, &[rule], hidden);
            assert_eq!(found, expected, "{rule}");
        }
        let mut list = PathRules::new(Syntax::Literal);
        list.add(b"a/b", false).unwrap();
        let contained = ["a", "a/b", "a/b/c/d", "a/bb"].map(|path| list.contains(path.as_bytes()));
        assert_eq!(contained, [false, true, true, false]);
        assert_eq!(PathRules::default().fit(b""), Fit::Nothing);
    }

    #[test]
    fn files_of_rules_have_comments_and_limits() {
        let mut list = PathRules::new(Syntax::Literal);
        let lines = "# c\n\n \x0b a\n\\#b\nc \n\\ d\n\\e\n\\\\f\n\\\n\u{a0}g\n";
        list.add_lines(lines.as_bytes(), false).unwrap();
        for path in ["a", "#b", "c ", " d", "e", "\\f", "\u{a0}g"] {
            assert_eq!(list.fit(path.as_bytes()), Fit::Whole, "{path}");
        }
        for path in ["c", "# c", "d", "\\ d", "\\e", "f", "\\", "g"] {
            assert_eq!(list.fit(path.as_bytes()), Fit::Nothing, "{path}");
        }
        let mut list = PathRules::new(Syntax::Regex);
        let error = list.add_lines(b"a\n(\n", false).unwrap_err().to_string();
        assert!(
            error.starts_with("line 2: '(' is no regular expression"),
            "{error}"
        );
        assert!(list.add(&[b'a'; RULE_BYTES + 1], false).is_err());
        assert!(list.add(b"(((a{999}){999}){999})", false).is_err());
    }
}
