//! The limit of writing a tree: `limit SOURCE TARGET THREADS`.
//!
//! Reads all of the directory SOURCE but its `.git` into memory, then times nothing but creating
//! it again in the empty directory TARGET: mkdir a level at a time, then create, one write, fstat
//! and close of each file. No program that makes these files can be faster without fewer calls.
//! Prints one JSON object.
#![allow(clippy::print_stdout)]

use hedgerow_fs::{list_directory, lstat, read_file, read_link, Dir, FileKind};
use std::error::Error;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Entries of one directory that a thread takes at a time.
const CHUNK: usize = 32;
const FILE_LIMIT_BYTES: u64 = 4 << 30;

enum Content {
    File { bytes: Vec<u8>, executable: bool },
    Symlink(Vec<u8>),
}

struct Directory {
    /// Relative to the target, `/` between components.
    path: Vec<u8>,
    depth: usize,
    entries: Vec<(Vec<u8>, Content)>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let [source, target, threads] = arguments.as_slice() else {
        return Err("limit SOURCE TARGET THREADS".into());
    };
    let threads: usize = threads.to_str().ok_or("THREADS is not a number")?.parse()?;
    let mut directories = Vec::new();
    load(source.as_ref(), Vec::new(), 0, &mut directories)?;
    let root = Dir::open(target.as_ref())?;
    let started = Instant::now();
    make_directories(&root, &directories, threads)?;
    let made = started.elapsed();
    let files = write_files(&root, &directories, threads)?;
    println!(
        "{{\"seconds\": {:.4}, \"directories_seconds\": {:.4}, \"directories\": {}, \"files\": \
         {files}, \"threads\": {threads}}}",
        started.elapsed().as_secs_f64(),
        made.as_secs_f64(),
        directories.len() - 1,
    );
    Ok(())
}

fn load(
    source: &Path,
    path: Vec<u8>,
    depth: usize,
    directories: &mut Vec<Directory>,
) -> Result<(), Box<dyn Error>> {
    let listed = list_directory(source)?.ok_or("SOURCE is not a directory")?;
    let mut entries = Vec::new();
    let mut children = Vec::new();
    for entry in listed.into_iter().filter(|entry| entry.name != b".git") {
        let at = source.join(std::ffi::OsStr::from_bytes(&entry.name));
        let stat = lstat(&at)?.ok_or("SOURCE changes")?;
        match stat.kind {
            FileKind::Directory => children.push((at, entry.name)),
            FileKind::Symlink => {
                let text = read_link(&at)?.into_os_string();
                entries.push((entry.name, Content::Symlink(text.as_bytes().to_vec())));
            }
            _ => {
                let bytes = read_file(&at, FILE_LIMIT_BYTES)?.ok_or("SOURCE changes")?;
                let executable = stat.mode & 0o100 != 0;
                entries.push((entry.name, Content::File { bytes, executable }));
            }
        }
    }
    directories.push(Directory {
        path: path.clone(),
        depth,
        entries,
    });
    for (at, name) in children {
        let slash: &[u8] = if path.is_empty() { b"" } else { b"/" };
        load(&at, [&path, slash, &name].concat(), depth + 1, directories)?;
    }
    Ok(())
}

fn make_directories(
    root: &Dir,
    directories: &[Directory],
    threads: usize,
) -> hedgerow_fs::Result<()> {
    let deepest = directories.iter().map(|directory| directory.depth).max();
    for level in 1..=deepest.unwrap_or(0) {
        let level: Vec<_> = directories.iter().filter(|it| it.depth == level).collect();
        spread(threads, level.len(), |at| {
            let path = &level[at].path;
            let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
            let parent = &path[..(path.len() - name.len()).saturating_sub(1)];
            root.open_dir(parent)?.create_dir(name)
        })?;
    }
    Ok(())
}

fn write_files(
    root: &Dir,
    directories: &[Directory],
    threads: usize,
) -> hedgerow_fs::Result<usize> {
    let chunks: Vec<_> = directories
        .iter()
        .flat_map(|directory| {
            let chunks = directory.entries.chunks(CHUNK);
            chunks.map(move |entries| (&directory.path, entries))
        })
        .collect();
    spread(threads, chunks.len(), |at| {
        let (path, entries) = chunks[at];
        let directory = root.open_dir(path)?;
        for (name, content) in entries {
            match content {
                Content::Symlink(text) => directory.create_symlink(name, text)?,
                Content::File { bytes, executable } => {
                    write_file(&directory, name, bytes, *executable)?;
                }
            }
        }
        Ok(())
    })?;
    Ok(chunks.iter().map(|(_, entries)| entries.len()).sum())
}

fn write_file(
    directory: &Dir,
    name: &[u8],
    bytes: &[u8],
    executable: bool,
) -> hedgerow_fs::Result<()> {
    let file = directory.create(name, executable)?;
    let finish = |file: hedgerow_fs::NewFile| {
        file.write_all(bytes)?;
        file.stat()?;
        file.close()
    };
    finish(file).map_err(|source| hedgerow_fs::Error::new("write", directory.path_of(name), source))
}

/// Runs `work` for each number below `count` on `threads` threads; the first error is told.
fn spread(
    threads: usize,
    count: usize,
    work: impl Fn(usize) -> hedgerow_fs::Result<()> + Sync,
) -> hedgerow_fs::Result<()> {
    let next = AtomicUsize::new(0);
    let run = || loop {
        match next.fetch_add(1, Ordering::Relaxed) {
            at if at < count => work(at)?,
            _ => return Ok(()),
        }
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(run)).collect();
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().expect("a thread panicked"))
    })
}
