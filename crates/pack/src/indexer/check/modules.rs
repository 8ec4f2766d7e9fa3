use super::report::Reports;
use super::severity::Rule;

/// Checks a `.gitmodules` file.
pub(super) fn check(content: Option<&[u8]>, reports: &mut Reports<'_>) {
    let Some(content) = content else {
        reports.add(Rule::GitmodulesLarge, ".gitmodules too large to parse");
        return;
    };
    let mut parser = Parser { rest: content };
    let mut name: Option<Vec<u8>> = None;
    loop {
        match parser.next() {
            None => return,
            Some(Err(())) => {
                reports.add(Rule::GitmodulesParse, "could not parse gitmodules blob");
                return;
            }
            Some(Ok(Line::Section(section))) => name = section,
            Some(Ok(Line::Value(key, value))) => {
                if let Some(name) = &name {
                    check_value(name, &key, value.as_deref(), reports);
                }
            }
        }
    }
}

fn check_value(name: &[u8], key: &[u8], value: Option<&[u8]>, reports: &mut Reports<'_>) {
    let shown = |text: &[u8]| String::from_utf8_lossy(text).into_owned();
    if is_bad_name(name) {
        let words = format!("disallowed submodule name: {}", shown(name));
        reports.add(Rule::GitmodulesName, &words);
    }
    let Some(value) = value else {
        return;
    };
    match key {
        b"url" if is_bad_url(value) => {
            let words = format!("disallowed submodule url: {}", shown(value));
            reports.add(Rule::GitmodulesUrl, &words);
        }
        b"path" if value.starts_with(b"-") => {
            let words = format!("disallowed submodule path: {}", shown(value));
            reports.add(Rule::GitmodulesPath, &words);
        }
        b"update" if value.starts_with(b"!") => {
            let words = format!("disallowed submodule update setting: {}", shown(value));
            reports.add(Rule::GitmodulesUpdate, &words);
        }
        _ => {}
    }
}

/// Whether a submodule name is bad: it is a path below `.git/modules` and must not lead out of it.
fn is_bad_name(name: &[u8]) -> bool {
    name.is_empty()
        || name
            .split(|byte| matches!(byte, b'/' | b'\\'))
            .any(|part| part == b"..")
}

/// Whether a URL is bad: it could be taken for an option, inject a line into the credential
/// protocol, or use `..` to reach a part that is read as the start of an address.
fn is_bad_url(url: &[u8]) -> bool {
    if url.starts_with(b"-") {
        return true;
    }
    let is_relative = url.starts_with(b"./") || url.starts_with(b"../");
    if is_relative || url.starts_with(b"git://") {
        if decoded(url).contains(&b'\n') {
            return true;
        }
        let mut rest = url;
        let mut climbs = false;
        loop {
            if let Some(after) = rest.strip_prefix(b"../") {
                (rest, climbs) = (after, true);
            } else if let Some(after) = rest.strip_prefix(b"./") {
                rest = after;
            } else {
                break;
            }
        }
        return climbs && matches!(rest.first(), Some(b':' | b'/'));
    }
    let helpers = [b"http::".as_slice(), b"https::", b"ftp::", b"ftps::"];
    let address = helpers
        .iter()
        .find_map(|start| url.strip_prefix(*start))
        .unwrap_or(url);
    let schemes = [b"http://".as_slice(), b"https://", b"ftp://", b"ftps://"];
    match schemes
        .iter()
        .find_map(|start| address.strip_prefix(*start))
    {
        Some(rest) => {
            let has_host = !matches!(rest.first(), None | Some(b'/' | b':' | b'?' | b'#'));
            !has_host || decoded(rest).contains(&b'\n')
        }
        None => address.len() != url.len(),
    }
}

