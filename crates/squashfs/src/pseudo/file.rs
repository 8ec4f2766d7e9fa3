//! Reads files of definitions, with the data behind them.

use super::data::DataFile;
use super::definition::Definition;
use super::{
    DefinitionError, PseudoFileError, PseudoFiles, DATA_MARK, DEFINITION_BYTES, TEXT_BYTES,
};
use bstr::ByteSlice;
use hedgerow_fs::{ReadFile, SpoolFile};
use std::path::Path;
use std::sync::Arc;

/// How much is read at a time, in bytes.
const PIECE_BYTES: usize = 64 << 10;

impl PseudoFiles {
    /// Adds the definitions of `file`: one in each line; lines that begin with `#` are comments, and
    /// a backslash at the end of a line continues it. Data is read later; that of a pipe is stored
    /// in a file without a name in `spool_directory` meanwhile.
    ///
    /// # Errors
    /// See [`PseudoFileError`].
    pub fn read(&mut self, file: ReadFile, spool_directory: &Path) -> Result<(), PseudoFileError> {
        let name = file.path().to_owned();
        let (text, data) = split(file, spool_directory)?;
        let number = self.data.len();
        let at = |line| {
            let file = name.clone();
            move |error| PseudoFileError::Line { file, line, error }
        };
        for (line, definition) in definitions(&text) {
            if definition.len() > DEFINITION_BYTES {
                let error = format!("a definition of more than {DEFINITION_BYTES} bytes");
                return Err(at(line)(DefinitionError::new("", error)));
            }
            let parsed = Definition::parse(definition, data.is_some().then_some(number));
            let parsed = parsed.map_err(at(line))?;
            if let Some(data) = &data {
                data.check(&parsed)
                    .map_err(|reason| at(line)(DefinitionError::new(definition, reason)))?;
            }
            self.push(parsed).map_err(at(line))?;
        }
        self.data.extend(data);
        Ok(())
    }
}

/// The text of the definitions, and the data if there is any.
fn split(file: ReadFile, spool: &Path) -> Result<(Vec<u8>, Option<DataFile>), PseudoFileError> {
    let mut text = Vec::new();
    let mut piece = vec![0; PIECE_BYTES];
    let start = file.position().ok();
    loop {
        let count = file.read(&mut piece)?;
        let from = text.len().saturating_sub(DATA_MARK.len() + 8);
        text.extend_from_slice(piece.get(..count).unwrap_or_default());
        if let Some(end) = mark_end(&text, from) {
            let rest = text.split_off(end);
            let data = match start {
                Some(start) => DataFile::new(Arc::new(file), start + end as u64)?,
                None => spooled(&file, &rest, &mut piece, spool)?,
            };
            return Ok((text, Some(data)));
        }
        if count == 0 {
            return Ok((text, None));
        }
        if text.len() as u64 > TEXT_BYTES {
            let error = DefinitionError::new("", format_args!("more than {TEXT_BYTES} bytes"));
            let (file, line) = (file.path().to_owned(), 1);
            return Err(PseudoFileError::Line { file, line, error });
        }
    }
}

/// Where the data begins, if the mark before it is in `text`, not before `from`.
fn mark_end(text: &[u8], from: usize) -> Option<usize> {
    let mark = [b"\n#\n", DATA_MARK, b"\n#\n"].concat();
    let found = text
        .get(from..)?
        .find(&mark)
        .map(|at| from + at + mark.len());
    let first = text.starts_with(mark.get(1..)?).then(|| mark.len() - 1);
    first.or(found)
}

fn spooled(
    file: &ReadFile,
    first: &[u8],
    piece: &mut [u8],
    directory: &Path,
) -> Result<DataFile, hedgerow_fs::Error> {
    let mut spool = SpoolFile::create(directory)?;
    spool.append(first)?;
    loop {
        let count = file.read(piece)?;
        if count == 0 {
            return DataFile::new(Arc::new(spool.into_read_file()), 0);
        }
        spool.append(piece.get(..count).unwrap_or_default())?;
    }
}

/// The definitions with the numbers of their lines.
fn definitions(text: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    let (mut at, mut line) = (0, 1);
    std::iter::from_fn(move || loop {
        let rest = text.get(at..).filter(|rest| !rest.is_empty())?;
        let is_comment = rest
            .trim_start_with(|it| it == ' ' || it == '\t')
            .starts_with(b"#");
        let mut ends = rest.find_iter(b"\n");
        let is_end = |end: &usize| is_comment || !continues(rest.get(..*end).unwrap_or_default());
        let end = ends.find(is_end).unwrap_or(rest.len());
        let definition = rest.get(..end).unwrap_or_default();
        let first = line;
        at += end + 1;
        line += 1 + definition.find_iter(b"\n").count() as u64;
        if !is_comment && !definition.trim().is_empty() {
            return Some((first, definition));
        }
    })
}

/// Whether a line ends with a backslash that is not escaped itself.
fn continues(line: &[u8]) -> bool {
    line.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "tests look at files")]

    use super::*;

    #[test]
    fn definitions_are_lines() {
        let text = b"# c\n\na d 1 0 0\n  # c\\\nb\\\nb d \\\n 1 0 0\nc\\\\\nd";
        let found: Vec<(u64, &[u8])> = definitions(text).collect();
        let expected: [(u64, &[u8]); 4] = [
            (3, b"a d 1 0 0"),
            (5, b"b\\\nb d \\\n 1 0 0"),
            (8, b"c\\\\"),
            (9, b"d"),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn data_begins_behind_its_mark() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("file");
        let text = "a R 1 644 0 0 3 2 0\n".repeat(5000);
        std::fs::write(
            &path,
            format!("{text}#\n# START OF DATA - DO NOT MODIFY\n#\n12345"),
        )
        .unwrap();
        let (found, data) = split(ReadFile::open(&path).unwrap(), home.path()).unwrap();
        assert!(found.starts_with(text.as_bytes()) && !found.ends_with(b"12345"));
        let parse = |text: &[u8]| Definition::parse(text, Some(0)).unwrap();
        assert!(data
            .as_ref()
            .unwrap()
            .check(&parse(b"a R 1 644 0 0 3 2 0"))
            .is_ok());
        assert!(data.unwrap().check(&parse(b"a R 1 644 0 0 3 3 0")).is_err());
        let mut files = PseudoFiles::default();
        std::fs::write(&path, "a d 755 0 0\n\nb d 755\n").unwrap();
        let error = files
            .read(ReadFile::open(&path).unwrap(), home.path())
            .unwrap_err();
        assert!(
            error
                .to_string()
                .contains("file:3: 'b d 755': an owner is missing"),
            "{error}"
        );
    }
}
