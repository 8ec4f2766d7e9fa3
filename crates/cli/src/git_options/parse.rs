//! From words as people write them to words as clap expects them.

use super::{GitOption, GitOptions, Negation, Support, Value};
use crate::failure::Failure;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

/// Options that every command of hedgerow has and git does not; `true` if the next word is the
/// value.
const OWN: [(&str, bool); 7] = [
    ("workers", true),
    ("threshold", true),
    ("jobs", true),
    ("color", true),
    ("json", false),
    ("stats", false),
    ("version", false),
];

/// The same of `checkout` alone.
const OWN_OF_CHECKOUT: [(&str, bool); 3] =
    [("shard", true), ("no-index", false), ("finish", false)];

/// Options that git has for every command, unless the command has its own.
const COMMON: [GitOption; 4] = [
    GitOption::switch(Some(b'q'), "quiet"),
    GitOption::switch(None, "progress").or_not(),
    GitOption::switch(Some(b'v'), "verbose"),
    GitOption::switch(Some(b'h'), "help").never_negated(),
];

/// Whether every command that takes git's options takes this one, too.
pub fn is_own(long: &str) -> bool {
    let common = COMMON.iter().any(|option| option.name == long);
    let negated = long.strip_prefix("no-") == Some("progress");
    let mut own = OWN.iter().chain(&OWN_OF_CHECKOUT);
    common || negated || own.any(|(own, _)| *own == long)
}

/// The words from the command on, in the form that clap expects. Clap removes the first `--`; it is
/// doubled for commands that need it.
///
/// # Errors
/// An option that hedgerow does not support, or that git would not take.
pub fn spelled_out(
    options: &GitOptions,
    words: impl IntoIterator<Item = OsString>,
) -> Result<Vec<OsString>, Failure> {
    let mut spelled = Spelled {
        known: options,
        words: Vec::new(),
    };
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        let awaited = match word.as_bytes() {
            b"--" => {
                if options.keeps_separator {
                    spelled.words.push(word.clone());
                }
                spelled.words.push(word);
                break;
            }
            b"--end-of-options" => {
                spelled.words.push("--".into());
                break;
            }
            [b'-', b'-', long @ ..] => spelled.long(&word, long)?,
            [b'-', letters @ ..] if !letters.is_empty() => spelled.letters(letters)?,
            _ => {
                spelled.words.push(word);
                None
            }
        };
        match awaited {
            None => {}
            Some(Awaited::Own) => spelled.words.extend(words.next()),
            Some(Awaited::Value { option, by_letter }) => match words.next() {
                Some(value) => spelled.take(option, false, Some(value.as_bytes()))?,
                None => return Err(no_value(option, by_letter)),
            },
        }
    }
    spelled.words.extend(words);
    Ok(spelled.words)
}

/// What the next word is.
enum Awaited<'a> {
    /// The value of an option of hedgerow's own that has been passed on.
    Own,
    /// The value of this option.
    Value {
        option: &'a GitOption,
        by_letter: bool,
    },
}

struct Spelled<'a> {
    known: &'a GitOptions,
    words: Vec<OsString>,
}

