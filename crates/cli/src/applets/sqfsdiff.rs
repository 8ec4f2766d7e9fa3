//! `sqfsdiff`: compares two images.

use super::console::{print_names, unreadable, Console};
use clap::{CommandFactory, Parser};
use hedgerow::image::Superblock;
use hedgerow::image::{diff, nodes_of_image, Aspects, Difference, Image, Told};
use hedgerow::plumbing::tree::NodeKind;
use hedgerow::plumbing::writer::{extract, ExtractOptions, XattrRule};
use hedgerow::{CancelToken, Execution};
use hedgerow_fs::Dir;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub const CONSOLE: Console = Console {
    name: "sqfsdiff",
    failed: TROUBLE,
};
/// The exit codes, as those of diff(1).
const DIFFERENT: u8 = 1;
const TROUBLE: u8 = 2;

/// Compare two SquashFS images
///
/// Prints a line for each difference. The exit code is 0 if there is none, 1 if there are some, and
/// 2 if something goes wrong.
#[derive(Debug, Parser)]
#[command(name = "sqfsdiff", version = super::console::VERSION)]
struct Arguments {
    /// The first image
    #[arg(short = 'a', long, value_name = "IMAGE")]
    old: PathBuf,
    /// The second image
    #[arg(short = 'b', long, value_name = "IMAGE")]
    new: PathBuf,
    /// Do not compare contents
    #[arg(short = 'C', long)]
    no_contents: bool,
    /// Do not compare owners
    #[arg(short = 'O', long)]
    no_owner: bool,
    /// Do not compare permissions
    #[arg(short = 'P', long)]
    no_permissions: bool,
    /// Compare times
    #[arg(short = 'T', long)]
    timestamps: bool,
    /// Compare inode numbers
    #[arg(short = 'I', long)]
    inode_num: bool,
    /// Compare the superblocks too
    #[arg(short = 'S', long = "super")]
    superblock: bool,
    /// Extract differing files to the directories 'old' and 'new' below PATH
    #[arg(short, long, value_name = "PATH")]
    extract: Option<PathBuf>,
}

/// The definition of the options.
pub fn command() -> clap::Command {
    Arguments::command()
}

pub fn run(words: Vec<OsString>) -> Result<u8, String> {
    match CONSOLE.parse(words) {
        Ok(arguments) => compare(&arguments),
        Err(code) => Ok(code),
    }
}

fn compare(arguments: &Arguments) -> Result<u8, String> {
    let interrupted = hedgerow_fs::catch_interrupts().map_err(|error| error.to_string())?;
    let execution = Execution {
        cancel: CancelToken::from_static(interrupted),
        ..Execution::default()
    };
    let open = |path: &Path| {
        let opened = Image::open(path, 0).map(Arc::new);
        opened.map_err(|error| unreadable(path, error))
    };
    let images = [&open(&arguments.old)?, &open(&arguments.new)?];
    let aspects = Aspects {
        contents: !arguments.no_contents,
        mode: !arguments.no_permissions,
        owner: !arguments.no_owner,
        mtime: arguments.timestamps,
        xattrs: false,
        links: false,
        inodes: arguments.inode_num,
    };
    let mut code = 0;
    let mut differing: [Vec<Vec<u8>>; 2] = Default::default();
    let mut text = Vec::new();
    let compared = diff(images, aspects, &execution, |path, told| match told {
        Told::Different(difference) => {
            code = code.max(DIFFERENT);
            text.extend_from_slice(&line(path, &difference));
            let [old, new] = &mut differing;
            match difference {
                Difference::OnlyFirst => old.push(path.to_vec()),
                Difference::OnlySecond => new.push(path.to_vec()),
                Difference::Size(..) | Difference::Content => {
                    old.push(path.to_vec());
                    new.push(path.to_vec());
                }
                _ => {}
            }
        }
        Told::Unreadable(_, error) => {
            code = TROUBLE;
            CONSOLE.complain(error);
        }
    });
    compared.map_err(|error| error.to_string())?;
    if arguments.superblock {
        let lines = superblocks(images[0].superblock(), images[1].superblock());
        code = code.max(if lines.is_empty() { 0 } else { DIFFERENT });
        text.extend_from_slice(lines.as_bytes());
    }
    print_names(text)?;
    if let Some(target) = &arguments.extract {
        for (side, name) in ["old", "new"].into_iter().enumerate() {
            take_out(
                images[side],
                &differing[side],
                &target.join(name),
                &execution,
            )?;
        }
    }
    Ok(code)
}

