//! Words that are not UTF-8, in messages that are.

use bstr::ByteSlice;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

/// The message, with the bytes of those of the command line's words that are not UTF-8, as git prints them:
/// in `text`, U+FFFD stands for each. `words` is asked only if there is one.
pub fn with_bytes_of_words(text: &str, words: impl FnOnce() -> Vec<OsString>) -> Vec<u8> {
    let mut message = text.as_bytes().to_vec();
    if !text.contains('\u{FFFD}') {
        return message;
    }
    for word in words() {
        let word = word.as_bytes();
        // A value after an option's name, and the last part of a path, are also named alone.
        let value = word.splitn_str(2, "=").nth(1);
        let last = word.rsplitn_str(2, "/").next();
        for part in [Some(word), value, last].into_iter().flatten() {
            if part.to_str().is_err() {
                message = message.replace(part.to_str_lossy().as_bytes(), part);
            }
        }
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStringExt;

    #[test]
    fn words_come_back_as_they_were() {
        let said = |text: &str, words: &[&[u8]]| {
            let words = words.iter().map(|word| OsString::from_vec(word.to_vec()));
            with_bytes_of_words(text, || words.collect())
        };
        assert_eq!(said("no '\u{FFFD}'", &[b"git", b"\xff"]), b"no '\xff'");
        assert_eq!(said("a 'b\u{FFFD}'", &[b"../b\xff"]), b"a 'b\xff'");
        assert_eq!(said("a 'b\u{FFFD}'", &[b"--x=b\xff"]), b"a 'b\xff'");
        let other = "a file '\u{FFFD}c'";
        assert_eq!(said(other, &[b"\xffd", b"ok"]), other.as_bytes());
        let asked = with_bytes_of_words("plain", || unreachable!("no word is missing"));
        assert_eq!(asked, b"plain");
    }
}