impl<'a> Spelled<'a> {
    /// All options: the command's own ones hide common ones.
    fn all(&self) -> impl Iterator<Item = &'a GitOption> {
        let known = self.known.options;
        let common = COMMON.iter().filter(|common| {
            let same = |option: &GitOption| option.name == common.name;
            !known.iter().any(same)
        });
        known.iter().chain(common)
    }

    /// Handles a word that begins with `--`.
    fn long(&mut self, word: &OsStr, long: &[u8]) -> Result<Option<Awaited<'a>>, Failure> {
        let end = long.iter().position(|byte| *byte == b'=');
        let (name, value) = match end {
            Some(end) => (&long[..end], Some(&long[end + 1..])),
            None => (long, None),
        };
        let name = String::from_utf8_lossy(name);
        let of_command = match self.known.command {
            "checkout" => &OWN_OF_CHECKOUT[..],
            _ => &[],
        };
        let own = OWN.iter().chain(of_command).find(|(own, _)| *own == name);
        if let (Some((_, takes_value)), false) = (own, self.has(&name)) {
            self.words.push(word.to_owned());
            return Ok((*takes_value && value.is_none()).then_some(Awaited::Own));
        }
        let (option, is_negated) = self.find(&name)?;
        let takes = if is_negated {
            Value::None
        } else {
            option.value
        };
        match (takes, value) {
            (Value::None, Some(_)) => Err(Failure::usage(format_args!(
                "option `{}' takes no value",
                &option.shown(is_negated)[2..]
            ))),
            (Value::Required, None) => Ok(Some(Awaited::Value {
                option,
                by_letter: false,
            })),
            (_, value) => {
                self.take(option, is_negated, value)?;
                Ok(None)
            }
        }
    }

    fn has(&self, name: &str) -> bool {
        self.known.options.iter().any(|option| option.name == name)
    }

    /// Handles combined letters; the rest after a letter with a value is that value.
    fn letters(&mut self, letters: &[u8]) -> Result<Option<Awaited<'a>>, Failure> {
        for (at, letter) in letters.iter().enumerate() {
            let rest = letters.get(at + 1..).unwrap_or_default();
            let option = self.all().find(|option| option.letter == Some(*letter));
            let Some(option) = option else {
                match letter {
                    b'j' | b'C' => {
                        let word = [b"-", &letters[at..]].concat();
                        self.words.push(OsStr::from_bytes(&word).to_owned());
                        return Ok(rest.is_empty().then_some(Awaited::Own));
                    }
                    b'V' => {
                        self.words.push("-V".into());
                        continue;
                    }
                    _ => {}
                }
                let letter = char::from(*letter);
                return Err(self.unknown(format_args!("unknown switch `{letter}'")));
            };
            match option.value {
                Value::None => self.take(option, false, None)?,
                Value::Required if rest.is_empty() => {
                    return Ok(Some(Awaited::Value {
                        option,
                        by_letter: true,
                    }));
                }
                Value::Required | Value::Optional => {
                    let value = (!rest.is_empty()).then_some(rest);
                    self.take(option, false, value)?;
                    return Ok(None);
                }
            }
        }
        Ok(None)
    }

    fn take(
        &mut self,
        option: &GitOption,
        is_negated: bool,
        value: Option<&[u8]>,
    ) -> Result<(), Failure> {
        match (is_negated, option.negation, option.support) {
            (true, Negation::Refused(git), _) | (false, _, Support::Refused(git)) => {
                return Err(self.refusal(option, is_negated, git));
            }
            _ => {}
        }
        if let Some(value) = value {
            (option.check)(OsStr::from_bytes(value))?;
        }
        // The last of two contradicting options wins.
        let opposite = option.spelled(!is_negated);
        let taken_back = option.takes_back.iter().map(|name| format!("--{name}"));
        for gone in taken_back.chain([opposite]) {
            self.words.retain(|word| !is_word_of(word, &gone));
        }
        let says_something = if is_negated {
            option.negation == Negation::Speaks
        } else {
            option.support == Support::Supported
        };
        if says_something {
            let mut word = OsString::from(option.spelled(is_negated));
            if let Some(value) = value {
                word.push("=");
                word.push(OsStr::from_bytes(value));
            }
            self.words.push(word);
        }
        Ok(())
    }

    fn refusal(&self, option: &GitOption, is_negated: bool, git: &str) -> Failure {
        let (command, shown) = (self.known.command, option.shown(is_negated));
        let message = format!("'hedgerow {command}' has no option {shown}; nothing was touched");
        // Git has no such option, either.
        let is_json = shown == "--json";
        Failure {
            hint: (!is_json).then(|| format!("use git: git {command} {git}")),
            ..Failure::usage(message)
        }
    }

    /// The option with this name or abbreviation, and whether it is negated.
    fn find(&self, name: &str) -> Result<(&'a GitOption, bool), Failure> {
        let spellings = self.all().filter(|option| !option.name.is_empty());
        let spellings: Vec<_> = spellings
            .flat_map(|option| {
                let negated = option.is_negatable().then_some((option, true));
                [Some((option, false)), negated].into_iter().flatten()
            })
            .collect();
        let name_of =
            |(option, is_negated): &(&GitOption, bool)| option.shown(*is_negated)[2..].to_owned();
        if let Some(exact) = spellings.iter().find(|it| name_of(it) == name) {
            return Ok(*exact);
        }
        let mut fitting = spellings.iter().filter(|it| name_of(it).starts_with(name));
        match (fitting.next(), fitting.next()) {
            (Some(only), None) => Ok(*only),
            (Some(a), Some(b)) => Err(Failure::usage(format_args!(
                "ambiguous option: {name} (could be --{} or --{})",
                name_of(a),
                name_of(b)
            ))),
            (None, _) => Err(self.unknown(format_args!("unknown option `{name}'"))),
        }
    }

    fn unknown(&self, message: std::fmt::Arguments<'_>) -> Failure {
        Failure {
            hint: Some(format!("see 'hedgerow {} --help'", self.known.command)),
            ..Failure::usage(message)
        }
    }
}

/// Whether `word` is the option `spelled`, with or without a value.
fn is_word_of(word: &OsStr, spelled: &str) -> bool {
    let rest = word.as_bytes().strip_prefix(spelled.as_bytes());
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"="))
}

fn no_value(option: &GitOption, by_letter: bool) -> Failure {
    match option.letter.filter(|_| by_letter) {
        Some(letter) => Failure::usage(format_args!(
            "switch `{}' requires a value",
            char::from(letter)
        )),
        None => Failure::usage(format_args!("option `{}' requires a value", option.name)),
    }
}
