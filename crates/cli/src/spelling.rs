//! Rewrites git's option spellings that the argument parser does not support: values attached to
//! letters, and options of which every occurrence counts.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

/// Letters of `status` without a value: other letters may follow in the same word.
const PLAIN_LETTERS: &[u8] = b"sbzvq";

/// The words from `status` on. Git accepts values of `-u` and `-M` only if attached, as in `-suno`;
/// such words become options with long names.
pub fn spelled_out(words: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut spelled = Vec::new();
    let mut words = words.into_iter();
    for word in words.by_ref() {
        if word == "--" || word == "--end-of-options" {
            spelled.push("--".into());
            break;
        }
        match letters(word.as_bytes()) {
            Some((plain, long)) => {
                spelled.extend(plain);
                spelled.push(long);
            }
            // An earlier `--column` still counts if another one follows.
            None if is_no_column(word.as_bytes()) => spelled.push("--column=never".into()),
            None => spelled.push(word),
        }
    }
    spelled.extend(words);
    spelled
}

/// Whether the word is `--no-column` or an abbreviation of it.
fn is_no_column(word: &[u8]) -> bool {
    word.starts_with(b"--no-c") && b"--no-column".starts_with(word)
}

/// The leading letters without a value, if any, and the last option by its long name; `None` if the
/// word has no letter whose value may be attached.
fn letters(word: &[u8]) -> Option<(Option<OsString>, OsString)> {
    let letters = word.strip_prefix(b"-")?;
    let is_plain = |letter: &&u8| PLAIN_LETTERS.contains(letter);
    let plain = letters.iter().take_while(is_plain).count();
    let mut long = OsString::from(match letters.get(plain)? {
        b'u' => "--untracked-files",
        b'M' => "--find-renames",
        _ => return None,
    });
    let value = letters.get(plain + 1..).unwrap_or_default();
    if !value.is_empty() {
        // `-M=50` means `-M50`.
        let equals = value.starts_with(b"=") && long == "--find-renames";
        long.push(if equals { "" } else { "=" });
        long.push(OsStr::from_bytes(value));
    }
    let before = word.get(..=plain).filter(|_| plain > 0);
    Some((before.map(|before| OsStr::from_bytes(before).into()), long))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attached_values_are_spelled_out() {
        for (line, expected) in [
            ("status -uno", "status --untracked-files=no"),
            ("status -u no", "status --untracked-files no"),
            ("status -sbuall -z", "status -sb --untracked-files=all -z"),
            (
                "status -M -M50% -M=9",
                "status --find-renames --find-renames=50% --find-renames=9",
            ),
            ("status -sj4 - -- -uno", "status -sj4 - -- -uno"),
            ("status -s --null", "status -s --null"),
            (
                "status --no-col --end-of-options --no-column",
                "status --column=never -- --no-column",
            ),
        ] {
            let words = spelled_out(line.split(' ').map(OsString::from));
            assert_eq!(words.join(OsStr::new(" ")), expected);
        }
    }
}
