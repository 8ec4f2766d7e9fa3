//! What must be true after a command ended, one way or another.

use crate::scenario::{Golden, Kind, Scenario};
use crate::HEDGEROW;
use hedgerow_testkit::{run, Outcome, Program};
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

type Verdict = Result<(), String>;

/// A file, as far as a user can tell it from another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    File { content: Vec<u8>, mode: u32 },
    Link(PathBuf),
    Directory,
    Other(u32),
}

/// The state of a place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fingerprint {
    /// What is in the place beside `.git`.
    pub tree: BTreeMap<PathBuf, Node>,
    /// The names of everything below `.git`.
    pub names: BTreeSet<PathBuf>,
    /// The ids of all objects.
    pub objects: BTreeSet<String>,
    /// HEAD, and every reference with its value.
    pub refs: String,
    /// The entries of the index.
    pub index: String,
}

/// What git and the file system say of `work`.
pub fn fingerprint(kind: Kind, work: &Path) -> Fingerprint {
    let mut found = Fingerprint::default();
    list(work, Path::new(""), &mut |path, node| {
        if path.starts_with(".git") {
            found.names.insert(path.to_owned());
        } else {
            found.tree.insert(path.to_owned(), node);
        }
    });
    if kind != Kind::Files {
        found.refs = asked(work, &["rev-parse", "HEAD"]).unwrap_or_default()
            + &asked(work, &["symbolic-ref", "-q", "HEAD"]).unwrap_or_default()
            + &asked(work, &["for-each-ref"]).unwrap_or_default();
        found.index = asked(work, &["ls-files", "--stage"]).unwrap_or_default();
    }
    if kind == Kind::Objects {
        let words = [
            "cat-file",
            "--batch-all-objects",
            "--batch-check=%(objectname)",
        ];
        let listed = asked(work, &words).unwrap_or_default();
        found.objects = listed.lines().map(str::to_owned).collect();
    }
    found
}

/// The verdict on a command that ended by itself.
pub fn ended(scenario: &Scenario, golden: &Golden, work: &Path, outcome: &Outcome) -> Verdict {
    civil(scenario, outcome)?;
    let now = fingerprint(scenario.kind, work);
    if outcome.code == 0 {
        if is_put_aside_otherwise(scenario, outcome) {
            edits_are_somewhere(golden, &now, work)?;
        } else if is_told(scenario, golden, &now, &outcome.stderr) {
            safe(scenario.kind, golden, &now, work)?;
            whole_files(golden, &now)?;
        } else if !is_printed(scenario, golden, outcome) && !is_pack_for(work, &outcome.stdout) {
            let what = differs("standard output", &golden.stdout, &outcome.stdout);
            return Err(format!("{what}: {}", outcome.stderr));
        } else {
            complete(scenario.kind, golden, &now, work)
                .map_err(|error| format!("{error}: {}", outcome.stderr))?;
        }
    } else {
        if outcome.stderr.trim().is_empty() && !finds_why(outcome) {
            return Err(format!("code {} and not a word", outcome.code));
        }
        safe(scenario.kind, golden, &now, work)?;
        whole_files(golden, &now)?;
    }
    // What cannot be removed stays, and that is said.
    let told = if outcome.code == 0 {
        ""
    } else {
        &outcome.stderr
    };
    nothing_left_behind(golden, &now, told)
        .map_err(|error| format!("{error} (code {})", outcome.code))
}

/// The verdict on a place in which a command was killed: what was there is there, and git can go
/// on.
pub fn cut_short(scenario: &Scenario, golden: &Golden, work: &Path) -> Verdict {
    let now = fingerprint(scenario.kind, work);
    safe(scenario.kind, golden, &now, work)?;
    recovers(scenario, golden, work)
}

/// The same on a place that lost its power. Images and archives that replace nothing are not synced:
/// one that is there need not be whole, and is made again.
pub fn without_power(scenario: &Scenario, golden: &Golden, work: &Path) -> Verdict {
    for name in NEW_FILES {
        let is_new = !golden.before.tree.contains_key(Path::new(name));
        let now = fingerprint(scenario.kind, work);
        let left = now.tree.get(Path::new(name));
        if is_new && left.is_some() && left != golden.after.tree.get(Path::new(name)) {
            std::fs::remove_file(work.join(name)).map_err(|error| error.to_string())?;
        }
    }
    if scenario.kind == Kind::Edits && has_stash(&golden.before) {
        find_dropped_entry(work)?;
    }
    cut_short(scenario, golden, work)
}

