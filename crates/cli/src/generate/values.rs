//! The values that an option or an operand may have, by what its help calls it.

use crate::arguments::Arguments;
use crate::environment;
use bstr::{BString, ByteSlice};
use clap::{Arg, Parser};
use hedgerow::image::{Body, Image, NodeKind};
use hedgerow::Repository;
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// The compressors of images; the tools have those of SquashFS.
const COMPRESSORS: [&str; 9] = [
    "gzip", "xz", "lzma", "lzo", "lz4", "zstd", "lz4hc", "deflate", "none",
];
const OF_SQUASHFS: usize = 6;

/// What is to be completed.
pub struct Request<'r> {
    pub arg: &'r Arg,
    /// What of the word is not the value: `--source=`.
    pub prefix: &'r [u8],
    /// The value as far as it was typed.
    pub value: &'r [u8],
    /// The operands before it.
    pub operands: &'r [OsString],
    /// A `--` was before it.
    pub only_paths: bool,
    /// The values of `-C`.
    pub directories: &'r [PathBuf],
}

/// Lines for the shell.
#[derive(Default)]
pub struct Candidates {
    lines: Vec<(BString, Option<String>)>,
    /// What the shell is told to do besides.
    orders: Vec<&'static str>,
}

impl Candidates {
    pub fn add(&mut self, value: impl AsRef<[u8]>, about: Option<&str>) {
        // Shells read lines; a name with a line end in it cannot be shown to them.
        let is_line = !value.as_ref().contains(&b'\n') && !value.as_ref().contains(&b'\t');
        if is_line {
            let about = about.and_then(|it| it.lines().next()).map(str::to_owned);
            self.lines.push((value.as_ref().into(), about));
        }
    }

    fn order(&mut self, order: &'static str) {
        self.orders.push(order);
    }

    /// Those that start with what was typed.
    pub fn starting_with(self, start: &[u8]) -> Vec<u8> {
        let mut text = Vec::new();
        let mut seen = HashSet::new();
        let fitting = self.lines.iter().filter(|it| it.0.starts_with(start));
        for (value, about) in fitting.filter(|it| seen.insert(&it.0)) {
            text.extend_from_slice(value);
            if let Some(about) = about {
                text.push(b'\t');
                text.extend_from_slice(about.as_bytes());
            }
            text.push(b'\n');
        }
        for order in self.orders {
            text.extend_from_slice(format!(":{order}\n").as_bytes());
        }
        text
    }
}

/// Adds what `request` may become. What cannot be found out gives no candidates: a shell has no
/// place for errors.
pub fn add(request: &Request<'_>, candidates: &mut Candidates) {
    let prefixed = |value: &[u8]| [request.prefix, value].concat();
    let possible = request.arg.get_possible_values();
    for value in possible.iter().filter(|it| !it.is_hide_set()) {
        let about = value.get_help().map(ToString::to_string);
        candidates.add(prefixed(value.get_name().as_bytes()), about.as_deref());
    }
    let names = request.arg.get_value_names().unwrap_or_default();
    if request.arg.get_id() == "compressor" {
        let is_own = names.iter().any(|name| name == "COMPRESSOR");
        let each = COMPRESSORS.iter().take(if is_own {
            COMPRESSORS.len()
        } else {
            OF_SQUASHFS
        });
        each.for_each(|name| candidates.add(prefixed(name.as_bytes()), None));
        return;
    }
    for kind in names.iter().flat_map(|name| name.split('|')) {
        add_kind(kind, request, candidates);
    }
}

fn add_kind(kind: &str, request: &Request<'_>, candidates: &mut Candidates) {
    let mut add = |name: &[u8], about: &str| {
        candidates.add([request.prefix, name].concat(), Some(about));
    };
    match kind {
        "auto" | "all" | "direct" | "inherit" => add(kind.as_bytes(), ""),
        "BRANCH" => branches(request, &mut add),
        "COMMIT" | "COMMIT-ISH" | "HAVE" | "OBJECT" | "REVISION" | "TREE" | "TREE-ISH" | "WANT"
            if !request.only_paths =>
        {
            revisions(request, b"", &mut add);
        }
        "REMOTE" => {
            let remotes = repository(request).map(|it| it.remotes());
            let remotes = remotes.unwrap_or_default();
            remotes.iter().for_each(|name| add(name, "remote"));
        }
        "STASH" => stashes(request, &mut add),
        "WORKTREE" => worktrees(request, &mut add),
        "SOURCE" => revisions(request, b"git:", &mut add),
        _ => {}
    }
    match kind {
        "PATH" if members(request, candidates) => {}
        "A" | "B" | "FILE" | "IMAGE" | "OLD_IMAGE" | "PACK" | "PATH" | "PATHSPEC" | "PLOT"
        | "SOURCE" | "SQFSFILE" => candidates.order("files"),
        "DIR" | "DIRECTORY" | "REMOTE" | "REPOSITORY" | "WORKTREE" => {
            candidates.order("directories")
        }
        _ => {}
    }
}

