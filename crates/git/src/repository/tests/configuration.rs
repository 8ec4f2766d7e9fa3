use super::fixture::{fatal, text, words, Scratch};
use crate::config::{Abbreviation, CheckoutSettings, FsMonitor, LogRefUpdates, UntrackedCache};
use crate::convert::{AutoCrlf, Eol, SafeCrlf};

/// Compares one key with `git config --get`.
fn compare(scratch: &Scratch, directory: &str, variables: &[(&str, &str)], key: &str) {
    let context = format!("{key} at {directory} with {variables:?}");
    let found = scratch.discover(directory, variables).unwrap();
    let output = scratch.run(directory, &["config", "--get", key], variables);
    let expected = output.status.success().then(|| text(&output.stdout));
    let own = found.config().string(key).map(|value| value.to_string());
    assert_eq!(
        own.unwrap_or_default(),
        expected.unwrap_or_default(),
        "{context}"
    );
}

/// Compares one key that is set once with what git reads under each type.
fn compare_types(scratch: &Scratch, key: &str) {
    let (directory, variables, context) = ("r", &[], key);
    compare(scratch, directory, variables, key);
    let found = scratch.open(directory);
    let typed = |kind: &str, own: Result<Option<String>, crate::Error>| {
        let arguments = ["config", &format!("--type={kind}"), "--get", key];
        let output = scratch.run(directory, &arguments, variables);
        match own {
            Ok(value) => {
                assert_ne!(
                    output.status.code(),
                    Some(128),
                    "{context} {kind}: {output:?}"
                );
                assert_eq!(
                    value.unwrap_or_default(),
                    text(&output.stdout),
                    "{context} {kind}"
                );
            }
            Err(error) => {
                assert_eq!(output.status.code(), Some(128), "{context} {kind}: {error}");
                let said = fatal(&output);
                let own = error
                    .to_string()
                    .replace(&format!("{}/", scratch.path("r").display()), "");
                assert!(said.contains(&own), "{context} {kind}: {own} is not {said}");
            }
        }
    };
    let config = found.config();
    typed(
        "bool",
        config
            .bool(key)
            .map(|value| value.map(|value| value.to_string())),
    );
    typed(
        "int",
        config
            .integer(key)
            .map(|value| value.map(|value| value.to_string())),
    );
    let path = config.path(key);
    typed(
        "path",
        path.map(|path| path.map(|path| path.to_str().unwrap().to_owned())),
    );
}

#[test]
fn values_are_read_as_git_reads_them() {
    let scratch = Scratch::with_history();
    let values = [
        "true",
        "off",
        "YES",
        "0",
        "1",
        "-1",
        "512m",
        "2G",
        "1k",
        "10",
        "0x1f",
        "017",
        "1.5",
        "ten",
        "\"\"",
        "~/inside",
        "~",
        "a/b",
        "3t",
        "99999999999999999999",
        "\"quoted; text\"",
        "a\\tb",
        "two words  ",
        "x # comment",
        "\" kept \"",
        "line\\\n  more",
        "-2k",
        "+7",
    ];
    let mut config = scratch.read("r/.git/config");
    for (number, value) in values.iter().enumerate() {
        config.push_str(&format!("[test \"Sub.{number}\"]\n\tsomeKey = {value}\n"));
    }
    config.push_str("[test \"Sub.none\"]\n\tsomeKey\n");
    scratch.write("r/.git/config", config);
    for number in 0..values.len() {
        compare_types(&scratch, &format!("test.Sub.{number}.someKey"));
    }
    let found = scratch.open("r");
    let key = "test.Sub.none.someKey";
    assert_eq!(found.config().bool(key).unwrap(), Some(true));
    for error in [
        words(found.config().integer(key).map(|_| ())),
        words(found.config().text(key).map(|_| ())),
    ] {
        assert_eq!(error, "missing value for 'test.Sub.none.somekey'");
    }
}

