//! Bundles that git fetches for a clone (git-clone(1) under `--bundle-uri`), several at a time.
//!
//! Git asks `git-remote-https` for one file after another, in a process for each: first for the list,
//! then for each bundle in it. [`BundleHelper`] takes the place of that program. When a file turns out
//! to be a list of bundles that are all wanted, the helper fetches them at once and keeps them beside
//! that file; the processes that follow only hand them out. What git does with them is git's affair. The
//! format of lists is that of git's documentation of bundle URIs.

use crate::config::parse;
use crate::submodule::url;
use crate::Result;
use bstr::{BStr, BString, ByteSlice};
use gix_config::Source;
use hedgerow_fs::threads::together;
use hedgerow_fs::{Exit, Process};
use std::ffi::OsStr;
use std::io::{self, BufRead, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of bundles that are fetched at a time.
const AT_A_TIME: usize = 8;
/// A longer list is left to git.
const LIST_LIMIT_BYTES: u64 = 1 << 20;
/// No more bundles than these are fetched ahead.
const BUNDLES_LIMIT: usize = 4096;
/// The record of what was fetched ahead cannot be longer than lists and the names of files make it.
const RECORD_LIMIT_BYTES: u64 = 64 << 20;
/// What a bundle begins with: gitformat-bundle(5).
const SIGNATURE: &[u8] = b"# v";
/// The answer of the real program to this session is short, and nothing in it is needed.
const ANSWER_LIMIT_BYTES: u64 = 64 << 10;

/// The program that git starts for a file from the network.
pub const BUNDLE_PROGRAM: &str = "git-remote-https";
/// The variable with the path of [`BundleHelper::record`].
pub const BUNDLE_RECORD: &str = "HEDGEROW_BUNDLES";

/// What stands in the place of [`BUNDLE_PROGRAM`] where git wants files.
#[derive(Clone, Debug)]
pub struct BundleHelper {
    /// The real program.
    pub program: PathBuf,
    /// The file that lists what was fetched ahead: a line for each, its address, a space and its path.
    pub record: PathBuf,
}

impl BundleHelper {
    /// Answers the commands of a session, `capabilities` and `get`: gitremote-helpers(7). Returns
    /// whether all files were had.
    ///
    /// # Errors
    /// `input` cannot be read, or `output` not be written.
    pub fn serve(&self, input: &mut dyn BufRead, output: &mut dyn Write) -> io::Result<bool> {
        let mut line = Vec::new();
        loop {
            line.clear();
            input.take(LIST_LIMIT_BYTES).read_until(b'\n', &mut line)?;
            let command = line.strip_suffix(b"\n").unwrap_or(&line);
            if command.is_empty() {
                return Ok(true);
            }
            if command == b"capabilities" {
                output.write_all(b"get\n\n")?;
                output.flush()?;
                continue;
            }
            let asked = command.strip_prefix(b"get ");
            let Some((uri, file)) = asked.and_then(|asked| asked.split_once_str(" ")) else {
                return Ok(false);
            };
            if !self.get(uri.as_bstr(), Path::new(OsStr::from_bytes(file))) {
                return Ok(false);
            }
        }
    }

    /// Has the file at `uri` written to `file`, and what it lists fetched.
    fn get(&self, uri: &BStr, file: &Path) -> bool {
        let (kept, count) = self.kept(uri);
        let is_moved = kept.is_some_and(|kept| hedgerow_fs::rename(&kept, file).is_ok());
        if !is_moved && !self.fetch(uri, file) {
            return false;
        }
        // Git fetches what is not fetched here, and says why it cannot.
        let listed = wanted(uri, file).unwrap_or_default();
        let listed: Vec<_> = listed.into_iter().take(BUNDLES_LIMIT).collect();
        if let (true, Ok(file)) = (listed.len() > 1, std::path::absolute(file)) {
            self.fetch_ahead(&listed, count, &file);
        }
        true
    }

    /// Where the file at `uri` is kept, if it was fetched ahead, and the number of all that were.
    fn kept(&self, uri: &BStr) -> (Option<PathBuf>, usize) {
        let recorded = recorded(&self.record);
        let found = recorded.iter().find(|(other, _)| other == uri);
        (found.map(|(_, path)| path.clone()), recorded.len())
    }

    /// Fetches the bundles that are `listed`, and records them. Their files are beside `list`, in the
    /// repository, and numbered from `first`.
    fn fetch_ahead(&self, listed: &[BString], first: usize, list: &Path) {
        let path = |number: usize| {
            let mut name = list.as_os_str().to_owned();
            name.push(format!("-{}", first + number));
            PathBuf::from(name)
        };
        let next = AtomicUsize::new(0);
        let work = || {
            let mut lines = Vec::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(uri) = listed.get(number) else {
                    return lines;
                };
                let path = path(number);
                if self.fetch(uri.as_bstr(), &path) {
                    let path = path.as_os_str().as_bytes();
                    lines.push([uri, &b" "[..], path, b"\n"].concat());
                }
            }
        };
        let others = listed.len().min(AT_A_TIME) - 1;
        let lines = together("bundles", others, work);
        let lines: Vec<_> = lines.into_iter().flatten().flatten().collect();
        // What is not recorded is fetched again.
        let _ = hedgerow_fs::append_private_file(&self.record, &lines.concat());
    }

    /// Has the real program fetch one file.
    fn fetch(&self, uri: &BStr, file: &Path) -> bool {
        let process = Process {
            program: self.program.clone(),
            arguments: vec![OsStr::from_bytes(uri).into()],
            ..Process::default()
        };
        let name = file.as_os_str().as_bytes();
        let question = [&b"capabilities\nget "[..], uri, b" ", name, b"\n\n"].concat();
        let asked = process.ask(&question, &mut |answer| {
            let mut answer = answer.take(ANSWER_LIMIT_BYTES);
            io::copy(&mut answer, &mut io::sink()).map(drop)
        });
        asked.is_ok_and(|answer| answer.exit == Exit::Status(0))
    }
}