/// Makes the stash name its entry again, if it was dropped. Like git, nobody waits until the files that
/// an entry brought back are on disk; its commits are, and git-fsck(1) finds them.
fn find_dropped_entry(work: &Path) -> Verdict {
    if asked(work, &["rev-parse", "-q", "--verify", "refs/stash"]).is_ok() {
        return Ok(());
    }
    let words = ["fsck", "--unreachable", "--no-reflogs", "--no-progress"];
    let found = asked(work, &words)?;
    let commits = found
        .lines()
        .filter_map(|line| line.strip_prefix("unreachable commit "));
    let is_entry = |commit: &&str| {
        let index = format!("{commit}^2");
        asked(work, &["rev-parse", "-q", "--verify", &index]).is_ok()
    };
    match commits.into_iter().find(is_entry) {
        // A lock may have stayed.
        Some(entry) => std::fs::write(work.join(".git/refs/stash"), format!("{entry}\n"))
            .map_err(|error| error.to_string()),
        None => Err("the entry is lost".to_owned()),
    }
}

/// The verdict on a place in which a command was asked to end: as after a kill, and it took its
/// temporary files and locks with it.
pub fn terminated(scenario: &Scenario, golden: &Golden, work: &Path) -> Verdict {
    let now = fingerprint(scenario.kind, work);
    nothing_left_behind(golden, &now, "")?;
    whole_files(golden, &now)?;
    cut_short(scenario, golden, work)
}

fn civil(scenario: &Scenario, outcome: &Outcome) -> Verdict {
    for word in ["panicked", "RUST_BACKTRACE", "unwrap()", "internal error"] {
        if outcome.stderr.contains(word) {
            return Err(format!("it says: {}", outcome.stderr));
        }
    }
    // What git ends with where a branch cannot be made, or a file cannot be written.
    let of_git = match scenario.name {
        "worktree-add" | "restore" | "restore-both" => 255,
        "sparse-checkout" | "sparse-checkout-disable" => 254,
        _ => 128,
    };
    if [0, 1, 2, 3, 128, 129, of_git].contains(&outcome.code) {
        Ok(())
    } else {
        Err(format!("code {}: {}", outcome.code, outcome.stderr))
    }
}

/// Whether a warning names directories whose untracked files the entry lacks, or the patterns without
/// which it has ignored ones, too. So does git, which ends with 0.
fn is_put_aside_otherwise(scenario: &Scenario, outcome: &Outcome) -> bool {
    let is_in_part = outcome.stderr.contains("warning: could not open directory");
    scenario.name == "stash-push" && (is_in_part || goes_on_without_patterns(outcome))
}

/// Each file is in its place, or its content is in the stash.
fn edits_are_somewhere(golden: &Golden, now: &Fingerprint, work: &Path) -> Verdict {
    for (path, node) in &golden.before.tree {
        let Node::File { content, .. } = node else {
            continue;
        };
        let name = path.display();
        let is_stashed = |commit: &str| {
            let mut command = Program::Git.command(work);
            command.args(["show", &format!("{commit}:{name}")]);
            let shown = run(command);
            shown.code == 0 && shown.stdout == *content
        };
        let is_in_place = now.tree.get(path) == Some(node);
        if !is_in_place && !is_stashed("refs/stash") && !is_stashed("refs/stash^3") {
            return Err(format!("'{name}' is neither in its place nor in the stash"));
        }
    }
    Ok(())
}

/// Whether it printed what it should. The status that `stash pop` prints after its work may lack what
/// could not be looked at, if that is said; and objects that cannot be read are missing, as for git.
fn is_printed(scenario: &Scenario, golden: &Golden, outcome: &Outcome) -> bool {
    let reasons = [
        "cannot stat '",
        "cannot open '",
        "cannot read '",
        "could not read directory",
        "could not open directory",
    ];
    let is_told = scenario.name == "stash-pop"
        && reasons.iter().any(|reason| outcome.stderr.contains(reason));
    outcome.stdout == golden.stdout
        || is_told
        || (["status", "stash-pop"].contains(&scenario.name) && goes_on_without_patterns(outcome))
        || (scenario.name == "cat-file" && tells_missing_objects(golden, outcome))
}

