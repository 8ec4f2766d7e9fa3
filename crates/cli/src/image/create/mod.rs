//! `hedgerow image create`: an image of any source.

mod erofs;
pub mod parts;
mod reuse;
mod source;

use super::arguments::Create;
use super::hash_tree;
use crate::environment::{from_directory, variable};
use crate::execution;
use crate::failure::{Failure, PARTIAL};
use crate::global::Global;
use crate::output::Output;
use crate::progress::Meter;
use crate::statistics;
use crate::walk::{interrupted_by_user, not_started};
use bstr::ByteSlice;
use hedgerow::image::verity::{parse_salt, VerityOptions};
use hedgerow::image::{shown_path, source_date_epoch};
use hedgerow::image::{Compressor, Node, Settings, BLOCK_BYTES};
use hedgerow::image::{CreateOptions, Created, FragmentPolicy, WriteError, HOLE_LIMIT_BLOCKS};
use hedgerow::image::{ErofsOptions, Format, Hooks, Kind, Recipe, RecipeFiles};
use hedgerow::numbers::{counted, size_bytes};
use hedgerow::walk::Patterns;
use hedgerow::{Execution, Stage};
use serde::Serialize;
use source::NamedSource;
use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The compressors as squashfs-tools list them, with the options of each.
pub const COMPRESSORS_OF_THE_KERNEL: [(&str, &[&str]); 6] = [
    (
        "gzip",
        &[
            "-Xcompression-level <1..9>",
            "-Xwindow-size <8..15>",
            "-Xstrategy <list>",
        ],
    ),
    ("lzo", &["-Xalgorithm <name>", "-Xcompression-level <1..9>"]),
    ("lz4", &["-Xhc"]),
    ("xz", &["-Xbcj <list>", "-Xdict-size <size>"]),
    ("zstd", &["-Xcompression-level <1..22>"]),
    ("lzma", &[]),
];

/// The image's file is padded to a multiple of this many bytes: a loop device would cut off the
/// rest.
const PADDING_BYTES: u64 = 4096;

pub fn run(command: &Create, global: &Global, output: &Output) -> Result<u8, Failure> {
    let execution = execution::interruptible(global)?;
    let kind = Kind::chosen(command.format.as_deref(), &command.image).map_err(not_started)?;
    let epoch = epoch_of(kind).map_err(not_started)?;
    let options = Chosen::of(command, kind, global, execution, epoch, output)?;
    let recipe = recipe_of(command, global)?;
    refuse_stream(&command.image)?;
    let source = NamedSource::of(command, global, &recipe)?;
    let place = super::place(&command.image, global, command.force)?;
    let target = super::image_file(place, &command.image).map_err(not_started)?;
    let started = Instant::now();
    let progress = Arc::clone(&options.format().execution().progress);
    let meter = Meter::start(global, "Packing", &progress, Stage::Entries);
    let change = |node| changed(node, command, epoch);
    let warn = |warning: String| output.warn(warning);
    let made = parts::made(command, epoch);
    let hooks = Hooks {
        change: &change,
        warn: &warn,
        part: command.part.map(|shard| (shard, made.as_bytes())),
    };
    let written = source.create(command, epoch, recipe, &target, options.format(), hooks);
    drop(meter);
    let created = written.map_err(unwritten)?;
    tell(
        options.format(),
        global,
        output,
        &created,
        started.elapsed(),
    )?;
    tell_omissions(&created, output);
    statistics::tell(global, options.format().execution(), output)?;
    Ok(if created.skipped.is_empty() {
        0
    } else {
        PARTIAL
    })
}

/// The format of the image, with its options.
enum Chosen {
    SquashFs(CreateOptions),
    Erofs(ErofsOptions),
}

impl Chosen {
    fn of(
        command: &Create,
        kind: Kind,
        global: &Global,
        execution: Execution,
        epoch: Option<i64>,
        output: &Output,
    ) -> Result<Self, Failure> {
        Ok(match kind {
            Kind::Erofs if command.part.is_some() => {
                return Err(not_started("only SquashFS images are made in parts"));
            }
            Kind::Erofs => Chosen::Erofs(erofs::options(command, execution, epoch)?),
            Kind::SquashFs => Chosen::SquashFs(options(command, global, execution, epoch, output)?),
        })
    }