/// The repository that the command would use.
fn repository(request: &Request<'_>) -> Option<Repository> {
    let options = request.directories.iter();
    let options = options.flat_map(|it| [OsStr::new("-C"), it.as_os_str()]);
    // Options alone are refused; what is asked for does not matter.
    let words = ["hedgerow", "--version"].map(OsStr::new).into_iter();
    let words = words.chain(options);
    let global = Arguments::try_parse_from(words).ok()?.options.global;
    let environment = environment::of_git(&global).ok()?;
    Repository::discover(&environment).ok()
}

type Add<'a> = dyn FnMut(&[u8], &str) + 'a;

/// Short names of the references below `prefix`.
fn short_names(repository: &Repository, prefix: &str) -> Vec<BString> {
    let found = repository.references_below(prefix.into());
    let found = found.unwrap_or_default();
    let names = found.iter().map(|it| it.name[prefix.len()..].into());
    names.collect()
}

/// Branches, and those of remotes by the name that a new branch would get.
fn branches(request: &Request<'_>, add: &mut Add<'_>) {
    let Some(repository) = repository(request) else {
        return;
    };
    let local = short_names(&repository, "refs/heads/");
    local.iter().for_each(|name| add(name, "branch"));
    let mut remote: Vec<BString> = short_names(&repository, "refs/remotes/");
    for name in &mut remote {
        let end = name.find_byte(b'/').map_or(0, |at| at + 1);
        name.drain(..end);
    }
    remote.sort();
    remote.dedup();
    remote.retain(|name| *name != "HEAD" && !local.contains(name));
    let each = remote.iter();
    each.for_each(|name| add(name, "branch of a remote"));
}

/// Everything that names a commit, with `before` in front of it.
fn revisions(request: &Request<'_>, before: &[u8], add: &mut Add<'_>) {
    if !request.value.starts_with(before) {
        if before.starts_with(request.value) && repository(request).is_some() {
            add(before, "a commit or a tree");
        }
        return;
    }
    let Some(repository) = repository(request) else {
        return;
    };
    // What comes after `..` in a range, and behind `^`, is a revision, too.
    let typed = &request.value[before.len()..];
    let start = typed.rfind("..").map_or(0, |at| at + 2);
    let start = start
        + typed[start..]
            .iter()
            .take_while(|byte| **byte == b'.')
            .count();
    let start = start + usize::from(typed[start..].starts_with(b"^"));
    let before = &request.value[..before.len() + start];
    let mut put = |name: &[u8], about: &str| add(&[before, name].concat(), about);
    put(b"HEAD", "what is checked out");
    for (prefix, about) in [
        ("refs/heads/", "branch"),
        ("refs/tags/", "tag"),
        ("refs/remotes/", "branch of a remote"),
    ] {
        let names = short_names(&repository, prefix);
        names.iter().for_each(|name| put(name, about));
    }
    if repository
        .references_below("refs/stash".into())
        .is_ok_and(|it| !it.is_empty())
    {
        put(b"stash", "the newest entry");
    }
}

fn stashes(request: &Request<'_>, add: &mut Add<'_>) {
    let entries = repository(request).and_then(|it| it.reflog(hedgerow::stash::STASH.into()).ok());
    for (number, entry) in entries.unwrap_or_default().iter().enumerate() {
        let name = format!("stash@{{{number}}}");
        add(name.as_bytes(), &entry.message.to_str_lossy());
    }
}

fn worktrees(request: &Request<'_>, add: &mut Add<'_>) {
    let trees = repository(request).and_then(|it| it.worktrees().ok());
    for tree in trees.unwrap_or_default().iter().skip(1) {
        add(tree.path.as_os_str().as_bytes(), "working tree");
    }
}

/// The members of the image that is the first operand: those of the directory that was typed.
/// Returns whether there is such an image.
fn members(request: &Request<'_>, candidates: &mut Candidates) -> bool {
    let Some(path) = request.operands.first() else {
        return false;
    };
    let directory: PathBuf = request.directories.iter().collect();
    let Ok(image) = Image::open(&directory.join(path), 0) else {
        return false;
    };
    let end = request.value.rfind_byte(b'/').map_or(0, |at| at + 1);
    let typed = &request.value[..end];
    let Ok(inode) = image.find(typed) else {
        return true;
    };
    let Body::Directory(directory) = &inode.body else {
        return true;
    };
    let listing = image.listing(directory).unwrap_or_default();
    for (name, entry) in listing.iter() {
        let is_directory = entry.kind == NodeKind::Directory;
        let slash: &[u8] = if is_directory { b"/" } else { b"" };
        candidates.add([request.prefix, typed, name, slash].concat(), None);
    }
    true
}