/// Whether a warning says that the repository's patterns of ignored files cannot be read: git goes on
/// without them, too.
fn goes_on_without_patterns(outcome: &Outcome) -> bool {
    let warning = "warning: unable to access '.git/info/exclude'";
    outcome.stderr.contains(warning)
}

/// Whether each line that is not as it should be says that an object is missing, and an error why.
fn tells_missing_objects(golden: &Golden, outcome: &Outcome) -> bool {
    let lines = |text: &[u8]| -> Vec<String> {
        let text = String::from_utf8_lossy(text);
        text.lines().map(str::to_owned).collect()
    };
    let (wanted, found) = (lines(&golden.stdout), lines(&outcome.stdout));
    let is_told = |(wanted, found): (&String, &String)| {
        let id = wanted.split(' ').next().unwrap_or_default();
        let error = format!("object {id} cannot be read");
        wanted == found || (*found == format!("{id} missing") && outcome.stderr.contains(&error))
    };
    wanted.len() == found.len() && wanted.iter().zip(&found).all(is_told)
}

/// Whether it is a pack that somebody who has the objects of `work` can use: what cannot be answered
/// here is git's to answer, which makes another pack of the same objects.
fn is_pack_for(work: &Path, pack: &[u8]) -> bool {
    if !pack.starts_with(b"PACK") {
        return false;
    }
    let path = work.parent().unwrap_or(work).join("answer.pack");
    let mut command = Program::Git.command(work);
    command.args(["index-pack", "--stdin", "--fix-thin", "--strict"]);
    std::fs::write(&path, pack).is_ok()
        && std::fs::File::open(&path).is_ok_and(|file| {
            command.stdin(file);
            run(command).code == 0
        })
}

/// Whether the reason is among the findings, which are the data that `image verify` is asked for.
fn finds_why(outcome: &Outcome) -> bool {
    let found = String::from_utf8_lossy(&outcome.stdout);
    let mut lines = found.lines();
    lines.any(|line| line.starts_with("wrong: ") && line.contains(": cannot read '"))
}

/// Whether a warning names what was not done. So does git, which ends with 0, where a sparse checkout
/// cannot tell whether a file was changed, and where nobody may read a directory of untracked files.
fn is_told(scenario: &Scenario, golden: &Golden, now: &Fingerprint, stderr: &str) -> bool {
    if scenario.name == "clean" && stderr.contains("warning: could not open directory") {
        return true;
    }
    let is_sparse = stderr.contains("despite sparse patterns");
    let names = |path: &&PathBuf| stderr.contains(&*path.to_string_lossy());
    is_sparse && changed(&golden.after.tree, &now.tree).all(|path| names(&path))
}

/// The command said that it is done: then it is.
fn complete(kind: Kind, golden: &Golden, now: &Fingerprint, work: &Path) -> Verdict {
    let wanted = &golden.after;
    for (what, equal) in [
        ("the tree", now.tree == wanted.tree),
        ("the references", now.refs == wanted.refs),
        ("the index", now.index == wanted.index),
        ("the set of objects", now.objects == wanted.objects),
    ] {
        if !equal {
            let paths: Vec<_> = changed(&wanted.tree, &now.tree).collect();
            let refs = &now.refs;
            return Err(format!(
                "code 0, but {what} is not as it should be {paths:?}; references:\n{refs}"
            ));
        }
    }
    match kind {
        Kind::Objects => sound(work),
        Kind::WorkTree => {
            let dirty = asked(work, &["status", "--porcelain", "-uno"])?;
            // Restored paths are staged; what matters is that nothing differs from the index.
            let is_clean = dirty
                .lines()
                .all(|line| line.as_bytes().get(1) == Some(&b' '));
            if is_clean {
                Ok(())
            } else {
                Err(format!("code 0, but git sees changes:\n{dirty}"))
            }
        }
        Kind::Edits => asked(work, &["fsck", "--strict", "--no-progress"]).map(drop),
        Kind::Files | Kind::Query => Ok(()),
    }
}

