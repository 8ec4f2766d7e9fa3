//! What surrounds a call: directories that are gone or closed, files that may not be read, and variables
//! that other programs set.

use crate::callers::replay;
use hedgerow_testkit::{git_is_at_least, isolated, require, run, skip};

/// While objects that were received are not accepted, no reference changes. Git notices after files were
/// written; hedgerow has touched nothing.
#[test]
fn no_reference_changes_in_quarantine() {
    if !git_is_at_least(2, 55, "words about a quarantine") {
        return;
    }
    let alike = [
        "checkout -b x",
        "checkout -B side",
        "switch -C x",
        "checkout --detach nope",
        "checkout -- f1",
        "reset -- f1",
    ]
    .map(|words| format!("GIT_QUARANTINE_PATH= git {words}; git status -sb"));
    let refused = [
        "checkout side",
        "checkout --detach v1",
        "switch -c x side",
        "switch --orphan x",
        "merge --ff-only side",
        "reset --hard side",
        "reset --soft side",
        "worktree add ../w side",
        "worktree add --detach ../w",
        "worktree add -b x ../w",
    ]
    .map(|words| {
        format!(
            "GIT_QUARANTINE_PATH=x git {words} 2>&1 | grep -c 'ref updates forbidden' | sed s/[1-9]/some/; git symbolic-ref HEAD; \
             git rev-parse HEAD; git worktree list; git reset -q --hard; git for-each-ref; ls .."
        )
    });
    let stash = "echo x >>f1; GIT_QUARANTINE_PATH=x git stash 2>/dev/null || git diff --stat; git stash; \
                 GIT_QUARANTINE_PATH=x git stash clear 2>&1 | grep -c 'ref updates'; git stash list; git stash drop -q";
    let all = alike.iter().chain(&refused).map(String::as_str);
    replay(&all.chain([stash]).collect::<Vec<_>>());
}

/// Another user may be where he could not go.
#[test]
fn a_directory_that_cannot_be_entered() {
    if let Some(other) = as_another() {
        replay(&[&format!(
            "chmod 777 .. ../..; mkdir -m 700 private; cd private; {other} git clone -q $PLACE/up $PLACE/c; echo $?; \
             {other} git clone -q --bare $PLACE/up $PLACE/b; echo $?; ls ../../c ../../b; rm -rf ../private ../../c ../../b"
        )]);
    }
}

/// As another user, `HOME` may still be that of the superuser.
#[test]
fn files_of_the_user_that_cannot_be_read() {
    if !git_is_at_least(2, 55, "words about files that cannot be read") {
        return;
    }
    let Some(other) = as_another() else { return };
    let git = format!("unset GIT_CONFIG_GLOBAL; g() {{ {other} env HOME=$PLACE/home git \"$@\" 2>&1 | grep -v attributes | sort -u; }}; ");
    let calls = "g rev-list --count HEAD; g ls-files; g ls-files -o --exclude-standard; g clean -n; g stash list";
    let warned = "g status -s; g checkout -q v1; g checkout -q main";
    let begin = "rm -rf ../home; mkdir -p ../home/.config/git; chmod -R a+rwX . ../home; chmod 755 .. ../..; cd ../home; \
                 touch .gitconfig; cd .config/git; touch config ignore attributes; cd $PLACE/work; ";
    let cases = [
        "chmod 600 ../home/.gitconfig ../home/.config/git/config",
        "chmod 600 ../home/.config/git/ignore",
        "chmod 600 ../home/.config/git/attributes",
        "chmod 700 ../home/.config/git",
        "chmod 700 ../home",
        "chmod 600 .git/info/exclude",
    ];
    let steps = cases.map(|case| {
        format!(
            "{git}{begin}{case}; {calls}; {warned}; chmod 644 .git/info/exclude; rm -rf ../home"
        )
    });
    replay(&steps.each_ref().map(String::as_str));
}

