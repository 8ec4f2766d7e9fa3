//! Patterns of fnmatch(3) with the extensions of the shell: `*`, `?`, brackets, backslashes, and
//! the groups `?(a|b)`, `*(a|b)`, `+(a|b)`, `@(a|b)` and `!(a|b)`. They match bytes.

use super::RuleError;
use crate::recipe::pattern::bracket;

/// Maximum depth of groups within groups, and of `!` within `!`: each of the latter multiplies the
/// time by the length of the name.
const DEPTH: usize = 16;
const NEGATIONS: usize = 2;

/// A compiled pattern for one component of a path.
#[derive(Clone, Debug)]
pub(super) struct Wildcard(Vec<Element>);

#[derive(Clone, Debug)]
enum Element {
    /// A byte, `?` or a bracket, as the pattern has it.
    One(Vec<u8>),
    Star,
    Group(Times, Vec<Vec<Element>>),
}

/// How often one of a group's alternatives occurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Times {
    AtMostOnce,
    AnyNumber,
    AtLeastOnce,
    Once,
    /// What is here is none of the alternatives.
    Not,
}

/// The positions of a text that were reached, the one behind its end included.
type Reached = Vec<bool>;

impl Wildcard {
    /// Compiles a pattern.
    pub fn new(pattern: &[u8]) -> Result<Self, RuleError> {
        sequence(pattern, 0, 0).map(Wildcard)
    }

    /// Whether the pattern matches all of `text`. A period at its start is only matched by a period,
    /// as with FNM_PERIOD.
    pub fn matches(&self, text: &[u8]) -> bool {
        let mut start = vec![false; text.len() + 1];
        if let Some(first) = start.first_mut() {
            *first = true;
        }
        walk(&self.0, text, start).last() == Some(&true)
    }
}

fn sequence(mut pattern: &[u8], depth: usize, negations: usize) -> Result<Vec<Element>, RuleError> {
    let mut elements = Vec::new();
    while let Some((first, rest)) = pattern.split_first() {
        if let Some((times, group, after)) = group(pattern) {
            let negations = negations + usize::from(times == Times::Not);
            if depth == DEPTH || negations > NEGATIONS {
                return Err(RuleError::new(
                    "a pattern with too many groups in each other",
                ));
            }
            let alternatives = alternatives(group)
                .into_iter()
                .map(|part| sequence(part, depth + 1, negations));
            let alternatives = alternatives.collect::<Result<_, _>>()?;
            elements.push(Element::Group(times, alternatives));
            pattern = after;
            continue;
        }
        let length = match first {
            b'*' => {
                elements.push(Element::Star);
                pattern = rest;
                continue;
            }
            b'[' => bracket(rest, 0).map_or(1, |(_, after)| pattern.len() - after.len()),
            b'\\' => pattern.len().min(2),
            _ => 1,
        };
        let (one, after) = pattern.split_at(length);
        elements.push(Element::One(one.to_vec()));
        pattern = after;
    }
    Ok(elements)
}

/// A group at the start of the pattern: its kind, what is in the parentheses, and the rest.
fn group(pattern: &[u8]) -> Option<(Times, &[u8], &[u8])> {
    let [kind, b'(', inner @ ..] = pattern else {
        return None;
    };
    let times = match kind {
        b'?' => Times::AtMostOnce,
        b'*' => Times::AnyNumber,
        b'+' => Times::AtLeastOnce,
        b'@' => Times::Once,
        b'!' => Times::Not,
        _ => return None,
    };
    let end = ends(inner, b')').next()?;
    let (group, after) = inner.split_at(end);
    Some((times, group, after.get(1..)?))
}

/// What stands between the bars of a group.
fn alternatives(group: &[u8]) -> Vec<&[u8]> {
    let mut parts = Vec::new();
    let mut start = 0;
    for end in ends(group, b'|') {
        parts.extend(group.get(start..end));
        start = end + 1;
    }
    parts.extend(group.get(start..));
    parts
}

/// The positions of the byte `end` where it is neither escaped nor in brackets or inner groups.
fn ends(pattern: &[u8], end: u8) -> impl Iterator<Item = usize> + '_ {
    let (mut at, mut depth) = (0, 0_usize);
    std::iter::from_fn(move || loop {
        let rest = pattern.get(at..)?;
        let (byte, after) = rest.split_first()?;
        let here = at;
        at += match byte {
            b'\\' => 2,
            b'[' => bracket(after, 0).map_or(1, |(_, behind)| rest.len() - behind.len()),
            _ => 1,
        };
        if *byte == end && depth == 0 {
            return Some(here);
        }
        match byte {
            b'?' | b'*' | b'+' | b'@' | b'!' if after.starts_with(b"(") => {
                depth += 1;
                at += 1;
            }
            b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
    })
}

/// The positions reached behind the elements, from the positions `from`.
fn walk(elements: &[Element], text: &[u8], mut from: Reached) -> Reached {
    let is_hidden = text.first() == Some(&b'.');
    for element in elements {
        if !from.contains(&true) {
            break;
        }
        from = match element {
            Element::One(one) => {
                if let (true, b"?" | [b'[', ..], Some(start)) =
                    (is_hidden, one.as_slice(), from.first_mut())
                {
                    *start = false;
                }
                step(text, &from, |byte| fits(one, byte))
            }
            Element::Star => {
                let mut seen = false;
                let reached = from.iter().enumerate().map(|(at, here)| {
                    seen |= *here && !(is_hidden && at == 0);
                    seen || *here
                });
                reached.collect()
            }
            Element::Group(times, alternatives) => repeated(*times, alternatives, text, from),
        };
    }
    from
}

