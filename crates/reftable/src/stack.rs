//! Lists of tables, names of tables, and which of them are to become one.

use bstr::{BString, ByteSlice};
use std::collections::HashSet;
use std::ops::Range;

/// The names in the list of a stack, the oldest table first; `None` if one of them is no name of a
/// file, or is there twice.
pub fn parse_list(list: &[u8]) -> Option<Vec<BString>> {
    let names = list.lines().filter(|name| !name.is_empty());
    let is_name = |name: &[u8]| !name.contains(&b'/') && !name.contains(&0) && name != b"..";
    let mut names = names.map(|name| is_name(name).then(|| BString::from(name)));
    let names: Vec<BString> = names.by_ref().collect::<Option<_>>()?;
    let different: HashSet<&BString> = names.iter().collect();
    let is_each_once = different.len() == names.len();
    is_each_once.then_some(names)
}

/// The name of a new table with changes from `min` to `max`, as git names it. `random` sets it apart
/// from others.
pub fn table_name((min, max): (u64, u64), random: u32) -> String {
    format!("0x{min:012x}-0x{max:012x}-{random:08x}.ref")
}

/// Which tables are to become one, so that each that is left is at least `factor` times as large as
/// the next newer one: `sizes` are theirs in bytes, the oldest first.
///
/// Then the sizes of n tables add up to factor^n at least, so that there are few, and each byte is
/// written again once for each time that the stack has grown by the factor.
pub fn tables_to_compact(sizes: &[u64], factor: u64) -> Option<Range<usize>> {
    let is_too_small = |older: u64, newer: u64| older < newer.saturating_mul(factor);
    // Newer tables keep to the rule already.
    let last = (1..sizes.len())
        .rev()
        .find(|at| is_too_small(sizes[at - 1], sizes[*at]))?;
    let mut sum = sizes[last];
    let mut start = last;
    for (at, size) in sizes.iter().enumerate().take(last).rev() {
        if is_too_small(*size, sum) {
            start = at;
        }
        sum = sum.saturating_add(*size);
    }
    Some(start..last + 1)
}
