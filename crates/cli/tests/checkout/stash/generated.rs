//! Random dirty working trees, put aside and brought back by random commands.

use crate::support::{Pair, Random, Repository};
use std::fs;

const FILES: [&str; 9] = [
    "a",
    "b.txt",
    "dir/a",
    "dir/b",
    "dir/sub/c",
    "other/d",
    "link",
    "run.sh",
    "empty",
];

fn text(random: &mut Random) -> String {
    let count = 4 + random.below(20);
    (0..count)
        .map(|n| format!("line {n} of {}\n", random.below(9)))
        .collect()
}

fn origin(random: &mut Random) -> Repository {
    let repository = Repository::init(&[]);
    repository.git(&["config", "user.name", "A"]);
    repository.git(&["config", "user.email", "a@example.com"]);
    if random.chance(20) {
        let style = *random.pick(&["diff3", "zdiff3", "merge"]);
        repository.git(&["config", "merge.conflictStyle", style]);
    }
    let root = &repository.root;
    for path in FILES {
        fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
        match path {
            "link" => std::os::unix::fs::symlink("a", root.join(path)).unwrap(),
            "empty" => fs::write(root.join(path), "").unwrap(),
            _ => fs::write(root.join(path), text(random)).unwrap(),
        }
    }
    fs::write(root.join(".gitignore"), "*.o\n").unwrap();
    repository.git(&["add", "-A"]);
    repository.git(&["update-index", "--chmod=+x", "run.sh"]);
    repository.git(&["commit", "-q", "-m", "first commit"]);
    repository.git(&["reset", "-q", "--hard"]);
    repository
}

/// A change of the working tree or of the index, the same in both.
fn change(pair: &mut Pair, random: &mut Random, number: usize) {
    let path = *random.pick(&FILES);
    let line = random.below(24);
    let word = random.below(1000);
    // Git fails to put paths aside that are in HEAD and the working tree, but not in the index.
    let kind = [0, 1, 2, 3, 4, 5, 6, 6, 8, 9, 10, 11][random.below(12)];
    pair.each(&format!("change {kind} of {path}"), |repository| {
        let file = repository.root.join(path);
        let untracked = repository.root.join(format!("new{}", number % 3));
        let git = |words: &[&str]| {
            repository.run(words, b"");
        };
        match kind {
            0..=4 => {
                let Ok(content) = fs::read_to_string(&file) else {
                    return;
                };
                let mut lines: Vec<String> = content.lines().map(str::to_owned).collect();
                let at = line.min(lines.len());
                if kind == 0 && at < lines.len() {
                    lines.remove(at);
                } else if kind < 3 && at < lines.len() {
                    lines[at] = format!("changed {word}");
                } else {
                    lines.insert(at, format!("added {word}"));
                }
                fs::write(&file, lines.join("\n") + "\n").unwrap();
            }
            5 => drop(fs::remove_file(&file)),
            6 => git(&["add", "--", path]),
            8 => fs::write(&untracked, format!("untracked {word}\n")).unwrap(),
            9 => fs::write(repository.root.join("x.o"), "ignored\n").unwrap(),
            10 => git(&["add", "-A"]),
            _ => {
                if fs::symlink_metadata(&file).is_ok_and(|stat| stat.is_file()) {
                    use std::os::unix::fs::PermissionsExt;
                    let mode = if word.is_multiple_of(2) { 0o755 } else { 0o644 };
                    fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
                }
            }
        }
    });
}

fn settle(pair: &mut Pair) {
    pair.each("settle", |repository| {
        repository.run(&["update-index", "-q", "--refresh"], b"");
        // Both know the trees of the index then; git writes them down even where it refuses.
        repository.run(&["write-tree"], b"");
    });
}

fn words(random: &mut Random) -> Vec<&'static str> {
    let mut words = match random.below(11) {
        0..=3 => vec!["push"],
        4 => vec![],
        5 | 6 => vec!["pop"],
        7 => vec!["apply"],
        8 => vec!["list"],
        9 => vec!["drop"],
        _ => vec!["apply", "stash@{1}"],
    };
    match words.first() {
        None | Some(&"push") => {
            for (option, percent) in [("-u", 30), ("-k", 20), ("-a", 10), ("-q", 10)] {
                if random.chance(percent) {
                    words.push(option);
                }
            }
            if random.chance(20) {
                words.push("-mmessage");
            }
            if random.chance(20) {
                words.push("--");
                words.push(*random.pick(&["a", "dir", "*.txt", "new0", ":!dir"]));
            }
        }
        Some(&("pop" | "apply")) if random.chance(30) => words.push("--index"),
        _ => {}
    }
    words
}

/// Draws a story from a seed; after each step both must say the same and leave the same.
fn tell(seed: u64) {
    let random = &mut Random::new(seed);
    let repository = origin(random);
    let mut pair = Pair::of(&repository, &format!("seed {seed}"));
    for number in 0..8 {
        for _ in 0..random.below(5) {
            change(&mut pair, random, number);
        }
        if random.chance(15) {
            pair.each("commit", |repository| {
                repository.run(&["commit", "-q", "-a", "-m", "more"], b"");
            });
        }
        settle(&mut pair);
        let words = words(random);
        if words.contains(&"--index") {
            // Hedgerow refuses before it touches the index, git after it has reset it.
            pair.each("reset", |repository| {
                repository.run(&["reset", "-q"], b"");
            });
            settle(&mut pair);
        }
        pair.both("stash", "", &words, &[]);
        if number == 7 {
            // All that was written is sound.
            let sound = pair
                .hedgerow
                .run(&["fsck", "--strict", "--no-dangling"], b"");
            assert_eq!((sound.code, sound.stderr.as_str()), (0, ""), "seed {seed}");
        }
        if random.chance(40) {
            pair.each("reset", |repository| {
                repository.run(&["reset", "-q", "--hard"], b"");
            });
        }
    }
}

#[test]
fn stories_end_as_with_git() {
    let (start, count) = match std::env::var("HEDGEROW_STASH_SEEDS") {
        Ok(range) => {
            let (start, count) = range.split_once('+').unwrap();
            (start.parse().unwrap(), count.parse().unwrap())
        }
        Err(_) => (1, 20),
    };
    for seed in start..start + count {
        tell(seed);
    }
}