/// Nothing that was there is lost, and what is there can be read.
fn safe(kind: Kind, golden: &Golden, now: &Fingerprint, work: &Path) -> Verdict {
    let (before, after) = (&golden.before, &golden.after);
    if now.refs != before.refs && now.refs != after.refs {
        return Err(format!("references are neither old nor new:\n{}", now.refs));
    }
    if kind == Kind::Objects {
        if let Some(lost) = before.objects.difference(&now.objects).next() {
            return Err(format!("object {lost} is lost"));
        }
        sound(work)?;
    }
    if kind == Kind::WorkTree || kind == Kind::Edits {
        asked(work, &["ls-files", "--stage"])?;
        for (path, node) in &before.tree {
            let stays = after.tree.get(path) == Some(node);
            if stays && now.tree.get(path) != Some(node) {
                return Err(format!("{path:?} was not to be touched, and was"));
            }
        }
    }
    if kind == Kind::Edits && !has_stash(now) {
        let edited = if has_stash(before) { after } else { before };
        for (path, node) in &edited.tree {
            if now.tree.get(path) != Some(node) {
                return Err(format!("{path:?} is neither in its place nor in the stash"));
            }
        }
    }
    if kind == Kind::Files || kind == Kind::Query {
        for (path, node) in &before.tree {
            let known = [Some(node), after.tree.get(path)];
            if !known.contains(&now.tree.get(path)) {
                return Err(format!("{path:?} is neither old nor new"));
            }
        }
    }
    Ok(())
}

fn has_stash(state: &Fingerprint) -> bool {
    state.refs.contains("refs/stash")
}

/// Every file is as it was or as it is to be, or not there.
fn whole_files(golden: &Golden, now: &Fingerprint) -> Verdict {
    for (path, node) in &now.tree {
        let known = [golden.before.tree.get(path), golden.after.tree.get(path)];
        let is_plain_directory = *node == Node::Directory && known.iter().any(Option::is_some);
        if !known.contains(&Some(node)) && !is_plain_directory {
            return Err(format!("{path:?} is neither whole nor gone"));
        }
    }
    Ok(())
}

/// Nothing is there that is to be there only for a while, but for what `told` names.
fn nothing_left_behind(golden: &Golden, now: &Fingerprint, told: &str) -> Verdict {
    let known = |path: &PathBuf| {
        golden.before.names.contains(path)
            || golden.after.names.contains(path)
            || !is_temporary(path)
            || told.contains(&*path.to_string_lossy())
    };
    match now.names.iter().find(|path| !known(path)) {
        Some(left) => Err(format!("{left:?} is left behind")),
        None => Ok(()),
    }
}

/// What scenarios make that was not there.
const NEW_FILES: [&str; 2] = ["new.sqfs", "new.tar"];

/// Whether a name is one that a file has only for a while.
fn is_temporary(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().as_bytes();
    name.starts_with(b".") || name.starts_with(b"tmp_") || name.ends_with(b".lock")
}

/// git finds nothing wrong with the objects, the accelerators included.
fn sound(work: &Path) -> Verdict {
    asked(work, &["fsck", "--full", "--strict", "--no-progress"])?;
    if work.join(".git/objects/pack/multi-pack-index").exists() {
        asked(work, &["multi-pack-index", "verify", "--no-progress"])?;
    }
    asked(
        work,
        &[
            "rev-list",
            "--objects",
            "--all",
            "--use-bitmap-index",
            "--count",
        ],
    )?;
    Ok(())
}

/// After somebody removed the locks and the temporary files that were left, the command does what it
/// should.
fn recovers(scenario: &Scenario, golden: &Golden, work: &Path) -> Verdict {
    let mut locks = Vec::new();
    list(work, Path::new(""), &mut |path, _| {
        if path
            .extension()
            .is_some_and(|extension| extension == "lock")
        {
            locks.push(work.join(path));
        }
    });
    for lock in locks {
        std::fs::remove_file(lock).map_err(|error| error.to_string())?;
    }
    match scenario.kind {
        Kind::WorkTree => {
            asked(work, &["reset", "-q", "--hard"])?;
            asked(work, &["clean", "-q", "-f", "-d"])?;
            asked(work, &["checkout", "-q", "-f", "main"])?;
        }
        Kind::Edits => return edits_are_back(scenario, golden, work),
        Kind::Objects | Kind::Files | Kind::Query => (),
    }
    if scenario.name == "image-extract" {
        let _ = std::fs::remove_dir_all(work.join("out"));
    }
    if scenario.name == "worktree-add" {
        // What is there of it may be locked, or no working tree yet.
        let _ = asked(work, &["worktree", "remove", "-f", "-f", "second"]);
        let _ = std::fs::remove_dir_all(work.join("second"));
        let _ = std::fs::remove_dir_all(work.join(".git/worktrees/second"));
        let _ = asked(work, &["branch", "-q", "-D", "topic"]);
    }
    let mut command = HEDGEROW.command(work);
    let done_already =
        |name: &&str| !golden.before.tree.contains_key(Path::new(name)) && work.join(name).exists();
    if scenario.kind == Kind::Files && NEW_FILES.iter().any(done_already) {
        // It has its name, so it is whole: `safe` does not know that.
        let now = fingerprint(scenario.kind, work);
        return complete(scenario.kind, golden, &now, work);
    }
    command.args(scenario.words);
    if let Some(input) = scenario.input {
        let file = std::fs::File::open(work.join(input)).map_err(|error| error.to_string())?;
        command.stdin(file);
    }
    let again = run(command);
    if again.code != 0 {
        return Err(format!("it does not work any more: {}", again.stderr));
    }
    let mut now = fingerprint(scenario.kind, work);
    // Whoever is killed leaves the name that a file had for a while.
    let is_wanted = |path: &PathBuf| golden.after.tree.contains_key(path);
    now.tree
        .retain(|path, _| is_wanted(path) || !is_temporary(path));
    complete(scenario.kind, golden, &now, work).map_err(|error| format!("run again: {error}"))
}

