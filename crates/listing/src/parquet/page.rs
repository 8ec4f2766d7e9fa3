//! The pages of a column.

use super::encoding::{append_deltas, append_run, append_strings};
use super::metadata::{codec, encodings, numbers};
use super::thrift::Fields;
use crate::columns::{bytes, text, Content};
use crate::row::{number_of_kind, Batch, KINDS};
use crate::Result;
use hedgerow_codec::block::BlockCompressor;
use std::ops::Range;

/// Rows of a page. A reader of several files holds one page of each column of each.
pub(super) const PAGE_ROWS: usize = 8192;
/// Bits of the number of a kind.
pub(super) const KIND_BITS: u32 = 3;

/// Types of pages.
pub(super) const DICTIONARY_PAGE: i32 = 2;
pub(super) const DATA_PAGE: i32 = 3;

/// Writes a column of a row group.
#[derive(Debug)]
pub(super) struct ColumnWriter {
    content: Content,
    written: WrittenColumn,
    least: Option<i128>,
    greatest: Option<i128>,
    texts: Option<Texts>,
}

/// The texts of a column, as other programs see them: in the order of their bytes.
#[derive(Debug)]
struct Texts {
    least: Vec<u8>,
    greatest: Vec<u8>,
    /// The last one, to see whether all ascend.
    last: Vec<u8>,
    are_sorted: bool,
}

/// What the footer has about a column of a row group.
#[derive(Clone, Debug, Default)]
pub(super) struct WrittenColumn {
    pub stored_bytes: usize,
    /// Also with the headers of the pages.
    pub uncompressed_bytes: usize,
    /// Size of the dictionary page, which comes first.
    pub dictionary_bytes: usize,
    /// Rows without a value.
    pub missing: usize,
    pub bounds: Option<Bounds>,
    /// Whether the values ascend in the order that readers know.
    pub is_sorted: bool,
}

/// The least and the greatest value, as they would be stored, or something below and above them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bounds {
    pub least: Vec<u8>,
    pub greatest: Vec<u8>,
    pub least_is_exact: bool,
    pub greatest_is_exact: bool,
}

/// The most bytes of a bound, so that the footer stays small.
const BOUND_BYTES: usize = 64;

impl Bounds {
    /// Those of texts in UTF-8; `None` if nothing short is above the greatest.
    fn of_texts(least: &[u8], greatest: &[u8]) -> Option<Self> {
        let shortest = cut(least);
        let mut above = cut(greatest).to_vec();
        let greatest_is_exact = above.len() == greatest.len();
        if !greatest_is_exact {
            // The next text that is greater than all that begin so: in UTF-8, too, the order of bytes is
            // that of code points.
            let text = std::str::from_utf8(&above).ok()?;
            let (at, next) = text
                .char_indices()
                .rev()
                .find_map(|(at, own)| Some((at, char::from_u32(own as u32 + 1)?)))?;
            above.truncate(at);
            above.extend(next.encode_utf8(&mut [0; 4]).bytes());
        }
        Some(Bounds {
            least: shortest.to_vec(),
            least_is_exact: shortest.len() == least.len(),
            greatest: above,
            greatest_is_exact,
        })
    }
}

/// The beginning of a text, up to the last whole character that fits.
fn cut(text: &[u8]) -> &[u8] {
    if text.len() <= BOUND_BYTES {
        return text;
    }
    let is_inside = |at: usize| text[at] & 0xc0 == 0x80;
    let end = (0..=BOUND_BYTES).rev().find(|at| !is_inside(*at));
    &text[..end.unwrap_or(0)]
}

impl Texts {
    fn add<'t>(own: &mut Option<Self>, texts: impl Iterator<Item = &'t [u8]> + Clone) {
        let Some(first) = texts.clone().next() else {
            return;
        };
        let own = own.get_or_insert_with(|| Texts {
            least: first.to_vec(),
            greatest: first.to_vec(),
            last: first.to_vec(),
            are_sorted: true,
        });
        let (mut least, mut greatest) = (&own.least[..], &own.greatest[..]);
        let mut last = &own.last[..];
        for text in texts {
            own.are_sorted &= last <= text;
            last = text;
            least = least.min(text);
            greatest = greatest.max(text);
        }
        (own.least, own.greatest, own.last) = (least.to_vec(), greatest.to_vec(), last.to_vec());
    }
}

/// The values of a page before compression.
#[derive(Debug, Default)]
struct Values {
    levels: Vec<u8>,
    missing: usize,
    bytes: Vec<u8>,
}

