//! Pack files and directories.

use super::{compare, gensquashfs, home, real};
use crate::image;
use hedgerow_testkit::Random;
use std::fmt::Write;
use std::fs;

/// Every kind of line.
const DESCRIPTION: &str = r#"
  # a comment
dir / 0711 5 6
file /dev/x/implied 0644 1 1 lib/a.so.1
dir /dev 01777 1 4294967295
nod /dev/console 0600 0 0 c 5 1
nod	/dev/sda	0660	0	6	B 4095 1048575
slink /lnk 0600 3 4 /usr/my target  
pipe /p 02600 1 1
sock /s 0601 1 1
file "/opt/my \"x\"/da\\ta" 0600 0 0 lib/sub/d e
file //lib/./same 04755 7 7
link /zhard 0 0 0 /hard
link /hard 0 0 0 opt/my "x"/da\ta
link /ahard 0777 9 9 zhard
link /lnk2 0 0 0 lnk
glob /globbed 0755 7 8 -type d -- lib
glob /globbed 0750 0 0 -type l -name '*.so.*' lib
glob /globbed * 5 * -type p -type s lib/
"#;

#[test]
fn descriptions_become_what_the_real_one_makes_of_them() {
    let home = home();
    fs::write(home.path().join("in/pack"), DESCRIPTION).unwrap();
    for words in [
        "-F in/pack",
        "-F in/pack -c gzip -b 4096 -d uid=7,gid=0x10,mode=0750,mtime=77 -T",
        "-F in/pack -D in -c zstd -u 5 --set-gid 6 -e",
        "--pack-file in/pack -c lz4 -X hc --all-root -j 3 -Q 7 -B 8k",
    ] {
        if !compare(home.path(), words) {
            return;
        }
    }
    let hard = image(home.path(), &["list", "-l", "ours"]).text();
    let names = hard
        .lines()
        .filter(|line| line.contains(" 4 0 0 6 "))
        .count();
    assert_eq!(names, 4, "{hard}");
}

#[test]
fn globs_take_what_their_options_say() {
    let home = home();
    // Theirs reads files that it finds under the path that they get: so it is the same here.
    for (number, glob) in [
        "glob lib * * * lib",
        "glob lib 0644 1 2 -keeptime lib",
        "glob lib * * * -nonrecursive lib",
        "glob lib 0700 0 0 -type f lib",
        "glob lib 0700 0 0 -type d lib\nglob lib * * * -type f -name \"*.so.*\" lib",
        "glob lib * * * -type d -type f -path lib/sub/*  lib",
        "glob lib * * * -type f -path 'lib/[a-b]*' -- lib",
        "glob lib * * * -xdev -mount -name ?.so.[!2]* lib",
        "dir lib/sub 0700 1 1\nglob lib * * * -type f lib",
        "glob / * * * -name \"[ls]*\"",
    ]
    .iter()
    .enumerate()
    {
        fs::write(home.path().join("pack"), glob).unwrap();
        let compared = compare(home.path(), "-F pack -D in -d mtime=9");
        assert!(compared || number == 0, "{glob}");
        if !compared {
            return;
        }
    }
}

#[test]
fn a_glob_reads_the_files_that_it_found() {
    let home = home();
    fs::write(
        home.path().join("pack"),
        "glob /usr/elsewhere * * * -type f in/lib\n",
    )
    .unwrap();
    let made = gensquashfs(home.path(), &["-F", "pack", "image"]);
    assert_eq!(made.code, 0, "{made:?}");
    let expected = fs::read(home.path().join("in/lib/b.so.2")).unwrap();
    let path = "usr/elsewhere/b.so.2";
    assert!(image(home.path(), &["cat", "image", path]).stdout == expected);
}

#[test]
fn directories_are_packed_as_the_real_one_packs_them() {
    let home = home();
    for words in [
        "-D in/lib",
        "-D in -k -c gzip -d uid=3,gid=4,mode=0700,mtime=5",
        "--pack-dir in --keep-time --all-root --one-file-system -c lzo",
        "--pack-dir=in --set-uid=1 -g 010 --defaults=mtime=8 -x --no-tail-packing -b 4k",
    ] {
        if !compare(home.path(), words) {
            return;
        }
    }
}

/// A name, quoted if it must be.
fn name(random: &mut Random) -> String {
    let letters: Vec<char> = "abAZ09 .-_\"\\'#*[äö\u{1}".chars().collect();
    let length = 1 + random.below(8);
    let name: String = (0..length).map(|_| *random.pick(&letters)).collect();
    match name.as_str() {
        "." | ".." => "dots".into(),
        _ => name,
    }
}

fn quoted(path: &str) -> String {
    format!("\"/{}\"", path.replace('\\', "\\\\").replace('"', "\\\""))
}

