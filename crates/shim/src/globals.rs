//! The options that git takes before a command, such as `-c name=value`. As in git, they become
//! environment variables: so the programs that are started see them, too.

use std::ffi::{OsStr, OsString};
use std::fmt::Display;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// Options without a value, the variable that each sets, and what to.
const FLAGS: [(&str, &str, &str); 9] = [
    ("--glob-pathspecs", "GIT_GLOB_PATHSPECS", "1"),
    ("--icase-pathspecs", "GIT_ICASE_PATHSPECS", "1"),
    ("--literal-pathspecs", "GIT_LITERAL_PATHSPECS", "1"),
    ("--no-advice", "GIT_ADVICE", "0"),
    ("--no-lazy-fetch", "GIT_NO_LAZY_FETCH", "1"),
    ("--no-literal-pathspecs", "GIT_LITERAL_PATHSPECS", "0"),
    ("--no-optional-locks", "GIT_OPTIONAL_LOCKS", "0"),
    ("--no-replace-objects", "GIT_NO_REPLACE_OBJECTS", "1"),
    ("--noglob-pathspecs", "GIT_NOGLOB_PATHSPECS", "1"),
];

/// Options with a value, attached with `=` or as the next word, and the variable that each sets.
const VALUES: [(&str, &str); 4] = [
    ("--attr-source", "GIT_ATTR_SOURCE"),
    ("--git-dir", "GIT_DIR"),
    ("--shallow-file", "GIT_SHALLOW_FILE"),
    ("--work-tree", "GIT_WORK_TREE"),
];

/// Options that change nothing here: no pager is ever started.
const WITHOUT_EFFECT: [&str; 2] = ["-P", "--no-pager"];

const PARAMETERS: &str = "GIT_CONFIG_PARAMETERS";

/// Why the words cannot be obeyed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misuse {
    /// In words.
    pub reason: String,
    /// The words are wrong; if not, what they name is missing.
    pub is_usage: bool,
}