#[test]
fn the_last_source_wins() {
    let scratch = Scratch::with_history();
    scratch.write("system", "[a]\nsystem = s\nall = system\n");
    scratch.write("home/.config/git/config", "[a]\nxdg = x\nall = xdg\n");
    scratch.write("other-xdg/git/config", "[a]\nxdg = other\nall = other\n");
    let home = scratch.read("home/.gitconfig");
    scratch.write("home/.gitconfig", home + "[a]\nglobal = g\nall = global\n");
    scratch.write("global", "[a]\nglobal = replaced\nall = replaced\n");
    scratch.ask("r", &["config", "extensions.worktreeConfig", "true"]);
    scratch.ask("r", &["config", "a.local", "l"]);
    scratch.ask("r", &["config", "--worktree", "a.worktree", "w"]);
    let path = |inner: &str| scratch.path(inner).to_str().unwrap().to_owned();
    let (system, global, xdg) = (path("system"), path("global"), path("other-xdg"));
    let sources: [&[(&str, &str)]; 6] = [
        &[],
        &[("GIT_CONFIG_SYSTEM", &system), ("GIT_CONFIG_NOSYSTEM", "0")],
        &[("GIT_CONFIG_SYSTEM", &system), ("GIT_CONFIG_NOSYSTEM", "1")],
        &[("GIT_CONFIG_GLOBAL", &global)],
        &[("XDG_CONFIG_HOME", &xdg)],
        &[
            ("GIT_CONFIG_COUNT", "1"),
            ("GIT_CONFIG_KEY_0", "a.all"),
            ("GIT_CONFIG_VALUE_0", "counted"),
            ("GIT_CONFIG_PARAMETERS", "'a.parameter'='p' 'a.flag'"),
        ],
    ];
    for (number, variables) in sources.into_iter().enumerate() {
        for key in [
            "a.all",
            "a.system",
            "a.xdg",
            "a.global",
            "a.local",
            "a.worktree",
            "a.parameter",
        ] {
            compare(&scratch, "r", variables, key);
        }
        if number == 3 {
            scratch.ask("r", &["config", "a.all", "local"]);
        }
    }
    scratch.ask("r", &["config", "--worktree", "a.all", "worktree"]);
    compare(&scratch, "r", &[], "a.all");
}

#[test]
fn includes_are_followed_where_their_condition_holds() {
    let scratch = Scratch::with_history();
    let inside = scratch.path("r").to_str().unwrap().to_owned();
    for name in [
        "plain", "gitdir", "case", "branch", "capitals", "url", "not", "home", "nested",
    ] {
        scratch.write(
            &format!("inc/{name}"),
            format!("[inc]\n{name} = yes\nlast = {name}\n"),
        );
    }
    scratch.write(
        "inc/plain",
        "[inc]\nplain = yes\n[include]\npath = nested\n",
    );
    scratch.write("home/included", "[inc]\nhome = yes\n");
    let upper = inside.to_uppercase();
    let global = format!(
        "[include]\npath = ../inc/plain\n[include]\npath = ~/included\n\
         [includeIf \"gitdir:{inside}/\"]\npath = ../inc/gitdir\n\
         [includeIf \"gitdir/i:{upper}/.GIT\"]\npath = ../inc/case\n\
         [IncludeIF \"onbranch:ma*\"]\npath = ../inc/branch\n\
         [INCLUDE]\npath = ../inc/capitals\n\
         [includeIf \"hasconfig:remote.*.url:https://**\"]\npath = ../inc/url\n\
         [includeIf \"onbranch:other\"]\npath = ../inc/not\n[include]\npath = missing\n\
         [inc]\nlast = end\n"
    );
    let home = scratch.read("home/.gitconfig");
    scratch.write("home/.gitconfig", home + &global);
    scratch.ask("r", &["config", "remote.o.url", "https://example.com/x"]);
    for name in [
        "plain", "gitdir", "case", "branch", "capitals", "url", "not", "home", "nested", "last",
    ] {
        compare(&scratch, "r/dir", &[], &format!("inc.{name}"));
    }
    let found = scratch.open("r");
    assert_eq!(found.config().string("inc.url").unwrap(), "yes");
    assert_eq!(found.config().string("inc.not"), None);
}

