//! The lines of a diffstat: names, numbers and a graph, which share the columns of a terminal.

use super::names::moved;
use super::{Changed, Counts, DiffstatOptions};
use crate::config::Config;
use crate::display::{paint, width};
use crate::status::rename::Side;
use crate::Result;
use bstr::{ByteSlice, B};

/// The widths of columns, in characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Widths {
    /// The whole line.
    pub line: usize,
    /// Names are not wider, if there is a limit: `diff.statNameWidth`.
    pub name: Option<usize>,
    /// The graph is not wider, if there is a limit: `diff.statGraphWidth`.
    pub graph: Option<usize>,
}

impl Widths {
    /// The configured limits, for lines of `line` characters.
    pub fn of(config: &Config, line: usize) -> Result<Self> {
        let limit = |key| {
            let limit = config.integer(key)?.filter(|limit| *limit > 0);
            Ok::<_, crate::Error>(limit.and_then(|limit| usize::try_from(limit).ok()))
        };
        Ok(Widths {
            line,
            name: limit("diff.statNameWidth")?,
            graph: limit("diff.statGraphWidth")?,
        })
    }
}

/// The least width of the graph.
const LEAST_GRAPH: usize = 6;
/// The least width of a line without its number.
const LEAST_LINE: usize = 16 + LEAST_GRAPH;
/// What a line has besides a name, a number and a graph.
const FIXED: usize = 6;
/// What a path in conflict has in place of numbers.
const UNMERGED: &str = "Unmerged";
/// What stands before a name whose start is cut off.
const CUT: &[u8] = b"...";

/// A line for each file, and one with the sums.
pub(crate) fn lines(files: &[Changed], options: &DiffstatOptions) -> Vec<u8> {
    if files.is_empty() {
        return Vec::new();
    }
    let columns = Columns::of(files, &options.widths);
    let mut text = Vec::new();
    for file in files {
        columns.line(file, options.colors.as_ref(), &mut text);
    }
    text.extend(sums(files));
    text
}

/// A line for each file with the numbers of lines added and removed.
pub(crate) fn numbers(files: &[Changed], null: bool, high: bool) -> Vec<u8> {
    let mut text = Vec::new();
    for file in files {
        let numbers = match file.counts {
            Counts::Lines { added, removed } => format!("{added}\t{removed}\t"),
            Counts::Bytes { .. } => "-\t-\t".to_owned(),
            Counts::Unmerged => "0\t0\t".to_owned(),
        };
        text.extend_from_slice(numbers.as_bytes());
        if null {
            let path = |side: &Option<Side>| side.as_ref().map(|side| side.path.clone());
            if let (Some(_), Some(old)) = (file.pair.origin, path(&file.pair.old)) {
                text.extend([b"\0", &old[..], b"\0"].concat());
            }
            text.extend_from_slice(file.pair.path().unwrap_or_default());
            text.push(0);
        } else {
            text.extend(moved(&file.pair, high));
            text.push(b'\n');
        }
    }
    text
}

impl Changed {
    /// A file that was only touched is not shown: neither its content nor its mode differs.
    pub(super) fn is_shown(&self) -> bool {
        let modes = [&self.pair.old, &self.pair.new].map(|side| side.as_ref().map(|it| it.mode));
        let is_same = self.pair.origin.is_none() && modes[0] == modes[1];
        let nothing = Counts::Lines {
            added: 0,
            removed: 0,
        };
        !is_same || self.counts != nothing
    }
}

/// How wide the parts of lines are.
struct Columns {
    name: usize,
    number: usize,
    graph: usize,
    /// The most lines that changed in a file.
    most: u64,
}

impl Columns {
    fn of(files: &[Changed], wanted: &Widths) -> Self {
        let (mut name, mut most, mut bytes, mut number) = (0, 0, 0, 0);
        for file in files {
            name = name.max(width(&file.name));
            match file.counts {
                Counts::Lines { added, removed } => most = most.max(added + removed),
                Counts::Bytes { added, removed } => {
                    // "Bin 1 -> 2 bytes": the word stands where others have their number.
                    bytes = bytes.max(14 + digits(added) + digits(removed));
                    number = 3;
                }
                Counts::Unmerged => bytes = bytes.max(UNMERGED.len()),
            }
        }
        let number = digits(most).max(number);
        let line = wanted.line.max(LEAST_LINE + number);
        let most_columns = usize::try_from(most).unwrap_or(usize::MAX);
        let mut graph = if most_columns.saturating_add(4) > bytes {
            most_columns
        } else {
            bytes - 4
        };
        graph = graph.min(wanted.graph.unwrap_or(graph));
        name = name.min(wanted.name.unwrap_or(name));
        let room = line - number - FIXED;
        if name.saturating_add(graph) > room {
            let share = (line * 3 / 8).saturating_sub(number + FIXED);
            if graph > share {
                graph = share.max(LEAST_GRAPH);
            }
            graph = graph.min(wanted.graph.unwrap_or(graph));
            if name > room - graph {
                name = room - graph;
            } else {
                graph = room - name;
            }
        }
        Columns {
            name,
            number,
            graph,
            most,
        }
    }

