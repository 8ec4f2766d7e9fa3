use super::both;
use hedgerow_testkit::history::{scene, Graph, Scene, Storage};
use hedgerow_testkit::{git, Random};

/// Options that may come together in any number. Left out is what git itself changed since the
/// oldest version that tests are run with, and what that one fails at.
const OPTIONS: [&str; 39] = [
    "--objects",
    "--objects",
    "--objects",
    "--topo-order",
    "--date-order",
    "--reverse",
    "-n3",
    "--skip=2",
    "--parents",
    "--first-parent",
    "--no-merges",
    "--merges",
    "--boundary",
    "--left-right",
    "--count",
    "--timestamp",
    "--objects-edge",
    "--in-commit-order",
    "--no-object-names",
    "--filter=blob:none",
    "--filter=blob:limit=100",
    "--filter=tree:1",
    "--filter=tree:2",
    "--filter=tree:0",
    "--filter=object:type=tree",
    "--filter=object:type=tag",
    "--filter=object:type=commit",
    "--filter=combine:tree:2+blob:limit=50",
    "--filter-provided-objects",
    "--filter-print-omitted",
    "--disk-usage",
    "--disk-usage=human",
    "--quiet",
    "--since=1000000055",
    "--until=1000000058",
    "--min-parents=1",
    "--no-walk",
    "--missing=allow-any",
    "--missing=print",
];

fn revision(scene: &Scene, random: &mut Random) -> String {
    let named = ["main".to_owned(), "b1".into(), "HEAD".into()];
    let from = if random.chance(30) {
        random.pick(&named)
    } else {
        random.pick(&scene.commits)
    };
    let to = random.pick(&scene.commits);
    match random.below(22) {
        0..=3 => from.clone(),
        4 | 5 => format!("^{to}"),
        6 | 7 => format!("{from}..{to}"),
        8 | 9 => format!("{from}...{to}"),
        10 => format!("{from}^@"),
        11 => format!("{from}^!"),
        12 => format!("{from}^-"),
        13 => "--not".into(),
        14 => "--branches".into(),
        15 => "--tags".into(),
        16 => "--glob=heads/b*".into(),
        17 => "--branches=b[12]".into(),
        18 => "--exclude=*b2".into(),
        19 => random.pick(&scene.tags).clone(),
        20 => random.pick(&scene.trees).clone(),
        _ => "--all".into(),
    }
}

fn compare(scene: &Scene, words: &[&str], input: &str) {
    let [expected, found] = both(scene, words, input);
    found.assert_civil(&words.join(" "));
    // What the filter left out has no order.
    let lines = |output: &[u8]| {
        let text = String::from_utf8_lossy(output).into_owned();
        let lines = text.lines().map(ToOwned::to_owned);
        let (mut odd, mut plain): (Vec<String>, Vec<String>) =
            lines.partition(|line| line.starts_with(['~', '?']));
        odd.sort();
        plain.extend(odd);
        plain
    };
    let stderr = &found.stderr;
    assert_eq!(
        lines(&found.stdout),
        lines(&expected.stdout),
        "{words:?} {stderr}"
    );
    assert_eq!(
        found.code, expected.code,
        "{words:?} {stderr} {}",
        expected.stderr
    );
}

