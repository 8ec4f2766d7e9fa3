//! Completions in bash, zsh and fish themselves, each asked about the same lines.

use crate::{generated, HEDGEROW};
use hedgerow_testkit::{isolated, require, run, skip, Repository, TempDir};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Lines, each with the words that its last one may become; `!` in front of one that must not be
/// offered.
const LINES: [(&str, &[&str]); 21] = [
    ("hedgerow chec", &["checkout", "checkout-index", "!clean"]),
    ("hedgerow checkout --ov", &["--overlay", "!--no-overlay"]),
    // What only the parser knows is no option.
    ("hedgerow checkout --n", &["--no-overlay", "!--new-branch"]),
    ("hedgerow checkout top", &["topic"]),
    ("hedgerow -C .. -C work checkout v1", &["v1.0"]),
    ("hedgerow checkout orig", &["origin/elsewhere"]),
    ("hedgerow rev-list main..to", &["main..topic"]),
    ("hedgerow switch else", &["elsewhere"]),
    ("hedgerow checkout -- fi", &["file", "!topic"]),
    ("hedgerow stash drop sta", &["stash@{0}"]),
    ("hedgerow worktree remove ../li", &["../linked"]),
    ("hedgerow image create -c zs", &["zstd"]),
    (
        "hedgerow image create -c l",
        &["lzma", "lzo", "lz4", "lz4hc"],
    ),
    ("hedgerow image create git:to", &["git:topic"]),
    ("hedgerow image cat tree.sqfs d/i", &["d/inner"]),
    ("hedgerow fetch ba", &["backup"]),
    ("hedgerow clone ba", &["!backup"]),
    ("hedgerow help wor", &["workers", "worktree"]),
    ("hedgerow --color=al", &["--color=always"]),
    ("git hedgerow checkout top", &["topic"]),
    ("tar2sqfs --comp", &["--compressor", "--comp-extra"]),
];

/// A repository, and a PATH that leads to hedgerow and to links to it.
struct Scene {
    directory: TempDir,
    work: PathBuf,
}

impl Scene {
    fn new() -> Self {
        let repository = Repository::init(&["-b", "main"]);
        repository.commit_files(&[("file", "one\n"), ("d/inner", "in\n")], "one");
        for words in [
            &["tag", "v1.0"][..],
            &["branch", "topic"],
            &["remote", "add", "backup", "nowhere"],
            &["update-ref", "refs/remotes/origin/elsewhere", "HEAD"],
        ] {
            repository.git(words);
        }
        let directory = hedgerow_testkit::temporary();
        let work = directory.path().join("work");
        let mut clone = isolated("cp");
        clone.arg("-a").arg(&repository.root).arg(&work);
        run(clone).ok("cp");
        std::fs::write(work.join("file"), "two\n").unwrap();
        let mut stash = isolated("git");
        run_in(&work, stash.arg("stash"));
        std::fs::create_dir(directory.path().join("linked")).unwrap();
        let mut image = HEDGEROW.command(&work);
        run_in(
            &work,
            image.args(["image", "create", "git:main", "tree.sqfs"]),
        );
        let programs = directory.path().join("bin");
        std::fs::create_dir(&programs).unwrap();
        for name in ["hedgerow", "git-hedgerow", "tar2sqfs"] {
            symlink(env!("CARGO_BIN_EXE_hedgerow"), programs.join(name)).unwrap();
        }
        Scene { directory, work }
    }

