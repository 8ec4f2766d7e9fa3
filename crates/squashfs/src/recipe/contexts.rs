//! File contexts of SELinux: file_contexts(5).

use super::lines::{for_each_line, is_space, Trim};
use super::RecipeError;
use hedgerow_tree::NodeKind;
use regex::bytes::{Regex, RegexBuilder};
use std::path::Path;

/// Security contexts by path and kind:
///
/// ```text
/// /usr/bin(/.*)?    system_u:object_r:bin_t:s0
/// /dev/tty[0-9]*  -c  system_u:object_r:tty_device_t:s0
/// ```
///
/// An expression must match the whole path. Expressions without special characters come before all
/// others; among the others, the last match wins. libselinux does the same up to version 3.7.
#[derive(Debug, Default)]
pub struct FileContexts {
    /// In the order in which they are tried.
    rules: Vec<Rule>,
}

#[derive(Debug)]
struct Rule {
    /// The literal prefix of all matching paths; comparing it is cheaper than running the
    /// expression.
    start: Box<[u8]>,
    /// `None`: the path must be equal to `start`.
    expression: Option<Regex>,
    kind: Option<NodeKind>,
    /// `None` stands for `<<none>>`.
    context: Option<Box<[u8]>>,
}

/// The context of entries that no line matches, or that match `<<none>>`, as in gensquashfs.
const UNLABELED: &[u8] = b"system_u:object_r:unlabeled_t:s0";

/// Size limit of a compiled expression, in bytes.
const EXPRESSION_BYTES: usize = 1 << 20;

impl FileContexts {
    /// Parses the contexts. `file` is used in messages.
    ///
    /// # Errors
    /// A line that is not an expression, an optional kind, and a context; an unusable expression:
    /// back references and look-around are not supported. The error names file and line.
    pub fn parse(file: &Path, content: &[u8]) -> Result<Self, RecipeError> {
        let (mut exact, mut others) = (Vec::new(), Vec::new());
        for_each_line(file, content, Trim::Both, |_, line| {
            if line.starts_with(b"#") {
                return Ok(());
            }
            let rule = Rule::parse(line)?;
            match rule.expression {
                None => exact.push(rule),
                Some(_) => others.push(rule),
            }
            Ok(())
        })?;
        exact.reverse();
        exact.extend(others.into_iter().rev());
        Ok(FileContexts { rules: exact })
    }

    /// The security context of the entry at `path` in the image.
    pub(super) fn of(&self, path: &[u8], kind: NodeKind) -> &[u8] {
        let path = [b"/", path].concat();
        let rule = self.rules.iter().find(|rule| rule.matches(&path, kind));
        rule.and_then(|rule| rule.context.as_deref())
            .unwrap_or(UNLABELED)
    }
}

impl Rule {
    /// Parses `<expression> [<kind>] <context>`.
    fn parse(line: &[u8]) -> Result<Self, String> {
        let words = line.split(|byte| is_space(*byte));
        let words: Vec<&[u8]> = words.filter(|word| !word.is_empty()).collect();
        let (expression, kind, context) = match words[..] {
            [expression, context] => (expression, None, context),
            [expression, kind, context] => (expression, Some(kind), context),
            _ => {
                return Err(
                    "neither '<expression> <context>' nor '<expression> <kind> <context>'".into(),
                )
            }
        };
        let kind = match kind {
            None => None,
            Some(b"--") => Some(NodeKind::File),
            Some(b"-d") => Some(NodeKind::Directory),
            Some(b"-l") => Some(NodeKind::Symlink),
            Some(b"-p") => Some(NodeKind::Fifo),
            Some(b"-s") => Some(NodeKind::Socket),
            Some(b"-b") => Some(NodeKind::BlockDevice),
            Some(b"-c") => Some(NodeKind::CharacterDevice),
            Some(_) => return Err("a kind is one of --, -b, -c, -d, -l, -p, -s".into()),
        };
        let text = std::str::from_utf8(expression);
        let text = text.map_err(|_| "an expression that is not UTF-8")?;
        let (start, is_exact) = literal_start(text);
        let expression = if is_exact {
            None
        } else {
            let mut builder = RegexBuilder::new(&format!("^(?:{text})$"));
            builder.unicode(false).dot_matches_new_line(true);
            let built = builder.size_limit(EXPRESSION_BYTES).build();
            let reason = |error: regex::Error| match error {
                regex::Error::CompiledTooBig(_) => "an expression that is too large".to_owned(),
                _ => format!("'{text}' is not an expression that can be used here"),
            };
            Some(built.map_err(reason)?)
        };
        Ok(Rule {
            start,
            expression,
            kind,
            context: (context != b"<<none>>").then(|| context.into()),
        })
    }