/// Replaces `%XX` by the byte it stands for.
fn decoded(url: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(url.len());
    let mut rest = url;
    while let Some((first, after)) = rest.split_first() {
        let digits = after
            .get(..2)
            .and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match (first, byte) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    bytes
}

enum Line {
    /// A section; for a submodule, with its subsection.
    Section(Option<Vec<u8>>),
    /// A key in lower case, and its value.
    Value(Vec<u8>, Option<Vec<u8>>),
}

/// Parses the syntax of git-config(1).
struct Parser<'c> {
    rest: &'c [u8],
}

impl Parser<'_> {
    fn next(&mut self) -> Option<Result<Line, ()>> {
        loop {
            match self.rest.first()? {
                b' ' | b'\t' | b'\n' | b'\r' => drop(self.byte()),
                b'#' | b';' => while !matches!(self.byte(), None | Some(b'\n')) {},
                b'[' => return Some(self.section().ok_or(())),
                first if first.is_ascii_alphabetic() => return Some(self.value().ok_or(())),
                _ => return Some(Err(())),
            }
        }
    }

    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    fn section(&mut self) -> Option<Line> {
        self.byte()?;
        let mut name = Vec::new();
        loop {
            match self.byte()? {
                // The old form, `[submodule.name]`, with the name in lower case.
                b']' => {
                    let old = name.strip_prefix(b"submodule.").map(<[u8]>::to_vec);
                    return Some(Line::Section(old));
                }
                b' ' | b'\t' => break,
                byte if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.') => {
                    name.push(byte.to_ascii_lowercase());
                }
                _ => return None,
            }
        }
        while matches!(self.rest.first(), Some(b' ' | b'\t')) {
            self.byte()?;
        }
        let mut subsection = Vec::new();
        if self.byte()? != b'"' {
            return None;
        }
        loop {
            match self.byte()? {
                b'"' => break,
                b'\n' => return None,
                b'\\' => subsection.push(self.byte().filter(|byte| *byte != b'\n')?),
                byte => subsection.push(byte),
            }
        }
        let is_submodule = name == b"submodule";
        (self.byte()? == b']').then_some(Line::Section(is_submodule.then_some(subsection)))
    }

    fn value(&mut self) -> Option<Line> {
        let mut key = Vec::new();
        while let Some(byte) = self.rest.first().copied() {
            if !byte.is_ascii_alphanumeric() && byte != b'-' {
                break;
            }
            key.push(byte.to_ascii_lowercase());
            self.byte()?;
        }
        while matches!(self.rest.first(), Some(b' ' | b'\t' | b'\r')) {
            self.byte()?;
        }
        match self.byte() {
            None | Some(b'\n') => Some(Line::Value(key, None)),
            Some(b'=') => Some(Line::Value(key, Some(self.text()?))),
            _ => None,
        }
    }

    /// The value up to the end of the line.
    fn text(&mut self) -> Option<Vec<u8>> {
        let mut text = Vec::new();
        // Trailing blanks are dropped.
        let (mut is_quoted, mut kept) = (false, 0);
        loop {
            match self.byte() {
                None | Some(b'\n') => {
                    text.truncate(kept);
                    return (!is_quoted).then_some(text);
                }
                Some(b'#' | b';') if !is_quoted => {
                    while !matches!(self.byte(), None | Some(b'\n')) {}
                    text.truncate(kept);
                    return Some(text);
                }
                Some(b'"') => is_quoted = !is_quoted,
                Some(b'\\') => {
                    match self.byte()? {
                        b'\n' => continue,
                        b't' => text.push(b'\t'),
                        b'b' => text.push(8),
                        b'n' => text.push(b'\n'),
                        byte @ (b'\\' | b'"') => text.push(byte),
                        _ => return None,
                    }
                    kept = text.len();
                }
                Some(byte @ (b' ' | b'\t' | b'\r')) if !is_quoted => {
                    if !text.is_empty() {
                        text.push(byte);
                    }
                }
                Some(byte) => {
                    text.push(byte);
                    kept = text.len();
                }
            }
        }
    }
}