/// A description of every kind of entry at chance's places, none of them twice.
fn generated(seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut directories = vec![String::new()];
    let mut taken = std::collections::HashSet::new();
    let mut linkable: Vec<String> = Vec::new();
    let mut text = String::new();
    for _ in 0..60 {
        let parent = random.pick(&directories).clone();
        let mut path = format!("{parent}{}", name(&mut random));
        if random.chance(20) {
            path = format!("{path}/{}", name(&mut random));
        }
        // What a path implies is taken too.
        let implied = path.rsplit_once('/').map(|(parent, _)| parent.to_owned());
        let fresh = implied.is_none_or(|implied| {
            directories.contains(&format!("{implied}/")) || taken.insert(implied)
        });
        if !fresh || !taken.insert(path.clone()) {
            continue;
        }
        let (mode, owner, quoted) = (random.below(0o10000), random.below(100), quoted(&path));
        let mut line = |kind: &str, extra: &str| {
            writeln!(text, "{kind} {quoted} {mode:04o} {owner} {owner} {extra}").unwrap();
        };
        match random.below(8) {
            0 | 1 => {
                line("dir", "");
                directories.push(format!("{path}/"));
                continue;
            }
            2 | 3 => line(
                "file",
                ["in/lib/same", "in/lib/hard", "in/lib/b.so.2"][random.below(3)],
            ),
            4 => line("slink", &format!("{path}  target ")),
            5 => line(["pipe", "sock"][random.below(2)], ""),
            6 => line(
                "nod",
                &format!("{} {} {owner}", random.pick(&["c", "b"]), mode),
            ),
            _ => {
                if linkable.is_empty() {
                    line("pipe", "")
                } else {
                    line(
                        "link",
                        &format!("/{}", linkable[random.below(linkable.len())]),
                    )
                }
            }
        }
        linkable.push(path);
    }
    text
}

#[test]
fn generated_descriptions_become_what_the_real_one_makes_of_them() {
    let home = home();
    for seed in 0..25 {
        fs::write(home.path().join("pack"), generated(seed)).unwrap();
        if !compare(home.path(), "-F pack -c gzip -X level=1") {
            return;
        }
    }
}

#[test]
fn the_time_of_everything_is_that_of_the_source_unless_told() {
    let home = home();
    let time = |words: &[&str]| {
        let mut command = hedgerow_testkit::isolated(env!("CARGO_BIN_EXE_hedgerow"));
        std::os::unix::process::CommandExt::arg0(&mut command, "gensquashfs");
        command.args(words).args(["-D", "in", "-f", "-q", "image"]);
        command
            .current_dir(home.path())
            .env("SOURCE_DATE_EPOCH", "1234");
        assert!(command.status().unwrap().success());
        let listed = image(home.path(), &["list", "-l", "image"]).text();
        let info = image(home.path(), &["info", "--json", "image"]).text();
        let info: serde_json::Value = serde_json::from_str(&info).unwrap();
        let time = info["mod_time_s"].as_i64().unwrap();
        assert!(listed
            .lines()
            .all(|line| line.contains(&format!(" {time}.000000000 "))));
        time
    };
    assert_eq!((time(&[]), time(&["-d", "mtime=5"])), (1234, 5));
}

#[test]
fn image_create_takes_a_description_too() {
    let home = home();
    fs::write(home.path().join("pack"), DESCRIPTION).unwrap();
    let words = ["create", "--pack-file", "pack", "-c", "gzip", "in", "image"];
    let made = image(home.path(), &words);
    assert_eq!(made.code, 0, "{made:?}");
    if real(home.path(), &["-F", "pack", "-D", "in", "-q", "theirs"]).is_none() {
        return;
    }
    let listed = |name| image(home.path(), &["list", "-l", name]).text();
    // Theirs counts everything in a directory as a link to it, and numbers inodes in its own order.
    let comparable = |text: String| -> Vec<String> {
        let fields = |line: &str| {
            let mut fields: Vec<String> = line.split(' ').map(str::to_owned).collect();
            fields.remove(7);
            if fields[0] == "d" {
                fields.remove(2);
            }
            fields.join(" ")
        };
        text.lines().map(fields).collect()
    };
    assert_eq!(comparable(listed("image")), comparable(listed("theirs")));
    let excluded = ["create", "--pack-file", "pack", "--exclude", "x", "in", "i"];
    assert_eq!(image(home.path(), &excluded).code, 2);
}

#[test]
fn inputs_that_cannot_be_read_are_left_out_if_that_is_wanted() {
    let home = home();
    let description = "file /a 0644 0 0 nothing\nfile /b 0644 0 0 lib/a.so.1\n";
    fs::write(home.path().join("pack"), description).unwrap();
    fs::write(home.path().join("sort"), "-1 b\n").unwrap();
    for sort in [&[][..], &["--sort-file", "sort"]] {
        let words = [
            &["create", "-f", "--pack-file", "pack"],
            sort,
            &["in", "image"],
        ]
        .concat();
        let refused = image(home.path(), &words);
        let said = "pack:1: cannot read 'in/nothing': No such file or directory\n";
        assert_eq!(
            (refused.code, refused.stderr),
            (2, format!("error: {said}"))
        );
        let words = [&words[..1], &["--skip-unreadable"], &words[1..]].concat();
        let made = image(home.path(), &words);
        assert!(made.code == 3 && made.stderr.contains(said), "{made:?}");
        assert_eq!(image(home.path(), &["list", "image"]).text(), "b\n");
    }
}