fn any_questions(seed: u64, format: &str, storage: Storage, graph: Graph) {
    let scene = scene(seed, format, storage, graph);
    let random = &mut Random::new(seed + 1000);
    for _ in 0..60 {
        let mut words = vec!["rev-list".to_owned()];
        for _ in 0..random.below(5) {
            words.push((*random.pick(&OPTIONS)).to_owned());
        }
        let filters = words
            .iter()
            .filter(|word| word.starts_with("--filter="))
            .count();
        if filters > 1 {
            words.retain(|word| word != "--filter-print-omitted");
        }
        if words.iter().any(|word| word.starts_with("--filter")) {
            words.push("--objects".into());
        }
        for _ in 0..=random.below(3) {
            words.push(revision(&scene, random));
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        compare(&scene, &words, "");
    }
}

#[test]
fn loose_objects_without_a_graph() {
    any_questions(1, "sha1", Storage::Loose, Graph::None);
}

#[test]
fn a_pack_with_a_graph() {
    any_questions(2, "sha1", Storage::Packed, Graph::File);
    any_questions(3, "sha1", Storage::Packed, Graph::File);
}

#[test]
fn a_pack_and_newer_objects_with_a_chain_of_graphs() {
    any_questions(4, "sha1", Storage::Both, Graph::Chain);
    any_questions(5, "sha1", Storage::Both, Graph::Chain);
}

#[test]
fn objects_of_another_repository() {
    any_questions(6, "sha1", Storage::Alternate, Graph::File);
}

#[test]
fn long_ids() {
    any_questions(7, "sha256", Storage::Packed, Graph::Chain);
}

#[test]
fn revisions_come_from_standard_input() {
    let scene = scene(8, "sha1", Storage::Packed, Graph::None);
    let commits = &scene.commits;
    let input = format!("main\n--not\n{}\n--tags=t1\n", commits[2]);
    let words = ["rev-list", "--objects", "--stdin", &commits[5]];
    match both(&scene, &words, &input)[0].code {
        128 => hedgerow_testkit::skip("this git takes no --not from standard input"),
        _ => {
            compare(&scene, &words, &input);
            for input in [
                "--no-walk\nmain\nb1\n",
                "--no-walk=x\n",
                "--glob\nrefs/heads\n",
            ] {
                compare(&scene, &["rev-list", "--stdin"], input);
            }
        }
    }
    compare(&scene, &["rev-list", "--stdin"], "main\n--\n");
    compare(&scene, &words, &format!("main\n^{}\n", commits[2]));
    compare(&scene, &["rev-list", "--stdin"], "main\n--what\n");
    compare(&scene, &["rev-list", "--stdin"], "nothing\n");
    compare(&scene, &["rev-list", "--objects", "main:d0"], "");
    compare(&scene, &["rev-list", "nothing"], "");
    compare(&scene, &["rev-list", "nothing", "--"], "");
    compare(&scene, &["rev-list", &"1".repeat(40)], "");
    compare(&scene, &["rev-list"], "");
}

#[test]
fn what_a_remote_has_promised_may_be_missing() {
    let origin = scene(10, "sha1", Storage::Packed, Graph::None);
    origin.git(&["config", "uploadpack.allowFilter", "true"]);
    for filter in ["blob:none", "tree:0"] {
        let mut partial = scene(10, "sha1", Storage::Packed, Graph::None);
        let clone = partial.root.with_file_name("partial.git");
        let url = format!("file://{}", origin.root.display());
        let filter = format!("--filter={filter}");
        let target = clone.to_str().unwrap();
        partial.git(&["clone", "-q", "--bare", &filter, &url, target]);
        partial.root = clone;
        for words in [
            &["--missing=allow-promisor", "--all"][..],
            &["--missing=allow-promisor", "--count", "--all"],
            &["--missing=allow-promisor", "main", "^b1"],
            &["--missing=allow-any", "--all"],
            &["--missing=print", "--all"],
            &["--exclude-promisor-objects", "--all"],
        ] {
            let words = [&["rev-list", "--objects"], words].concat();
            match both(&partial, &words, "")[0].code {
                128 => hedgerow_testkit::skip("this git fails where promised trees are missing"),
                _ => compare(&partial, &words, ""),
            }
        }
    }
    // Nobody has promised this one.
    let lossy = scene(10, "sha1", Storage::Loose, Graph::None);
    let blob = &lossy.blobs[0];
    let path = format!(".git/objects/{}/{}", &blob[..2], &blob[2..]);
    std::fs::remove_file(lossy.root.join(path)).unwrap();
    for missing in ["allow-promisor", "allow-any", "print", "error"] {
        let missing = format!("--missing={missing}");
        for words in [
            &["rev-list", "--objects", &missing, blob][..],
            &["rev-list", &missing, "main", blob],
        ] {
            let [git, here] = both(&lossy, words, "");
            assert_eq!(here.code, git.code, "{words:?} {}", here.stderr);
            assert!(here.code != 0 || here.stdout == git.stdout, "{words:?}");
        }
    }
    for missing in ["allow-promisor", "allow-any", "error"] {
        let missing = format!("--missing={missing}");
        let words = ["rev-list", "--objects", &missing, "--all"];
        // Git may have printed a part before it fails.
        let [git, here] = both(&lossy, &words, "");
        assert_eq!(here.code, git.code, "{missing} {}", here.stderr);
        assert_eq!(
            here.code != 0,
            here.stderr.contains(blob.as_str()),
            "{missing}"
        );
    }
}

#[test]
fn replacements_and_the_boundary_of_a_shallow_clone_count() {
    let scene = scene(9, "sha1", Storage::Loose, Graph::File);
    let commits = &scene.commits;
    scene.git(&["replace", &commits[6], &commits[3]]);
    compare(&scene, &["rev-list", "--objects", "--all"], "");
    compare(
        &scene,
        &["rev-list", "--topo-order", "--parents", "--all"],
        "",
    );
    scene.git(&["replace", "-d", &commits[6]]);
    std::fs::write(scene.root.join(".git/shallow"), format!("{}\n", commits[4])).unwrap();
    compare(&scene, &["rev-list", "--objects", "--all"], "");
    compare(&scene, &["rev-list", "--count", "--objects", "--all"], "");
    // Words lead no further than walks.
    for word in [
        format!("{}~1", commits[4]),
        format!("{}^@", commits[4]),
        "main~9".into(),
    ] {
        compare(&scene, &["rev-list", "--count", &word, "--"], "");
        compare(&scene, &["cat-file", "--batch-check"], &format!("{word}\n"));
    }
}

#[test]
fn what_is_left_out_after_no_walk_has_commits_followed() {
    let scene = scene(10, "sha1", Storage::Loose, Graph::None);
    let [tree, parent] = ["main^{tree}", "main~3"].map(|name| format!("^{name}"));
    for words in [
        &["--no-walk", "main", &tree][..],
        &["--no-walk", "main", &parent],
        &[&parent, "--no-walk", "main"],
        &[&parent, "--no-walk", "main", "main~4"],
        &["^main", "--no-walk", "main", "main~1"],
        &["--no-walk", "main~3..main"],
        &["main~3..main", "--no-walk"],
        &["--no-walk", "-n9", "main"],
        &["-n9", "--no-walk", "main"],
    ] {
        compare(&scene, &[&["rev-list"], words].concat(), "");
    }
}

#[test]
fn commits_that_are_not_followed_have_no_side() {
    let scene = scene(10, "sha1", Storage::Loose, Graph::None);
    for side in ["--left-only", "--right-only"] {
        for words in [
            &["--no-walk", "main", "main~3"][..],
            &["--no-walk=unsorted", "--objects", "main~3"],
            &["--no-walk", "--count", "main"],
            &["--no-walk", "main...main~3"],
            &["--no-walk", "main", "^main~3"],
            &["main", "main~3"],
        ] {
            compare(&scene, &[&["rev-list", side], words].concat(), "");
        }
    }
}

/// Other threads read them: with grafts, replacements, tags, and one that is damaged.
#[test]
fn references_to_thousands_of_commits() {
    let scene = scene(10, "sha1", Storage::Loose, Graph::None);
    let mut stream = String::new();
    for number in 0..2400 {
        let parent = match number % 3 {
            0 => String::new(),
            _ => format!("from :{number}\n"),
        };
        stream += &format!(
            "commit refs/heads/many/{number}\nmark :{}\ncommitter a <a> {} +0000\ndata 0\n{parent}\
             M 100644 inline f\ndata 5\n{number:5}\n",
            number + 1,
            1_000_000_000 + number * 7 % 500
        );
    }
    hedgerow_testkit::git(&scene.root, &["fast-import", "--quiet"], stream.as_bytes());
    let questions: [&[&str]; 5] = [
        &["rev-list", "--objects", "--all"],
        &["rev-list", "--count", "--objects", "--all"],
        &["rev-list", "--topo-order", "--parents", "--all"],
        &["rev-list", "--count", "--all", "^many/7", "^many/1000"],
        &["rev-list", "--no-walk", "--all"],
    ];
    questions
        .iter()
        .for_each(|words| compare(&scene, words, ""));
    scene.git(&["replace", "many/8", "many/77"]);
    scene.git(&["tag", "-a", "-m", "x", "one", "many/9"]);
    questions
        .iter()
        .for_each(|words| compare(&scene, words, ""));
    scene.git(&["replace", "--graft", "many/2000", "many/3"]);
    questions
        .iter()
        .for_each(|words| compare(&scene, words, ""));
}

/// What two versions of a directory share is passed over, whatever became of the rest.
#[test]
fn large_directories_of_which_little_changes() {
    let scene = scene(12, "sha1", Storage::Loose, Graph::None);
    let random = &mut Random::new(12);
    let mut stream = String::new();
    for number in 0..150 {
        let path = |random: &mut Random| {
            let directory = ["", "d/", "d/e/", "far/"][random.below(4)];
            format!("{directory}name{:02}", random.below(40))
        };
        stream += &format!(
            "commit refs/heads/large/{}\nmark :{}\ncommitter a <a> {} +0000\ndata 0\n",
            number % 3,
            number + 1,
            1_000_000_000 + number
        );
        for _ in 0..if number < 6 { 60 } else { 2 } {
            let (first, second) = (path(random), path(random));
            // Contents come back, at other paths, too.
            let content = random.below(90);
            stream += &match random.below(12) {
                0 => format!("D {first}\n"),
                1 => format!("D {first}\nM 100644 inline {first}/in\ndata 2\n{content:2}\n"),
                2 => {
                    "M 100644 inline d/e/x\ndata 1\nx\n".to_owned()
                        + ["R d moved\n", "C d/e far\n"][content % 2]
                }
                3 => format!("M 160000 {:040x} {second}\n", content + 1),
                at => {
                    let mode = [100_755, 120_000, 100_644][at % 3];
                    format!("M {mode} inline {second}\ndata 2\n{content:2}\n")
                }
            };
        }
    }
    hedgerow_testkit::git(&scene.root, &["fast-import", "--quiet"], stream.as_bytes());
    for words in [
        &["--all"][..],
        &["--all", "--in-commit-order"],
        &["--all", "--reverse"],
        &["--all", "--no-object-names", "--filter=blob:none"],
        &["--all", "--filter=tree:2"],
        &["--all", "--filter=blob:limit=2", "--filter-print-omitted"],
        &["large/0", "^large/1~20"],
        &["large/1:d", "large/2~3:", "large/1"],
        &["large/0~9:d", "^large/0~30:d"],
    ] {
        compare(&scene, &[&["rev-list", "--objects"], words].concat(), "");
    }
}

/// Directories as deep as git allows are listed as git lists them, and deeper ones refused: nothing
/// recurses into them.
#[test]
fn deep_trees_are_listed_up_to_the_limit() {
    const LIMIT: usize = 2048;
    let scene = scene(34, "sha1", Storage::Loose, Graph::None);
    let mut stream = String::new();
    for depth in [LIMIT, LIMIT + 1] {
        let path = "d/".repeat(depth);
        stream += &format!(
            "commit refs/heads/deep{depth}\ncommitter a <a@b> 1 +0000\ndata 1\nx\n\
             M 100644 inline {path}f\ndata 1\nx\nM 100644 inline d/d/g\ndata 1\ny\n"
        );
    }
    git(&scene.root, &["fast-import", "--quiet"], stream.as_bytes());
    let tips = [format!("deep{LIMIT}"), format!("deep{}", LIMIT + 1)];
    for options in [
        &["--no-object-names"][..],
        &["--missing=print"],
        &["--filter=blob:none"],
        &["--filter=tree:5", "--filter-print-omitted"],
        &["--count"],
    ] {
        for (tip, code) in tips.iter().zip([0, 128]) {
            let words = [&["rev-list", "--objects", tip], options].concat();
            let [theirs, ours] = both(&scene, &words, "");
            let stderr = (&theirs.stderr, &ours.stderr);
            assert_eq!(
                (theirs.code, ours.code),
                (code, code),
                "{words:?}: {stderr:?}"
            );
            assert_eq!(stderr.0, stderr.1, "{words:?}");
            let sorted = |output: &[u8]| {
                let text = String::from_utf8_lossy(output);
                let mut lines: Vec<String> = text.lines().map(ToOwned::to_owned).collect();
                lines.sort();
                lines
            };
            if code == 0 {
                assert_eq!(sorted(&theirs.stdout), sorted(&ours.stdout), "{words:?}");
            }
        }
    }
}
