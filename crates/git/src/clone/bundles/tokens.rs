//! Bundles with creation tokens, as git goes through them: the newest first, and older ones as long as
//! prerequisites are missing. So a clone whose newest bundle is whole fetches that alone, however long the
//! list is. What a bundle needs stands in its header, so that the next one is fetched while it arrives.

use super::{ahead, unfinished, BundleHelper, AT_A_TIME, BUNDLES_LIMIT, SIGNATURE};
use bstr::{BStr, BString, ByteSlice};
use gix_hash::ObjectId;
use hedgerow_fs::threads::together;
use hedgerow_fs::ReadFile;
use hedgerow_pack::{ObjectStore, StoreOptions};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::OnceLock;
use std::time::Duration;

/// A bundle with a longer header is left to git.
const HEADER_LIMIT_BYTES: usize = 256 << 10;
/// How often is looked for the header of a bundle that arrives.
const PAUSE: Duration = Duration::from_millis(10);

/// The bundles that git wants in turn, from that which it asks for.
struct Chain {
    bundles: Vec<(BString, PathBuf)>,
    /// Of each that was fetched, whether it could be had.
    ends: Vec<OnceLock<bool>>,
    /// Git needs no more.
    is_over: AtomicBool,
}

impl Chain {
    /// Whether git will ask for the bundle after the one with this `number`, as soon as that is known.
    fn goes_on(&self, number: usize) -> bool {
        let (Some((_, path)), Some(end)) = (self.bundles.get(number), self.ends.get(number)) else {
            return false;
        };
        while !self.is_over.load(Ordering::Relaxed) {
            let end = end.get();
            let needs = lacks_prerequisites(path, path);
            match needs.or_else(|| lacks_prerequisites(&unfinished(path), path)) {
                Some(needs) => return needs || end == Some(&false),
                None if end.is_some() => return end == Some(&false),
                None => std::thread::sleep(PAUSE),
            }
        }
        false
    }
}

impl BundleHelper {
    /// Notes in which order git will ask for the bundles at `uris`.
    pub(super) fn plan(&self, uris: &[BString]) {
        let uris = uris.iter().take(BUNDLES_LIMIT);
        self.keep(uris.map(|uri| [uri, &b"\n"[..]].concat()));
    }

    /// Fetches the bundle at `uri` into `file`, and those of the `older` ones that git needs with it, which
    /// are recorded. Their files are numbered from `first`. Returns whether `file` is there.
    pub(super) fn fetch_newest_first(
        &self,
        uri: &BStr,
        older: &[BString],
        first: usize,
        file: &Path,
    ) -> bool {
        let older = older.iter().enumerate();
        let older = older.map(|(number, uri)| (uri.clone(), ahead(file, first + number)));
        let bundles: Vec<_> = [(uri.to_owned(), file.to_owned())]
            .into_iter()
            .chain(older)
            .collect();
        let chain = Chain {
            ends: bundles.iter().map(|_| OnceLock::new()).collect(),
            bundles,
            is_over: AtomicBool::new(false),
        };
        let next = AtomicUsize::new(0);
        let work = || {
            let mut lines = Vec::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let bundle = chain.bundles.get(number).zip(chain.ends.get(number));
                let Some(((uri, path), end)) = bundle else {
                    return lines;
                };
                let is_had = match number.checked_sub(1) {
                    None => self.fetch(uri.as_bstr(), path),
                    Some(before) if chain.goes_on(before) => {
                        let line = self.fetch_one_ahead(uri, path);
                        let is_had = line.is_some();
                        lines.extend(line);
                        is_had
                    }
                    Some(_) => {
                        chain.is_over.store(true, Ordering::Relaxed);
                        return lines;
                    }
                };
                let _ = end.set(is_had);
            }
        };
        let others = chain.bundles.len().min(AT_A_TIME) - 1;
        let lines = together("bundles", others, work);
        self.keep(lines.into_iter().flatten().flatten());
        chain.ends.first().and_then(OnceLock::get) == Some(&true)
    }
}

/// The bundles that git may ask for after that at `uri`, as the `content` of a record has them, but for those
/// that are `recorded` as fetched.
pub(super) fn older(content: &[u8], uri: &BStr, recorded: &[(BString, PathBuf)]) -> Vec<BString> {
    // What was fetched ahead has a path behind a space.
    let planned = content.lines().filter(|line| !line.contains(&b' '));
    let after = planned.skip_while(|other| *other != uri.as_bytes()).skip(1);
    let is_kept = |uri: &BString| recorded.iter().any(|(other, _)| other == uri);
    let mut older: Vec<BString> = after.map(BString::from).collect();
    // It goes on where it was left.
    if older.first().is_some_and(is_kept) {
        return Vec::new();
    }
    older.retain(|uri| !is_kept(uri));
    older
}

/// The number at the start of a token; 0 is no token.
pub(super) fn number(token: Option<&BStr>) -> u64 {
    let digits = |token: &BStr| {
        let end = token.find_not_byteset(b"0123456789");
        token[..end.unwrap_or(token.len())]
            .to_str()
            .ok()?
            .parse()
            .ok()
    };
    token.and_then(digits).unwrap_or(0)
}

/// Whether the bundle in `file`, which belongs at `path` in a directory of the repository's objects, needs an
/// object that the repository has not; `None` if that is not known.
fn lacks_prerequisites(file: &Path, path: &Path) -> Option<bool> {
    let needed = prerequisites(file)?;
    let Some(first) = needed.first() else {
        return Some(false);
    };
    let options = StoreOptions {
        hash: first.kind(),
        ..StoreOptions::default()
    };
    let store = ObjectStore::open(path.parent()?.parent()?, options).ok()?;
    let is_missing = |id: &ObjectId| matches!(store.locate(id), Ok(None));
    Some(needed.iter().any(is_missing))
}

/// What a bundle needs: the lines of its header that begin with `-`, up to an empty one. `None` if `file` is
/// no bundle, or its header has not arrived.
fn prerequisites(file: &Path) -> Option<Vec<ObjectId>> {
    let mut header = vec![0; HEADER_LIMIT_BYTES];
    let length = ReadFile::open(file).ok()?.read_at(&mut header, 0).ok()?;
    header.truncate(length);
    if !header.starts_with(SIGNATURE) {
        return None;
    }
    let mut needed = Vec::new();
    for line in header.lines().skip(1) {
        if line.is_empty() {
            return Some(needed);
        }
        if let Some(line) = line.strip_prefix(b"-") {
            let hex = line.split(|byte| *byte == b' ').next()?;
            needed.push(ObjectId::from_hex(hex).ok()?);
        }
    }
    None
}