/// Every edit can be had back with git, from its file or from the stash.
fn edits_are_back(scenario: &Scenario, golden: &Golden, work: &Path) -> Verdict {
    let was_stashed = has_stash(&golden.before);
    if has_stash(&fingerprint(scenario.kind, work)) {
        asked(work, &["reset", "-q", "--hard"])?;
        asked(work, &["clean", "-q", "-f", "-d"])?;
        // By its commit: the log, which numbers the entries, goes before the name.
        let commit = asked(work, &["rev-parse", "refs/stash"])?;
        asked(work, &["stash", "apply", "-q", commit.trim()])?;
    }
    let now = fingerprint(scenario.kind, work);
    let edited = if was_stashed {
        &golden.after
    } else {
        &golden.before
    };
    if now.tree == edited.tree {
        Ok(())
    } else {
        let lost: Vec<_> = changed(&edited.tree, &now.tree).collect();
        Err(format!("edits are lost: {lost:?}"))
    }
}

/// The paths whose nodes differ.
fn changed<'a>(
    left: &'a BTreeMap<PathBuf, Node>,
    right: &'a BTreeMap<PathBuf, Node>,
) -> impl Iterator<Item = &'a PathBuf> {
    let paths: BTreeSet<&PathBuf> = left.keys().chain(right.keys()).collect();
    paths
        .into_iter()
        .filter(move |path| left.get(*path) != right.get(*path))
        .take(4)
}

fn differs(what: &str, wanted: &[u8], found: &[u8]) -> String {
    let shown = |bytes: &[u8]| String::from_utf8_lossy(&bytes[..bytes.len().min(300)]).into_owned();
    format!(
        "code 0, but {what} is {} bytes instead of {}: {:?} for {:?}",
        found.len(),
        wanted.len(),
        shown(found),
        shown(wanted)
    )
}

/// What git prints; an error if it fails.
fn asked(work: &Path, words: &[&str]) -> Result<String, String> {
    let mut command = Program::Git.command(work);
    command.args(words);
    let outcome = run(command);
    if outcome.code != 0 {
        return Err(format!("git {}: {}", words.join(" "), outcome.stderr));
    }
    Ok(String::from_utf8_lossy(&outcome.stdout).into_owned())
}

fn list(root: &Path, below: &Path, visit: &mut dyn FnMut(&Path, Node)) {
    let Ok(entries) = std::fs::read_dir(root.join(below)) else {
        return;
    };
    for entry in entries {
        let path = below.join(entry.unwrap().file_name());
        let full = root.join(&path);
        let stat = std::fs::symlink_metadata(&full).unwrap();
        if stat.is_dir() {
            visit(&path, Node::Directory);
            list(root, &path, visit);
        } else if stat.is_symlink() {
            visit(&path, Node::Link(std::fs::read_link(&full).unwrap()));
        } else if stat.is_file() {
            // In a second working tree it names the place of the repository.
            let is_of_git = path.starts_with(".git") || path.ends_with(".git");
            let content = if is_of_git {
                Vec::new()
            } else {
                std::fs::read(&full).unwrap()
            };
            let mode = stat.mode() & 0o111;
            visit(&path, Node::File { content, mode });
        } else {
            visit(&path, Node::Other(stat.mode()));
        }
    }
}
