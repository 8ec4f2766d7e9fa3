//! What `ls-files` lists, beside git.

use crate::scene::Scene;
use crate::twins::Twins;
use hedgerow_testkit::{play_sample, Random, Repository};

/// Files in every state that a listing tells apart.
pub fn states(repository: &Repository) {
    repository.write(".gitignore", "*.o\nbuild/\n");
    for path in [
        "same",
        "changed",
        "gone",
        "typed",
        "dir/same",
        "dir/changed",
        "dir/gone",
        "was-dir/a",
        "was-file",
        "assumed",
        "assumed-changed",
        "skipped",
        "tracked.o",
        "sub/a b",
        "mode",
        "ä",
    ] {
        repository.write(path, "first\n");
    }
    repository.symlink("link", "same");
    std::fs::create_dir_all(repository.path("module")).unwrap();
    let module = Repository::at(repository.path("module"));
    module.git(&["init", "-q"]);
    module.commit_files(&[("a", "x")], "inside");
    repository.commit("first");
    for path in ["changed", "dir/changed", "assumed-changed"] {
        repository.write(path, "second, longer\n");
    }
    for path in ["gone", "dir/gone", "typed", "was-dir", "was-file"] {
        repository.remove(path);
    }
    repository.symlink("typed", "same");
    repository.write("was-dir", "x");
    repository.write("was-file/inside", "x");
    repository.git(&[
        "update-index",
        "--assume-unchanged",
        "assumed",
        "assumed-changed",
    ]);
    repository.git(&["update-index", "--skip-worktree", "skipped"]);
    repository.write("intended", "x");
    repository.git(&["add", "-N", "intended"]);
    for path in [
        "new",
        "new.o",
        "dir/new",
        "dir/new.o",
        "build/x",
        "plain/a",
        "plain/b.o",
        "only/x.o",
    ] {
        repository.write(path, "x");
    }
    std::fs::create_dir_all(repository.path("empty/sub")).unwrap();
    std::fs::create_dir_all(repository.path("nested/repo")).unwrap();
    Repository::at(repository.path("nested/repo")).git(&["init", "-q"]);
    repository.write(".patterns", "new\n!plain/\n");
    repository.write("dir/.patterns", "same\n");
    let id = repository.ask(&["hash-object", "-w", "same"]);
    let other = repository.ask(&["hash-object", "-w", "changed"]);
    let lines = format!(
        "100644 {id} 1\tconflict\n100644 {other} 2\tconflict\n100755 {id} 3\tconflict\n\
         100644 {id} 2\tdir/conflict\n100644 {other} 3\tdir/conflict\n"
    );
    repository.git_with(&["update-index", "--index-info"], lines.as_bytes());
    repository.write("conflict", "second, longer\n");
    module.commit_files(&[("b", "x")], "moved");
}

const KINDS: [&str; 26] = [
    "",
    "-c",
    "-d",
    "-m",
    "-o",
    "-k",
    "-s",
    "-u",
    "-cd",
    "-dm",
    "-om",
    "-ok",
    "-cdmok",
    "-su",
    "-o --directory",
    "-o --directory --no-empty-directory",
    "-ok --directory",
    "-k --directory",
    "-o -i --exclude-standard",
    "-c -i --exclude-standard",
    "-o --exclude-standard",
    "-o -i --directory --exclude-standard",
    "-o --directory --exclude-standard",
    "-oi --directory --no-empty-directory --exclude-standard",
    "--resolve-undo",
    "-sm",
];
const SHOWN: [&str; 17] = [
    "",
    "-t",
    "-v",
    "-f",
    "-z",
    "-tz",
    "--full-name",
    "--abbrev",
    "--abbrev=5 -v",
    "--deduplicate",
    "--deduplicate -t",
    "--no-abbrev",
    "--error-unmatch",
    "--sparse",
    "-x new",
    "-x *.o -x !new.o",
    "--exclude-per-directory=.patterns",
];
const PATHS: [&str; 8] = [
    "",
    "dir",
    "dir/",
    "same gone",
    "-- *.o",
    ":!dir",
    "nothing",
    "nested plain/a",
];