/// Removes what was fetched ahead and not asked for, as the `record` has it.
pub fn remove_unused_bundles(record: &Path) {
    for (_, path) in recorded(record) {
        // Most was moved to where git wanted it.
        let _ = hedgerow_fs::remove_file(&path);
    }
}

/// The addresses and paths of what was fetched ahead; nothing if no record can be read.
fn recorded(record: &Path) -> Vec<(BString, PathBuf)> {
    let content = hedgerow_fs::read_file(record, RECORD_LIMIT_BYTES);
    let content = content.ok().flatten().unwrap_or_default();
    let pairs = ByteSlice::lines(&content[..]).filter_map(|line| {
        let (uri, path) = line.split_once_str(" ")?;
        Some((uri.into(), OsStr::from_bytes(path).into()))
    });
    pairs.collect()
}

/// The addresses of the bundles in the list `file` from `uri`, as git asks for them, if git is to fetch
/// all of them over the network.
fn wanted(uri: &BStr, file: &Path) -> Option<Vec<BString>> {
    let size = hedgerow_fs::lstat(file).ok()??.size;
    if size > LIST_LIMIT_BYTES {
        return None;
    }
    let content = hedgerow_fs::read_file(file, LIST_LIMIT_BYTES).ok()??;
    if content.starts_with(SIGNATURE) {
        return None;
    }
    let list = parse(&content, file, Source::Api).ok()?;
    if list.string_by("bundle", None, "version")? != "1"
        || list.string_by("bundle", None, "mode")? != "all"
    {
        return None;
    }
    let end = uri.rfind_byte(b'/').map_or(uri.len(), |at| at + 1);
    let sections = list.sections_by_name("bundle").into_iter().flatten();
    let uris = sections.filter_map(|section| section.value("uri"));
    let absolute = uris.filter_map(|listed| resolved(uri[..end].as_bstr(), listed.as_ref()).ok());
    Some(absolute.filter(|uri| is_fetched(uri)).collect())
}

