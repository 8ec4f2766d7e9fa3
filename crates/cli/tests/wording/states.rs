//! The states, each as the script that leads to it.

/// Two branches that change the same line; `main` is checked out.
const FORK: &str = "
    printf 'a\\nb\\nc\\n' >file; echo keep >kept; commit base
    git checkout -q -b side; printf 'a\\nside\\nc\\n' >file; commit side
    git checkout -q main; printf 'a\\nmain\\nc\\n' >file; commit main
";

/// Four commits that do not touch one another.
pub const FOUR: &str = "for n in 1 2 3 4; do echo $n >file$n; commit \"number $n\"; done\n";

/// A branch, a bare origin with the same, and `origin/main` as upstream.
pub const ORIGIN: &str = "
    echo 1 >file; commit one; git init -q -b main --bare ../origin.git
    git remote add origin ../origin.git; git push -q -u origin main
";

/// The name of a state and the script that leads to it.
pub fn all() -> Vec<(&'static str, String)> {
    let mut states = simple();
    states.extend(branches());
    states.extend(conflicts());
    states.extend(operations());
    states.extend(rebases());
    states.extend(names());
    states
}

pub fn with(base: &str, more: &str) -> String {
    format!("{base}\n{more}")
}

fn simple() -> Vec<(&'static str, String)> {
    let base = "mkdir dir; for n in a b c d dir/e; do echo $n >$n; done; commit base\n";
    vec![
        ("empty", String::new()),
        ("unborn with a file", "echo 1 >file".into()),
        (
            "unborn and staged",
            "echo 1 >file; git add file; echo 2 >>file".into(),
        ),
        (
            "unborn and deleted",
            "echo 1 >file; git add file; rm file".into(),
        ),
        ("clean", base.into()),
        (
            "untracked",
            with(
                base,
                "echo 1 >new; mkdir many; echo 1 >many/x; echo 2 >many/y",
            ),
        ),
        ("modified", with(base, "echo 2 >>a; echo 2 >>dir/e")),
        ("deleted", with(base, "rm a; echo 2 >>b")),
        (
            "staged",
            with(
                base,
                "echo 2 >>a; git add a; git rm -q b; echo 1 >new; git add new",
            ),
        ),
        (
            "staged and changed",
            with(base, "echo 2 >>a; git add a; echo 3 >>a; echo 1 >new"),
        ),
        (
            "renamed",
            with(base, "git mv a z; git mv dir/e f; echo 2 >>z"),
        ),
        (
            "renamed in the working tree",
            with(base, "mv a z; git add -N z"),
        ),
        (
            "copied",
            with(
                base,
                "git config status.renames copies; seq 99 >a; commit more
            cp a copy; echo 2 >>a; git add a copy",
            ),
        ),
        (
            "another type",
            with(base, "rm a; ln -s b a; rm b; ln -s c b; git add b"),
        ),
        ("executable", with(base, "chmod +x a b; git add b")),
        ("to be added", with(base, "echo 1 >later; git add -N later")),
        (
            "to be added, and gone",
            with(
                base,
                "git rm -q --cached a b; git add -N a b; echo 1 >later; git add -N later; rm a later",
            ),
        ),
        (
            "ignored",
            with(
                base,
                "printf '*.o\\nout/\\n' >.gitignore; git add .gitignore
            echo 1 >x.o; mkdir out; echo 1 >out/y; echo 1 >dir/z.o; mkdir only; echo >only/a.o",
            ),
        ),
        ("stash of one", with(base, "echo 2 >>a; git stash -q")),
        (
            "stash of two",
            with(
                base,
                "echo 2 >>a; git stash -q; echo 3 >>a; git stash -q; echo 1 >u",
            ),
        ),
        (
            "submodules",
            with(
                base,
                "
            git init -q -b main ../inner; (cd ../inner; echo 1 >in; git add in; git commit -qm in)
            for n in s1 s2 s3 s4 s5 s6; do try git submodule add -q ../inner $n; done
            commit modules; (cd s1; echo 2 >>in); (cd s2; echo 1 >new)
            (cd s3; git commit -q --allow-empty -m next)
            (cd s4; git commit -q --allow-empty -m next; echo 2 >>in; echo 1 >new)
            (cd s5; git commit -q --allow-empty -m next); git add s5; git rm -q --cached s6",
            ),
        ),
        (
            "sparse",
            with(base, "git sparse-checkout set --no-cone /a /b"),
        ),
        (
            "sparse and changed",
            with(base, "git sparse-checkout set --no-cone /a /b; echo 2 >>a"),
        ),
        (
            "sparse index",
            with(base, "git sparse-checkout set --cone --sparse-index"),
        ),
        (
            "linked working tree",
            with(
                base,
                "git worktree add -q -b other linked
            git worktree add -q --detach ../away; echo 1 >linked/new",
            ),
        ),
    ]
}