impl ColumnWriter {
    /// Begins a column: with the dictionary, if it has one.
    pub(super) fn new(content: Content, bytes: &mut Vec<u8>) -> Self {
        let start = bytes.len();
        if matches!(content, Content::Kind) {
            append_dictionary(bytes);
        }
        let dictionary_bytes = bytes.len() - start;
        ColumnWriter {
            content,
            written: WrittenColumn {
                dictionary_bytes,
                uncompressed_bytes: dictionary_bytes,
                ..WrittenColumn::default()
            },
            least: None,
            greatest: None,
            texts: None,
        }
    }

    /// Appends a page of some rows of `batch`.
    pub(super) fn page(
        &mut self,
        batch: &Batch,
        rows: Range<usize>,
        compressor: &mut BlockCompressor,
        bytes: &mut Vec<u8>,
    ) -> Result<()> {
        let values = self.values(batch, rows.clone());
        let mut stored = Vec::new();
        let mut is_compressed = false;
        if codec(self.content) == numbers::ZSTD {
            stored.resize(values.bytes.len(), 0);
            if let Some(length) = compressor.compress(&values.bytes, &mut stored)? {
                stored.truncate(length);
                is_compressed = true;
            }
        }
        let stored = if is_compressed {
            &stored
        } else {
            &values.bytes
        };
        let mut page = Fields::default();
        page.i32(1, rows.len() as i32);
        page.i32(2, values.missing as i32);
        page.i32(3, rows.len() as i32);
        page.i32(4, encodings(self.content)[0]);
        page.i32(5, values.levels.len() as i32);
        page.i32(6, 0);
        page.bool(7, is_compressed);
        let mut header = Fields::default();
        header.i32(1, DATA_PAGE);
        header.i32(2, (values.levels.len() + values.bytes.len()) as i32);
        header.i32(3, (values.levels.len() + stored.len()) as i32);
        header.fields(8, page);
        let header = header.finish();
        let levels = &values.levels;
        self.written.missing += values.missing;
        self.written.uncompressed_bytes += header.len() + levels.len() + values.bytes.len();
        for part in [&header, levels, stored] {
            bytes.extend_from_slice(part);
        }
        Ok(())
    }

    /// Ends the column, which has this many bytes.
    pub(super) fn finish(mut self, stored_bytes: usize) -> WrittenColumn {
        self.written.stored_bytes = stored_bytes;
        let stored = |value: i128| match self.content {
            Content::U32(_) => (value as u32).to_le_bytes().to_vec(),
            Content::U64(_) => (value as u64).to_le_bytes().to_vec(),
            _ => (value as i64).to_le_bytes().to_vec(),
        };
        if let (Some(least), Some(greatest)) = (self.least, self.greatest) {
            self.written.bounds = Some(Bounds {
                least: stored(least),
                greatest: stored(greatest),
                least_is_exact: true,
                greatest_is_exact: true,
            });
        }
        if let Some(texts) = &self.texts {
            self.written.bounds = Bounds::of_texts(&texts.least, &texts.greatest);
            self.written.is_sorted = texts.are_sorted;
        }
        self.written
    }

    fn values(&mut self, batch: &Batch, rows: Range<usize>) -> Values {
        let mut values = Values::default();
        let all = || rows.clone().map(|number| batch.row(number));
        match self.content {
            Content::Path => {
                let texts: Vec<_> = all().map(|row| text(&row)).collect();
                Texts::add(&mut self.texts, texts.iter().map(|text| text.as_bytes()));
                append_strings(texts.iter().map(|text| text.as_bytes()), &mut values.bytes);
            }
            Content::PathBytes => {
                let present: Vec<_> = all().map(|row| bytes(&row)).collect();
                values.levels = levels(&present, &mut values.missing);
                for path in present.into_iter().flatten() {
                    values.bytes.extend((path.len() as u32).to_le_bytes());
                    values.bytes.extend_from_slice(path);
                }
            }
            Content::Kind => {
                let kinds = all().map(|row| number_of_kind(row.attributes.kind));
                let kinds: Vec<u8> = kinds.collect();
                let words = kinds
                    .iter()
                    .map(|kind| KINDS[usize::from(*kind)].1.as_bytes());
                Texts::add(&mut self.texts, words);
                values.bytes.push(KIND_BITS as u8);
                append_run(&kinds, KIND_BITS, &mut values.bytes);
            }
            Content::U32(field) => {
                let numbers: Vec<u32> = all().map(|row| (field.get)(&row.attributes)).collect();
                self.bound(numbers.iter().map(|number| (*number).into()));
                let numbers: Vec<i32> = numbers.iter().map(|number| *number as i32).collect();
                append_deltas(&numbers, &mut values.bytes);
            }
            Content::U64(field) => {
                let numbers: Vec<u64> = all().map(|row| (field.get)(&row.attributes)).collect();
                self.bound(numbers.iter().map(|number| (*number).into()));
                let numbers: Vec<i64> = numbers.iter().map(|number| *number as i64).collect();
                append_deltas(&numbers, &mut values.bytes);
            }
            Content::Time(field) => {
                let times: Vec<Option<i64>> =
                    all().map(|row| (field.get)(&row.attributes)).collect();
                values.levels = levels(&times, &mut values.missing);
                let times: Vec<i64> = times.into_iter().flatten().collect();
                self.bound(times.iter().map(|time| (*time).into()));
                append_deltas(&times, &mut values.bytes);
            }
        }
        values
    }

