//! Records of extended headers: `LENGTH KEYWORD=VALUE\n`, where the decimal length counts the whole
//! record (POSIX.1-2017, utility `pax`, "pax Extended Header"). Known keywords are those of POSIX,
//! of sparse files (GNU tar manual, "Storing Sparse Files"), of extended attributes and of access
//! control lists; all others are ignored, as POSIX requires.

use crate::error::Malformed;
use crate::numbers::parse_decimal;
use crate::sparse::MapBuilder;
use crate::xattr;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The records that apply to a member.
#[derive(Clone, Debug, Default)]
pub(crate) struct Extended {
    pub(crate) path: Option<Vec<u8>>,
    pub(crate) link_path: Option<Vec<u8>>,
    pub(crate) size: Option<u64>,
    pub(crate) uid: Option<u64>,
    pub(crate) gid: Option<u64>,
    /// Seconds and nanoseconds since the epoch.
    pub(crate) mtime: Option<(i64, u32)>,
    pub(crate) xattrs: BTreeMap<Vec<u8>, Vec<u8>>,
    pub(crate) acl_access: Option<Vec<u8>>,
    pub(crate) acl_default: Option<Vec<u8>>,
    pub(crate) sparse: SparseRecords,
    /// An extended attribute could not be decoded. Only this member is affected.
    pub(crate) bad_xattr: bool,
}

/// The records about a sparse file.
#[derive(Clone, Debug, Default)]
pub(crate) struct SparseRecords {
    pub(crate) version: (Option<u64>, Option<u64>),
    pub(crate) name: Option<Vec<u8>>,
    /// The size including holes in encodings 0.0 and 0.1; `real_size` is that of 1.0.
    pub(crate) size: Option<u64>,
    pub(crate) real_size: Option<u64>,
    /// Offsets and lengths, alternating.
    numbers: Vec<u64>,
    has_map: bool,
}

impl Extended {
    /// Applies the records of another header. Later records replace earlier ones; an empty value
    /// removes them.
    pub(crate) fn apply(&mut self, payload: &[u8], max_segments: usize) -> Result<(), Malformed> {
        let mut rest = payload;
        // Some writers pad with NULs.
        while rest.first().is_some_and(|byte| *byte != 0) {
            let (keyword, value, behind) = split_record(rest).ok_or(Malformed::Record)?;
            self.record(keyword, value, max_segments)?;
            rest = behind;
        }
        Ok(())
    }

    fn record(&mut self, key: &[u8], value: &[u8], max_segments: usize) -> Result<(), Malformed> {
        let bytes = || (!value.is_empty()).then(|| value.to_vec());
        match key {
            b"path" => self.path = bytes(),
            b"linkpath" => self.link_path = bytes(),
            b"size" => self.size = number(value, "size")?,
            b"uid" => self.uid = number(value, "owner")?,
            b"gid" => self.gid = number(value, "group")?,
            b"mtime" => self.mtime = time(value)?,
            b"SCHILY.acl.access" => self.acl_access = bytes(),
            b"SCHILY.acl.default" => self.acl_default = bytes(),
            _ => {
                if let Some(name) = key.strip_prefix(b"SCHILY.xattr.") {
                    self.xattr(xattr::decode_schily(name), Some(value.to_vec()));
                } else if let Some(name) = key.strip_prefix(b"LIBARCHIVE.xattr.") {
                    let value = xattr::decode_base64(value);
                    self.xattr(xattr::decode_libarchive(name), value);
                } else if let Some(key) = key.strip_prefix(b"GNU.sparse.") {
                    return self.sparse.record(key, value, max_segments);
                }
            }
        }
        Ok(())
    }

    fn xattr(&mut self, name: Vec<u8>, value: Option<Vec<u8>>) {
        match value {
            Some(value) if !name.is_empty() && !name.contains(&0) => {
                self.xattrs.insert(name, value);
            }
            _ => self.bad_xattr = true,
        }
    }

