use super::arguments::Verify;
use super::{hash_tree, print, unreadable};
use crate::environment::from_directory;
use crate::execution;
use crate::failure::Failure;
use crate::global::Global;
use crate::output::Output;
use crate::progress::Meter;
use crate::report::Path;
use crate::statistics;
use crate::walk::{interrupted_by_user, not_started};
use hedgerow::image::verity::parse_root_hash;
use hedgerow::image::{verify_with, Coverage, Damage, Report, VerifyError};
use hedgerow::numbers::counted;
use hedgerow::Stage;
use hedgerow_fs::ReadFile;
use serde::Serialize;

/// The exit code for an image with errors.
const WRONG: u8 = 1;

/// The JSON document of `hedgerow image verify --json`. Fields are only ever added.
#[derive(Debug, Serialize)]
struct Document<'r> {
    /// The name and version of this schema.
    schema: &'static str,
    /// Whether the image has no errors.
    sound: bool,
    findings: Vec<Finding<'r>>,
    /// Number of findings that are not listed because there are too many.
    omitted: u64,
    /// Which parts have checksums.
    parts: Vec<Covered>,
    inodes: u64,
    /// Bytes of data and fragment blocks, decompressed.
    content_bytes: u64,
    /// The hash tree of dm-verity behind the image.
    #[serde(skip_serializing_if = "Option::is_none")]
    verity: Option<serde_json::Value>,
}

/// An error in the image.
#[derive(Debug, Serialize)]
struct Finding<'r> {
    part: &'static str,
    /// Bytes from the start of the image.
    position: u64,
    /// The entry concerned, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<Path<'r>>,
    what: &'r str,
}

#[derive(Debug, Serialize)]
struct Covered {
    part: &'static str,
    checksummed_bytes: u64,
    unchecked_bytes: u64,
}

pub fn run(command: &Verify, global: &Global, output: &Output) -> Result<u8, Failure> {
    let root_hash = command.root_hash.as_deref().map(parse_root_hash);
    let root_hash = root_hash.transpose().map_err(not_started)?;
    let execution = execution::interruptible(global)?;
    let named = &command.place.image;
    let file = ReadFile::open(&from_directory(global, named));
    let file = file.map_err(|error| unreadable(named, error.into()))?;
    let offset = command.place.offset;
    let meter = Meter::start(global, "Checking", &execution.progress, Stage::Entries);
    let verified = verify_with(Box::new(file), offset, root_hash.as_ref(), &execution);
    drop(meter);
    let report = verified.map_err(|error| match error {
        VerifyError::Open(error) => unreadable(named, error),
        VerifyError::Cancelled => interrupted_by_user(),
        VerifyError::Panicked(message) => not_started(message),
    })?;
    if global.json {
        // This document can always be serialized.
        let text = serde_json::to_string_pretty(&Document::from(&report));
        print((text.unwrap_or_default() + "\n").as_bytes())?;
    } else {
        print(lines(&report, global.quiet).as_bytes())?;
    }
    statistics::tell(global, &execution, output)?;
    Ok(if report.findings.is_empty() { 0 } else { WRONG })
}

fn lines(report: &Report, only_findings: bool) -> String {
    let shown = |damage: &Damage| {
        let text = damage.to_string();
        let text = text.replace(|character: char| character.is_ascii_control(), "?");
        format!("wrong: {text}\n")
    };
    let mut text: String = report.findings.iter().map(shown).collect();
    if report.omitted > 0 {
        text += &format!("wrong: {} more\n", counted(report.omitted, "finding"));
    }
    if only_findings {
        return text;
    }
    text += &format!(
        "read: {}, {} of content\n",
        counted(report.inodes, "inode"),
        counted(report.content_bytes, "byte")
    );
    for part in &report.coverage {
        text += &covered(part);
    }
    if let Some(verity) = &report.verity {
        text += &format!("{}\n", hash_tree::line(verity));
    }
    if report.findings.is_empty() && report.omitted == 0 {
        text += "ok\n";
    }
    text
}

fn covered(part: &Coverage) -> String {
    let name = part.part.name();
    match (part.checksummed_bytes, part.unchecked_bytes) {
        (0, bytes) => format!("no checksum: {name}, {}\n", counted(bytes, "byte")),
        (bytes, 0) => format!("checksum: {name}, {}\n", counted(bytes, "byte")),
        (bytes, without) => format!(
            "checksum: {name}, {}; without one {}\n",
            counted(bytes, "byte"),
            counted(without, "byte")
        ),
    }
}

impl<'r> From<&'r Report> for Document<'r> {
    fn from(report: &'r Report) -> Self {
        let finding = |damage: &'r Damage| Finding {
            part: damage.part.name(),
            position: damage.position,
            path: damage.path.as_ref().map(Path::from),
            what: &damage.what,
        };
        let covered = |coverage: &Coverage| Covered {
            part: coverage.part.name(),
            checksummed_bytes: coverage.checksummed_bytes,
            unchecked_bytes: coverage.unchecked_bytes,
        };
        Document {
            schema: "hedgerow.image.verify.v1",
            sound: report.findings.is_empty(),
            findings: report.findings.iter().map(finding).collect(),
            omitted: report.omitted,
            parts: report.coverage.iter().map(covered).collect(),
            inodes: report.inodes,
            content_bytes: report.content_bytes,
            verity: report.verity.as_ref().map(hash_tree::document),
        }
    }
}
