//! `hedgerow worktree list`.

use super::expiry;
use crate::failure::Failure;
use crate::global::Global;
use crate::output::Output;
use bstr::{BStr, BString, ByteSlice};
use clap::Args;
use hedgerow::display::{quoted, width};
use hedgerow::repository::{Error, Expiry};
use hedgerow::worktrees::{WorkingTree, WorktreeHead};
use hedgerow::Repository;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

#[derive(Debug, Args)]
pub struct List {
    /// Print for scripts
    #[arg(long)]
    pub porcelain: bool,
    /// Mark missing working trees unused since TIME
    #[arg(long, value_name = "TIME")]
    pub expire: Option<OsString>,
    /// End lines with NUL
    #[arg(short = 'z', long = "null")]
    pub null: bool,
}

pub fn run(
    command: &List,
    repository: &Repository,
    global: &Global,
    output: &Output,
) -> Result<(), Failure> {
    let is_verbose = global.verbose > 0;
    let expiry = expiry(command.expire.as_deref())?;
    if is_verbose && command.porcelain {
        return Err(Failure::fatal(
            "options '--verbose' and '--porcelain' cannot be used together",
        ));
    }
    if command.null && !command.porcelain {
        return Err(Failure::fatal("the option '-z' requires '--porcelain'"));
    }
    let mut trees = repository.worktrees()?;
    if let Some(linked) = trees.get_mut(1..) {
        linked.sort_by(|a, b| a.path.as_os_str().cmp(b.path.as_os_str()));
    }
    let text = if command.porcelain {
        let end = if command.null { 0 } else { b'\n' };
        porcelain(repository, &trees, expiry, end)?
    } else {
        aligned(repository, &trees, expiry, is_verbose)?
    };
    output.data(&text);
    Ok(())
}

fn porcelain(
    repository: &Repository,
    trees: &[WorkingTree],
    expiry: Expiry,
    end: u8,
) -> Result<Vec<u8>, Error> {
    let mut text = Vec::new();
    for tree in trees {
        let mut line = |parts: &[&[u8]]| {
            parts.iter().for_each(|part| text.extend_from_slice(part));
            text.push(end);
        };
        line(&[b"worktree ", tree.path.as_os_str().as_bytes()]);
        if tree.is_bare {
            line(&[b"bare"]);
        } else {
            let id = tree.head.id().unwrap_or(repository.null_id());
            line(&[b"HEAD ", id.to_string().as_bytes()]);
            match &tree.head {
                WorktreeHead::Detached(_) => line(&[b"detached"]),
                WorktreeHead::Branch(name, _) => line(&[b"branch ", name]),
                WorktreeHead::Broken => {}
            }
        }
        match tree.lock_reason()? {
            Some(reason) if reason.is_empty() => line(&[b"locked"]),
            Some(reason) if end == 0 => line(&[b"locked ", &reason]),
            Some(reason) => {
                let high = repository.settings().quote_path;
                line(&[b"locked ", &quoted(&reason, high)]);
            }
            None => {}
        }
        if let Some(reason) = tree.prune_reason(repository, expiry)? {
            line(&[b"prunable ", reason.as_bytes()]);
        }
        line(&[]);
    }
    Ok(text)
}

/// A line for each working tree; the columns begin at the same places.
fn aligned(
    repository: &Repository,
    trees: &[WorkingTree],
    expiry: Expiry,
    is_verbose: bool,
) -> Result<Vec<u8>, Error> {
    let high = repository.settings().quote_path;
    let mut rows = Vec::new();
    for tree in trees {
        let path = quoted(tree.path.as_os_str().as_bytes().as_bstr(), high);
        let id = tree.head.id().unwrap_or(repository.null_id());
        rows.push((BString::from(path.to_vec()), repository.short_id(&id)?));
    }
    let columns = |path: &BString| width(path.as_bstr());
    let path_width = rows
        .iter()
        .map(|(path, _)| columns(path))
        .max()
        .unwrap_or(0);
    let id_width = rows.iter().map(|(_, id)| id.len()).max().unwrap_or(0);
    let mut text = Vec::new();
    for (tree, (path, id)) in trees.iter().zip(&rows) {
        text.extend_from_slice(path);
        let gap = 1 + path_width - columns(path);
        text.extend(std::iter::repeat_n(b' ', gap));
        if tree.is_bare {
            text.extend_from_slice(b"(bare)");
        } else {
            text.extend_from_slice(format!("{id:id_width$} ").as_bytes());
            text.extend_from_slice(&shown_head(repository, &tree.head));
        }
        let locked = tree.lock_reason()?;
        note(
            &mut text,
            "locked",
            locked.as_ref().map(|it| it.as_bstr()),
            is_verbose,
        );
        if tree.is_mounted()? == Some(false) {
            note(&mut text, "unmounted", Some("".into()), false);
        }
        let prunable = tree.prune_reason(repository, expiry)?;
        let prunable = prunable.as_ref().map(|reason| reason.as_str().into());
        note(&mut text, "prunable", prunable, is_verbose);
        text.push(b'\n');
    }
    Ok(text)
}

fn shown_head(repository: &Repository, head: &WorktreeHead) -> BString {
    match head {
        WorktreeHead::Detached(_) => "(detached HEAD)".into(),
        WorktreeHead::Branch(name, _) => {
            let short = repository.shorten_reference(name.as_ref());
            [b"[", &short[..], b"]"].concat().into()
        }
        WorktreeHead::Broken => "(error)".into(),
    }
}

fn note(text: &mut Vec<u8>, word: &str, reason: Option<&BStr>, is_verbose: bool) {
    match reason {
        Some(reason) if is_verbose && !reason.is_empty() => {
            text.extend_from_slice(format!("\n\t{word}: ").as_bytes());
            text.extend_from_slice(reason);
        }
        Some(_) => text.extend_from_slice(format!(" {word}").as_bytes()),
        None => {}
    }
}
