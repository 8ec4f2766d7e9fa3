//! `hedgerow bitmap explain`: how the question of a fetch is answered.

use crate::failure::Failure;
use crate::global::Global;
use crate::output::Output;
use bstr::ByteSlice;
use clap::Args;
use hedgerow::numbers::counted;
use hedgerow::plumbing::git::reachability::{bitmaps, Hindrance, RevisionArguments, Sources};
use hedgerow::plumbing::pack::Bitmaps;
use hedgerow::plumbing::reach::{reachable, BitmapUse};
use hedgerow::Repository;
use serde::Serialize;
use std::ffi::OsString;
use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::time::Instant;

/// How many commits whose bitmaps were used are named.
const NAMED: usize = 5;

#[derive(Debug, Args)]
pub struct Explain {
    /// The revisions to fetch; after --not, those that the receiver has
    #[arg(
        value_name = "WANT|--not|HAVE",
        required = true,
        allow_hyphen_values = true,
        trailing_var_arg = true
    )]
    pub words: Vec<OsString>,
}

/// The JSON document. Fields are only ever added.
#[derive(Debug, Serialize)]
struct Document {
    /// The name and version of this schema.
    schema: &'static str,
    bitmaps: Option<About>,
    wants: UsedBitmaps,
    haves: UsedBitmaps,
    objects: u64,
    milliseconds: u128,
    hints: Vec<String>,
}

/// The bitmaps of the repository.
#[derive(Debug, Serialize)]
struct About {
    /// The pack or multi-pack-index whose objects they are of.
    pack: String,
    objects: u32,
    commits: u32,
    lookup_table: bool,
    name_hashes: bool,
    pseudo_merges: u32,
}

#[derive(Debug, Serialize)]
struct UsedBitmaps {
    tips: u64,
    included: u64,
    bitmaps: Vec<String>,
    pseudo_merges: u64,
    commits_walked: u64,
    trees_read: u64,
    outside: u64,
}

pub fn run(
    command: &Explain,
    repository: &Repository,
    global: &Global,
    output: &Output,
) -> Result<u8, Failure> {
    let sources = Sources::read(repository)?;
    let source = sources.of(repository);
    let warn = |warning| output.warn(warning);
    let mut revisions = RevisionArguments::new(repository, source, true, &warn);
    for word in &command.words {
        let word = word.as_bytes().as_bstr();
        if !word.starts_with(b"--") || !revisions.option(word, &mut std::iter::empty())? {
            revisions.add(word)?;
        }
    }
    let question = revisions.into_question(super::threads(global));
    let started = Instant::now();
    let bitmaps = bitmaps(repository);
    let answer = reachable(source, bitmaps.as_ref(), &question).map_err(Failure::fatal)?;
    let milliseconds = started.elapsed().as_millis();
    let hindrances = Hindrance::find(repository, bitmaps.as_ref(), &answer.trace);
    let document = Document {
        schema: "hedgerow.bitmap.explain.v1",
        bitmaps: bitmaps.as_ref().map(about),
        wants: found(&answer.trace.wants),
        haves: found(&answer.trace.haves),
        objects: answer.trace.objects,
        milliseconds,
        hints: hindrances.iter().map(Hindrance::to_string).collect(),
    };
    if global.json {
        let mut text = serde_json::to_vec(&document).expect("plain data is JSON");
        text.push(b'\n');
        output.data(&text);
    } else {
        output.data(text(&document).as_bytes())
    }
    Ok(0)
}

fn about(bitmaps: &Bitmaps<'_>) -> About {
    About {
        pack: bitmaps.order().path().display().to_string(),
        objects: bitmaps.order().count(),
        commits: bitmaps.commit_count(),
        lookup_table: bitmaps.has_lookup_table(),
        name_hashes: bitmaps.has_name_hashes(),
        pseudo_merges: bitmaps.pseudo_merge_count(),
    }
}

fn found(used: &BitmapUse) -> UsedBitmaps {
    UsedBitmaps {
        tips: used.tips,
        included: used.included,
        bitmaps: used.bitmaps.iter().map(ToString::to_string).collect(),
        pseudo_merges: used.pseudo_merges,
        commits_walked: used.commits_walked,
        trees_read: used.trees_read,
        outside: used.outside,
    }
}

fn text(document: &Document) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write_text(document, &mut text);
    text
}

fn write_text(document: &Document, text: &mut String) -> std::fmt::Result {
    match &document.bitmaps {
        None => writeln!(text, "bitmaps: none")?,
        Some(about) => writeln!(
            text,
            "bitmaps: of {} and {}, lookup table: {}, name hashes: {}, {}\n  in '{}'",
            counted(about.commits, "commit"),
            counted(about.objects, "object"),
            yes_or_no(about.lookup_table),
            yes_or_no(about.name_hashes),
            counted(about.pseudo_merges, "pseudo-merge"),
            about.pack,
        )?,
    }
    for (name, side) in [("wants", &document.wants), ("haves", &document.haves)] {
        writeln!(
            text,
            "{name}: {}; {} by bitmaps of their own or on the way, {} included in others, {}",
            counted(side.tips, "commit"),
            side.bitmaps.len(),
            side.included,
            counted(side.pseudo_merges, "pseudo-merge"),
        )?;
        for commit in side.bitmaps.iter().take(NAMED) {
            writeln!(text, "  bitmap of {commit}")?;
        }
        if let Some(more @ 1..) = side.bitmaps.len().checked_sub(NAMED) {
            writeln!(text, "  and {more} more")?;
        }
        writeln!(
            text,
            "  walked: {}, {}; {} outside the pack",
            counted(side.commits_walked, "commit"),
            counted(side.trees_read, "tree"),
            counted(side.outside, "object"),
        )?;
    }
    writeln!(
        text,
        "objects: {} in {} ms",
        document.objects, document.milliseconds
    )?;
    for hint in &document.hints {
        writeln!(text, "hint: {hint}")?;
    }
    Ok(())
}

fn yes_or_no(there: bool) -> &'static str {
    if there {
        "yes"
    } else {
        "no"
    }
}