    /// Makes the image `odd.sqfs` of the names in `ODD`.
    fn pack_odd_names(&self) {
        let source = self.directory.path().join("odd");
        for name in ODD {
            let path = source.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let mut image = HEDGEROW.command(&self.work);
        run_in(
            &self.work,
            image.args(["image", "create", "../odd", "odd.sqfs"]),
        );
    }

    /// A shell in the working tree; its completions are in a file of the shell's name for them.
    fn shell(&self, shell: &str, completions: &str) -> Command {
        let text = generated(&self.work, &["completions", shell]);
        std::fs::write(self.directory.path().join(completions), text).unwrap();
        let path = std::env::var("PATH").unwrap();
        let mut command = isolated(shell);
        let programs = self.directory.path().join("bin");
        command.env("PATH", format!("{}:{path}", programs.display()));
        command
            .env("HOME", self.directory.path())
            .env("TERM", "xterm");
        command.current_dir(&self.work);
        command
    }
}

fn run_in(directory: &Path, command: &mut Command) {
    let output = command.current_dir(directory).output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

/// Compares what a shell offers, one word a line, with what it has to.
fn check(shell: &str, line: &str, expected: &[&str], offered: &str) {
    let offered: Vec<&str> = offered.lines().map(str::trim_end).collect();
    for word in expected {
        let (wanted, word) = match word.strip_prefix('!') {
            Some(word) => (false, word),
            None => (true, *word),
        };
        let is_offered = offered.contains(&word);
        assert_eq!(is_offered, wanted, "{shell}, '{line}', {word}: {offered:?}");
    }
}

/// bash has to be told of what readline would: the words, split at = and :.
#[test]
fn bash_completes() {
    const ASK: &str = r#"
        source ../hedgerow.bash
        gits=/usr/share/bash-completion/completions/git
        [[ -r $gits ]] && source "$gits"
        COMP_LINE=$1 COMP_POINT=${#1} COMP_WORDS=() COMP_TYPE=9 COMP_KEY=9
        spread=${1//:/ : } spread=${spread//=/ = }
        read -ra COMP_WORDS <<<"$spread"
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        name=${COMP_WORDS[0]}
        function=$(complete -p "$name") && function=${function##*-F } && function=${function%% *}
        "$function" "$name" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}" 2>&1
        printf '%s\n' "${COMPREPLY[@]}"
    "#;
    if !require("bash") {
        return;
    }
    let has_gits = Path::new("/usr/share/bash-completion/completions/git").exists();
    let scene = Scene::new();
    for (line, expected) in LINES {
        if line.starts_with("git ") && !has_gits {
            skip("git's completions for bash are not installed");
            continue;
        }
        let mut command = scene.shell("bash", "hedgerow.bash");
        command.args(["--norc", "-c", ASK, "bash", line]);
        let offered = run(command).text();
        // Only what is behind = and : is replaced.
        let expected: Vec<String> = expected
            .iter()
            .map(|word| match word.strip_prefix('!') {
                Some(_) => (*word).to_owned(),
                None => word.rsplit([':', '=']).next().unwrap().to_owned(),
            })
            .collect();
        let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
        check("bash", line, &expected, &offered);
    }
}

/// Names that a shell would take apart, and worse.
const ODD: [&str; 4] = ["we$ird (x)", "it's", "zz$(touch HARM)", "dir one/inner"];

/// Lines, and what of `ODD` is completed, with what is typed in front of the completion.
const QUOTED: [(&str, &str, &str); 8] = [
    ("z", "", "zz$(touch HARM)"),
    ("w", "", "we$ird (x)"),
    ("i", "", "it's"),
    (r"dir\ one/", "", "dir one/inner"),
    ("'dir one/", "'", "dir one/inner"),
    ("'dir one/'", "'dir one/'", "dir one/inner"),
    ("'i", "'", "it's"),
    ("\"z", "\"", "zz$(touch HARM)"),
];

/// What is inserted means the name, whatever the name is.
#[test]
fn bash_quotes_names() {
    const ASK: &str = r#"
        source ../hedgerow.bash
        COMP_LINE="hedgerow image cat odd.sqfs $1" COMP_POINT=${#COMP_LINE} COMP_TYPE=9 COMP_KEY=9
        COMP_WORDS=(hedgerow image cat odd.sqfs "$1") COMP_CWORD=4
        _hedgerow
        word=$2${COMPREPLY[0]}
        [[ $2 == [\'\"] ]] && word+=$2
        eval "printf '%s\n' $word"
    "#;
    if !require("bash") {
        return;
    }
    let scene = Scene::new();
    scene.pack_odd_names();
    for (line, typed, expected) in QUOTED {
        let mut command = scene.shell("bash", "hedgerow.bash");
        command.args(["--norc", "-c", ASK, "bash", line, typed]);
        assert_eq!(run(command).text().trim_end(), expected, "{line}");
    }
    assert!(!scene.work.join("HARM").exists());
}

#[test]
fn fish_unquotes_what_was_typed() {
    if !require("fish") {
        return;
    }
    let scene = Scene::new();
    scene.pack_odd_names();
    for (line, expected) in [
        (r"image cat odd.sqfs dir\ one/", "dir one/inner"),
        ("image cat odd.sqfs 'dir one/", "dir one/inner"),
        ("image cat odd.sqfs \"dir one/", "dir one/inner"),
        ("--stats=od", "--stats=odd.sqfs"),
    ] {
        let mut command = scene.shell("fish", "hedgerow.fish");
        let ask = "source ../hedgerow.fish; complete -C$argv[1]";
        command.args(["--no-config", "-c", ask, &format!("hedgerow {line}")]);
        let offered = run(command).text();
        let word = offered.lines().next().unwrap_or_default();
        let word = word.split('\t').next().unwrap_or_default();
        assert_eq!(word, expected, "{line}");
    }
}

/// zsh completes only where somebody types, so it is typed to in a terminal of its own.
#[test]
fn zsh_completes() {
    const ASK: &str = r#"
        zmodload zsh/zpty
        zpty inner zsh -f -i
        zpty -w inner "PROMPT=; fpath=($PWD/.. \$fpath); autoload -Uz compinit; compinit -u -D"
        zpty -w inner 'compadd() {
            if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd "$@"; return; fi
            local -a hits
            builtin compadd -A hits "$@"
            print -rl -- $hits >>../offered
            builtin compadd "$@"
        }'
        zpty -w inner 'touch ../ready'
        for ((wait = 0; wait < 3000; wait++)); do [[ -e ../ready ]] && break; sleep 0.1; done
        zpty -w -n inner "$1"$'\t'
        # What comes next is read when the completion is done.
        zpty -w -n inner $'\C-a\C-ktouch ../done\n'
        for ((wait = 0; wait < 3000; wait++)); do [[ -e ../done ]] && break; sleep 0.1; done
        zpty -d inner
    "#;
    if !require("zsh") {
        return;
    }
    let scene = Scene::new();
    let path = |name: &str| scene.directory.path().join(name);
    for (line, expected) in LINES {
        for name in ["ready", "done", "offered"] {
            let _ = std::fs::remove_file(path(name));
        }
        let mut command = scene.shell("zsh", "_hedgerow");
        let _ = symlink("_hedgerow", path("_git-hedgerow"));
        command.args(["-f", "-c", ASK, "zsh", line]);
        let said = run(command);
        let offered = std::fs::read_to_string(path("offered")).unwrap_or_default();
        // They are offered as they have to be typed.
        let offered = offered.replace('\\', "");
        assert!(path("done").exists(), "{line}: {said:?}");
        check("zsh", line, &with_paths(line, expected), &offered);
    }
}

/// zsh offers paths without the directories that were typed.
fn with_paths<'w>(line: &str, expected: &[&'w str]) -> Vec<&'w str> {
    let strip = |word: &'w str| word.strip_prefix("../").unwrap_or(word);
    let has_directory = line.contains(" ../");
    let words = expected.iter();
    words
        .map(|word| if has_directory { strip(word) } else { word })
        .collect()
}

#[test]
fn fish_completes() {
    if !require("fish") {
        return;
    }
    let scene = Scene::new();
    for (line, expected) in LINES {
        let mut command = scene.shell("fish", "hedgerow.fish");
        let ask = "source ../hedgerow.fish; complete -C$argv[1]";
        command.args(["--no-config", "-c", ask, line]);
        let offered = run(command).text();
        let words = offered
            .lines()
            .map(|line| line.split('\t').next().unwrap_or_default());
        let words: Vec<&str> = words.map(|word| word.trim_end_matches('/')).collect();
        check("fish", line, expected, &words.join("\n"));
    }
}