/// An index that came with the template is none of the clone.
#[test]
fn a_template_with_an_index() {
    replay(&[
        "mkdir ../t; cp .git/index ../t; git clone -q --template=../t ../up ../c; ls ../c; git -C ../c status -s; rm -rf ../c",
        "git -c init.templateDir=$PLACE/t clone -q --recurse-submodules ../up ../c; ls ../c/sub; git -C ../c status -s; rm -rf ../c",
        "echo no index >../t/index; git clone -q --template=../t ../up ../c; ls ../c; git -C ../c status -s; rm -rf ../c ../t",
    ]);
}

/// Where the current directory is gone, another one can be named.
#[test]
fn a_directory_that_is_gone() {
    if !git_is_at_least(2, 55, "words about a directory that is gone") {
        return;
    }
    let gone = "mkdir ../gone; cd ../gone; rmdir ../gone";
    let calls = [
        "checkout side",
        "checkout -q main",
        "restore .",
        "reset -q",
        "clean -n",
        "stash list",
        "worktree list",
        "worktree add -q $PLACE/w v1",
        "worktree remove $PLACE/w",
        "submodule update",
        "read-tree HEAD",
        "checkout-index -a",
        "merge --ff-only HEAD",
        "reset -q --hard",
    ];
    let calls: Vec<String> = calls
        .iter()
        .map(|words| format!("git -C $PLACE/work {words}; echo $?"))
        .collect();
    let bare = "git clone -q --bare $PLACE/up $PLACE/b; echo $?; ls $PLACE/b; rm -rf $PLACE/b";
    let refused = "git checkout; git worktree list; git reset; git clone -q $PLACE/up; git clone -q up $PLACE/c";
    let calls = calls.join("; ");
    replay(&[
        &format!("{gone}; {calls}"),
        &format!("{gone}; {bare}; {refused}"),
    ]);
}

/// The file of grafts that a variable names counts in the place of the repository's, seen from the top.
#[test]
fn the_file_of_grafts() {
    replay(&[
        "git config advice.graftFileDeprecated false; git rev-parse HEAD >../g; GIT_GRAFT_FILE=../g git rev-list HEAD",
        "cd d1; GIT_GRAFT_FILE=../g git rev-list --count HEAD; GIT_GRAFT_FILE=../../g git rev-list --count HEAD",
        "GIT_GRAFT_FILE=$PLACE/g git rev-list --count --all; GIT_GRAFT_FILE=$PLACE/g git rev-list --objects HEAD",
        "cp ../g .git/info/grafts; GIT_GRAFT_FILE= git rev-list --count HEAD; GIT_GRAFT_FILE=no git rev-list --count HEAD",
        "rm .git/info/grafts; cd d1; GIT_SHALLOW_FILE=../g git rev-list --count HEAD; GIT_SHALLOW_FILE=../../g git rev-list --count HEAD; rm ../../g",
    ]);
}

/// The version of an index that is new.
#[test]
fn the_version_of_an_index() {
    let steps = [4, 2].map(|version| {
        let calls = ["reset -q", "reset -q --hard", "read-tree HEAD", "read-tree -m HEAD", "checkout -q -f"]
            .map(|words| format!("rm .git/index; git {words}; od -An -c -N8 .git/index"));
        format!(
            "export GIT_INDEX_VERSION={version}; {}; git worktree add -q ../w v1; od -An -c -N8 .git/worktrees/w/index; \
             git worktree remove ../w; git clone -q ../up ../c; od -An -c -N8 ../c/.git/index; rm -rf ../c",
            calls.join("; ")
        )
    });
    replay(&steps.each_ref().map(String::as_str));
}