    fn bound(&mut self, values: impl Iterator<Item = i128> + Clone) {
        let own = |bound: Option<i128>| values.clone().chain(bound);
        let (least, greatest) = (own(self.least).min(), own(self.greatest).max());
        (self.least, self.greatest) = (least, greatest);
    }
}

/// Which of the values are there.
fn levels<T>(values: &[Option<T>], missing: &mut usize) -> Vec<u8> {
    let present: Vec<u8> = values.iter().map(|value| value.is_some().into()).collect();
    *missing = present.iter().filter(|present| **present == 0).count();
    let mut levels = Vec::new();
    append_run(&present, 1, &mut levels);
    levels
}

/// Appends the dictionary of kinds, always with all of them.
fn append_dictionary(bytes: &mut Vec<u8>) {
    let mut words = Vec::new();
    for (_, word) in KINDS {
        words.extend((word.len() as u32).to_le_bytes());
        words.extend_from_slice(word.as_bytes());
    }
    let mut page = Fields::default();
    page.i32(1, KINDS.len() as i32);
    page.i32(2, numbers::PLAIN);
    let mut header = Fields::default();
    header.i32(1, DICTIONARY_PAGE);
    header.i32(2, words.len() as i32);
    header.i32(3, words.len() as i32);
    header.fields(7, page);
    bytes.extend(header.finish());
    bytes.extend(words);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bounds(texts: &[&str]) -> Option<(Bounds, bool)> {
        let mut found = None;
        // In two pages.
        for page in texts.chunks(texts.len().div_ceil(2)) {
            Texts::add(&mut found, page.iter().map(|text| text.as_bytes()));
        }
        let found = found.unwrap();
        let bounds = Bounds::of_texts(&found.least, &found.greatest)?;
        Some((bounds, found.are_sorted))
    }

    #[test]
    fn bounds_of_texts_are_short() {
        let (found, is_sorted) = bounds(&["a", "a/x", "a!"]).unwrap();
        let exact = |least: &str, greatest: &str| Bounds {
            least: least.into(),
            greatest: greatest.into(),
            least_is_exact: true,
            greatest_is_exact: true,
        };
        assert_eq!(found, exact("a", "a/x"));
        assert!(!is_sorted, "in canonical order, which is another one");
        let (found, is_sorted) = bounds(&["a", "a!", "a/x"]).unwrap();
        assert!(is_sorted && found == exact("a", "a/x"));
        // A character of two bytes would be cut.
        let long = format!("{}\u{e4}{}", "x".repeat(63), "y".repeat(9));
        let (found, _) = bounds(&[&long]).unwrap();
        assert_eq!(found.least, "x".repeat(63).into_bytes());
        let above = format!("{}y", "x".repeat(62));
        assert_eq!(found.greatest, above.into_bytes());
        assert!(!found.least_is_exact && !found.greatest_is_exact);
        let last = "\u{10ffff}".repeat(17);
        assert_eq!(bounds(&[&last]), None);
        let (found, _) = bounds(&[&format!("a{last}")]).unwrap();
        assert_eq!(found.greatest, b"b");
    }

    proptest! {
        #[test]
        fn all_texts_are_within_their_bounds(
            mut texts in prop::collection::vec("[a\u{7f}\u{7ff}\u{d7ff}\u{ffff}\u{10ffff}]{0,40}", 1..20),
            sorts in any::<bool>(),
        ) {
            if sorts {
                texts.sort();
            }
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            if let Some((found, is_sorted)) = bounds(&texts) {
                prop_assert_eq!(is_sorted, texts.is_sorted());
                let [least, greatest] = [&found.least, &found.greatest];
                prop_assert!(least.len() <= BOUND_BYTES && greatest.len() <= BOUND_BYTES + 1);
                let shortest = std::str::from_utf8(least).unwrap();
                let above = std::str::from_utf8(greatest).unwrap();
                prop_assert!(texts.iter().all(|text| shortest <= *text && *text <= above));
                prop_assert_eq!(found.least_is_exact, texts.contains(&shortest));
                prop_assert!(!found.greatest_is_exact || texts.contains(&above));
            }
        }
    }
}
