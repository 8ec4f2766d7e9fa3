//! The limit of packing a tree: `pack_limit DIRECTORY BLOCK_BYTES THREADS SETTINGS [SCRATCH]`.
//!
//! Reads all files below DIRECTORY into memory, each content once, and cuts them into blocks, the
//! tails together. Then times nothing but compressing these blocks, and decompressing them again,
//! on THREADS threads. No packer with this compressor can be faster. SETTINGS are a compressor and
//! its options in one word, as in `gzip,level=9`. Prints one JSON object.
//!
//! With SCRATCH, a file that must not exist, there is one thread, and it is told what each file and
//! each block cost, in nanoseconds of CPU: `files` are bytes, reading, hashing; `blocks` are the
//! number of the file, bytes, compressing, stored bytes, writing them to SCRATCH; `plan_ns` is all
//! of the planning. That is what bench/simulate.py needs.
#![allow(clippy::print_stdout)]

use hedgerow_codec::block::{BlockCompressor, BlockDecompressor, Compressor, Settings};
use hedgerow_fs::thread_time::{ThreadId, ThreadMeter};
use hedgerow_fs::{list_directory, lstat, read_file, FileKind, OutputFile};
use std::collections::{HashMap, HashSet};
use std::error::Error;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

const FILE_LIMIT_BYTES: u64 = 4 << 30;

/// A block, and the number of the file with which it became full.
struct Block {
    file: usize,
    content: Arc<Vec<u8>>,
    range: Range<usize>,
}

impl Block {
    fn bytes(&self) -> &[u8] {
        self.content.get(self.range.clone()).unwrap_or_default()
    }
}

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (given, scratch) = match arguments.as_slice() {
        [given @ .., scratch] if given.len() == 4 => (given, Some(scratch)),
        given => (given, None),
    };
    let [directory, block_bytes, threads, settings] = given else {
        return Err("pack_limit DIRECTORY BLOCK_BYTES THREADS SETTINGS [SCRATCH]".into());
    };
    let block_bytes: u32 = block_bytes.parse()?;
    let mut words = settings.split(',');
    let compressor = Compressor::from_name(words.next().unwrap_or_default())?;
    let settings = Settings::parse(compressor, block_bytes, None, words)?;
    let mut files = Vec::new();
    list(Path::new(directory), &mut files)?;
    match scratch {
        Some(scratch) => costs(&files, block_bytes as usize, &settings, scratch.as_ref()),
        None => limit(&files, block_bytes as usize, &settings, threads.parse()?),
    }
}

/// All regular files in canonical order.
fn list(directory: &Path, files: &mut Vec<PathBuf>) -> Outcome<()> {
    let mut entries = list_directory(directory)?.ok_or("DIRECTORY is not one")?;
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    for entry in entries {
        let path = directory.join(std::ffi::OsStr::from_bytes(&entry.name));
        match lstat(&path)?.ok_or("DIRECTORY changes")?.kind {
            FileKind::Directory => list(&path, files)?,
            FileKind::File => files.push(path),
            _ => {}
        }
    }
    Ok(())
}

fn read(path: &Path) -> Outcome<Vec<u8>> {
    Ok(read_file(path, FILE_LIMIT_BYTES)?.ok_or("DIRECTORY changes")?)
}

/// Cuts contents into blocks; what does not fill one goes together with others of its kind.
struct Cutter {
    block_bytes: usize,
    tails: Vec<u8>,
    blocks: Vec<Block>,
}

impl Cutter {
    fn new(block_bytes: usize) -> Self {
        Cutter {
            block_bytes,
            tails: Vec::new(),
            blocks: Vec::new(),
        }
    }

    fn cut(&mut self, file: usize, content: Vec<u8>) {
        let content = Arc::new(content);
        let end = content.len() - content.len() % self.block_bytes;
        let starts = (0..end).step_by(self.block_bytes);
        self.blocks.extend(starts.map(|start| Block {
            file,
            content: Arc::clone(&content),
            range: start..start + self.block_bytes,
        }));
        let tail = content.get(end..).unwrap_or_default();
        if self.tails.len() + tail.len() > self.block_bytes {
            self.end(file);
        }
        self.tails.extend_from_slice(tail);
    }

    fn end(&mut self, file: usize) {
        if !self.tails.is_empty() {
            let tails = Vec::with_capacity(self.block_bytes);
            let content = Arc::new(std::mem::replace(&mut self.tails, tails));
            let range = 0..content.len();
            self.blocks.push(Block {
                file,
                content,
                range,
            });
        }
    }
}

fn limit(
    files: &[PathBuf],
    block_bytes: usize,
    settings: &Settings,
    threads: usize,
) -> Outcome<()> {
    let mut cutter = Cutter::new(block_bytes);
    let mut known = HashSet::new();
    let mut content_bytes = 0;
    for (number, path) in files.iter().enumerate() {
        let content = read(path)?;
        if known.insert(blake3::hash(&content)) {
            content_bytes += content.len();
            cutter.cut(number, content);
        }
    }
    cutter.end(files.len());
    let blocks = cutter.blocks;
    let (stored, times) = spread(threads, &blocks, |blocks| compressed(settings, blocks))?;
    let (back, back_times) = spread(threads, &stored, |stored| {
        decompressed(settings.compressor(), block_bytes, stored)
    })?;
    let stored_bytes: usize = stored.iter().map(|(_, bytes)| bytes.len()).sum();
    if back.into_iter().sum::<usize>() != content_bytes {
        return Err("not all came back".into());
    }
    println!(
        "{{\"seconds\": {:.4}, \"cpu_seconds\": {:.4}, \"back_seconds\": {:.4}, \
         \"back_cpu_seconds\": {:.4}, \"threads\": {threads}, \"blocks\": {}, \
         \"content_bytes\": {content_bytes}, \"stored_bytes\": {stored_bytes}}}",
        times.wall.as_secs_f64(),
        times.cpu.as_secs_f64(),
        back_times.wall.as_secs_f64(),
        back_times.cpu.as_secs_f64(),
        blocks.len(),
    );
    Ok(())
}