    fn format(&self) -> Format<'_> {
        match self {
            Chosen::SquashFs(options) => options.into(),
            Chosen::Erofs(options) => options.into(),
        }
    }
}

/// How a hash tree is made, if one is wanted.
fn verity(command: &Create) -> Result<Option<VerityOptions>, Failure> {
    let salt = command.verity_salt.as_deref().map(parse_salt).transpose();
    let salt = salt.map_err(not_started)?.unwrap_or_default();
    Ok(command.verity.then_some(VerityOptions { salt }))
}

/// Whether extended attributes are stored: those of the source, or those of files.
fn stores_xattrs(command: &Create) -> bool {
    !command.no_xattrs || command.xattr_file.is_some() || command.selinux.is_some()
}

fn recipe_of(command: &Create, global: &Global) -> Result<Recipe, Failure> {
    let files = RecipeFiles {
        pack_file: command.pack_file.as_deref(),
        sort_file: command.sort_file.as_deref(),
        xattr_file: command.xattr_file.as_deref(),
        selinux: command.selinux.as_deref(),
    };
    let find = |file: &Path| from_directory(global, file);
    Recipe::read(files, !command.no_xattrs, find).map_err(not_started)
}

/// Refuses standard output, because the superblock of an image is written last.
fn refuse_stream(image: &Path) -> Result<(), Failure> {
    if image != Path::new("-") {
        return Ok(());
    }
    Err(Failure {
        hint: Some("use './-' for a file of that name".into()),
        ..not_started(
            "cannot write an image to standard output: \
             an image cannot be written as a stream",
        )
    })
}

/// Reports what could not be stored in the image.
fn tell_omissions(created: &Created, output: &Output) {
    let unstored = &created.unstored_xattrs;
    if let Some((path, name)) = &unstored.first {
        output.warn(format_args!(
            "{} cannot be stored, first '{}' of '{}'",
            counted(unstored.count, "extended attribute"),
            name.as_bstr(),
            shown_path(path)
        ));
    }
    if let Some(warning) = clamped(created) {
        output.warn(warning);
    }
    for error in &created.skipped {
        output.error(error);
    }
}

/// The warning about times that the image cannot store.
pub fn clamped(created: &Created) -> Option<String> {
    let clamped = &created.clamped_times;
    let first = shown_path(clamped.first.as_ref()?);
    let (are, they_have) = match clamped.count {
        1 => ("is", "it has"),
        _ => ("are", "they have"),
    };
    Some(format!(
        "{} {are} from before 1970 or after February 2106, first '{first}': \
         {they_have} the nearest time that SquashFS can hold",
        counted(clamped.count, "entry")
    ))
}

/// The value of `--max-holes`, in bytes.
pub fn hole_limit_bytes(word: Option<&str>, block_bytes: u32) -> Result<u64, String> {
    word.map_or(Ok(HOLE_LIMIT_BLOCKS * u64::from(block_bytes)), hole_limit)
}

fn hole_limit(word: &str) -> Result<u64, String> {
    size_bytes(word.as_bytes()).ok_or_else(|| format!("'{word}' is not a number of bytes"))
}

fn options(
    command: &Create,
    global: &Global,
    execution: Execution,
    epoch: Option<i64>,
    output: &Output,
) -> Result<CreateOptions, Failure> {
    if command.cluster_size.is_some() {
        return Err(not_started("SquashFS has no --cluster-size"));
    }
    let compressor = command.compressor.as_deref().unwrap_or("zstd");
    let compressor = Compressor::from_name(compressor).map_err(not_started)?;
    let block_bytes = block_bytes(command.block_size.as_deref().unwrap_or("128K"))?;
    let level = command.level.as_deref();
    let settings = command.settings.iter().map(String::as_str);
    let settings =
        Settings::parse(compressor, block_bytes, level, settings).map_err(not_started)?;
    Ok(CreateOptions {
        reuse: reuse::open(command, global, &settings, block_bytes, &execution, output)?,
        settings,
        block_bytes,
        fragments: if command.no_fragments {
            FragmentPolicy::Never
        } else {
            FragmentPolicy::Always
        },
        dedup: !command.no_dedup,
        hole_limit_bytes: hole_limit_bytes(command.max_holes.as_deref(), block_bytes)
            .map_err(not_started)?,
        xattrs: stores_xattrs(command),
        hard_links: !command.no_hardlinks,
        skip_unreadable: command.skip_unreadable,
        exportable: command.exportable,
        mtime_s: epoch.and_then(seconds).or(command.default_mtime),
        padding_bytes: PADDING_BYTES,
        verity: verity(command)?,
        replace: command.force,
        execution,
        ..CreateOptions::default()
    })
}