/// Words without git's global options, and the variables that these set.
#[derive(Debug, Default, PartialEq)]
pub struct Taken {
    /// The words that are left, with the program's name first.
    pub words: Vec<OsString>,
    /// The variables to set.
    pub variables: Vec<(&'static str, OsString)>,
}

/// Takes git's options out of the words before the command; `with_value` are the other options there
/// whose value is a separate word, and `variable` looks up an environment variable.
///
/// # Errors
/// An option lacks its value.
pub fn take(
    words: Vec<OsString>,
    with_value: &[&str],
    variable: impl Fn(&str) -> Option<OsString>,
) -> Result<Taken, Misuse> {
    let mut taken = Taken::default();
    let mut parameters = Vec::new();
    let mut words = words.into_iter();
    taken.words.extend(words.next());
    while let Some(word) = words.next() {
        if !word.as_bytes().starts_with(b"-") {
            taken.words.push(word);
            break;
        }
        if with_value.iter().any(|name| word == *name) {
            taken.words.push(word);
            taken.words.extend(words.next());
        } else if word == "-c" {
            let setting = words.next();
            let setting = setting.ok_or_else(|| lacking("-c", "a configuration string"))?;
            parameters.push(parameter(setting.as_bytes(), None));
        } else if let Some((_, setting)) = valued(&word, &["--config-env"], &mut words)? {
            parameters.push(of_environment(setting.as_bytes(), &variable)?);
        } else if let Some((_, name, value)) = FLAGS.iter().find(|(flag, ..)| word == *flag) {
            taken.variables.push((name, value.into()));
        } else if let Some((option, value)) =
            valued(&word, &VALUES.map(|(name, _)| name), &mut words)?
        {
            let (_, name) = VALUES[option];
            taken.variables.push((name, value));
        } else if !WITHOUT_EFFECT.iter().any(|name| word == *name) {
            taken.words.push(word);
        }
    }
    taken.words.extend(words);
    if !parameters.is_empty() {
        let before = variable(PARAMETERS).map(OsString::into_vec);
        let all: Vec<_> = before.into_iter().chain(parameters).collect();
        let joined = OsString::from_vec(all.join(&b' '));
        taken.variables.push((PARAMETERS, joined));
    }
    Ok(taken)
}

/// Which of the `options` the word is, and its value.
fn valued(
    word: &OsStr,
    options: &[&'static str],
    rest: &mut impl Iterator<Item = OsString>,
) -> Result<Option<(usize, OsString)>, Misuse> {
    for (number, option) in options.iter().enumerate() {
        match word.as_bytes().strip_prefix(option.as_bytes()) {
            Some(b"") => {
                let value = rest.next().ok_or_else(|| lacking(option, "a value"))?;
                return Ok(Some((number, value)));
            }
            // As with git, the value of this one is a word of its own.
            Some([b'=', value @ ..]) if *option != "--shallow-file" => {
                return Ok(Some((number, OsStr::from_bytes(value).into())));
            }
            _ => {}
        }
    }
    Ok(None)
}

/// A setting `name=VARIABLE`, whose value is that of the environment variable.
fn of_environment(
    setting: &[u8],
    variable: &impl Fn(&str) -> Option<OsString>,
) -> Result<Vec<u8>, Misuse> {
    let shown = String::from_utf8_lossy(setting);
    let wrong = |what: &str| Misuse {
        reason: format!("{what}: --config-env={shown}"),
        is_usage: false,
    };
    let equals = setting.iter().rposition(|byte| *byte == b'=');
    let Some(equals) = equals else {
        return Err(wrong("no environment variable is named"));
    };
    let (name, source) = (&setting[..equals], &setting[equals + 1..]);
    if source.is_empty() {
        return Err(wrong("no environment variable is named"));
    }
    let value = std::str::from_utf8(source).ok().and_then(variable);
    let value = value.ok_or_else(|| wrong("the environment variable is not set"))?;
    Ok(parameter(name, Some(value.as_bytes())))
}

/// A setting in the form that `GIT_CONFIG_PARAMETERS` has. Without a `value`, it is what follows the
/// first `=`.
fn parameter(setting: &[u8], value: Option<&[u8]>) -> Vec<u8> {
    let (name, value) = match (value, setting.iter().position(|byte| *byte == b'=')) {
        (Some(value), _) => (setting, Some(value)),
        (None, Some(at)) => (&setting[..at], Some(&setting[at + 1..])),
        (None, None) => (setting, None),
    };
    let mut quoted = in_quotes(name);
    quoted.push(b'=');
    quoted.extend(value.map(in_quotes).unwrap_or_default());
    quoted
}

/// The bytes in the shell's single quotes.
fn in_quotes(bytes: &[u8]) -> Vec<u8> {
    let mut quoted = vec![b'\''];
    for byte in bytes {
        match byte {
            b'\'' | b'!' => quoted.extend([b'\'', b'\\', *byte, b'\'']),
            byte => quoted.push(*byte),
        }
    }
    quoted.push(b'\'');
    quoted
}

fn lacking(option: impl Display, what: &str) -> Misuse {
    Misuse {
        reason: format!("{option} expects {what}"),
        is_usage: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(line: &str) -> Result<Taken, Misuse> {
        let words = line.split(' ').map(OsString::from).collect();
        take(words, &["-C", "-j"], |name| match name {
            "SECRET" => Some("se'cret".into()),
            PARAMETERS => Some("'x.y'='z'".into()),
            _ => None,
        })
    }

    #[test]
    fn settings_become_variables() {
        for (line, rest, variables) in [
            ("h status -c x", "h status -c x", vec![]),
            (
                "h -c a.b=c=d -C -c -c a.flag status -s",
                "h -C -c status -s",
                vec![(PARAMETERS, "'x.y'='z' 'a.b'='c=d' 'a.flag'=")],
            ),
            (
                "h --config-env=a.b=SECRET --git-dir x --work-tree=y -P reset",
                "h reset",
                vec![
                    ("GIT_DIR", "x"),
                    ("GIT_WORK_TREE", "y"),
                    (PARAMETERS, "'x.y'='z' 'a.b'='se'\\''cret'"),
                ],
            ),
            (
                "h -j 4 --literal-pathspecs --no-optional-locks -q",
                "h -j 4 -q",
                vec![("GIT_LITERAL_PATHSPECS", "1"), ("GIT_OPTIONAL_LOCKS", "0")],
            ),
        ] {
            let taken = taken(line).unwrap();
            let variables = variables.into_iter();
            let expected = Taken {
                words: rest.split(' ').map(OsString::from).collect(),
                variables: variables
                    .map(|(name, value)| (name, value.into()))
                    .collect(),
            };
            assert_eq!(taken, expected, "{line}");
        }
    }

    #[test]
    fn a_missing_value_is_told() {
        for (line, is_usage) in [
            ("h -c", true),
            ("h --git-dir", true),
            ("h --config-env=a.b", false),
            ("h --config-env=a.b=UNSET x", false),
        ] {
            assert_eq!(taken(line).unwrap_err().is_usage, is_usage, "{line}");
        }
    }
}