/// Whether it is compressed, and the bytes.
type Stored = (bool, Vec<u8>);

fn compressed<'b>(
    settings: &Settings,
    blocks: impl Iterator<Item = &'b Block>,
) -> Outcome<Vec<Stored>> {
    let mut compressor = BlockCompressor::new(settings)?;
    let mut room = Vec::new();
    blocks
        .map(|block| {
            room.resize(block.bytes().len(), 0);
            let length = compressor.compress(block.bytes(), &mut room)?;
            let bytes = length.and_then(|length| room.get(..length));
            Ok((bytes.is_some(), bytes.unwrap_or(block.bytes()).to_vec()))
        })
        .collect()
}

/// How many bytes came out of each.
fn decompressed<'b>(
    compressor: Compressor,
    block_bytes: usize,
    stored: impl Iterator<Item = &'b Stored>,
) -> Outcome<Vec<usize>> {
    let mut decompressor = BlockDecompressor::new(compressor)?;
    let mut room = vec![0; block_bytes];
    stored
        .map(|(is_compressed, bytes)| match is_compressed {
            true => Ok(decompressor.decompress(bytes, &mut room)?),
            false => Ok(bytes.len()),
        })
        .collect()
}

/// What something took, on all threads together.
struct Times {
    wall: Duration,
    cpu: Duration,
}

/// Has `work` take items, each by one of `threads` threads, whoever is free. What comes out is in no
/// order.
fn spread<I: Sync, O: Send>(
    threads: usize,
    items: &[I],
    work: impl Fn(&mut dyn Iterator<Item = &I>) -> Outcome<Vec<O>> + Sync,
) -> Outcome<(Vec<O>, Times)> {
    let next = AtomicUsize::new(0);
    let run = || {
        let take = || items.get(next.fetch_add(1, Ordering::Relaxed));
        let done = work(&mut std::iter::from_fn(take))?;
        let time = ThreadMeter::new(ThreadId::current()).read();
        Ok::<_, Box<dyn Error + Send + Sync>>((done, time.ok_or("no clock")?.cpu))
    };
    let started = Instant::now();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(run)).collect();
        let (mut all, mut cpu) = (Vec::new(), Duration::ZERO);
        for thread in threads {
            let (done, time) = thread.join().map_err(|_| "a thread panicked")??;
            all.extend(done);
            cpu += time;
        }
        let wall = started.elapsed();
        Ok((all, Times { wall, cpu }))
    })
}

fn costs(
    files: &[PathBuf],
    block_bytes: usize,
    settings: &Settings,
    scratch: &Path,
) -> Outcome<()> {
    let clock = ThreadMeter::new(ThreadId::current());
    let now = || {
        clock
            .read()
            .map(|time| time.cpu.as_nanos())
            .ok_or("no clock")
    };
    let mut compressor = BlockCompressor::new(settings)?;
    let (mut room, mut position) = (Vec::new(), 0);
    let output = OutputFile::create(scratch)?;
    let mut cutter = Cutter::new(block_bytes);
    let mut known = HashMap::new();
    let (mut read_costs, mut block_costs) = (Vec::new(), Vec::new());
    let mut plan_ns = 0;
    for (number, path) in files.iter().enumerate() {
        let start = now()?;
        let content = read(path)?;
        let read = now()?;
        let tail = content.len() - content.len() % block_bytes;
        let key = (content.len(), blake3::hash(&content));
        if tail > 0 {
            std::hint::black_box(blake3::hash(content.get(tail..).unwrap_or_default()));
        }
        let hashed = now()?;
        read_costs.push(format!(
            "[{},{},{}]",
            content.len(),
            read - start,
            hashed - read
        ));
        if known.insert(key, number).is_none() {
            cutter.cut(number, content);
        }
        if number + 1 == files.len() {
            cutter.end(number);
        }
        plan_ns += now()? - hashed;
        for block in cutter.blocks.drain(..) {
            let start = now()?;
            room.resize(block.bytes().len(), 0);
            let length = compressor.compress(block.bytes(), &mut room)?;
            let bytes = length.and_then(|length| room.get(..length));
            let bytes = bytes.unwrap_or(block.bytes());
            let middle = now()?;
            output.write_at(bytes, position)?;
            position += bytes.len() as u64;
            block_costs.push(format!(
                "[{},{},{},{},{}]",
                block.file,
                block.bytes().len(),
                middle - start,
                bytes.len(),
                now()? - middle
            ));
        }
    }
    println!(
        "{{\"settings\": \"{settings}\", \"block_bytes\": {block_bytes}, \"plan_ns\": {plan_ns},\n\
         \"files\": [{}],\n\"blocks\": [{}]}}",
        read_costs.join(","),
        block_costs.join(","),
    );
    Ok(())
}