#[test]
fn bad_syntax_names_file_and_line() {
    let scratch = Scratch::with_history();
    let good = scratch.read("r/.git/config");
    for bad in [
        "[a\n",
        "[a]\n\tb = \"open\n",
        "[a]\n\n= c\n",
        "[a]\nb = \\q\n",
    ] {
        let content = format!("{good}{bad}");
        scratch.write("r/.git/config", &content);
        let said = scratch.refusal("r", &[]);
        assert!(said.starts_with("bad config line "), "{bad}: {said}");
        assert!(said.ends_with("r/.git/config"), "{bad}: {said}");
        let output = scratch.run("r", &["rev-parse", "HEAD"], &[]);
        assert!(!output.status.success(), "{bad}");
    }
    scratch.write("r/.git/config", format!("{good}[a\n"));
    let line = good.lines().count() + 1;
    assert!(scratch
        .refusal("r", &[])
        .starts_with(&format!("bad config line {line} in file ")));
}

/// What git refuses to read is refused, in the same line: nothing is done in a repository by a configuration
/// that means something else to git.
#[test]
fn lines_that_git_refuses_are_refused() {
    let scratch = Scratch::with_history();
    let good = scratch.read("r/.git/config");
    let pieces = [
        "[a]",
        "[a.b]",
        "[a \"b\"]",
        "[a \"b\\\"c\"]",
        "[a \"b",
        "[a b]",
        "[",
        "key",
        "k-1",
        "1k",
        " ",
        "\t",
        "=",
        " = ",
        "v",
        "\"",
        "\\",
        "\\n",
        "\\x",
        "#",
        ";",
        "\r\n",
        "\n",
        "\n",
        "\n",
        "x y = z",
        "garbage here",
        "ä",
        "_",
        ".",
        "-",
        "key = v # no\n",
        "key ; no\n",
        "key = \"a ; b\"\n",
        "key = a\\\n  b\n",
    ];
    let mut state = 1_u64;
    let mut next = |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) as usize % below
    };
    let (mut refused, mut taken) = (0, 0);
    for _ in 0..400 {
        let count = 1 + next(6);
        let text: String = (0..count).map(|_| pieces[next(pieces.len())]).collect();
        let content = format!("{good}[a]\n{text}");
        scratch.write("r/.git/config", &content);
        let output = scratch.run("r", &["config", "--list"], &[]);
        let git = String::from_utf8_lossy(&output.stderr).into_owned();
        match scratch.discover("r", &[]) {
            Ok(_) => assert!(output.status.success(), "{content:?}: {git}"),
            Err(error) => {
                let said = error.to_string();
                let words = |said: &str| said.split(" in file ").next().unwrap().to_owned();
                let git = git.trim_start_matches("fatal: ");
                assert_eq!(words(&said), words(git), "{content:?}");
            }
        }
        if output.status.success() {
            taken += 1;
        } else {
            refused += 1;
        }
    }
    assert!(refused > 50 && taken > 50, "{refused} {taken}");
}

fn settings(scratch: &Scratch, config: &str) -> Result<CheckoutSettings, String> {
    scratch.write("r/.git/config", config);
    let found = scratch.discover("r", &[]);
    found
        .map(|found| found.settings().clone())
        .map_err(|error| error.to_string())
}

