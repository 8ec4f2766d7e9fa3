//! `hedgerow clone`, and `git clone` through the link, beside `git clone`: options, sources and
//! refusals. Both say the same, end with the same code and leave the same.

use crate::twins::{real_git, typed, Side, Twins};
use crate::HEDGEROW;
use hedgerow_testkit::{isolated, run, use_global_config, Mount};
use std::path::Path;
use std::process::Command;

/// Words after `clone`, typed in the directory `out`.
const CALLS: &[&str] = &[
    "../src",
    "../src x",
    "../src x/y/z",
    "../bare.git",
    "../bare.git/",
    "../bare",
    "../src/.git",
    "file://PLACE/src",
    "file://PLACE/src y --depth 1",
    "--depth=2 file://PLACE/src",
    "--depth 1 ../src",
    "--depth 0 file://PLACE/src",
    "-q ../src",
    "-v ../src",
    "-n ../src",
    "-b t1 ../src",
    "-b side ../src",
    "-q -b t1 ../src",
    "-b nope ../src",
    "../nope",
    "file://PLACE/nope",
    "../empty",
    "-b main ../empty",
    "--bare ../empty",
    "../lost",
    "../detached",
    "../b.bundle",
    "../b",
    "--bare ../b.bundle",
    "../src --recurse-submodules",
    "../src --recursive -j 2",
    "--recurse-submodules=mod ../src",
    "--recurse-submodules=nothing ../src",
    "--recurse-submodules --bare ../src",
    "--sparse ../src",
    "--sparse --filter=blob:none file://PLACE/src",
    "--bare ../src",
    "--bare ../src x.git",
    "--mirror ../src m.git",
    "-o up ../src",
    "-o bad..name ../src",
    "-c core.autocrlf=true -c a.b=c ../src",
    "-c core.hooksPath=PLACE/hooks ../src",
    "-c core.hooksPath=PLACE/failing ../src",
    "-c advice.detachedHead=false -b t1 ../src",
    "-c remote.origin.fetch=+refs/notes/*:refs/notes/* ../src",
    "-c bad ../src",
    "--no-tags ../src",
    "--no-tags --depth 1 file://PLACE/src",
    "--single-branch ../src",
    "--single-branch -b side file://PLACE/src",
    "--separate-git-dir=g ../src w",
    "--separate-git-dir g ../src",
    "--separate-git-dir PLACE/full ../src w",
    "--reference ../src file://PLACE/src r",
    "--reference ../nope ../src r",
    "--reference-if-able ../nope ../src r",
    "--reference ../src --dissociate file://PLACE/src r",
    "--shared ../src",
    "-s ../src",
    "--no-hardlinks ../src",
    "--no-local ../src",
    "--local ../src",
    "--template= ../src",
    "--template=PLACE/template ../src",
    "--template PLACE/template --bare ../src",
    "--template=PLACE/failing-template ../src",
    "--filter=blob:none file://PLACE/src",
    "--filter=blob:limit=1 --no-checkout file://PLACE/src",
    "--filter=tree:0 file://PLACE/src",
    "--filter=nonsense file://PLACE/src",
    "--filter=blob:none --also-filter-submodules --recurse-submodules file://PLACE/src",
    "--filter=blob:none --also-filter-submodules file://PLACE/src",
    "--bogus ../src",
    "--dep 1 file://PLACE/src",
    "../src a b c",
    "",
    "-q",
    "-h",
    "--shallow-since=2001-01-01 file://PLACE/src",
    "--shallow-since=2051-01-01 file://PLACE/src",
    "--shallow-exclude=t1 file://PLACE/src",
    "--ref-format=reftable ../src",
    "--ref-format=reftable file://PLACE/src",
    "--ref-format=reftable --bare file://PLACE/src",
    "--ref-format=nonsense ../src",
    "--revision=refs/tags/t2 file://PLACE/src",
    "--revision=refs/heads/side --depth 1 file://PLACE/src",
    "--revision=refs/heads/side --branch side file://PLACE/src",
    "-lq ../src",
    "-qn ../src",
    "-u git-upload-pack ../src",
    "-u nonsense ../src",
    "--jobs=3 --recurse-submodules --shallow-submodules file://PLACE/src",
    "--recurse-submodules --remote-submodules ../src",
    "--depth 1 --no-single-branch file://PLACE/src",
    "--tags ../src",
    "--reject-shallow ../src",
    "--reject-shallow ../shallow",
    "../shallow",
    "-c clone.defaultRemoteName=q ../src",
    "--no-shared ../src",
    "--no-bare ../src",
    "--no-filter ../src",
    "../src ../out/../full",
    "../src ../full",
    "../src ../file",
    "../src ../file/below",
    "../src .",
    "--bundle-uri=file://PLACE/b.bundle file://PLACE/src",
    "--bundle-uri=nonsense --depth 1 file://PLACE/src",
    "--server-option=x file://PLACE/src",
    "-4 ../src",
    "-- ../src",
    "../src -- x",
    "../strange",
    "../src -- -x",
    "ext::nothing",
    "nohost://x/y",
    "--upload-pack=PLACE/failing/post-checkout file://PLACE/src",
    "../src --branch=side --branch=t1",
    "--sparse --bare ../src",
    "../collide",
    "../colliding.git",
    "-c core.symlinks=false ../strange",
    "-c core.protectNTFS=false -c core.fileMode=false ../strange",
    "-c checkout.workers=3 ../strange",
    "-c hedgerow.shim.clone=false ../src",
    "-c init.defaultBranch=trunk ../empty",
    "-c core.sparseCheckout=true ../src",
    "-c fetch.fsckObjects=true file://PLACE/src",
    "-c transfer.unpackLimit=1 file://PLACE/src",
    "-c core.bare=true ../src",
    "-c core.worktree=PLACE/elsewhere ../src",
    "-c filter.up.smudge=rev ../filtered",
    "../filtered",
];