fn line(path: &[u8], difference: &Difference) -> Vec<u8> {
    let (before, behind): (&[u8], &[u8]) = match difference {
        Difference::OnlyFirst => (b"< ", b""),
        Difference::OnlySecond => (b"> ", b""),
        Difference::Kind(..) => (b"/", b" has a different type"),
        Difference::Mode(..) => (b"/", b" has different permissions"),
        Difference::Owner(..) => (b"/", b" has different ownership"),
        Difference::Mtime(..) | Difference::MtimeNs(..) => (b"/", b" has a different timestamp"),
        Difference::Size(..) | Difference::Content => (b"regular file /", b" differs"),
        Difference::Target => (b"/", b" has a different link target"),
        Difference::Device(..) => (b"/", b" has different device number"),
        Difference::Number(..) => (b"/", b" has a different inode number"),
        Difference::Form(_, true) => (b"/", b" has an extended type"),
        Difference::Form(..) => (b"/", b" has a basic type"),
        Difference::Xattrs | Difference::Links(..) => (b"/", b" differs"),
    };
    [before, path, behind, b"\n"].concat()
}

/// The differences between the superblocks, a line for each field.
fn superblocks(first: &Superblock, second: &Superblock) -> String {
    let fields = |block: &Superblock| {
        [
            ("inode count", block.inode_count.into()),
            ("modification time", block.mod_time.into()),
            ("block size", block.block_size.into()),
            ("fragment count", block.fragment_count.into()),
            ("compressor", block.compressor.into()),
            ("flags", block.flags.into()),
            ("id count", block.id_count.into()),
            ("root inode", block.root_inode.0),
            ("bytes used", block.bytes_used),
            ("id table start", block.id_table_start),
            ("xattr id table start", block.xattr_id_table_start),
            ("inode table start", block.inode_table_start),
            ("directory table start", block.directory_table_start),
            ("fragment table start", block.fragment_table_start),
            ("export table start", block.export_table_start),
        ]
    };
    let pairs: Vec<(_, (&str, u64))> = fields(first).into_iter().zip(fields(second)).collect();
    let differing = pairs.into_iter().filter(|(first, second)| first != second);
    let lines =
        differing.map(|((name, a), (_, b)): ((&str, u64), _)| format!("{name}: {a} | {b}\n"));
    lines.collect()
}

/// Extracts the entries at `paths`, regular files and directories, to the directory at `target`.
fn take_out(
    image: &Arc<Image>,
    paths: &[Vec<u8>],
    target: &Path,
    execution: &Execution,
) -> Result<(), String> {
    let text = |error: hedgerow_fs::Error| error.to_string();
    hedgerow_fs::create_directories(target).map_err(text)?;
    if paths.is_empty() {
        return Ok(());
    }
    let root = Dir::open(target).map_err(text)?;
    let paths: Vec<&[u8]> = paths.iter().map(Vec::as_slice).collect();
    let nodes = nodes_of_image(image, &paths).map_err(|error| error.to_string())?;
    let nodes = nodes.filter(|node| match node {
        Ok(node) => matches!(node.kind, NodeKind::File | NodeKind::Directory),
        Err(_) => true,
    });
    let options = ExtractOptions {
        execution: execution.clone(),
        owners: false,
        setuid_anyway: false,
        devices: true,
        xattrs: XattrRule::None,
        permissions: false,
        times: false,
        replace: true,
        root_attributes: false,
    };
    let mut first = None;
    let extracted = extract(&root, nodes, &options, |failed| {
        first.get_or_insert(failed.problem.to_string());
    });
    extracted.map_err(|error| error.to_string())?;
    first.map_or(Ok(()), Err)
}