    fn line(&self, file: &Changed, colors: Option<&[String; 2]>, text: &mut Vec<u8>) {
        let [red, green] = colors.map_or(["", ""], |[old, new]| [old, new]);
        text.push(b' ');
        text.extend(self.name_of(file));
        text.extend_from_slice(B(" | "));
        let number = match file.counts {
            Counts::Lines { added, removed } => (added + removed).to_string(),
            Counts::Bytes { .. } => "Bin".to_owned(),
            Counts::Unmerged => UNMERGED.to_owned(),
        };
        text.extend_from_slice(format!("{number:>0$}", self.number).as_bytes());
        match file.counts {
            Counts::Lines { added, removed } => {
                if added + removed > 0 {
                    text.push(b' ');
                }
                let (added, removed) = self.scaled(added, removed);
                for (sign, count, color) in [(b"+", added, green), (b"-", removed, red)] {
                    if count > 0 {
                        paint(text, color, &[&sign.repeat(count)]);
                    }
                }
            }
            Counts::Bytes { added, removed } if added + removed > 0 => {
                text.push(b' ');
                paint(text, red, &[removed.to_string().as_bytes()]);
                text.extend_from_slice(B(" -> "));
                paint(text, green, &[added.to_string().as_bytes()]);
                text.extend_from_slice(B(" bytes"));
            }
            Counts::Bytes { .. } | Counts::Unmerged => {}
        }
        text.push(b'\n');
    }

    /// The name, cut at its start or filled up to the width of its column.
    fn name_of(&self, file: &Changed) -> Vec<u8> {
        let mut name = file.name.as_slice();
        let mut room = self.name;
        let mut shown = Vec::new();
        if room < width(name) {
            shown.extend_from_slice(CUT);
            room = room.saturating_sub(CUT.len());
            while width(name) > room {
                let (_, size) = bstr::decode_utf8(name);
                name = &name[size..];
            }
            if let Some(slash) = name.find_byte(b'/') {
                name = &name[slash..];
            }
        }
        shown.extend_from_slice(name);
        let filling = room.saturating_sub(width(name));
        shown.resize(shown.len() + filling, b' ');
        shown
    }

    /// The lengths of both parts of the graph.
    fn scaled(&self, added: u64, removed: u64) -> (usize, usize) {
        let columns = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
        if (self.graph as u64) > self.most {
            return (columns(added), columns(removed));
        }
        let scale = |count: u64| {
            if count == 0 {
                return 0;
            }
            let steps = u128::from(count) * (self.graph as u128 - 1) / u128::from(self.most);
            1 + usize::try_from(steps).unwrap_or(usize::MAX)
        };
        let mut all = scale(added + removed);
        if all < 2 && added > 0 && removed > 0 {
            // Each of both is seen.
            all = 2;
        }
        if added < removed {
            let added = scale(added);
            (added, all - added)
        } else {
            let removed = scale(removed);
            (all - removed, removed)
        }
    }
}

fn digits(number: u64) -> usize {
    number.to_string().len()
}

/// The sums of all numbers; empty if there is no file.
pub(crate) fn sums(files: &[Changed]) -> Vec<u8> {
    if files.is_empty() {
        return Vec::new();
    }
    let (mut added, mut removed) = (0, 0);
    let mut changed = 0u64;
    for file in files {
        changed += u64::from(file.counts != Counts::Unmerged);
        if let Counts::Lines {
            added: more,
            removed: less,
        } = file.counts
        {
            added += more;
            removed += less;
        }
    }
    let counted = |count: u64, noun: &str| {
        let ending = if count == 1 { "" } else { "s" };
        format!("{count} {noun}{ending}")
    };
    if changed == 0 {
        return b" 0 files changed\n".to_vec();
    }
    let mut line = format!(" {} changed", counted(changed, "file"));
    if added > 0 || removed == 0 {
        line += &format!(", {}(+)", counted(added, "insertion"));
    }
    if removed > 0 || added == 0 {
        line += &format!(", {}(-)", counted(removed, "deletion"));
    }
    (line + "\n").into_bytes()
}