fn branches() -> Vec<(&'static str, String)> {
    let back = "git commit -q --allow-empty -m two; git push -q; git reset -q --hard HEAD~1";
    let ahead = "git commit -q --allow-empty -m ahead";
    vec![
        ("up to date", ORIGIN.into()),
        ("ahead", with(ORIGIN, ahead)),
        ("ahead by two", with(ORIGIN, &format!("{ahead}; {ahead}"))),
        ("behind", with(ORIGIN, back)),
        (
            "diverged",
            with(ORIGIN, &format!("{back}; {ahead}; echo 2 >>file")),
        ),
        (
            "gone",
            with(ORIGIN, "git update-ref -d refs/remotes/origin/main"),
        ),
        (
            "follows a local branch",
            with(
                ORIGIN,
                "git checkout -q -b own; git branch -q -u main
            git commit -q --allow-empty -m own",
            ),
        ),
        (
            "follows a local branch by its short name",
            with(
                ORIGIN,
                "git checkout -q -b own; git config branch.own.remote .
            git config branch.own.merge main; git commit -q --allow-empty -m own",
            ),
        ),
        (
            "follows a short name that is ambiguous",
            with(
                ORIGIN,
                "git checkout -q -b own; git config branch.own.remote .
            git config branch.own.merge main; git tag main",
            ),
        ),
        (
            "upstream with an ambiguous name",
            with(ORIGIN, "git branch origin/main; git tag main"),
        ),
        (
            "unborn with upstream",
            with(
                ORIGIN,
                "git checkout -q --orphan new
            git config branch.new.remote origin; git config branch.new.merge refs/heads/main",
            ),
        ),
        (
            "orphan",
            with(
                ORIGIN,
                "git checkout -q --orphan new; git rm -q --cached file",
            ),
        ),
        ("slashes", with(ORIGIN, "git checkout -q -b a/b/c")),
        (
            "upstream not fetched",
            with(
                ORIGIN,
                "git config branch.main.merge refs/heads/x
            git config remote.origin.fetch refs/heads/y:refs/remotes/origin/y",
            ),
        ),
        ("detached at a commit", with(FOUR, "git checkout -q HEAD~1")),
        (
            "detached at a branch",
            with(FOUR, "git checkout -q --detach main"),
        ),
        (
            "detached at a tag",
            with(FOUR, "git tag v1 HEAD~2; git checkout -q v1"),
        ),
        (
            "detached at an annotated tag",
            with(FOUR, "git tag -m x v1 HEAD~2; git checkout -q v1"),
        ),
        (
            "detached from a tag",
            with(
                FOUR,
                "git tag v1; git checkout -q v1
            git commit -q --allow-empty -m more",
            ),
        ),
        (
            "detached from a tag that moved",
            with(
                FOUR,
                "git tag v1; git checkout -q v1
            git tag -f v1 HEAD~1 >/dev/null",
            ),
        ),
        (
            "detached at a remote branch",
            with(ORIGIN, "git checkout -q origin/main"),
        ),
        (
            "detached at a remote's head",
            with(
                ORIGIN,
                "git remote set-head origin main
            git checkout -q origin",
            ),
        ),
        (
            "detached at HEAD",
            with(FOUR, "git checkout -q --detach HEAD"),
        ),
        (
            "detached without a log",
            with(FOUR, "git checkout -q --detach; rm -r .git/logs"),
        ),
        (
            "detached where tag and branch have one name",
            with(
                FOUR,
                "git branch same; git tag same
            try git checkout -q --detach same",
            ),
        ),
        (
            "detached by bare reset",
            with(FOUR, "git checkout -q --detach; git reset -q --hard HEAD~2"),
        ),
    ]
}

