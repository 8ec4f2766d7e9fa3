//! What is handed over reaches git as it was called: streams, signals, limits, words, variables. Who
//! answers is decided by switches, and nothing calls itself without end.

use crate::twins::{link_in, path_with, real_git, shown, Twins};
use crate::HEDGEROW;
use hedgerow_testkit::{isolated, require, run, temporary, Outcome};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{symlink, PermissionsExt};
use std::path::{Path, PathBuf};

/// Scripts that say and leave the same with the link and without.
const SCRIPTS: &[&str] = &[
    // Closed streams.
    "git status <&-; echo $?",
    "git status >&-; echo $?",
    "git status 2>&-; echo $?",
    "git status <&- >&- 2>&-; echo $?",
    "git log -1 --format=%s <&-; git log -1 >&-; echo $?; git log -1 2>&- <&- >&-; echo $?",
    "git checkout nonsense 2>&-; echo $?",
    "git nonsense 2>&-; echo $?",
    "git ls-files >/dev/full 2>/dev/null; echo $?",
    "git status >/dev/full 2>/dev/null; echo $?",
    "git log >/dev/full; echo $?",
    // Signals and limits, as git's own children see them.
    "git -c alias.x='!grep -E ^Sig[BIC] /proc/self/status' x",
    "trap '' INT HUP TERM PIPE USR1 CHLD; git -c alias.x='!grep -E ^Sig[BIC] /proc/self/status' x",
    "git checkout -q side; cat $PLACE/hooked; git checkout -q main; rm $PLACE/hooked",
    "git -c alias.x='!ulimit -n; ulimit -c; umask; nice' x; ulimit -n 77; git -c alias.x='!ulimit -n' x",
    "umask 077; git checkout -q side; ls -l f1 | cut -c1-10; rm -f $PLACE/hooked; git checkout -q main",
    "ulimit -n 40; git checkout -q side; tail -1 $PLACE/hooked; rm $PLACE/hooked; git checkout -q main; rm $PLACE/hooked",
    // A pipe that nobody reads.
    "git log --format=%B%B%B | true; git ls-files | true; git rev-list --objects --all | head -1",
    "(trap '' PIPE; sleep 0.2; git ls-files; echo $? >&2) | true; sleep 0.3",
    // Words.
    "git checkout \"$(printf 'a\\377b')\"; git log -- \"$(printf 'a\\377b')\"; git add \"$(printf 'a\\377b')\"; echo $?",
    "git checkout ''; git status ''; git ls-files '' ; git add ''; git log '' ; git ''",
    "git checkout 'a b' \"$(printf 'a\\nb')\"; git -c 'x y=z' status; git -c a.b status -s; git -c a status",
    "git; git -h; git help -g | head -3; git --help | head -3; git --list-cmds=builtins | head -3; git version",
    "git -C; git -C '' status -s; git -c; git --git-dir; git --work-tree; git --namespace",
    "git --exec-path; git --html-path; git --man-path; git --info-path",
    "git status --help 2>&1 | head -1 | cut -c1-10; git checkout -h | head -2; git clean --bogus",
    // Words about words.
    "cd d1; git stash -- nope '*.x' ':(icase)nope'; git --literal-pathspecs stash -- nope; cd ..; git stash -- nope",
    "git branch f1; git rev-list f1; git rev-list ^f1; git rev-list f1 --; git diff-index f1; git diff-index f1 -- f1; git diff-index untracked; git branch -D f1",
    "echo x >>f1; git switch side; git --no-advice switch side; git -c advice.commitBeforeMerge=false checkout side; git --no-advice merge --ff-only side; git checkout -q f1",
    "git -C d1 -C nope status; git -C nope -C .. status; git --git-dir=f1 status; GIT_DIR=untracked git ls-files",
    "git checkout --progress -- f1; git checkout --progress -q side; git checkout --progress main; git restore --progress f1; rm $PLACE/hooked",
    "rm f1; GIT_PROGRESS_DELAY=0 git checkout --progress -f main 2>&1 | tr '\\r' '\\n' | tail -2; rm $PLACE/hooked",
    // Aliases.
    "git st; git co side; git co main; git shout; git -c alias.checkout='!echo no' checkout -q side; git co -q main",
    "git -c alias.a=b -c alias.b=a a; git -c alias.x='-p status' x; git -c alias.x='-c a.b=c status -s' x",
    "cd d1; git shout; git -c alias.x='!pwd; echo $GIT_PREFIX' x; git st",
    // What git starts.
    "GIT_EXEC_PATH=$(git --exec-path) git status -s; GIT_EXEC_PATH=/nonexistent git status -s; GIT_EXEC_PATH=/nonexistent git nonsense",
    "git --exec-path=/nonexistent status -s; git --exec-path=/nonexistent fetch; git --exec-path=$(git --exec-path) fetch",
    "GIT_EXEC_PATH= git fetch; GIT_EXEC_PATH= git status -s",
    "mkdir -p $PLACE/bin; printf '#!/bin/sh\\necho mine $*; git status -s' >$PLACE/bin/git-mine; chmod +x $PLACE/bin/git-mine; PATH=$PATH:$PLACE/bin git mine a b",
    "git hedgerow status; git hedgerow",
    // A program of another git, which comes first in PATH.
    "mkdir $PLACE/other; printf '#!/bin/sh\\necho another git >&2\\nexit 1\\n' >$PLACE/other/git-upload-pack; chmod +x $PLACE/other/*; export PATH=$PLACE/other:$PATH; git fetch -v; git clone -q file://$PLACE/up $PLACE/copy; echo $?; rm -rf $PLACE/copy $PLACE/other",
    // Paths of alternates in quotes.
    "git init -q $PLACE/q; cd $PLACE/q; mkdir -p .git/objects/info; printf '\"%s/up/.git/objects\"\\n' $PLACE >.git/objects/info/alternates; git cat-file --batch-all-objects --batch-check; git checkout -q $(git -C ../up rev-parse side); echo $?; ls; git repack -adl; git count-objects -v; rm -rf $PLACE/q",
    "git init -q $PLACE/q; mv $PLACE/up/.git/objects $PLACE/a:b; mkdir $PLACE/up/.git/objects; export GIT_ALTERNATE_OBJECT_DIRECTORIES=\"\\\"$PLACE/a:b\\\"\"; git -C $PLACE/q cat-file --batch-all-objects --batch-check; git -C $PLACE/up status; git -C $PLACE/up rev-list --count --all; rm -rf $PLACE/q $PLACE/up/.git/objects; mv $PLACE/a:b $PLACE/up/.git/objects",
    "sh -c '. \"$(git --exec-path)/git-sh-setup\"; require_work_tree; echo $GIT_DIR'",
    // Traces.
    "GIT_TRACE=$PLACE/t git status -s; grep -c . $PLACE/t; rm $PLACE/t; GIT_TRACE2=1 git status -s 2>&1 | grep -c cmd_name",
    "git -c trace2.normalTarget=$PLACE/t status -s; test -f $PLACE/t; echo $?; rm -f $PLACE/t",
    "git config trace2.eventTarget $PLACE/t; git status -s; grep -c cmd_name $PLACE/t; git ls-files; grep -c cmd_name $PLACE/t; git config --unset trace2.eventTarget; rm -f $PLACE/t",
    "git config --global trace2.perfTarget $PLACE/t; git ls-files; grep -c cmd_name $PLACE/t; git config --global --unset trace2.perfTarget; rm -f $PLACE/t",
    "GIT_TRACE_SETUP=2 git status -s 2>&1 | grep -c setup:; GIT_CURL_VERBOSE=1 git status -s; GIT_FLUSH=1 git ls-files",
    // Pagers that are not on a terminal.
    "git -c pager.status=cat status -s; git -p status -s; git --paginate ls-files; GIT_PAGER='sed s/^/P/' git -p status -s",
    // The current directory.
    "mkdir $PLACE/gone; cd $PLACE/gone; rmdir $PLACE/gone; git status; git ls-files; git log; git checkout x",
    "cd /; git status; git ls-files; git checkout x; git clean -n; git reset; git stash; git worktree list",
    "cd .git; git status; git ls-files; git checkout side; git clean -n; git rev-list --count HEAD; git cat-file -t HEAD",
    "PWD=/nonsense git status -s; cd -P $PLACE; ln -s work linked-dir; cd linked-dir; git status; git rev-parse --show-toplevel; rm ../linked-dir",
    // A chain of multi-pack-indexes.
    "for n in 1 2; do git commit -q --allow-empty -m $n; git repack -dq; git multi-pack-index write --incremental; done; git multi-pack-index expire; echo $?; git multi-pack-index repack; echo $?; rm -rf .git/objects/pack/multi-pack-index.d; git reset -q --hard HEAD~2",
    // Not a repository, or a strange one.
    "mkdir $PLACE/none; cd $PLACE/none; git status; git checkout x; git ls-files; git clean -f; git stash; git cat-file -t x; git rev-list x; git index-pack x; rmdir $PLACE/none",
    "git config core.repositoryFormatVersion 7; git status; git checkout side; sed -i s/7/0/ .git/config",
    "git config extensions.nonsense x; git config core.repositoryFormatVersion 1; git status; git ls-files; sed -i /nonsense/d .git/config; git config core.repositoryFormatVersion 0",
    "printf '[bad\\n' >>.git/config; (git status; git checkout side; git log) 2>&1 | sed s#$PWD/##; sed -i '$d' .git/config",
    "git config core.bare true; git status; git checkout side; git config core.bare false",
    "git config core.bare true; git config core.worktree $PLACE/work; git status; git ls-files; git rev-list --count HEAD; git checkout side; git reset --hard; git cat-file -t HEAD; git --work-tree=. status -s; git config core.bare false; git config --unset core.worktree",
    // Submodules of submodules that only git clones, or updates as a setting says.
    "cd $PLACE; for r in inner outer top; do git init -q $r; git -C $r commit -q --allow-empty -m one; done; git -C inner commit -q --allow-empty -m two; A='-c protocol.file.allow=always submodule'; git -C outer $A --quiet add $PLACE/inner inner; git -C outer commit -qm two; cd top; git $A --quiet add $PLACE/outer outer; git commit -qm two; git -C outer reset -q --hard HEAD^; rm -rf outer/inner; mkdir d; cd d; git $A update --init --recursive ../outer; echo $?; ls -A ../outer/inner; git -C ../outer config submodule.inner.update '!false'; git -C ../outer/inner reset -q --hard HEAD^; git $A update --recursive; echo $?; git -C ../outer/inner log --format=%s; cd $PLACE; rm -rf inner outer top",
    // A tree with an entry of no object.
    "T=$( (git ls-tree HEAD; printf '160000 commit %040d\\tnull\\n' 0) | git mktree); C=$(git commit-tree $T -p HEAD -m null); GIT_ALLOW_NULL_SHA1=1 git reset -q --hard $C; echo $?; git ls-files -s null; git status -s; git reset -q --hard HEAD^",
    // Standard input.
    "echo f1 | git checkout --pathspec-from-file=- ; echo d1/a | git reset --pathspec-from-file - ; echo f1 | git checkout-index --stdin -f",
    "echo HEAD | git cat-file --batch-check; echo HEAD | git cat-file --batch-check --textconv; echo HEAD | git rev-list --stdin --pretty=%s",
    "echo main | git log --stdin --format=%s -1; printf 'f1\\0' | git checkout-index -z --stdin -f; git archive HEAD | tar t | head -3",
    "(git cat-file --batch-check; cat) <<E\nHEAD\nE",
    // Standard input that was read before it turned out that git has to answer.
    "for l in '' ' info HEAD' bogus flush 'flush x' info contents 'remote-object-info x' 'INFO HEAD' 'mailmap true\\ninfo HEAD' mailmap 'mailmap x' 'mailmapx true' 'info HEAD\\nbogus' 'info HEAD\\ninfo'; do for o in '' --buffer; do printf \"$l\\n\" | git cat-file --batch-command $o; echo $?; printf \"$l\\n\" | tr '\\n' '\\0' | git cat-file -Z --batch-command $o; echo $?; done; done",
    "for o in --batch --batch-check; do printf 'HEAD@{99}\\nHEAD\\n' | git cat-file $o; echo $?; printf 'HEAD\\nHEAD@{99}\\n' | git cat-file $o --buffer; echo $?; done",
    "printf 'HEAD\\n--\\nf1\\n' | git rev-list --stdin; echo $?; (echo HEAD; echo --; sleep 0.2; echo d1) | git rev-list --objects --stdin; echo $?; printf 'nope\\n' | git rev-list --stdin; echo $?",
    "printf 'HEAD\\n--\\nf1\\n' >$PLACE/in; (git rev-list --stdin; cat) <$PLACE/in; printf 'HEAD\\n--\\nf1\\n' | git -c core.x=y rev-list --stdin --count; rm $PLACE/in",
    "(echo HEAD; echo --; yes f1 | head -20000) | git rev-list --stdin; echo $?; (yes HEAD | head -20000; echo --; echo d1) | git rev-list --stdin; echo $?; printf 'HEAD\\n--\\nf1\\n' | git rev-list --stdin >/dev/full; echo $?",
    "printf 'mailmap true\\n' | git cat-file --batch-command 2>/dev/null || exit 0; mkfifo $PLACE/in $PLACE/out; git cat-file --batch-command <$PLACE/in >$PLACE/out & exec 3>$PLACE/in 4<$PLACE/out; for n in 1 2; do echo mailmap true >&3; echo info HEAD >&3; read line <&4; echo $line; done; exec 3>&-; wait $!; echo $?; rm $PLACE/in $PLACE/out",
    "printf 'pack-1.idx\\n' | git multi-pack-index write --stdin-packs; printf '\"f' | git checkout-index --stdin; echo $?; printf '\"f\\n' | git reset --pathspec-from-file=-; echo $?",
];

