//! The commands of the sequences: templates from which words are drawn. `[a|b]` is one of these
//! words, or none; `<kind>` a word of that kind.

use hedgerow_testkit::Random;

/// Commands that hedgerow has, with options that it knows and some that it does not.
pub const FAMILY: &[&str] = &[
    "checkout [-q] [-f] [--detach] <revision>",
    "checkout [-q] [-f|-m] [-l] [-b new|-B new|-t] <branch>",
    "checkout [-q|--progress] [--ours|--theirs|-p|--no-overlay] [<revision>] -- <path> [<path>]",
    "checkout <branch>",
    "checkout -",
    "checkout <path>",
    "checkout [--quie|--det|--nonsense|-h] <branch>",
    "switch [-q] [-f|-m] [-d|--guess|--no-guess|--orphan=lone] <branch>",
    "switch [-q] [-c|-C] <branch> [<revision>]",
    "restore [-q] [-S] [-W] [-s<revision>|--source=<revision>|-p] [--ignore-unmerged] -- <path>",
    "restore [--staged] <path> [<path>]",
    "reset [-q] [--hard|--mixed|--soft|--keep|--merge] [<revision>]",
    "reset [-q|-N|-p] [HEAD|<revision>] -- <path>",
    "clean [-f|-ff|-fd|-ffdx] [-n] [-q] [-d] [-x|-X] [-i|-e*.o|--exclude=f?] [<path>]",
    "status [-s|--porcelain|--porcelain=v2|--long] [-b] [-z] [-uno|-uall|-unormal] [--ignored] [-v]",
    "status [--show-stash|--column|--no-renames|--find-renames=30|--no-ahead-behind] [-- <path>]",
    "stash [push] [-k] [-u|-a|-S] [-q] [-mtext]",
    "stash [push] [-p] -- <path>",
    "stash [pop|apply] [--index] [-q]",
    "stash [list|show|drop|branch stashed|clear|create]",
    "ls-files [-s|-c|-d|-m|-o|-u|-k] [-t|-v|-f] [-z] [--exclude-standard] [--eol] [<path>]",
    "ls-files [--error-unmatch|--full-name|--deduplicate|--format=%(path)|--recurse-submodules] <path>",
    "worktree [list|list --porcelain|prune|repair|list -v]",
    "worktree add [-q] [-f] [--detach|-b new] ../linked [<revision>]",
    "worktree remove [-f] ../linked",
    "worktree [lock|unlock|move] ../linked [../linked2]",
    "sparse-checkout [init|list|reapply|disable|check-rules] [--cone]",
    "sparse-checkout set [--no-cone] <directory> [<directory>]",
    "sparse-checkout add <directory>",
    "read-tree [-m|-m -u|--reset -u|-u|--empty|-n -m] [-i] [-v] <revision>",
    "checkout-index [-a] [-f] [-q] [-u] [-n] [--prefix=out/] [--stage=2]",
    "checkout-index [-f] -- <path>",
    "diff-files [-q|--quiet|--name-only|--name-status|--raw|-p|--stat] [-z] [-R] [--abbrev] [-- <path>]",
    "diff-index [--cached] [-m] [--quiet|--name-only|--name-status|--exit-code|-p] [-z] <revision>",
    "rev-list [--count|--objects|--parents|--reverse|--pretty=oneline] [-5|-n3|--max-count=4] <revision>",
    "rev-list [--all|--branches|--not --all] [--topo-order|--first-parent] <revision> [^<revision>]",
    "cat-file [-t|-s|-p|-e|--textconv] <revision>",
    "cat-file [--batch-check|--batch|--batch-all-objects] [--buffer]",
    "submodule [-q] update [--init] [--recursive] [-f|-N|--remote] [-j2]",
    "submodule [init|status|sync|summary|deinit -f sub|foreach pwd]",
    "merge --ff-only [-q|-v|--stat|-n|--squash] <revision>",
    "archive [--format=tar|--format=zip|-v] [--prefix=p/] <revision> [<path>]",
    "repack [-a] [-d] [-q|-k]",
];

/// Commands that are git's.
pub const GITS: &[&str] = &[
    "add [-A|-u|-N|-f] <path>",
    "add .",
    "add -A",
    "commit -q -a -m more",
    "commit -m more",
    "commit [--amend] --allow-empty -m again",
    "branch [-v|-vv|-a|-r|-D side|--list]",
    "branch [-f] new <revision>",
    "tag [-f] mark [<revision>]",
    "merge [-q] [--no-edit] [--no-ff|--squash] <branch>",
    "merge [--abort|--continue]",
    "rebase [-q] <branch>",
    "rebase [--abort|--continue|--skip]",
    "cherry-pick <revision>",
    "cherry-pick [--abort|--skip]",
    "revert --no-edit <revision>",
    "log [--oneline|--stat|-p] [-3] [<revision>]",
    "log -g --format=%gs [<branch>]",
    "show [--stat] <revision>",
    "diff [--cached|--stat|--name-only] [<revision>]",
    "fetch [-q] [--all|--prune|origin|--depth=2]",
    "pull [-q] [--ff-only|--rebase|--no-rebase]",
    "gc -q",
    "config [--list --local|core.bare|--bool core.filemode]",
    "config user.name <branch>",
    "rm [-q] [-f|--cached] <path>",
    "mv [-f] <path> <path>",
    "rev-parse [--show-toplevel|--git-dir|--abbrev-ref HEAD|--show-prefix]",
    "rev-parse --verify <revision>",
    "for-each-ref [--format=%(refname)]",
    "symbolic-ref HEAD",
    "update-index [--refresh|-q --really-refresh|--assume-unchanged f1]",
    "describe [--always|--all|--tags]",
    "ls-tree [-r] <revision>",
    "ls-remote [origin]",
    "submodule add -f ../library sub2",
    "grep --threads=1 -n line",
    "st",
    "co <branch>",
    "shout",
    "version",
    "nonsense",
    "--exec-path",
    "--version",
    "hedgerow status",
];

