//! Bundles that git fetches for a clone (git-clone(1) under `--bundle-uri`), several at a time.
//!
//! Git asks `git-remote-https` for one file after another, in a process for each: first for the list,
//! then for each bundle in it. [`BundleHelper`] takes the place of that program. When a file turns out
//! to be a list of bundles that are all wanted, the helper fetches them at once and keeps them beside
//! that file; the processes that follow only hand them out. What git does with them is git's affair. The
//! format of lists is that of git's documentation of bundle URIs.
//!
//! Of a list with creation tokens, git wants the newest bundle, and older ones only as long as
//! what it has lacks a prerequisite: `tokens.rs`.

mod tokens;

use crate::config::parse;
use crate::submodule::url;
use crate::Result;
use bstr::{BStr, BString, ByteSlice};
use gix_config::Source;
use hedgerow_fs::threads::together;
use hedgerow_fs::{Exit, Process};
use std::cmp::Reverse;
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
    /// The file that lists what was fetched ahead: a line for each, its address, a space and its path. An
    /// address alone is of a bundle that may be asked for; they are in the order in which they would be.
    pub record: PathBuf,
}

impl BundleHelper {
    /// Answers the commands of a session with the file at `address`, `capabilities` and `get`:
    /// gitremote-helpers(7). Returns whether all files were had.
    ///
    /// # Errors
    /// `input` cannot be read, or `output` not be written.
    pub fn serve(
        &self,
        address: &[u8],
        input: &mut dyn BufRead,
        output: &mut dyn Write,
    ) -> io::Result<bool> {
        // The real program ends at once then, and git says what it makes of that.
        if !address.contains_str("://") {
            return Ok(false);
        }
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

    /// Has the file at `uri` written to `file`, and what git will ask for next fetched.
    fn get(&self, uri: &BStr, file: &Path) -> bool {
        let content = content(&self.record);
        let recorded = recorded(&content);
        let kept = recorded.iter().find(|(other, _)| other == uri);
        if kept.is_some_and(|(_, kept)| hedgerow_fs::rename(kept, file).is_ok()) {
            return true;
        }
        let Ok(file) = std::path::absolute(file) else {
            return self.fetch(uri, file);
        };
        let older = tokens::older(&content, uri, &recorded);
        if !older.is_empty() {
            return self.fetch_newest_first(uri, &older, recorded.len(), &file);
        }
        if !self.fetch(uri, &file) {
            return false;
        }
        // Git fetches what is not fetched here, and says why it cannot.
        match listed(uri, &file) {
            Some(List::All(uris)) if uris.len() > 1 => {
                let uris: Vec<_> = uris.into_iter().take(BUNDLES_LIMIT).collect();
                self.fetch_ahead(&uris, recorded.len(), &file);
            }
            Some(List::NewestFirst(uris)) => self.plan(&uris),
            _ => {}
        }
        true
    }

    /// Fetches the bundles that are `listed`, and records them. Their files are beside `list`, in the
    /// repository, and numbered from `first`.
    fn fetch_ahead(&self, listed: &[BString], first: usize, list: &Path) {
        let next = AtomicUsize::new(0);
        let work = || {
            let mut lines = Vec::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(uri) = listed.get(number) else {
                    return lines;
                };
                lines.extend(self.fetch_one_ahead(uri, &ahead(list, first + number)));
            }
        };
        let others = listed.len().min(AT_A_TIME) - 1;
        let lines = together("bundles", others, work);
        self.keep(lines.into_iter().flatten().flatten());
    }

    /// Fetches one of them to `path`. Returns its line in the record, if it could be had.
    fn fetch_one_ahead(&self, uri: &BString, path: &Path) -> Option<Vec<u8>> {
        if self.fetch(uri.as_bstr(), path) {
            let path = path.as_os_str().as_bytes();
            return Some([uri, &b" "[..], path, b"\n"].concat());
        }
        let _ = hedgerow_fs::remove_file(&unfinished(path));
        None
    }

