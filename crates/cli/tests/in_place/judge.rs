//! Where a sequence may differ: hedgerow refuses before it touches anything, where git loses
//! something or leaves a half of what it was asked for.

use crate::twins::Difference;
use hedgerow_testkit::Node;

/// Why the difference is accepted, if it is. With `any_words`, an older git may say it otherwise.
pub fn accepts(it: &Difference, any_words: bool) -> Option<&'static str> {
    let (git, our) = (&it.git, &it.our);
    let columns = |text: &[u8]| -> Vec<Vec<u8>> {
        let fields = text
            .split(|byte| *byte == b' ')
            .filter(|field| !field.is_empty());
        fields.map(<[u8]>::to_vec).collect()
    };
    if any_words
        && it.left.is_empty()
        && git.code == our.code
        && columns(&git.stdout) == columns(&our.stdout)
    {
        return Some("other words");
    }
    let is_refused = our.code != 0 && !it.is_ours_touched;
    let both_refuse = is_refused && git.code != 0;
    let is_stash = it.what.contains(" stash");
    let untracked = "error: could not restore untracked files from stash\n";
    if both_refuse && it.is_touched && git.stderr.lines().last() == our.stderr.lines().last() {
        Some("git has written a part before it refuses")
    } else if both_refuse && !it.is_touched && git.stdout == our.stdout && says_more(it) {
        Some("hedgerow names more of what is in the way")
    } else if both_refuse && !it.is_touched && it.what.contains(" read-tree ") {
        Some("of several paths that are in the way, another one is named")
    } else if both_refuse && !it.is_touched && it.what.contains(" worktree add ") {
        Some("a start that is not there is named, not a branch that cannot be made")
    } else if is_refused && git.code == 0 && loses(it) {
        Some("git loses an untracked file")
    } else if is_stash && git.code == 1 && git.stderr.contains("fatal: Unable to process path ") {
        Some("git cannot put a file aside that is a directory in the index")
    } else if is_stash && it.is_crossed && our.code == git.code {
        Some("git's stash leaves or loses files in the place of directories")
    } else if is_stash && git.code == 1 && our.code == 0 && git.stderr.contains(OUTSIDE) {
        Some("git makes an entry, but takes nothing back that a pathspec asks for outside of the cone")
    } else if both_refuse && git.stderr.ends_with("fatal: could not reset --hard\n") {
        Some("git ends after it has put changes aside, and leaves them there")
    } else if git.code == our.code && it.left.is_empty() && says_untruths(it) {
        Some("git says that a file stays which it removes")
    } else if is_stash && git.stderr.ends_with(untracked) && our.stderr.ends_with(untracked) {
        Some("git stops at the first untracked file that cannot come back")
    } else {
        None
    }
}

/// What `git add` says that git runs to take changes back.
const OUTSIDE: &str = "outside of your sparse-checkout definition";

/// Whether git says of files that they stay which are gone, and says the same otherwise.
fn says_untruths(it: &Difference) -> bool {
    let is_untrue = |line: &&str| {
        let path = line.strip_prefix("error: Path '");
        let path = path
            .and_then(|it| it.strip_suffix("' not uptodate; will not remove from working tree."));
        path.is_some_and(|path| !it.after.contains_key(format!("work/{path}").as_bytes()))
    };
    let (git, our) = (it.git.stderr.lines(), it.our.stderr.lines());
    it.git.stdout == it.our.stdout && git.filter(|line| !is_untrue(line)).eq(our)
}

/// Whether git's lines are there, with others.
fn says_more(it: &Difference) -> bool {
    let (git, our) = (&it.git.stderr, &it.our.stderr);
    let ours: Vec<&str> = our.lines().collect();
    git != our && git.lines().all(|line| ours.contains(&line))
}

/// Whether a file that git did not know is gone or another one.
fn loses(it: &Difference) -> bool {
    it.untracked.iter().any(|path| {
        let before = it.before.get(path);
        matches!(before, Some(Node::File(..))) && it.after.get(path) != before
    })
}