#[test]
fn calls() {
    let twins = &mut Twins::new(make);
    twins.trees = vec![
        "out/src",
        "out/x",
        "out/y",
        "out/r",
        "out/w",
        "out/src/mod",
        "out/strange",
    ];
    let mut found = Vec::new();
    for call in CALLS {
        for by_link in [false, true] {
            // hedgerow's own help has its own words.
            if !by_link && call.ends_with("-h") {
                continue;
            }
            compare(twins, call, by_link, &[], &mut found);
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Variables of the environment, too.
#[test]
fn variables() {
    let twins = &mut Twins::new(make);
    twins.trees = vec!["out/src"];
    let mut found = Vec::new();
    for variable in [
        ("GIT_DIR", "elsewhere"),
        ("GIT_WORK_TREE", "tree"),
        ("GIT_INDEX_FILE", "index-file"),
        ("GIT_OBJECT_DIRECTORY", "objects-dir"),
        ("GIT_ALTERNATE_OBJECT_DIRECTORIES", "PLACE/src/.git/objects"),
        ("GIT_TEMPLATE_DIR", "PLACE/template"),
        ("GIT_PROTOCOL_FROM_USER", "0"),
        ("GIT_ALLOW_PROTOCOL", "https"),
        ("GIT_NO_LAZY_FETCH", "1"),
        ("GIT_DEFAULT_REF_FORMAT", "reftable"),
        ("GIT_DEFAULT_HASH", "sha256"),
        ("GIT_LITERAL_PATHSPECS", "1"),
        ("GIT_ADVICE", "0"),
        ("GIT_REFLOG_ACTION", "mine"),
        ("GIT_CONFIG_PARAMETERS", "'core.autocrlf'='true'"),
        ("GIT_TRACE", "0"),
        ("GIT_EXEC_PATH", ""),
        ("GIT_PREFIX", "x/"),
        ("GIT_QUARANTINE_PATH", "x"),
        ("GIT_ATTR_SOURCE", "HEAD"),
        ("TMPDIR", "/nonexistent"),
    ] {
        for call in [
            "../src",
            "--recurse-submodules -b t3 ../src",
            "--filter=blob:none file://PLACE/src",
        ] {
            // Git's own fetch of what is missing fails there, and how is chance.
            if variable.0 == "GIT_OBJECT_DIRECTORY" && call.contains("filter") {
                continue;
            }
            for by_link in [false, true] {
                compare(twins, call, by_link, &[variable], &mut found);
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Without how long it took until a server did not answer.
fn without_times(said: &str) -> String {
    let mut parts = said.split(" after ");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|digit: char| digit.is_ascii_digit());
        let rest = if rest.starts_with(" ms: ") {
            rest
        } else {
            part
        };
        out.extend([" after ", rest]);
    }
    out
}

/// The same call in both; what differs is added to `found`. Returns git's exit code.
pub fn compare(
    twins: &mut Twins,
    call: &str,
    by_link: bool,
    variables: &[(&str, &str)],
    found: &mut Vec<String>,
) -> i32 {
    let (place, links) = (twins.place(), twins.links());
    let in_place = |text: &str| text.replace("PLACE", &place.to_string_lossy());
    let words: Vec<String> = call.split_whitespace().map(in_place).collect();
    let what = format!(
        "{variables:?} clone {}, by the link: {by_link}",
        typed(&words)
    );
    let prepare = |side: Side| {
        let mut command = match (side, by_link) {
            (Side::Plain, _) => isolated(real_git()),
            (Side::Linked, true) => isolated(links.join("git")),
            (Side::Linked, false) => isolated(HEDGEROW),
        };
        if by_link {
            command.envs(Twins::environment(&links, side));
        }
        for (name, value) in variables {
            command.env(name, in_place(value));
        }
        use_global_config(&mut command, place.join("config"));
        command
            .current_dir(place.join("out"))
            .arg("clone")
            .args(&words);
        (command, Vec::new())
    };
    let mut difference = twins.both(&what, prepare);
    twins.story.clear();
    for outcome in [&mut difference.git, &mut difference.our] {
        outcome.stderr = without_times(&outcome.stderr);
    }
    let (git, our) = (&difference.git, &difference.our);
    // hedgerow has its own words about its options, and more with -v.
    let is_usage =
        our.code == 129 && (git.code == 129 || our.stderr.contains("; nothing was touched"));
    let is_help = words == ["-h"];
    let is_verbose = words.contains(&"-v".to_owned()) && our.code == git.code;
    let in_own_words = is_usage && !difference.is_ours_touched
        || (is_help || is_verbose) && difference.left.is_empty();
    // Git has more words where nothing may be fetched.
    let is_lazy = variables.contains(&("GIT_NO_LAZY_FETCH", "1"))
        && (git.code, our.code) == (128, 128)
        && difference.left.is_empty();
    let is_known = !by_link && in_own_words || is_lazy;
    if !difference.is_none() && !is_known {
        found.push(difference.to_string());
    }
    twins.each(|_| {
        let mut shell = isolated("sh");
        shell.current_dir(&place).arg("-c");
        shell.arg(
            "rm -rf out g elsewhere log; mkdir out; rm -rf full file/*; mkdir full; echo x >full/x",
        );
        run(shell).ok("what was cloned is removed");
    });
    difference.git.code
}

/// What is cloned.
pub fn make(place: &Path) {
    let config = "[user]\n\tname = a\n\temail = a@b\n[protocol \"file\"]\n\tallow = always\n\
                  [init]\n\tdefaultBranch = main\n[core]\n\tfsync = none\n[uploadpack]\n\tallowFilter = true\n\
                  \tallowAnySHA1InWant = true\n";
    std::fs::write(place.join("config"), config).unwrap();
    let script = "set -e
        git init -q sub; cd sub; echo s >s; git add s; git commit -qm s; cd ..
        git init -q src; cd src
        for i in 1 2 3; do mkdir -p d$i; echo $i >d$i/f; git add .; git commit -qm $i; git tag t$i; done
        git submodule -q add ../sub mod; git commit -qm sub; git branch side; git notes add -m note; cd ..
        git clone -q --bare src bare.git; git init -q empty
        git init -q lost; cd lost; git commit -q --allow-empty -m x; git symbolic-ref HEAD refs/heads/none; cd ..
        git clone -q src detached; git -C detached checkout -q HEAD~1
        git -C src bundle create -q ../b.bundle --all; git clone -q --depth 1 file://$PWD/src shallow
        git init -q strange; cd strange; ln -s to link; ln -s ../../up 'a link'; echo x >'name with spaces'
        echo x >run; chmod +x run; printf x >$(printf 'n\\303\\244me'); printf x >$(printf 'r\\377w')
        printf 'a\\nb\\n' >text; printf '*.crlf eol=crlf\\n*.u encoding=x working-tree-encoding=UTF-16\\n$Id$ ident\\n' >.gitattributes
        printf 'a\\nb\\n' >x.crlf; git add .; git commit -qm strange; cd ..
        git init -q filtered; cd filtered; echo '*.up filter=up' >.gitattributes; echo abc >x.up; echo def >y; git add .
        git commit -qm filtered; cd ..
        git init -q --bare colliding.git; git -C colliding.git fetch -q ../src t1; cd colliding.git
        b=$(git rev-parse FETCH_HEAD:d1/f); t=$(printf \"100644 blob $b\\t.git2\\n100644 blob $b\\tA\\n100644 blob $b\\ta\\n\" | git mktree)
        git update-ref refs/heads/main $(git commit-tree -m x $t); cd ..
        mkdir hooks failing full out file; printf '#!/bin/sh\\necho hook $*; echo said >&2; pwd; env | grep ^GIT_ | grep -v ^GIT_EXEC_PATH= | sort\\n' >hooks/post-checkout
        printf '#!/bin/sh\\necho failing >&2; exit 3\\n' >failing/post-checkout; chmod +x */post-checkout; echo x >full/x
        mkdir -p template/hooks template/info failing-template/hooks; cp hooks/post-checkout template/hooks
        cp failing/post-checkout failing-template/hooks; echo ignored >template/info/exclude; printf '[a]\\n\\tb = c\\n' >template/config
        chmod 755 failing hooks";
    let mut shell = isolated("sh");
    shell.current_dir(place).arg("-c").arg(script);
    use_global_config(&mut shell, place.join("config"));
    run(shell).ok("the sources are made");
}

/// On a file system that is too small, nothing is left, or what git leaves.
#[test]
fn a_full_disk() {
    let mut found = Vec::new();
    for size in ["200k", "420k", "700k", "1000k", "1500k", "2500k"] {
        let mut ended = Vec::new();
        for (program, name) in [(real_git(), "git"), (HEDGEROW.into(), "hedgerow")] {
            let Some(mount) = Mount::tmpfs(&format!("size={size}")) else {
                return hedgerow_testkit::skip("nothing can be mounted: clones on a full disk");
            };
            let home = hedgerow_testkit::temporary();
            make_large(home.path());
            let mut command = Command::new(program);
            hedgerow_testkit::isolate(&mut command);
            command
                .args(["clone", "-q"])
                .arg(format!("file://{}/large", home.path().display()));
            command.arg(mount.path().join("clone"));
            let outcome = run(command);
            outcome.assert_civil(size);
            let is_there = mount.path().join("clone").exists();
            ended.push((name, outcome.code, is_there, outcome.stderr));
        }
        if (ended[0].1, ended[0].2) != (ended[1].1, ended[1].2) {
            found.push(format!("{size}: {ended:#?}"));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

fn make_large(place: &Path) {
    let script = "set -e; git init -q large; cd large
        for i in 1 2 3 4 5 6 7 8; do head -c 100000 /dev/urandom >f$i; done; git add .; git commit -qm large";
    let mut shell = isolated("sh");
    shell.current_dir(place).arg("-c").arg(script);
    run(shell).ok("a source is made");
}

/// A server whose `HEAD` names the branch of no commit that is the same in length, for a session of git's
/// protocol: what it says of `a__b` it says of another name.
const RENAMING: &str = "#!/usr/bin/env python3
import os, subprocess, sys
server = subprocess.Popen(['git-upload-pack'] + sys.argv[1:], stdout=subprocess.PIPE)
while True:
    said = os.read(server.stdout.fileno(), 1 << 16)
    if not said:
        sys.exit(server.wait())
    os.write(1, said.replace(b'refs/heads/a__b', os.environ['NAMED'].encode()))
";

/// Git takes what cannot be the name of a branch for one that is not there, and leaves it in `HEAD`.
#[test]
fn of_a_head_that_names_nothing() {
    if !hedgerow_testkit::require("python3") {
        return;
    }
    let twins = &mut Twins::new(make);
    twins.trees = vec!["out/x"];
    let place = twins.place();
    twins.each(|_| {
        std::fs::write(place.join("renaming"), RENAMING).unwrap();
        let mut shell = isolated("sh");
        shell.current_dir(&place).args([
            "-c",
            "set -e; chmod +x renaming
            git init -q --bare unborn; git -C unborn symbolic-ref HEAD refs/heads/a__b
            git clone -q --bare src pointed; git -C pointed symbolic-ref HEAD refs/heads/a__b",
        ]);
        run(shell).ok("servers are made");
    });
    let mut found = Vec::new();
    for named in ["refs/heads/a..b", "refs/heads/../b", "refs/heads/////"] {
        for source in ["unborn", "pointed"] {
            for more in ["", "--bare", "--recurse-submodules"] {
                for by_link in [false, more.is_empty()] {
                    let call =
                        format!("--upload-pack=PLACE/renaming {more} file://PLACE/{source} x");
                    let code = compare(twins, &call, by_link, &[("NAMED", named)], &mut found);
                    assert_eq!(code, 0, "{named} {call}");
                }
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