    /// Adds `lines` to the record. What is not recorded is fetched again.
    fn keep(&self, lines: impl Iterator<Item = Vec<u8>>) {
        let lines: Vec<_> = lines.collect();
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

/// Where the bundle with this `number` is kept: beside the file `list`.
fn ahead(list: &Path, number: usize) -> PathBuf {
    let mut name = list.as_os_str().to_owned();
    name.push(format!("-{number}"));
    name.into()
}

/// Where the real program keeps what it has received of the file `path`.
fn unfinished(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".temp");
    name.into()
}

/// Removes what was fetched ahead and not asked for, as the `record` has it.
pub fn remove_unused_bundles(record: &Path) {
    for (_, path) in recorded(&content(record)) {
        // Most was moved to where git wanted it.
        let _ = hedgerow_fs::remove_file(&path);
    }
}

/// What is in the file `record`; nothing if it cannot be read.
fn content(record: &Path) -> Vec<u8> {
    let content = hedgerow_fs::read_file(record, RECORD_LIMIT_BYTES);
    content.ok().flatten().unwrap_or_default()
}

/// The addresses and paths of what was fetched ahead, of the `content` of a record.
fn recorded(content: &[u8]) -> Vec<(BString, PathBuf)> {
    let pairs = ByteSlice::lines(content).filter_map(|line| {
        let (uri, path) = line.split_once_str(" ")?;
        Some((uri.into(), OsStr::from_bytes(path).into()))
    });
    pairs.collect()
}

/// What is known of the bundles in a list that git fetches over the network: their addresses.
#[derive(Debug, PartialEq, Eq)]
enum List {
    /// Git asks for all of them.
    All(Vec<BString>),
    /// Git asks for them one after the other, until it has what they need.
    NewestFirst(Vec<BString>),
}

/// The addresses of the bundles in the list `file` from `uri`, as git asks for them; `None` if it is none, or
/// git asks for one of them only.
fn listed(uri: &BStr, file: &Path) -> Option<List> {
    let size = hedgerow_fs::lstat(file).ok()??.size;
    if size > LIST_LIMIT_BYTES {
        return None;
    }
    let content = hedgerow_fs::read_file(file, LIST_LIMIT_BYTES).ok()??;
    if content.starts_with(SIGNATURE) {
        return None;
    }
    let list = parse(&content, file, Source::Api).ok()?;
    let said = |key| list.string_by("bundle", None, key);
    let mode = said("mode")?;
    let has_tokens = said("heuristic").is_some_and(|heuristic| heuristic == "creationToken");
    let is_followed = mode == "all" || has_tokens && mode == "any";
    if said("version")? != "1" || !is_followed {
        return None;
    }
    let end = uri.rfind_byte(b'/').map_or(uri.len(), |at| at + 1);
    let sections = list.sections_by_name("bundle").into_iter().flatten();
    let bundles = sections.filter_map(|section| {
        let listed = section.value("uri")?;
        let uri = resolved(uri[..end].as_bstr(), listed.as_ref()).ok()?;
        let token = section.value("creationToken");
        Some((
            tokens::number(token.as_ref().map(|token| token.as_bstr())),
            uri,
        ))
    });
    let mut bundles: Vec<_> = bundles.filter(|(_, uri)| is_fetched(uri)).collect();
    if has_tokens {
        bundles.sort_by_key(|(token, _)| Reverse(*token));
    }
    let uris = bundles.into_iter().map(|(_, uri)| uri).collect();
    Some(if has_tokens {
        List::NewestFirst(uris)
    } else {
        List::All(uris)
    })
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

    fn listed(content: &str) -> Option<List> {
        let place = hedgerow_testkit::temporary();
        let file = place.path().join("list");
        fs::write(&file, content).unwrap();
        super::listed("https://host/a/list".into(), &file)
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
            List::All(expected.map(BString::from).into())
        );
        // The newest first; what has no token is the oldest.
        for mode in ["all", "any"] {
            let header =
                format!("[bundle]\nversion = 1\nmode = {mode}\nheuristic = creationToken\n");
            let newer = "[bundle \"6\"]\nuri = 6\ncreationToken = 18446744073709551615\n";
            let expected = [
                "https://host/a/6",
                "https://host/2.bundle",
                "https://host/a/b/1.bundle",
                "https://other/3",
            ];
            assert_eq!(
                listed(&format!("{header}{bundles}{newer}")).unwrap(),
                List::NewestFirst(expected.map(BString::from).into())
            );
        }
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
             case $uri in */list) printf '{list}' ;; */gone) echo >$file.temp; exit 1 ;; *) echo '# v2' $uri ;; esac >$file\n",
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
        let is_done = helper.serve(uri.as_bytes(), &mut question.as_bytes(), &mut output);
        let answer = if uri.contains("://") { "get\n\n" } else { "" };
        assert_eq!(output, answer.as_bytes());
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

    #[test]
    fn of_what_cannot_be_had_nothing_stays_and_what_is_no_address_is_not_answered() {
        let place = hedgerow_testkit::temporary();
        let at = |name: &str| place.path().join(name);
        let helper = helper(place.path());
        let uris = ["https://host/gone", "https://host/1"].map(BString::from);
        helper.fetch_ahead(&uris, 0, &at("list"));
        assert!(!at("list-0.temp").exists() && at("list-1").exists());
        assert!(!ask(&helper, "http:/etc/passwd", &at("none")));
        assert!(!at("none").exists());
    }

    /// A program that has the header of a bundle long before the bundle. Each but the last needs something.
    const SLOW: &str = "#!/bin/sh\nread capabilities; read get uri file; echo $uri >>'ASKED'\n\
        needed=1111111111111111111111111111111111111111; case $uri in */whole) needed=; esac\n\
        printf '# v2 git bundle\\n%s\\n' ${needed:+-$needed} >$file.temp; echo >>$file.temp\n\
        case $uri in */gone) exit 1; esac\n\
        for i in 1 2 3 4 5 6 7 8 9 10; do [ $(wc -l <'ASKED') -ge 4 ] && break; sleep 0.2; done\n\
        [ $(wc -l <'ASKED') -ge 4 ] && echo $uri >>'TOGETHER'; mv $file.temp $file\n";

    #[test]
    fn older_bundles_are_fetched_while_newer_ones_arrive_and_none_that_is_not_needed() {
        let place = hedgerow_testkit::temporary();
        let objects = place.path().join("objects");
        fs::create_dir_all(objects.join("bundles")).unwrap();
        let at = |name: &str| place.path().join(name);
        let helper = helper(place.path());
        let script = SLOW
            .replace("ASKED", at("asked").to_str().unwrap())
            .replace("TOGETHER", at("together").to_str().unwrap());
        fs::write(&helper.program, script).unwrap();
        let uris = ["h://a/4", "h://a/gone", "h://a/3", "h://a/whole", "h://a/1"];
        helper.plan(&uris.map(BString::from));
        let file = objects.join("bundles/x");
        assert!(ask(&helper, "h://a/4", &file));
        let lines = |name: &str| {
            let text = fs::read_to_string(at(name)).unwrap();
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            lines.sort_unstable();
            lines
        };
        let needed = ["h://a/3", "h://a/4", "h://a/gone", "h://a/whole"];
        assert_eq!(lines("asked"), needed);
        assert_eq!(lines("together"), ["h://a/3", "h://a/4", "h://a/whole"]);
        // Git asks for each; what was fetched is there, and nothing more is fetched.
        assert!(!ask(&helper, "h://a/gone", &objects.join("bundles/y")));
        for uri in ["h://a/3", "h://a/whole"] {
            assert!(ask(&helper, uri, &objects.join("bundles/z")));
        }
        assert_eq!(lines("asked").len(), 5);
        let left = fs::read_dir(objects.join("bundles")).unwrap();
        let mut left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
        left.sort_unstable();
        // As git leaves what it could not have itself.
        assert_eq!(left, ["x", "y.temp", "z"]);
    }
}