#[test]
fn every_combination() {
    let mut twins = Twins::new("states", states);
    for kind in KINDS {
        for shown in SHOWN {
            for paths in ["", "dir"] {
                let line = ["ls-files", kind, shown, paths].join(" ");
                let words: Vec<&[u8]> = line.split_whitespace().map(str::as_bytes).collect();
                twins.said(b"", &words);
            }
        }
    }
}

#[test]
fn pathspecs_from_anywhere() {
    let mut twins = Twins::new("states", states);
    for kind in KINDS {
        for paths in PATHS {
            for directory in ["", "dir", "plain", "empty/sub"] {
                for more in ["", "--error-unmatch"] {
                    let line = ["ls-files", more, kind, paths].join(" ");
                    let words: Vec<&[u8]> = line.split_whitespace().map(str::as_bytes).collect();
                    twins.said(directory.as_bytes(), &words);
                }
            }
        }
    }
}

#[test]
fn formats() {
    let mut twins = Twins::new("states", states);
    for format in [
        "%(objectmode) %(objecttype) %(objectname) %(objectsize) %(objectsize:padded) %(stage)",
        "%(path)%x41%n%%",
        "x",
        "",
        "%(path)",
        "%(stage)%(path)",
    ] {
        for more in [
            &[][..],
            &["--abbrev"],
            &["-z"],
            &["-m"],
            &["-d", "dir"],
            &["-u"],
            &["-c", "-i", "-x", "same"],
        ] {
            let format = format!("--format={format}");
            let mut words: Vec<&[u8]> = vec![b"ls-files", format.as_bytes()];
            words.extend(more.iter().map(|word| word.as_bytes()));
            twins.said(b"dir", &words);
            twins.said(b"", &words);
        }
    }
    for format in ["%(nothing)", "%x", "%(path", "%z"] {
        let format = format!("--format={format}");
        twins.said(b"", &[b"ls-files", format.as_bytes()]);
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let mut twins = Twins::new("states", states);
    for line in [
        "ls-files -i",
        "ls-files -i -o",
        "ls-files -i -s -x a",
        "ls-files -i -c",
        "ls-files -o -X nowhere",
        "ls-files -i -d -x a",
    ] {
        assert_eq!(twins.line("", line).code, 128, "{line}");
    }
    for line in [
        "ls-files --format=x -s",
        "ls-files --format=x -t",
        "ls-files --format=x -o",
        "ls-files --format=x --eol",
    ] {
        let outcome = twins.our_line(line);
        assert_eq!(outcome.code, 129);
        assert!(outcome.stderr.contains("--format cannot be used with"));
    }
    for (line, option) in [
        ("ls-files --recurse-submodules", "--recurse-submodules"),
        ("ls-files --with-tree=HEAD", "--with-tree"),
        ("ls-files --debug", "--debug"),
    ] {
        let outcome = twins.our_line(line);
        assert_eq!(outcome.code, 129);
        assert!(outcome.stderr.contains(&format!("has no option {option}")));
    }
}

#[test]
fn line_ends_and_what_attributes_say_of_them() {
    let mut twins = Twins::new("ends", |repository| {
        let attributes = "*.t text\n*.b -text eol=crlf\n*.a text=auto\n*.l text=auto eol=lf\n\
            *.c eol=crlf\n*.i crlf=input\n*.w text=auto eol=crlf\n";
        let files = [
            (".gitattributes", attributes),
            ("a.t", "1\n2\n"),
            ("a.b", "1\r\n2\n"),
            ("a.a", "1\r\n"),
            ("a.l", ""),
            ("a.c", "no end"),
            ("a.i", "lone\rcr\n"),
            ("d/a.w", "1\r\n2\r\n"),
            ("plain", "1\n"),
            ("nul", "1\0a\n"),
        ];
        repository.commit_files(&files, "first");
        repository.write("plain", "1\r\n2\n");
        repository.write("new.c", "1\n");
        repository.remove("a.t");
        std::os::unix::fs::symlink("plain", repository.path("link")).unwrap();
        repository.git(&["add", "link"]);
    });
    for line in [
        "ls-files --eol",
        "ls-files -s --eol",
        "ls-files -t --eol",
        "ls-files -o --eol",
        "ls-files -o --directory --eol",
        "ls-files -z --eol d",
        "ls-files --format=%(path)|%(eolinfo:index)|%(eolinfo:worktree)|%(eolattr)|",
    ] {
        assert_eq!(twins.line("", line).code, 0, "{line}");
    }
    assert_eq!(twins.line("d", "ls-files --eol").code, 0);
}

#[test]
fn sides_of_resolved_conflicts() {
    let mut twins = Twins::new("resolved", |repository| {
        repository.commit_files(&[("a", "1\n"), ("b", "1\n")], "first");
        repository.git(&["checkout", "-q", "-b", "side"]);
        repository.commit_files(&[("a", "2\n"), ("b", "2\n")], "second");
        repository.git(&["checkout", "-q", "main"]);
        repository.commit_files(&[("a", "3\n"), ("b", "3\n")], "third");
        repository.run(&["merge", "-q", "side"], b"");
        repository.git(&["add", "a"]);
    });
    for line in [
        "ls-files --resolve-undo",
        "ls-files -u --resolve-undo",
        "ls-files --resolve-undo b",
        "ls-files --resolve-undo -t a",
        "ls-files --resolve-undo --abbrev",
        "ls-files -m -c",
    ] {
        twins.line("", line);
    }
}

#[test]
fn sparse_and_bare() {
    let mut twins = Twins::new("sparse", |repository| {
        repository.git(&["config", "advice.sparseIndexExpanded", "false"]);
        for path in ["in/a", "out/a", "out/deep/b", "top"] {
            repository.write(path, "x");
        }
        repository.commit("first");
        repository.git(&["sparse-checkout", "set", "--cone", "--sparse-index", "in"]);
    });
    for line in [
        "ls-files",
        "ls-files --sparse",
        "ls-files --sparse -s",
        "ls-files -t",
        "ls-files -t --sparse",
        "ls-files --sparse out",
        "ls-files -m -d",
        "ls-files -o",
    ] {
        twins.line("", line);
    }
    twins.each("bare", |repository| {
        drop(repository.git(&["config", "core.bare", "true"]));
    });
    for line in ["ls-files", "ls-files -s", "ls-files -o", "ls-files -m"] {
        twins.said(b"", &line.split(' ').map(str::as_bytes).collect::<Vec<_>>());
    }
}

#[test]
fn seeds_0_to_199() {
    play_sample(0..200, play);
}

fn play(seed: u64) {
    let random = &mut Random::new(seed + 5000);
    let scene = Scene::new(random);
    let mut twins = Twins::new(&format!("seed {seed}"), |it| scene.make(it));
    twins.options = vec![format!("-j{}", random.pick(&["1", "2", "8", "64"]))];
    for _ in 0..14 {
        let line = format!("ls-files {} {}", random.pick(&KINDS), random.pick(&SHOWN));
        let mut words: Vec<Vec<u8>> = line
            .split_whitespace()
            .map(|it| it.as_bytes().to_vec())
            .collect();
        if random.chance(40) {
            words.push(b"--".to_vec());
            let path = random.pick(&scene.paths).clone();
            let first = path.split(|byte| *byte == b'/').next().unwrap().to_vec();
            words.push(match random.below(6) {
                0 => [b":(top,literal)", first.as_slice()].concat(),
                1 => b"*.o".to_vec(),
                2 => b":(glob,top)**/a".to_vec(),
                3 => [b":(top,exclude,literal)", path.as_slice()].concat(),
                4 => [b":(top,literal)", first.as_slice(), b"/"].concat(),
                _ => [b":(top,literal)", path.as_slice()].concat(),
            });
        }
        let directory = random.pick(&scene.directories).clone();
        let is_there = [&twins.git, &twins.our].map(|it| it.path(&directory).is_dir());
        let directory = if is_there == [true, true] {
            directory
        } else {
            Vec::new()
        };
        let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
        twins.said(&directory, &words);
    }
}