fn exclude(command: &Create) -> Patterns {
    let exclude: Vec<&[u8]> = command.exclude.iter().map(|glob| glob.as_bytes()).collect();
    Patterns::parse(&exclude.join(&b'\n'))
}

/// The failure to report if no image was made.
pub fn unwritten(error: WriteError) -> Failure {
    let hint = match &error {
        WriteError::Cancelled => return interrupted_by_user(),
        WriteError::Holes { .. } => "use --max-holes to allow more",
        error if error.to_string().ends_with("image, not a tar archive") => {
            "an image is taken from a file that is not compressed, not from a pipe"
        }
        _ => return not_started(error),
    };
    Failure {
        hint: Some(hint.into()),
        ..not_started(error)
    }
}

/// An entry with the changes that the options ask for.
fn changed(mut node: Node, command: &Create, epoch: Option<i64>) -> Node {
    let root = command.all_root.then_some(0);
    node.uid = command.set_uid.or(root).unwrap_or(node.uid);
    node.gid = command.set_gid.or(root).unwrap_or(node.gid);
    if let Some(mtime) = command.default_mtime {
        node.set_mtime(mtime.into());
    }
    if let Some(epoch) = epoch {
        node.limit_mtime(epoch);
    }
    node
}

/// The value of SOURCE_DATE_EPOCH for an image in SquashFS.
pub fn epoch() -> Result<Option<u32>, String> {
    Ok(epoch_of(Kind::SquashFs)?.and_then(seconds))
}

fn epoch_of(kind: Kind) -> Result<Option<i64>, String> {
    let word = variable("SOURCE_DATE_EPOCH").filter(|word| !word.is_empty());
    word.map(|word| source_date_epoch(&word, kind)).transpose()
}

/// The same as SquashFS holds it.
fn seconds(epoch: i64) -> Option<u32> {
    epoch.try_into().ok()
}

/// Parses the size of a block of SquashFS, such as `131072`, `128K` or `1M`.
pub fn block_bytes(word: &str) -> Result<u32, Failure> {
    erofs::power(word, "block", BLOCK_BYTES, "4K to 1M")
}

#[derive(Serialize)]
struct Document {
    schema: &'static str,
    format: &'static str,
    bytes: u64,
    inodes: u32,
    stored_files: u32,
    fragments: u32,
    compressor: &'static str,
    codecs: BTreeMap<&'static str, &'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verity: Option<serde_json::Value>,
}

pub fn tell(
    options: Format<'_>,
    global: &Global,
    output: &Output,
    created: &Created,
    elapsed: Duration,
) -> Result<(), Failure> {
    if global.json {
        let document = Document {
            schema: "hedgerow.image.create.v1",
            bytes: created.bytes,
            inodes: created.inodes,
            stored_files: created.stored_files,
            fragments: created.fragments,
            format: options.name(),
            compressor: options.compressor(),
            codecs: hedgerow::codec_versions().into_iter().collect(),
            verity: created.verity.as_ref().map(hash_tree::document),
        };
        if let Ok(text) = serde_json::to_string(&document) {
            output.data(format!("{text}\n").as_bytes());
        }
        return Ok(());
    }
    output.say(format_args!(
        "{}, {}, {} in {:.2} s",
        counted(created.inodes, "inode"),
        counted(created.stored_files, "content"),
        counted(created.bytes, "byte"),
        elapsed.as_secs_f64()
    ));
    let line = created.verity.as_ref().map(hash_tree::line);
    let told = line.map_or(Ok(()), |line| output.hand_over(line));
    told.map_err(|error| not_started(hedgerow_fs::Error::new("write", "standard error", error)))
}