#[test]
fn scripts() {
    let twins = &mut Twins::new(make);
    twins.trees = vec!["work"];
    let mut found = Vec::new();
    for script in SCRIPTS {
        let difference = twins.script(script);
        if !difference.is_none() {
            found.push(difference.to_string());
            twins.make_alike();
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

fn make(place: &Path) {
    let config = "[alias]\n\tco = checkout\n\tst = status -s\n\tshout = !echo shouted && git status -s\n\
                  [core]\n\tfsync = none\n[init]\n\tdefaultBranch = main\n[user]\n\tname = a\n\temail = a@b\n";
    std::fs::write(place.join("config"), config).unwrap();
    let script = "set -e; git init -q up; cd up; mkdir d1; echo one >f1; echo a >d1/a; git add .; git commit -qm one
        git branch side; echo two >f1; git commit -qam two; git checkout -q side; echo three >f1; git commit -qam three
        git checkout -q main; cd ..; git clone -q up work; cd work; git branch side origin/side; echo x >untracked
        printf '#!/bin/sh\\nulimit -n >../hooked\\n' >.git/hooks/post-checkout
        chmod +x .git/hooks/post-checkout";
    let mut shell = isolated("sh");
    shell.current_dir(place).arg("-c").arg(script);
    hedgerow_testkit::use_global_config(&mut shell, place.join("config"));
    run(shell).ok("the repositories are made");
}

/// A repository, a directory with the link, and a log of who answered.
struct Scene {
    home: tempfile::TempDir,
}

impl Scene {
    fn new() -> Scene {
        let home = temporary();
        make(home.path());
        link_in(&home.path().join("links"));
        Scene { home }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// The script, with this `PATH`; what it said, and the lines of the log.
    fn run_with(&self, path: impl AsRef<OsStr>, script: &str) -> (Outcome, String) {
        let log = self.at("log");
        let _ = std::fs::remove_file(&log);
        let mut shell = isolated("/bin/sh");
        shell.env("PATH", path).env("HEDGEROW_SHIM_LOG", &log);
        hedgerow_testkit::use_global_config(&mut shell, self.at("config"));
        shell.env("HEDGEROW", HEDGEROW).current_dir(self.at("work"));
        shell.arg("-c").arg(script);
        let outcome = run(shell);
        let lines = std::fs::read_to_string(log).unwrap_or_default();
        (outcome, lines)
    }

    fn run(&self, script: &str) -> (Outcome, String) {
        self.run_with(path_with(&self.at("links")), script)
    }

    /// Who answered the calls of the script, which must succeed.
    fn answered(&self, script: &str) -> String {
        let (outcome, lines) = self.run(script);
        outcome.ok(script);
        lines
    }

    /// A program of the shell.
    fn program(&self, path: &str, text: &str) {
        let path = self.at(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
}

#[test]
fn switches_decide_who_answers() {
    let scene = Scene::new();
    for (script, answered) in [
        ("git status", "hedgerow status\n"),
        ("git log -1", "git log log\n"),
        ("HEDGEROW_SHIM=off git status", "git - HEDGEROW_SHIM is off\n"),
        ("git -c hedgerow.shim.status=false status", "git status "),
        ("git -c hedgerow.shim.status=false ls-files", "hedgerow ls-files\n"),
        ("git config hedgerow.shim.status false; git status; git ls-files; git config --unset hedgerow.shim.status",
         "git config config\ngit status "),
        ("git config --global hedgerow.shim.ls-files no; git ls-files; git config --global --unset hedgerow.shim.ls-files",
         "git config config\ngit ls-files "),
        ("git -c pager.status=true status", "hedgerow status\n"),
        ("git shout", "git shout shout\n"),
        ("git st", "git st st\n"),
    ] {
        let lines = scene.answered(script);
        assert!(lines.starts_with(answered), "{script}: {lines}");
    }
}

#[test]
fn on_a_terminal_the_pager_is_gits() {
    if !require("script") {
        return;
    }
    let scene = Scene::new();
    for (words, answered, paged) in [
        ("-c pager.status=true status", "git status ", true),
        ("-c pager.status=false status", "hedgerow status", false),
        ("status", "hedgerow status", false),
        ("-c pager.status='sed s/^/Q/' status", "git status ", true),
        ("--no-pager -c pager.status=true status", "", false),
    ] {
        let script = format!("GIT_PAGER='sed s/^/P/' script -qec \"git {words}\" /dev/null");
        let (outcome, lines) = scene.run(&script);
        assert!(lines.starts_with(answered), "{words}: {lines}");
        let is_paged = outcome.text().starts_with(['P', 'Q']);
        assert_eq!(is_paged, paged, "{words}: {outcome:?}");
    }
}

/// A program of the name of git that calls `git` again finds the next one, or is stopped.
#[test]
fn nothing_calls_itself_without_end() {
    let scene = Scene::new();
    let path = std::env::var("PATH").unwrap();
    let first = |directories: &[&str]| {
        let own = directories
            .iter()
            .map(|name| scene.at(name).display().to_string());
        own.chain([path.clone()]).collect::<Vec<_>>().join(":")
    };
    scene.program("exec/git", "exec git \"$@\"");
    scene.program("fork/git", "git \"$@\"; exit $?");
    scene.program(
        "polite/git",
        "PATH=$(echo \"$PATH\" | sed 's#[^:]*/polite:##'); git \"$@\"",
    );
    scene.program("absolute/git", &format!("{} \"$@\"", real_git().display()));
    std::fs::create_dir(scene.at("other")).unwrap();
    std::fs::copy(HEDGEROW, scene.at("hedgerow")).unwrap();
    symlink(scene.at("hedgerow"), scene.at("other/git")).unwrap();
    let alone = "git log -1 --format=%s && git status -s && git fetch -q && git co -q side && git co -q main
        printf 'HEAD\\n--\\nf1\\n' | git rev-list --count --stdin";
    for directories in [
        &["links"][..],
        &["links", "exec"],
        &["links", "polite"],
        &["links", "absolute"],
        &["links", "other"],
        &["other", "links"],
        &["links", "links"],
        &["links", "other", "exec"],
        &["other", "exec", "links"],
        &["absolute", "links"],
        &["polite", "links", "other"],
    ] {
        let (outcome, _) = scene.run_with(first(directories), alone);
        let said = shown(&outcome.ok(&format!("{directories:?}")));
        assert_eq!(said, "two\n?? untracked\n2\n", "{directories:?}");
    }
    let (outcome, _) = scene.run_with(first(&["links", "fork"]), "git log -1");
    let said = outcome.failed(128, "it is stopped");
    assert!(
        said.contains("was started by git through hedgerow"),
        "{said}"
    );
}

/// A server's programs have names of their own.
#[test]
fn links_by_the_names_of_programs_of_a_server_are_gits() {
    let scene = Scene::new();
    let links = scene.at("links");
    let path = path_with(&links);
    for name in ["git-upload-pack", "git-receive-pack"] {
        symlink(HEDGEROW, links.join(name)).unwrap();
        let asked = format!("{name} --http-backend-info-refs . | head -c 1000");
        let (ours, _) = scene.run_with(&path, &asked);
        let gits = format!("PATH=$(echo \"$PATH\" | sed 's#[^:]*/links:##'); {asked}");
        let (git, _) = scene.run_with(&path, &gits);
        assert!(shown(&git.stdout).contains("refs/heads/main"), "{git:?}");
        assert_eq!(shown(&ours.stdout), shown(&git.stdout), "{ours:?}");
    }
}

#[test]
fn without_any_git_the_rest_works() {
    let scene = Scene::new();
    let links = scene.at("links");
    let (outcome, _) = scene.run_with(&links, "git status -s");
    assert_eq!(shown(&outcome.ok("status")), "?? untracked\n");
    for command in ["log", "checkout -p", "clone x y", "fetch"] {
        let (outcome, _) = scene.run_with(&links, &format!("git {command}"));
        let said = outcome.failed(128, command);
        assert!(
            said.contains("there is no other 'git' in PATH"),
            "{command}: {said}"
        );
    }
}

#[test]
fn the_directory_of_links_has_any_name() {
    let scene = Scene::new();
    for name in [
        &b"with spaces"[..],
        b"qu'ote\"",
        b"$HOME `x`",
        b"raw \xff byte",
        b"new\nline",
        b"-dash",
    ] {
        let directory = scene.home.path().join(OsStr::from_bytes(name));
        std::fs::write(scene.at("name"), directory.as_os_str().as_bytes()).unwrap();
        // Command substitution takes off newlines at the end alone.
        let script = "d=\"$(cat ../name)\"; $HEDGEROW shim install \"$d\" >/dev/null || exit 1
            eval \"$($HEDGEROW shim env \"$d\")\" || exit 2
            git status -s && git log -1 --format=%s && git fetch -q && git co -q side && git co -q main || exit 3
            $HEDGEROW shim status >/dev/null || exit 4
            $HEDGEROW shim remove \"$d\" >/dev/null || exit 5; test -e \"$d\" && exit 6; hash -r; git log -1 --format=%s";
        let (outcome, lines) = scene.run_with(std::env::var_os("PATH").unwrap(), script);
        let said = shown(&outcome.ok(&String::from_utf8_lossy(name)));
        assert_eq!(said, "?? untracked\ntwo\ntwo\n", "{name:?}");
        assert!(lines.starts_with("hedgerow status\n"), "{lines}");
    }
}

#[test]
fn foreign_files_stay() {
    let scene = Scene::new();
    scene.program("foreign/git", "echo mine");
    let shim = |words: &str| {
        scene
            .run_with(
                std::env::var_os("PATH").unwrap(),
                &format!("$HEDGEROW shim {words}"),
            )
            .0
    };
    for words in [
        "install ../foreign",
        "remove ../foreign",
        "remove ../missing",
        "install ../config/below",
        "remove",
        "nonsense",
    ] {
        let outcome = shim(words);
        assert_ne!(outcome.code, 0, "{words}: {outcome:?}");
        outcome.assert_civil(words);
    }
    let text = std::fs::read_to_string(scene.at("foreign/git")).unwrap();
    assert_eq!(text, "#!/bin/sh\necho mine\n");
    // Relative, twice, with something else in the directory.
    shim("install ../new").ok("install");
    shim("install ../new").ok("again");
    std::fs::write(scene.at("new/other"), "").unwrap();
    assert!(std::fs::read_link(scene.at("new/git"))
        .unwrap()
        .is_absolute());
    shim("remove ../new").ok("remove");
    assert!(scene.at("new/other").exists() && !scene.at("new/git").exists());
}