fn conflicts() -> Vec<(&'static str, String)> {
    let kinds = "
        for n in dd au ud ua du aa uu; do echo $n >base-$n; done; rm base-au base-ua base-aa
        commit base; blob=$(echo x | git hash-object -w --stdin)
        stage() { printf '100644 %s %s\\tbase-%s\\n' $blob $1 $2; }
        git ls-files | xargs git update-index --force-remove
    ";
    let feed = |lines: &str| {
        let lines = format!("( {lines} ) | git update-index --index-info; try git add nothing");
        with(kinds, &lines)
    };
    vec![
        ("merge conflict", with(FORK, "try git merge side")),
        (
            "merge conflict and more",
            with(
                FORK,
                "try git merge side; echo 2 >>kept; echo 1 >new
            git add new; echo 1 >other",
            ),
        ),
        (
            "merge resolved",
            with(FORK, "try git merge side; echo x >file; git add file"),
        ),
        (
            "merge resolved as ours",
            with(
                FORK,
                "try git merge side; git checkout -q --ours file
            git add file",
            ),
        ),
        (
            "merge without a commit",
            with(FORK, "git merge -q --no-commit -s ours side"),
        ),
        ("both deleted", feed("stage 1 dd")),
        ("deleted by us", feed("stage 1 du; stage 3 du")),
        ("deleted by them", feed("stage 1 ud; stage 2 ud")),
        (
            "all conflicts",
            feed(
                "stage 1 dd; stage 2 au; stage 1 ud; stage 2 ud; stage 3 ua
            stage 1 du; stage 3 du; stage 2 aa; stage 3 aa; stage 1 uu; stage 2 uu; stage 3 uu",
            ),
        ),
        (
            "conflict of a submodule",
            with(
                FORK,
                "id=$(git rev-parse HEAD)
            printf '160000 %s 1\\tmod\\n160000 %s 2\\tmod\\n160000 %s 3\\tmod\\n' $id $id $id |
            git update-index --index-info; mkdir mod",
            ),
        ),
        (
            "conflict before the first commit",
            "echo 1 >file; blob=$(git hash-object -w file)
            printf '100644 %s 2\\tfile\\n100644 %s 3\\tfile\\n' $blob $blob |
            git update-index --index-info"
                .into(),
        ),
        (
            "merge conflict and detached",
            with(FORK, "git checkout -q --detach; try git merge side"),
        ),
        (
            "squash",
            with(
                FORK,
                "git reset -q --hard HEAD~1; git merge -q --squash side",
            ),
        ),
    ]
}