    /// Approximate memory use in bytes.
    pub(crate) fn weight(&self) -> usize {
        let len = |bytes: &Option<Vec<u8>>| bytes.as_ref().map_or(0, Vec::len);
        let xattrs = self.xattrs.iter();
        let xattrs = xattrs.map(|(name, value)| name.len() + value.len());
        len(&self.path)
            + len(&self.link_path)
            + len(&self.acl_access)
            + len(&self.acl_default)
            + xattrs.sum::<usize>()
    }
}

impl SparseRecords {
    fn record(&mut self, key: &[u8], value: &[u8], max_segments: usize) -> Result<(), Malformed> {
        let decimal = || parse_decimal(value).ok_or(Malformed::SparseMap);
        match key {
            b"major" => self.version.0 = Some(decimal()?),
            b"minor" => self.version.1 = Some(decimal()?),
            b"name" => self.name = Some(value.to_vec()),
            b"size" => self.size = Some(decimal()?),
            b"realsize" => self.real_size = Some(decimal()?),
            b"offset" if self.has_whole_pairs() => self.number(decimal()?, max_segments)?,
            b"numbytes" if !self.has_whole_pairs() => self.number(decimal()?, max_segments)?,
            b"offset" | b"numbytes" => return Err(Malformed::SparseMap),
            b"map" => {
                self.numbers.clear();
                self.has_map = true;
                for part in value.split(|byte| *byte == b',') {
                    // A file that is a single hole has an empty map.
                    if value.is_empty() {
                        break;
                    }
                    let number = parse_decimal(part).ok_or(Malformed::SparseMap)?;
                    self.number(number, max_segments)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn has_whole_pairs(&self) -> bool {
        self.numbers.len().is_multiple_of(2)
    }

    fn number(&mut self, number: u64, max_segments: usize) -> Result<(), Malformed> {
        if self.numbers.len() / 2 >= max_segments {
            return Err(Malformed::SparseMapTooLong(max_segments));
        }
        self.numbers.push(number);
        Ok(())
    }

    /// Whether the file uses encoding 1.0, whose map is stored before the content.
    pub(crate) fn has_map_in_content(&self) -> Result<bool, Malformed> {
        match self.version {
            (None, None) | (Some(0), _) => Ok(false),
            (Some(1), Some(0)) => Ok(true),
            _ => Err(Malformed::SparseVersion),
        }
    }

    /// Whether the file uses encoding 0.0 or 0.1.
    pub(crate) fn has_map_in_records(&self) -> bool {
        self.has_map || !self.numbers.is_empty() || self.size.is_some()
    }

    /// Adds the segments of encodings 0.0 and 0.1 to `map`.
    pub(crate) fn segments(&self, map: &mut MapBuilder) -> Result<(), Malformed> {
        for pair in self.numbers.chunks(2) {
            let [offset, len] = pair else {
                return Err(Malformed::SparseMap);
            };
            map.push(*offset, *len)?;
        }
        Ok(())
    }
}

/// Splits off the first record: keyword, value, and the bytes after it.
fn split_record(records: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let space = records.iter().take(21).position(|byte| *byte == b' ')?;
    let len = parse_decimal(&records[..space])?;
    let len = usize::try_from(len).ok()?;
    let record = records.get(space + 1..len)?.strip_suffix(b"\n")?;
    let equals = record.iter().position(|byte| *byte == b'=')?;
    let (keyword, value) = record.split_at(equals);
    Some((keyword, value.get(1..)?, records.get(len..)?))
}

/// Appends a record. Its length includes the digits of the length itself.
pub(crate) fn push_record(records: &mut Vec<u8>, keyword: &[u8], value: &[u8]) {
    let rest = keyword.len() + value.len() + 3;
    let mut len = rest + 1;
    while len != rest + len.to_string().len() {
        len = rest + len.to_string().len();
    }
    records.extend_from_slice(format!("{len} ").as_bytes());
    records.extend_from_slice(keyword);
    records.push(b'=');
    records.extend_from_slice(value);
    records.push(b'\n');
}

fn number(value: &[u8], what: &'static str) -> Result<Option<u64>, Malformed> {
    if value.is_empty() {
        return Ok(None);
    }
    let number = parse_decimal(value).ok_or(Malformed::Number(what))?;
    Ok(Some(number))
}

/// Parses seconds since the epoch, such as `1700000000.25` or `-1.5`. Digits beyond nanoseconds are
/// rounded towards the past.
fn time(value: &[u8]) -> Result<Option<(i64, u32)>, Malformed> {
    if value.is_empty() {
        return Ok(None);
    }
    parse_time(value).map(Some).ok_or(Malformed::Number("time"))
}

fn parse_time(value: &[u8]) -> Option<(i64, u32)> {
    let (is_negative, digits) = match value.strip_prefix(b"-") {
        Some(digits) => (true, digits),
        None => (false, value),
    };
    let plain = without_exponent(digits)?;
    let point = plain.iter().position(|byte| *byte == b'.');
    let (whole, fraction) = plain.split_at(point.unwrap_or(plain.len()));
    let seconds = i64::try_from(parse_decimal(whole)?).ok()?;
    let fraction = fraction.get(1..).unwrap_or_default();
    if !fraction.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let (kept, cut) = fraction.split_at(fraction.len().min(9));
    let kept = kept.iter().chain(std::iter::repeat(&b'0')).take(9);
    let nanoseconds = kept.fold(0u32, |number, digit| number * 10 + u32::from(digit - b'0'));
    if !is_negative {
        return Some((seconds, nanoseconds));
    }
    let is_cut = cut.iter().any(|digit| *digit != b'0');
    match nanoseconds + u32::from(is_cut) {
        0 => Some((-seconds, 0)),
        back => Some((-seconds - 1, 1_000_000_000 - back)),
    }
}

/// A number like `1.5e-05`, as Python writes times near the epoch, without its exponent.
fn without_exponent(digits: &[u8]) -> Option<Cow<'_, [u8]>> {
    /// No time has more digits.
    const MOST: u32 = 40;
    let Some(mark) = digits.iter().position(|byte| *byte == b'e') else {
        return Some(Cow::Borrowed(digits));
    };
    let (mantissa, exponent) = (digits.get(..mark)?, digits.get(mark + 1..)?);
    let exponent: i32 = std::str::from_utf8(exponent).ok()?.parse().ok()?;
    let (whole, fraction) = match mantissa.iter().position(|byte| *byte == b'.') {
        Some(point) => (&mantissa[..point], &mantissa[point + 1..]),
        None => (mantissa, &b""[..]),
    };
    if exponent.unsigned_abs() > MOST || whole.is_empty() {
        return None;
    }
    let zeros = vec![b'0'; exponent.unsigned_abs() as usize];
    let all = if exponent < 0 {
        [&zeros, whole, fraction].concat()
    } else {
        [whole, fraction, &zeros].concat()
    };
    let point = whole.len() + exponent.max(0) as usize;
    let (whole, fraction) = all.split_at_checked(point)?;
    Some(Cow::Owned([whole, b".", fraction].concat()))
}

/// Formats a time for a record.
pub(crate) fn format_time(seconds: i64, nanoseconds: u32) -> String {
    if nanoseconds == 0 {
        return seconds.to_string();
    }
    let (sign, whole, fraction) = if seconds < 0 {
        (
            "-",
            (seconds + 1).unsigned_abs(),
            1_000_000_000 - nanoseconds,
        )
    } else {
        ("", seconds.unsigned_abs(), nanoseconds)
    };
    let text = format!("{sign}{whole}.{fraction:09}");
    text.trim_end_matches('0').to_owned()
}

#[cfg(test)]
mod tests;
