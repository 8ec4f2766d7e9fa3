//! The merged text, with markers around conflicts.

use super::regions::{Region, Taken};
use super::{ConflictStyle, ContentOptions, Favor, MergedContent};
use crate::lines::Lines;
use bstr::BStr;

/// The text that `regions` make of the base, ours and theirs.
pub(super) fn write(
    texts: &[Lines<'_>; 3],
    regions: &[Region],
    options: &ContentOptions<'_>,
) -> MergedContent {
    let mut writer = Writer {
        texts,
        options,
        text: Vec::new(),
    };
    let mut conflicts = 0;
    let mut at = 0;
    for region in regions {
        let favor = options.favor;
        if region.taken == Taken::Same {
            continue;
        }
        writer.lines(&texts[1].text[at..region.ours.start]);
        match (region.taken, favor) {
            (Taken::Conflict, Favor::Neither) => {
                conflicts += 1;
                writer.conflict(region);
            }
            (Taken::Ours, _) | (Taken::Conflict, Favor::Ours) => {
                writer.lines(&texts[1].text[region.ours.clone()]);
            }
            (Taken::Conflict, Favor::Union) => {
                let ending = ending(texts, region);
                writer.whole_lines(&texts[1].text[region.ours.clone()], ending);
                writer.lines(&texts[2].text[region.theirs.clone()]);
            }
            (Taken::Theirs | Taken::Same, _) | (Taken::Conflict, Favor::Theirs) => {
                writer.lines(&texts[2].text[region.theirs.clone()]);
            }
        }
        at = region.ours.end;
    }
    writer.lines(&texts[1].text[at..]);
    MergedContent {
        text: writer.text,
        conflicts,
    }
}

struct Writer<'a> {
    texts: &'a [Lines<'a>; 3],
    options: &'a ContentOptions<'a>,
    text: Vec<u8>,
}

impl Writer<'_> {
    fn conflict(&mut self, region: &Region) {
        let [base, ours, theirs] = self.texts;
        let ending = ending(self.texts, region);
        let [our_label, base_label, their_label] = self.options.labels;
        self.marker(b'<', our_label, ending);
        self.whole_lines(&ours.text[region.ours.clone()], ending);
        if self.options.style != ConflictStyle::Merge {
            self.marker(b'|', base_label, ending);
            self.whole_lines(&base.text[region.base.clone()], ending);
        }
        self.marker(b'=', "".into(), ending);
        self.whole_lines(&theirs.text[region.theirs.clone()], ending);
        self.marker(b'>', their_label, ending);
    }

    fn marker(&mut self, character: u8, label: &BStr, ending: &[u8]) {
        let length = self.text.len() + self.options.marker_size;
        self.text.resize(length, character);
        if !label.is_empty() {
            self.text.push(b' ');
            self.text.extend_from_slice(label);
        }
        self.text.extend_from_slice(ending);
    }

    fn lines(&mut self, lines: &[&[u8]]) {
        lines
            .iter()
            .for_each(|line| self.text.extend_from_slice(line));
    }

    /// Lines; if the last has no end, it gets `ending`.
    fn whole_lines(&mut self, lines: &[&[u8]], ending: &[u8]) {
        self.lines(lines);
        if lines.last().is_some_and(|line| !line.ends_with(b"\n")) {
            self.text.extend_from_slice(ending);
        }
    }
}

/// How lines end around a region: on our side before it, else on theirs, else in the base.
fn ending(texts: &[Lines<'_>; 3], region: &Region) -> &'static [u8] {
    let [base, ours, theirs] = texts;
    let before = |line: usize| line.saturating_sub(1);
    // Each decides for LF; only where all that can tell say CR LF, or none can, the next is asked.
    let of_ours = has_cr(ours, before(region.ours.start));
    let decided = match of_ours {
        Some(false) => Some(false),
        _ => match has_cr(theirs, before(region.theirs.start)) {
            Some(false) => Some(false),
            _ => has_cr(base, 0),
        },
    };
    if decided == Some(true) {
        b"\r\n"
    } else {
        b"\n"
    }
}

/// Whether a line ends in CR LF. A last line without an end is judged by the one before it; `None`
/// if there is none.
fn has_cr(lines: &Lines<'_>, at: usize) -> Option<bool> {
    let line = lines.text.get(at)?;
    if line.ends_with(b"\n") {
        return Some(line.ends_with(b"\r\n"));
    }
    let before = lines.text.get(at.checked_sub(1)?)?;
    Some(before.ends_with(b"\r\n"))
}