/// The address `listed` in a list below `base`.
fn resolved(base: &BStr, listed: &BStr) -> Result<BString> {
    if listed.contains(&b':') || listed.starts_with(b"/") {
        return Ok(listed.to_owned());
    }
    url::joined(base, listed)
}

/// Whether git has the program fetch this address: one with a space would name another file.
fn is_fetched(uri: &[u8]) -> bool {
    (uri.starts_with(b"http:") || uri.starts_with(b"https:")) && uri.find_byteset(b" \n").is_none()
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests prepare files")]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    fn listed(content: &str) -> Option<Vec<BString>> {
        let place = hedgerow_testkit::temporary();
        let file = place.path().join("list");
        fs::write(&file, content).unwrap();
        wanted("https://host/a/list".into(), &file)
    }

    const HEADER: &str = "[bundle]\nversion = 1\nmode = all\n";

    #[test]
    fn what_git_will_ask_for_is_taken_from_a_list_of_which_all_is_wanted() {
        let bundles = "[bundle \"1\"]\nuri = b/1.bundle\n[bundle \"2\"]\nuri = ../2.bundle\n\
                       creationToken = 2\n[bundle \"3\"]\nuri = https://other/3\n\
                       [bundle \"4\"]\nuri = /4\n[bundle \"5\"]\nuri = \"http://h/a b\"\n";
        let expected = [
            "https://host/a/b/1.bundle",
            "https://host/2.bundle",
            "https://other/3",
        ];
        assert_eq!(
            listed(&format!("{HEADER}{bundles}")).unwrap(),
            expected.map(BString::from)
        );
        for header in [
            "",
            "[bundle]\nversion = 2\nmode = all\n",
            "[bundle]\nversion = 1\nmode = any\n",
        ] {
            assert_eq!(listed(&format!("{header}{bundles}")), None, "{header}");
        }
        assert_eq!(listed("# v2 git bundle\n"), None);
        assert_eq!(listed("[bundle"), None);
    }

    /// A program that writes a list or a bundle, and notes that it was asked.
    fn helper(place: &Path) -> BundleHelper {
        let program = place.join("remote");
        let list = format!("{HEADER}[bundle \"1\"]\nuri = 1\n[bundle \"2\"]\nuri = 2\n");
        let script = format!(
            "#!/bin/sh\nread capabilities; read get uri file; echo $uri >>'{}'\n\
             case $uri in */list) printf '{list}' ;; */gone) exit 1 ;; *) echo '# v2' $uri ;; esac >$file\n",
            place.join("asked").display()
        );
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        BundleHelper {
            program,
            record: place.join("record"),
        }
    }

    fn ask(helper: &BundleHelper, uri: &str, file: &Path) -> bool {
        let question = format!("capabilities\nget {uri} {}\n\n", file.display());
        let mut output = Vec::new();
        let is_done = helper.serve(&mut question.as_bytes(), &mut output);
        assert_eq!(output, b"get\n\n");
        is_done.unwrap()
    }

    #[test]
    fn each_bundle_of_a_list_is_fetched_once_and_what_is_not_asked_for_is_removed() {
        let place = hedgerow_testkit::temporary();
        let at = |name: &str| place.path().join(name);
        let helper = helper(place.path());
        assert!(ask(&helper, "https://host/list", &at("list")));
        assert!(ask(&helper, "https://host/2", &at("second")));
        assert_eq!(fs::read(at("second")).unwrap(), b"# v2 https://host/2\n");
        assert!(!ask(&helper, "https://host/gone", &at("none")));
        let asked = fs::read_to_string(at("asked")).unwrap();
        let mut asked: Vec<_> = asked.lines().collect();
        asked.sort_unstable();
        let once = [
            "https://host/1",
            "https://host/2",
            "https://host/gone",
            "https://host/list",
        ];
        assert_eq!(asked, once);
        assert!(at("list-0").exists() && !at("list-1").exists());
        remove_unused_bundles(&helper.record);
        assert!(!at("list-0").exists() && at("list").exists() && at("second").exists());
    }
}