#[test]
fn settings_have_gits_defaults() {
    let scratch = Scratch::with_history();
    let read = settings(&scratch, "").unwrap();
    assert_eq!(read.workers, None);
    assert_eq!(read.parallel_threshold, 100);
    assert!(read.guess && read.file_mode && read.symlinks && read.protect_ntfs);
    assert!(!read.ignore_case && !read.protect_hfs && !read.sparse_checkout);
    assert_eq!(read.autocrlf, AutoCrlf::False);
    assert_eq!(read.safecrlf, SafeCrlf::Warn);
    assert_eq!(read.big_file_bytes, 512 << 20);
    assert_eq!((read.index_version, read.index_skip_hash), (None, false));
    assert_eq!(read.log_ref_updates, LogRefUpdates::Usual);
    assert_eq!(read.untracked_cache, UntrackedCache::Keep);
    assert_eq!(read.abbreviation, Abbreviation::Auto);
    let attributes = scratch.path("home/.config/git/attributes");
    assert_eq!(read.attributes_file, Some(attributes));
}

#[test]
fn settings_are_read() {
    let scratch = Scratch::with_history();
    let read = settings(
        &scratch,
        "[feature]\nmanyFiles\n[checkout]\nworkers = 0\ndefaultRemote = up\nguess = no\n\
         [core]\nautocrlf = Input\neol = CRLF\nsafecrlf = true\ncheckStat = minimal\n\
         bigFileThreshold = 1m\nlogAllRefUpdates = always\nuntrackedCache = keep\n\
         fsmonitor = /bin/watch\nabbrev = 12\nhooksPath = ~/hooks\nquotePath = off\n\
         [attr]\ntree = HEAD\n",
    )
    .unwrap();
    assert_eq!(read.workers, Some(0));
    assert_eq!(read.default_remote, Some("up".into()));
    assert!(!read.guess && !read.check_whole_stat && !read.quote_path);
    assert_eq!((read.index_version, read.index_skip_hash), (Some(4), true));
    assert_eq!(
        (read.autocrlf, read.eol),
        (AutoCrlf::Input, Some(Eol::CrLf))
    );
    assert_eq!(read.safecrlf, SafeCrlf::True);
    assert_eq!(read.big_file_bytes, 1 << 20);
    assert_eq!(read.log_ref_updates, LogRefUpdates::Always);
    // "keep" keeps what the feature has set, as with git.
    assert_eq!(read.untracked_cache, UntrackedCache::Write);
    assert_eq!(read.fsmonitor, FsMonitor::Hook("/bin/watch".into()));
    assert_eq!(read.abbreviation, Abbreviation::Digits(12));
    assert_eq!(read.hooks_path, Some(scratch.path("home/hooks")));
    assert_eq!(read.attributes_tree, Some("HEAD".into()));
    let read = settings(&scratch, "[core]\nabbrev = no\nfsmonitor\nautocrlf\n").unwrap();
    assert_eq!(read.abbreviation, Abbreviation::Full);
    assert_eq!(read.fsmonitor, FsMonitor::Daemon);
    assert_eq!(read.autocrlf, AutoCrlf::True);
}

#[test]
fn bad_settings_are_refused() {
    let scratch = Scratch::with_history();
    for (config, expected) in [
        (
            "[core]\nfileMode = perhaps\n",
            "bad boolean config value 'perhaps' for 'core.filemode'",
        ),
        ("[core]\nabbrev = 2\n", "abbrev length out of range: 2"),
        ("[core]\nabbrev = 41\n", "abbrev length out of range: 41"),
        (
            "[core]\ncheckStat = some\n",
            "invalid value for 'core.checkstat': 'some'",
        ),
        (
            "[core]\nbigFileThreshold = -1\n",
            "invalid value for 'core.bigfilethreshold': '-1'",
        ),
        ("[core]\neol\n", "missing value for 'core.eol'"),
        (
            "[core]\nhooksPath = ~nobody-here/x\n",
            "failed to expand user dir in: '~nobody-here/x'",
        ),
    ] {
        assert_eq!(settings(&scratch, config).unwrap_err(), expected);
    }
    let error = settings(&scratch, "[checkout]\nworkers = many\n").unwrap_err();
    let path = scratch.path("r/.git/config");
    let expected = format!(
        "bad numeric config value 'many' for 'checkout.workers' in file {}: invalid unit",
        path.display()
    );
    assert_eq!(error, expected);
}