/// Values that are none end every command, whether it uses the setting or not. Git says more about some.
#[test]
fn settings_that_nobody_uses() {
    if !git_is_at_least(2, 55, "which settings every command reads") {
        return;
    }
    let settings = [
        "push.default=x",
        "push.default=tracking",
        "branch.autoSetupMerge=x",
        "branch.autoSetupMerge=inherit",
        "core.bare=x",
        "core.commitGraph=x",
        "core.disambiguate=x",
        "core.disambiguate=treeish",
        "core.compression=10",
        "core.compression=-1",
        "core.looseCompression=x",
        "pack.compression=x",
        "core.maxTreeDepth=x",
        "pack.packSizeLimit=-1",
        "pack.packSizeLimit=1g",
        "index.threads=x",
        "index.threads=true",
        "include.path=../x",
        "include.path=/dev/null",
        ".x=y",
    ];
    let steps = settings.map(|setting| {
        let calls = [
            "status -s",
            "ls-files",
            "worktree list",
            "checkout",
            "rev-list --count HEAD",
            "clean -n",
            "cat-file -t HEAD",
        ]
        .map(|words| format!("git -c {setting} {words} 2>/dev/null; echo $?"));
        calls.join("; ")
    });
    let included = "git config -f ../inc core.quotePath false; touch ä; git ls-files -o; git -c include.path=$PLACE/inc ls-files -o; \
                    rm ../inc; git clean -fq";
    let others = "GIT_CONFIG_PARAMETERS=' ' git checkout; git -c include.path=../x checkout; git -c .x=y checkout; \
                  git --shallow-file= rev-list HEAD 2>&1 | head -1";
    let all = steps.iter().map(String::as_str);
    replay(&all.chain([included, others]).collect::<Vec<_>>());
}

/// A working tree of which nobody could be told goes again; the branch stays, as with git.
#[test]
fn a_working_tree_without_an_output() {
    let hook = "#!/bin/sh\necho hook; git status -s";
    replay(&[
        "git worktree add ../w >/dev/full 2>/dev/null; echo $?; git worktree list --porcelain; ls ..; git worktree add ../w w 2>&1; git worktree remove ../w",
        &format!("printf '{hook}' >.git/hooks/post-checkout; chmod +x .git/hooks/post-checkout; git worktree add ../v v1 2>&1; \
                  git worktree remove ../v; rm .git/hooks/post-checkout"),
    ]);
}

/// Dots after names of objects.
#[test]
fn dots_in_lists() {
    let calls = [
        "",
        "--abbrev",
        "--abbrev=4",
        "--abbrev=37",
        "--abbrev=39",
        "--abbrev -z",
        "--patch-with-raw --abbrev",
    ];
    let calls = calls.map(|words| format!("git diff-files {words}; git diff-index {words} HEAD~2"));
    let others = "git reset --hard; git checkout v1; git checkout main; git worktree add ../w v1; git worktree remove ../w";
    replay(&[&format!(
        "export GIT_PRINT_SHA1_ELLIPSIS=yes; echo x >>f1; {}; {others}",
        calls.join("; ")
    )]);
}

/// A branch that goes while its log is asked for is no reason to end.
#[test]
fn a_branch_that_goes_meanwhile() {
    replay(&[
        "git branch x; git symbolic-ref HEAD refs/heads/x; (echo HEAD; sleep .5; rm .git/refs/heads/x; echo '@{1}'; echo '@{0}'; \
         echo x; echo main) | git cat-file --batch-check; git symbolic-ref HEAD refs/heads/main; rm .git/logs/refs/heads/x",
    ]);
}

/// Words that have another user run a program; `None` if that cannot be had.
fn as_another() -> Option<&'static str> {
    let other = "setpriv --reuid 65534 --regid 65534 --clear-groups env GIT_CONFIG_COUNT=1 \
                 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*'";
    if !require("setpriv") {
        return None;
    }
    let mut probe = isolated("sh");
    probe.arg("-c").arg(format!("{other} true"));
    if run(probe).code != 0 {
        skip("this user cannot become another one");
        return None;
    }
    Some(other)
}