    fn matches(&self, path: &[u8], kind: NodeKind) -> bool {
        if self.kind.is_some_and(|wanted| wanted != kind) || !path.starts_with(&self.start) {
            return false;
        }
        match &self.expression {
            Some(expression) => expression.is_match(path),
            None => path.len() == self.start.len(),
        }
    }
}

/// The literal prefix of an expression, and whether that is all of the expression.
fn literal_start(expression: &str) -> (Box<[u8]>, bool) {
    let mut start = Vec::new();
    let mut bytes = expression.bytes().peekable();
    while let Some(byte) = bytes.next() {
        let next = match byte {
            // Escaped punctuation, such as `\.`, is literal. Escaped letters and digits are not.
            b'\\' => match bytes.next() {
                Some(escaped) if escaped.is_ascii_punctuation() => escaped,
                _ => return (alternatives(expression, start), false),
            },
            b'.' | b'^' | b'$' | b'?' | b'*' | b'+' | b'|' | b'[' | b'(' | b'{' | b')' => {
                return (alternatives(expression, start), false);
            }
            byte => byte,
        };
        // A character that may be absent or repeated is not part of the prefix.
        if matches!(bytes.peek(), Some(b'?' | b'*' | b'{' | b'+')) {
            return (alternatives(expression, start), false);
        }
        start.push(next);
    }
    (start.into(), true)
}

/// The prefix; empty if the expression has alternatives at its top level.
fn alternatives(expression: &str, start: Vec<u8>) -> Box<[u8]> {
    let mut depth = 0_i64;
    for byte in expression.bytes() {
        depth += i64::from(byte == b'(') - i64::from(byte == b')');
        if byte == b'|' && depth <= 0 {
            return Box::default();
        }
    }
    start.into()
}

#[cfg(test)]
mod tests {
    use super::{literal_start, FileContexts};
    use hedgerow_tree::NodeKind;
    use std::path::Path;

    #[test]
    fn exact_paths_go_first_then_the_last_that_matches() {
        let text =
            b"# none\n/etc/exact x:exact\n/.* x:all\n/etc(/.*)? x:etc\n/etc/.*\\.conf -- x:conf\n\
            /tmp/.* <<none>>\n/dev/tty[0-9]+ -c x:tty\n/ x:root\n";
        let contexts = FileContexts::parse(Path::new("f"), text).unwrap();
        for (path, kind, expected) in [
            ("", NodeKind::Directory, "x:root"),
            ("etc", NodeKind::Directory, "x:etc"),
            ("etc/exact", NodeKind::File, "x:exact"),
            ("etc/a.conf", NodeKind::File, "x:conf"),
            ("etc/a.conf", NodeKind::Directory, "x:etc"),
            ("etc/a.confx", NodeKind::File, "x:etc"),
            ("etcx", NodeKind::File, "x:all"),
            (
                "tmp/a\nb",
                NodeKind::File,
                "system_u:object_r:unlabeled_t:s0",
            ),
            ("dev/tty12", NodeKind::CharacterDevice, "x:tty"),
            ("dev/tty12", NodeKind::File, "x:all"),
        ] {
            assert_eq!(
                contexts.of(path.as_bytes(), kind),
                expected.as_bytes(),
                "{path}"
            );
        }
    }

    #[test]
    fn a_literal_start_is_one_of_every_match() {
        for (expression, start, exact) in [
            ("/a/b", "/a/b", true),
            ("/a\\.b", "/a.b", true),
            ("/ab?", "/a", false),
            ("/a\\.*", "/a", false),
            ("/a(b|c)", "/a", false),
            ("/a|/b", "", false),
            ("/a.*|/b", "", false),
            ("/a{2}", "/", false),
            ("/a\\d", "/a", false),
        ] {
            let (found, is_exact) = literal_start(expression);
            assert_eq!(&*found, start.as_bytes(), "{expression}");
            assert_eq!(is_exact, exact, "{expression}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_named() {
        for (text, said) in [
            ("\n/a\n", "f:2: neither "),
            ("/a -x c\n", "f:1: a kind is "),
            ("/a( c\n", "f:1: '/a(' is not an expression"),
            (
                "/a((b{1000}){1000}){1000} c\n",
                "f:1: an expression that is too large",
            ),
        ] {
            let error = FileContexts::parse(Path::new("f"), text.as_bytes()).unwrap_err();
            assert!(error.to_string().starts_with(said), "{error}");
        }
    }
}
