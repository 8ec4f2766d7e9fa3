//! Lists of directories that a part has left, as files.
//!
//! Such a file is text: `hedgerow.rest.v1`, lines with the root and the options of the part, a path on
//! each line, and `end` with their number, so that a file that was cut is refused. Lines with a root and
//! options have a tab, which paths never have.

use crate::footer::Footer;
use crate::origin::Origin;
use crate::parquet::PartRows;
use crate::part::{Part, PartOptions};
use crate::text::{escaped, is_below, unescaped};
use crate::{Error, Output, Result};
use hedgerow_fs::ReadFile;
use hedgerow_numbers::Shard;
use std::fmt::Write;
use std::path::{Path, PathBuf};

const HEADER: &str = "hedgerow.rest.v1";
/// Beginning of a Parquet file.
const PARQUET: &[u8] = b"PAR1";
/// The largest file that is read.
const LIMIT_BYTES: u64 = 1 << 30;

/// Writes the list of the directories that `part` has left to `output`.
pub fn write_rest(mut output: Output, part: &Part) -> Result<()> {
    let left = &part.left;
    let mut text = format!("{HEADER}\n");
    part.origin.append(&mut text);
    for path in left {
        text.push_str(&escaped(path));
        text.push('\n');
    }
    // Writing to memory does not fail.
    let _ = writeln!(text, "end {}", left.len());
    output.append(text.as_bytes())?;
    Ok(output.finish()?)
}

/// The directories in all these lists, or a share of them, for a part with these options; the root
/// without a list.
///
/// # Errors
/// As [`read_rest`], or a list is of another root or other options.
pub fn given(
    lists: &[PathBuf],
    shard: Option<Shard>,
    options: &PartOptions,
) -> Result<Vec<Vec<u8>>> {
    let own = options.origin()?;
    let mut given = Vec::new();
    for list in lists {
        let (origin, left) = read(list)?;
        if let Some(origin) = origin {
            own.check("this part", list, &origin)?;
        }
        given.extend(left);
    }
    if lists.is_empty() {
        given.push(Vec::new());
    }
    if let Some(shard) = shard {
        let mut position = 0..;
        given.retain(|_| position.next().is_some_and(|position| shard.has(position)));
    }
    Ok(given)
}

/// Reads the directories in the list at `path`, which may also be the part that left them.
///
/// # Errors
/// The file is incomplete, or a path in it leads out of the tree.
pub fn read_rest(path: &Path) -> Result<Vec<Vec<u8>>> {
    Ok(read(path)?.1)
}

/// The same, with the origin if it is told: whoever makes a list by hand need not know it.
fn read(path: &Path) -> Result<(Option<Origin>, Vec<Vec<u8>>)> {
    let file = ReadFile::open(path)?;
    let mut start = [0; PARQUET.len()];
    let count = file.read_at(&mut start, 0)?;
    if start.get(..count) == Some(PARQUET) {
        let (rows, notes) = PartRows::open(path)?;
        let footer = Footer::of(&rows, &notes)?;
        return Ok((Some(footer.origin), footer.left));
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes, LIMIT_BYTES)?;
    let wrong = |what: &str| Error::Rest {
        path: path.to_owned(),
        what: what.to_owned(),
    };
    let text = String::from_utf8(bytes).map_err(|_| wrong("it is not UTF-8"))?;
    let lines = text
        .strip_prefix(HEADER)
        .and_then(|text| text.strip_prefix('\n'));
    let lines = lines.ok_or_else(|| wrong("it does not begin as one"))?;
    let lines = lines.strip_suffix('\n').map(|lines| {
        let (list, end) = lines.rsplit_once('\n').unwrap_or(("", lines));
        (list, end.strip_prefix("end "))
    });
    let Some((list, Some(count))) = lines else {
        return Err(wrong("it is incomplete"));
    };
    let list = list
        .split('\n')
        .filter(|line| !line.is_empty() || count != "0");
    let mut list = (2..).zip(list).peekable();
    let mut origin = None;
    while let Some((number, line)) = list.next_if(|(_, line)| line.contains('\t')) {
        let fields: Vec<&str> = line.split('\t').collect();
        let read = origin.get_or_insert_with(Origin::default).read(&fields);
        read.ok_or_else(|| wrong(&format!("line {number} is no root and no option")))?;
    }
    let paths = list.map(|(number, line)| {
        let path = unescaped(line).filter(|_| !line.contains('\t'));
        let path = path.filter(|path| path.is_empty() || is_below(path));
        path.ok_or_else(|| wrong(&format!("line {number} is not a path below a root")))
    });
    let paths = paths.collect::<Result<Vec<Vec<u8>>>>()?;
    if count.parse() == Ok(paths.len()) {
        Ok((origin, paths))
    } else {
        Err(wrong("it is incomplete"))
    }
}
