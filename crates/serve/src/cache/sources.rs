use super::CacheOptions;
use crate::Result;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Length of the fingerprint of a file, in bytes.
const FINGERPRINT_BYTES: usize = 16;
/// Maximum length of the list of sources, in bytes: 65,536 files.
pub(super) const MAX_BYTES: usize = FINGERPRINT_BYTES << 16;
/// The files in the directory of packs that a response is copied from or found with.
const EXTENSIONS: [&[u8]; 4] = [b".pack", b".idx", b".rev", b".bitmap"];

/// The packs of a repository and their auxiliary files, as they are at one time. Objects do not
/// change, but the files that hold them may be damaged and repaired: a response is invalid if one
/// of its files is gone or has been replaced. New files do no harm, so that a push, which only adds
/// some, leaves all responses valid.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sources {
    /// In ascending order.
    fingerprints: Vec<[u8; FINGERPRINT_BYTES]>,
}

impl Sources {
    /// The sources in `options.objects` now.
    pub fn list(options: &CacheOptions) -> Result<Self> {
        let mut sources = Sources::default();
        for objects in &options.objects {
            sources.add(&objects.join("pack"), |name| {
                let is_pack = name.starts_with(b"pack-");
                let is_known = EXTENSIONS.iter().any(|extension| name.ends_with(extension));
                is_pack && is_known || name.starts_with(b"multi-pack-index")
            })?;
            sources.add(&objects.join("pack/multi-pack-index.d"), |_| true)?;
            sources.add(&objects.join("info"), |name| name == b"commit-graph")?;
            sources.add(&objects.join("info/commit-graphs"), |_| true)?;
        }
        sources.fingerprints.sort_unstable();
        Ok(sources)
    }

    /// Whether all of `older`, in the format of [`Sources::to_bytes`], are included.
    pub fn include(&self, older: &[u8]) -> bool {
        let (older, rest) = older.as_chunks::<FINGERPRINT_BYTES>();
        let is_there = |print: &[u8; FINGERPRINT_BYTES]| self.fingerprints.binary_search(print);
        rest.is_empty() && older.iter().all(|print| is_there(print).is_ok())
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        self.fingerprints.concat()
    }

    fn add(&mut self, directory: &Path, is_source: impl Fn(&[u8]) -> bool) -> Result<()> {
        let listed = hedgerow_fs::list_directory(directory)?;
        for entry in listed.unwrap_or_default() {
            if is_source(&entry.name) {
                let path = directory.join(std::ffi::OsStr::from_bytes(&entry.name));
                self.fingerprints.extend(fingerprint(&path)?);
            }
        }
        Ok(())
    }
}

/// `None` if the file does not exist.
fn fingerprint(path: &Path) -> Result<Option<[u8; FINGERPRINT_BYTES]>> {
    let Some(stat) = hedgerow_fs::stat(path)? else {
        return Ok(None);
    };
    let mut hasher = blake3::Hasher::new();
    hasher.update(path.as_os_str().as_bytes());
    for number in [stat.dev, stat.ino, stat.size] {
        hasher.update(&number.to_be_bytes());
    }
    for time in [stat.mtime, stat.ctime] {
        hasher.update(&time.seconds.to_be_bytes());
        hasher.update(&time.nanoseconds.to_be_bytes());
    }
    let mut print = [0; FINGERPRINT_BYTES];
    hasher.finalize_xof().fill(&mut print);
    Ok(Some(print))
}