fn operations() -> Vec<(&'static str, String)> {
    let mail = "git format-patch -q -1 side -o ../mail";
    vec![
        ("cherry-pick", with(FORK, "try git cherry-pick side")),
        (
            "cherry-pick resolved",
            with(FORK, "try git cherry-pick side; echo x >file; git add file"),
        ),
        (
            "cherry-pick of several",
            with(
                FORK,
                "git checkout -q side; echo 1 >more; commit more
            git checkout -q main; try git cherry-pick main..side; git rm -q --cached kept",
            ),
        ),
        (
            "cherry-pick between two",
            with(
                FORK,
                "git checkout -q side; echo 1 >more; commit more
            git checkout -q main; try git cherry-pick main..side; echo x >file; git add file
            git commit -q -m done",
            ),
        ),
        (
            "revert",
            with(FORK, "echo z >file; commit z; try git revert HEAD~1"),
        ),
        (
            "revert resolved",
            with(
                FORK,
                "echo z >file; commit z; try git revert HEAD~1
            echo y >file; git add file",
            ),
        ),
        (
            "revert between two",
            with(
                FOUR,
                "echo x >file1; commit x; echo y >file1; commit y
            try git revert --no-edit HEAD~1 HEAD~2; echo q >file1; git add file1
            git commit -q -m done",
            ),
        ),
        ("am", with(FORK, &format!("{mail}; try git am ../mail/*"))),
        (
            "am three-way",
            with(FORK, &format!("{mail}; try git am -3 ../mail/*")),
        ),
        (
            "am of nothing",
            with(
                FORK,
                &format!(
                    "{mail}; sed -i '/^diff/,/^-- /d' ../mail/*
            try git am ../mail/*"
                ),
            ),
        ),
        (
            "bisect",
            with(
                FOUR,
                "git bisect start; git bisect bad; git bisect good HEAD~3",
            ),
        ),
        ("bisect begun", with(FOUR, "git bisect start")),
        (
            "bisect of a detached HEAD",
            with(
                FOUR,
                "git checkout -q --detach; git bisect start
            git bisect bad; git bisect good HEAD~3",
            ),
        ),
        (
            "merge within a bisect",
            with(FORK, "git bisect start; try git merge side"),
        ),
        (
            "cherry-pick and revert",
            with(
                FORK,
                "try git cherry-pick side
            git rev-parse HEAD >.git/REVERT_HEAD",
            ),
        ),
        (
            "cherry-pick of nonsense",
            with(FORK, "echo nonsense >.git/CHERRY_PICK_HEAD"),
        ),
        (
            "sequence of nonsense",
            with(
                FORK,
                "mkdir .git/sequencer; echo drop x >.git/sequencer/todo",
            ),
        ),
        (
            "in a linked working tree",
            with(
                FORK,
                "git worktree add -q linked side; cd linked
            try git merge main",
            ),
        ),
    ]
}

fn rebases() -> Vec<(&'static str, String)> {
    let edit = |script: &str| {
        let todo = format!("printf '{script}' >../todo; git tag base HEAD~3");
        let set = "cp ../todo \"$1\"";
        format!(
            "{FOUR}{todo}\nids() {{ sed -i \"s/@\\([0-9]\\)/$(echo)\\1/\" ../todo; }}\n\
             for n in 2 3 4; do id=$(git rev-parse HEAD~$((4 - n)))\n\
             sed -i \"s/@$n/$id number $n/\" ../todo; done\n\
             export GIT_SEQUENCE_EDITOR='sh -c '\\''{set}'\\'' -'\ntry git rebase -i base\n"
        )
    };
    let usual = "edit @2\\npick @3\\npick @4\\n";
    vec![
        (
            "rebase",
            with(FORK, "git checkout -q side; try git rebase main"),
        ),
        (
            "rebase resolved",
            with(
                FORK,
                "git checkout -q side; try git rebase main; echo x >file
            git add file",
            ),
        ),
        (
            "rebase by patches",
            with(FORK, "git checkout -q side; try git rebase --apply main"),
        ),
        (
            "rebase by patches, resolved",
            with(
                FORK,
                "git checkout -q side
            try git rebase --apply main; echo x >file; git add file",
            ),
        ),
        (
            "rebase of a detached HEAD",
            with(
                FORK,
                "git checkout -q --detach side
            try git rebase main",
            ),
        ),
        ("edit", edit(usual)),
        (
            "edit with changes",
            with(&edit(usual), "echo 2 >>file1; echo 1 >new; git add new"),
        ),
        (
            "edit amended",
            with(&edit(usual), "git commit -q --amend --allow-empty -m other"),
        ),
        (
            "edit split",
            with(&edit(usual), "git reset -q HEAD~1; echo 2 >>file1"),
        ),
        (
            "edit split and clean",
            with(&edit(usual), "git reset -q --hard HEAD~1"),
        ),
        ("last edit", edit("pick @2\\npick @3\\nedit @4\\n")),
        (
            "break",
            edit("pick @2\\nbreak\\nlabel here\\nexec true\\npick @3\\npick @4\\n"),
        ),
        (
            "failed command",
            edit("pick @2\\npick @3\\nexec false\\nreset base\\npick @4\\n"),
        ),
        (
            "fixups",
            edit("pick @2\\nfixup -C @3\\nbreak\\nupdate-ref refs/heads/main\\n"),
        ),
        ("break at once", edit("break\\npick @2\\n")),
        (
            "list is missing",
            with(&edit(usual), "rm .git/rebase-merge/git-rebase-todo"),
        ),
        (
            "lists of other things",
            with(
                &edit(usual),
                "
            printf '# no\\n\\n  pick   deadbeef  x \\nmerge -C main x\\n' \
            >.git/rebase-merge/git-rebase-todo; printf '' >.git/rebase-merge/done",
            ),
        ),
        (
            "merge within a rebase",
            with(
                &edit(usual),
                "git branch -q b base; git checkout -q b
            echo z >file2; commit z; git checkout -q -; try git merge b",
            ),
        ),
        (
            "conflict in an interactive rebase",
            with(
                FORK,
                "git checkout -q side
            echo 1 >f; commit f; try git rebase -i main",
            ),
        ),
        (
            "rebase without names",
            with(
                FORK,
                "git checkout -q side; try git rebase main
            rm .git/rebase-merge/head-name .git/rebase-merge/onto",
            ),
        ),
        (
            "other comments",
            with(
                &edit(usual),
                "git config core.commentChar ';'
            printf '; no\\n# yes\\n' >>.git/rebase-merge/git-rebase-todo",
            ),
        ),
    ]
}

fn names() -> Vec<(&'static str, String)> {
    let odd = "mkdir 'a b' dir; for n in 'with space' \"$(printf 'tab\\there')\" \
        \"$(printf 'line\\nend')\" 'quo\"te' 'back\\slash' \"$(printf 'u\\303\\244')\" \
        \"$(printf 'latin\\344')\" ' lead' 'trail ' 'a b/in' '-dash' 'x -> y' 'dir/deep'; \
        do echo 1 >\"./$n\"; done\n";
    vec![
        ("odd names, untracked", odd.into()),
        ("odd names, staged", with(odd, "git add -A")),
        (
            "odd names, changed",
            with(
                odd,
                "commit odd; for n in * dir/*; do
            test -f \"./$n\" && echo 2 >>\"./$n\" || true; done",
            ),
        ),
        (
            "odd names, renamed",
            with(
                odd,
                "commit odd; git mv 'with space' 'other space'
            git mv 'a b/in' in; git mv \"$(printf 'u\\303\\244')\" 'dir/x y'",
            ),
        ),
        (
            "odd names, not quoted",
            with(odd, "git config core.quotePath false"),
        ),
        (
            "odd branch",
            with(
                odd,
                "git checkout -q -b \"$(printf 'br\\303\\244')\"; commit odd",
            ),
        ),
        (
            "in a directory",
            "mkdir -p dir/sub other; echo 1 >dir/a; echo 1 >dir/sub/b; echo 1 >other/c
            echo 1 >top; commit base; echo 2 >>dir/a; echo 2 >>dir/sub/b; echo 2 >>other/c
            git mv top dir/moved; echo 1 >dir/new; echo 1 >new; mkdir dir/nothing"
                .into(),
        ),
        (
            "letters of either case",
            "git config core.ignoreCase true; mkdir -p d/deep; echo 1 >x.txt; echo 1 >d/deep/f
            echo 1 >y; commit base; echo 2 >X.TXT; mkdir -p D/Deep DIR Y; echo 2 >D/Deep/F
            echo 2 >D/Deep/new; echo 2 >D/new; echo 2 >DIR/new; echo 2 >Y/in; echo 2 >d/DEEP"
                .into(),
        ),
        ("only a directory", "mkdir dir; echo 1 >dir/a".into()),
    ]
}