/// Options before the command.
const GLOBALS: &[&str] = &[
    "-c core.quotePath=false",
    "-c color.ui=always",
    "-c status.short=true",
    "-c alias.st=status",
    "-c advice.detachedHead=false",
    "-c hedgerow.shim.checkout=false",
    "-c core.autocrlf=true",
    "-C d1",
    "-C d1 -C ..",
    "-C missing",
    "--git-dir=.git",
    "--git-dir .git --work-tree .",
    "--work-tree=..",
    "--git-dir=missing",
    "--no-pager",
    "-P",
    "-p",
    "--literal-pathspecs",
    "--icase-pathspecs",
    "--no-optional-locks",
    "--no-replace-objects",
    "--no-advice",
    "--bare",
    "--namespace=x",
    "--config-env=user.name=HOME",
    "--unknown",
    "-c",
];

/// Variables.
const VARIABLES: &[(&str, &str)] = &[
    ("GIT_DIR", ".git"),
    ("GIT_DIR", "missing"),
    ("GIT_WORK_TREE", "."),
    ("GIT_INDEX_FILE", ".git/other-index"),
    ("GIT_LITERAL_PATHSPECS", "1"),
    ("GIT_OPTIONAL_LOCKS", "1"),
    ("GIT_REFLOG_ACTION", "action"),
    ("GIT_TRACE", "0"),
    ("GIT_TRACE_SETUP", "/dev/null"),
    ("GIT_TRACE2_EVENT", "/dev/null"),
    ("GIT_CEILING_DIRECTORIES", "/"),
    ("GIT_DISCOVERY_ACROSS_FILESYSTEM", "1"),
    ("GIT_PREFIX", "d1/"),
    ("GIT_CONFIG_COUNT", "0"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_NAMESPACE", "x"),
    ("GIT_ALLOW_NULL_SHA1", "1"),
    ("GIT_EDITOR", "true"),
    ("GIT_PAGER", "cat"),
    ("HEDGEROW_SHIM", "off"),
    ("GIT_ATTR_SOURCE", "HEAD"),
    ("GIT_DEFAULT_HASH", "sha256"),
    ("LC_ALL", "C.UTF-8"),
];

/// One call.
#[derive(Debug)]
pub struct Call {
    pub directory: &'static str,
    pub variables: Vec<(&'static str, &'static str)>,
    pub words: Vec<String>,
}

impl Call {
    pub fn draw(random: &mut Random) -> Call {
        let list = if random.chance(65) { FAMILY } else { GITS };
        let template = *random.pick(list);
        let mut words = Vec::new();
        if random.chance(15) {
            let before = random.pick(GLOBALS);
            words.extend(before.split(' ').map(str::to_owned));
        }
        words.extend(fill(template, random));
        let mut variables = Vec::new();
        if random.chance(12) {
            variables.push(*random.pick(VARIABLES));
        }
        // With another index, git gives that one to the new working tree.
        let is_worktree = words.iter().any(|word| word == "worktree");
        variables.retain(|(name, _)| !(is_worktree && *name == "GIT_INDEX_FILE"));
        let directory = if random.chance(10) { "work/d1" } else { "work" };
        Call {
            directory,
            variables,
            words,
        }
    }
}

/// The words of a template.
pub fn fill(template: &str, random: &mut Random) -> Vec<String> {
    let mut text = String::new();
    let mut rest = template;
    while let Some(start) = rest.find('[') {
        let end = rest[start..].find(']').expect("it is closed") + start;
        text.push_str(&rest[..start]);
        let choices: Vec<&str> = rest[start + 1..end].split('|').collect();
        let chance = if choices.len() > 3 { 60 } else { 30 };
        if random.chance(chance) {
            let choice: &&str = random.pick(&choices);
            text.push_str(choice);
        }
        rest = &rest[end + 1..];
    }
    text.push_str(rest);
    while let Some(start) = text.find('<') {
        let end = text[start..].find('>').expect("it is closed") + start;
        let word = kind(&text[start + 1..end], random);
        text.replace_range(start..=end, word);
    }
    text.split_whitespace().map(str::to_owned).collect()
}

fn kind(name: &str, random: &mut Random) -> &'static str {
    let words: &[&'static str] = match name {
        "path" => &PATHS,
        "directory" => &["d1", "d2", "d2/deep", "missing"],
        "branch" => &BRANCHES,
        "revision" => &REVISIONS,
        _ => panic!("{name} is no kind of word"),
    };
    let word: &&str = random.pick(words);
    word
}

pub const PATHS: [&str; 12] = [
    "f1",
    "f2",
    "d1",
    "d1/a",
    "d1/b",
    "d2/deep/c",
    "d2",
    ".",
    "*.o",
    "sub",
    "missing",
    "new-file",
];
const BRANCHES: [&str; 8] = [
    "main",
    "side",
    "other",
    "new",
    "main",
    "side",
    "onlyremote",
    "missing",
];
const REVISIONS: [&str; 12] = [
    "HEAD",
    "main",
    "side",
    "other",
    "HEAD~1",
    "main~2",
    "mark",
    "origin/main",
    "new",
    "@{-1}",
    "missing",
    "HEAD",
];
