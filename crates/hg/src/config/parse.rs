//! The syntax of a configuration file: sections in brackets, `name = value`, lines that start with
//! a space continue the value above, `%include` and `%unset`.

use super::Config;
use bstr::{BStr, BString, ByteSlice};

/// Handler of an `%include` line.
pub(super) type Include<'i> = dyn FnMut(&mut Config, &BStr) -> Result<(), Stop> + 'i;

/// Why parsing a file stopped.
#[derive(Debug)]
pub(super) enum Stop {
    /// The line number, from 1, and the reason.
    Line(usize, String),
    /// An error in an included file.
    Included(crate::Error),
}

/// Adds the settings of a file. `include` is called with the path of each `%include` as written.
pub(super) fn parse(
    content: &[u8],
    config: &mut Config,
    include: &mut Include<'_>,
) -> Result<(), Stop> {
    let content = content.strip_prefix(b"\xef\xbb\xbf").unwrap_or(content);
    let mut section = BString::default();
    let mut open: Option<BString> = None;
    for (index, line) in content.lines().enumerate() {
        let is_indented = matches!(line.first(), Some(b' ' | b'\t' | 0x0b | 0x0c));
        let text = line.trim_with(is_space).as_bstr();
        // An indented line continues the value above; a comment in between does not end it.
        if let Some(name) = &open {
            if is_comment(line) {
                continue;
            }
            if is_indented && !text.is_empty() {
                let name = name.as_bstr();
                let before = value_of(config, section.as_bstr(), name);
                let value = [before.as_slice(), b"\n", text].concat();
                config.set(section.as_bstr(), name, value.into());
                continue;
            }
            open = None;
        }
        if let Some(path) = directive(line, b"%include") {
            include(config, path)?;
        } else if text.is_empty() || is_comment(line) {
            continue;
        } else if let Some(name) = section_name(line) {
            section = name.into();
        } else if let Some((name, value)) = item(line) {
            config.set(section.as_bstr(), name, value.to_owned());
            open = Some(name.to_owned());
        } else if let Some(words) = directive(line, b"%unset") {
            let name = words.fields_with(is_space).next().unwrap_or_default();
            config.unset(section.as_bstr(), name.as_bstr());
        } else {
            let reason = if is_indented {
                format!("unexpected leading whitespace: {text}")
            } else {
                text.to_string()
            };
            return Err(Stop::Line(index + 1, reason));
        }
    }
    Ok(())
}

fn value_of(config: &Config, section: &BStr, name: &BStr) -> BString {
    let is_it = |item: &&super::Item| item.section == section && item.name == name;
    let found = config.items.iter().find(is_it);
    found.map(|item| item.value.clone()).unwrap_or_default()
}

fn is_comment(line: &[u8]) -> bool {
    matches!(line.first(), Some(b';' | b'#'))
}

fn section_name(line: &[u8]) -> Option<&BStr> {
    let inside = line.strip_prefix(b"[")?;
    let end = inside.find_byte(b']').filter(|end| *end > 0)?;
    let name = inside.get(..end)?;
    (!name.contains(&b'[')).then_some(name.as_bstr())
}

fn item(line: &[u8]) -> Option<(&BStr, &BStr)> {
    let is_name = !is_space(char::from(*line.first()?));
    let (name, value) = line.split_once_str(b"=")?;
    let name = name.trim_end_with(is_space);
    let value = value.trim_with(is_space);
    (is_name && !name.is_empty()).then_some((name.as_bstr(), value.as_bstr()))
}

fn directive<'line>(line: &'line [u8], word: &[u8]) -> Option<&'line BStr> {
    let rest = line.strip_prefix(word)?;
    let argument = rest.trim_with(is_space);
    let has_space = rest.first().is_some_and(|byte| is_space(char::from(*byte)));
    (has_space && !argument.is_empty()).then_some(argument.as_bstr())
}

fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\r' | '\x0b' | '\x0c')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Vec<String>, Stop> {
        let mut config = Config::default();
        parse(text.as_bytes(), &mut config, &mut |config, path| {
            let (section, name) = (b"included".as_bstr(), b"path".as_bstr());
            config.set(section, name, path.to_owned());
            Ok(())
        })?;
        let shown =
            |item: &super::super::Item| format!("{}.{}={}", item.section, item.name, item.value);
        Ok(config.items.iter().map(shown).collect())
    }

    #[test]
    fn sections_items_and_what_goes_on() {
        let text = "top = 1\n[ui]\n# c\n; d\nignore = a\n  b\n# between\n\tc \n\nx=\n\
                    [s]\ny  =  z = q  \n[ui]\nx = 2\n%unset ignore\n%include  other file \n";
        let expected = ["top=1", "ui.x=2", "s.y=z = q", "included.path=other file"];
        let expected = expected.map(|text| match text {
            "top=1" => ".top=1".to_owned(),
            text => text.to_owned(),
        });
        assert_eq!(parsed(text).unwrap(), expected);
        let text = "\u{feff}[ui]\nignore = a\n  b\n# between\n\tc \n";
        assert_eq!(parsed(text).unwrap(), ["ui.ignore=a\nb\nc"]);
    }

    #[test]
    fn what_is_nothing_of_that_names_its_line() {
        for (text, line, reason) in [
            ("[ui]\nnonsense\n", 2, "nonsense"),
            ("  x = 1\n", 1, "unexpected leading whitespace: x = 1"),
            ("[]\n", 1, "[]"),
        ] {
            match parsed(text) {
                Err(Stop::Line(at, why)) => assert_eq!((at, why.as_str()), (line, reason)),
                other => panic!("{text:?}: {other:?}"),
            }
        }
    }
}