fn step(text: &[u8], from: &Reached, fits: impl Fn(u8) -> bool) -> Reached {
    let moved = from
        .iter()
        .zip(text)
        .map(|(here, byte)| *here && fits(*byte));
    std::iter::once(false).chain(moved).collect()
}

fn fits(one: &[u8], byte: u8) -> bool {
    match one {
        b"?" => true,
        [b'\\', escaped] => *escaped == byte,
        [b'[', inner @ ..] if !inner.is_empty() => {
            bracket(inner, byte).is_some_and(|(is_in, _)| is_in)
        }
        other => other == [byte],
    }
}

fn repeated(times: Times, alternatives: &[Vec<Element>], text: &[u8], from: Reached) -> Reached {
    let once = |from: Reached| {
        let mut reached = vec![false; from.len()];
        for alternative in alternatives {
            join(&mut reached, &walk(alternative, text, from.clone()));
        }
        reached
    };
    match times {
        Times::Once => once(from),
        Times::AtMostOnce => {
            let mut reached = once(from.clone());
            join(&mut reached, &from);
            reached
        }
        Times::AnyNumber => closure(from, once),
        Times::AtLeastOnce => closure(once(from), once),
        Times::Not => {
            let mut reached = vec![false; from.len()];
            for start in (0..from.len()).filter(|start| from.get(*start) == Some(&true)) {
                let mut single = vec![false; from.len()];
                single
                    .iter_mut()
                    .skip(start)
                    .take(1)
                    .for_each(|here| *here = true);
                let taken = once(single);
                let others = taken.iter().map(|is_taken| !is_taken);
                let free: Vec<bool> = others
                    .enumerate()
                    .map(|(at, it)| it && at >= start)
                    .collect();
                join(&mut reached, &free);
            }
            reached
        }
    }
}

/// The positions that any number of steps reach.
fn closure(mut reached: Reached, step: impl Fn(Reached) -> Reached) -> Reached {
    let mut new = reached.clone();
    while new.contains(&true) {
        new = step(new);
        new.iter_mut()
            .zip(&reached)
            .for_each(|(new, old)| *new &= !old);
        join(&mut reached, &new);
    }
    reached
}

fn join(reached: &mut Reached, other: &[bool]) {
    reached
        .iter_mut()
        .zip(other)
        .for_each(|(here, there)| *here |= there);
}

#[cfg(test)]
mod tests {
    use super::Wildcard;
    use hedgerow_testkit::require;

    const PATTERNS: [&str; 30] = [
        "f*",
        "*",
        "?",
        "a?c",
        "[a-c]*",
        "[!a]*",
        "!(abc)",
        "!(a*)",
        "!(a*)c",
        "@(abc|b)",
        "+(ab|c)",
        "*(a|bc)",
        "?(a)bc",
        "a@(b|c)?(c)",
        "!(!(a*))",
        "*.@(c|h)",
        "@(a|@(b|c))*",
        "\\*",
        "[[:digit:]]",
        "[a",
        "@(a",
        "a|b",
        "(a)",
        "+(a|+(b))",
        "!(*.c|*.h)",
        "@()abc",
        "[|]@([|]|a)",
        "a\\@(b)",
        "x+(y)z",
        "*(*)",
    ];
    const NAMES: [&str; 22] = [
        "", "a", "b", "c", "abc", "ab", "bc", "abcc", "aab", "*", "7", "[a", "@(a", "a|b", "(a)",
        "m.c", "m.h", "m.o", "||", "a@(b)", "xyyz", "abcabc",
    ];

    #[test]
    fn the_shell_says_what_patterns_match() {
        if !require("bash") {
            return;
        }
        let script = "shopt -s extglob; for p in \"${@:2:$1}\"; do for n in \"${@:$1+2}\"; do \
                      [[ $n == $p ]] && echo 1 || echo 0; done; done";
        let count = PATTERNS.len().to_string();
        let output = std::process::Command::new("bash")
            .args(["-c", script, "bash", &count])
            .args(PATTERNS)
            .args(NAMES)
            .env("LC_ALL", "C")
            .output()
            .unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        let mut said = said.lines();
        for pattern in PATTERNS {
            let wildcard = Wildcard::new(pattern.as_bytes()).unwrap();
            for name in NAMES {
                let expected = said.next() == Some("1");
                assert_eq!(
                    wildcard.matches(name.as_bytes()),
                    expected,
                    "{pattern} {name}"
                );
            }
        }
    }

    #[test]
    fn hostile_patterns_take_no_time() {
        let stars = "+(a|*(a|+(a)))".repeat(40) + "b";
        assert!(!Wildcard::new(stars.as_bytes())
            .unwrap()
            .matches(&[b'a'; 255]));
        let negations = "!(!(a))!(b)".repeat(4);
        assert!(Wildcard::new(negations.as_bytes())
            .unwrap()
            .matches(&[b'a'; 255]));
        assert!(Wildcard::new("!(".repeat(3).as_bytes()).is_ok());
        let nested = "!(".repeat(3) + &")".repeat(3);
        assert!(Wildcard::new(nested.as_bytes()).is_err());
        let deep = "@(".repeat(99) + &")".repeat(99);
        assert!(Wildcard::new(deep.as_bytes()).is_err());
    }
}
