//! What a partial clone lacks is fetched when it is read, as by git.

use super::HEDGEROW;
use hedgerow_testkit::history::{scene, Graph, Scene, Storage};
use hedgerow_testkit::{run, run_with, Outcome, Program};
use std::path::Path;

const UNKNOWN: &str = "1234567890123456789012345678901234567890";

fn origin() -> Scene {
    let origin = scene(10, "sha1", Storage::Packed, Graph::None);
    origin.git(&["config", "uploadpack.allowFilter", "true"]);
    origin
}

/// What `program` says in a new partial clone, and how many packs it fetched. A clone makes one pack, or
/// two: git 2.55 packs what a promised pack refers to a second time.
fn fetching(
    origin: &Scene,
    filter: &str,
    program: &Program,
    words: &[&str],
    input: &str,
    is_reachable: bool,
) -> (Outcome, usize) {
    let clone = origin.root.with_file_name("partial.git");
    let _ = std::fs::remove_dir_all(&clone);
    let url = format!("file://{}", origin.root.display());
    let filter = format!("--filter={filter}");
    let target = clone.to_str().unwrap();
    origin.git(&["clone", "-q", "--bare", &filter, &url, target]);
    if !is_reachable {
        origin.git(&["-C", target, "config", "remote.origin.url", "/nowhere"]);
    }
    let cloned = promises(&clone);
    let outcome = asked(program, &clone, words, input, &[]);
    (outcome, promises(&clone) - cloned)
}

/// A new clone without blobs, in which nothing has been fetched.
fn make_clone(origin: &Scene) {
    let words = ["rev-list", "main"];
    fetching(origin, "blob:none", &HEDGEROW, &words, "", true);
}

fn asked(
    program: &Program,
    clone: &Path,
    words: &[&str],
    input: &str,
    variables: &[(&str, &str)],
) -> Outcome {
    let mut command = program.command(clone);
    command.args(words).envs(variables.iter().copied());
    let path = clone.with_file_name("input");
    std::fs::write(&path, input).unwrap();
    command.stdin(std::fs::File::open(&path).unwrap());
    run(command)
}

#[test]
fn cat_file_fetches_what_it_reads() {
    let origin = origin();
    let listed = origin.git(&["ls-tree", "-r", "--name-only", "main"]);
    let listed = String::from_utf8_lossy(&listed).into_owned();
    let file = format!("main:{}", listed.lines().next().unwrap());
    let blobs = origin.blobs.join("\n");
    let infos: String = origin
        .blobs
        .iter()
        .map(|id| format!("info {id}\n"))
        .collect();
    let names = format!("{blobs}\n{UNKNOWN}\n{file}\nmain^{{tree}}\nmain:nothing\n");
    let paths = format!("{file}\nmain:nothing\n");
    let buffered = ["cat-file", "--batch-command", "--buffer"];
    for (words, input) in [
        (&["cat-file", "-p", &file][..], ""),
        (&["cat-file", "-s", &file], ""),
        (&["cat-file", "-t", &file], ""),
        (&["cat-file", "-e", &file], ""),
        (&["cat-file", "-e", UNKNOWN], ""),
        (&["cat-file", "tree", "main"], ""),
        (&["cat-file", "--batch-check"], &names),
        (&["cat-file", "--batch"], &names),
        (&["cat-file", "--batch-check"], &file),
        (&["cat-file", "--batch-check", "--follow-symlinks"], &paths),
        (&buffered, &infos),
    ] {
        for filter in ["blob:none", "tree:0"] {
            for is_reachable in [true, false] {
                let [git, here] = [Program::Git, HEDGEROW].map(|program| {
                    fetching(&origin, filter, &program, words, input, is_reachable).0
                });
                here.assert_civil(&words.join(" "));
                let told = format!(
                    "{words:?} {filter} {is_reachable}: {} {}",
                    here.stderr, git.stderr
                );
                assert_eq!(here.code, git.code, "{told}");
                assert!(here.stdout == git.stdout, "{told}");
                let promised = "from promisor remote";
                assert!(
                    !git.stderr.contains(promised) || here.stderr.contains(promised),
                    "{told}"
                );
            }
        }
    }
}

/// What waits for a flush is fetched in one request.
#[test]
fn what_waits_is_fetched_at_once() {
    let origin = origin();
    let infos: String = origin
        .blobs
        .iter()
        .map(|id| format!("info {id}\n"))
        .collect();
    let words = ["cat-file", "--batch-command", "--buffer"];
    let (outcome, fetches) = fetching(&origin, "blob:none", &HEDGEROW, &words, &infos, true);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert_eq!(fetches, 1);
}

/// How many packs came from the remote.
fn promises(clone: &Path) -> usize {
    let is_promise =
        |name: &std::ffi::OsStr| Path::new(name).extension() == Some("promisor".as_ref());
    let packs = std::fs::read_dir(clone.join("objects/pack")).unwrap();
    packs
        .filter(|entry| is_promise(&entry.as_ref().unwrap().file_name()))
        .count()
}

/// Contents are fetched in one request, directories in one for each level.
#[test]
fn a_list_of_objects_fetches_what_it_names() {
    let origin = origin();
    for words in [
        &["main"][..],
        &["--all", "--count"],
        &["--quiet", "--all"],
        &["--disk-usage", "--max-count=2", "main"],
        &["--filter=blob:none", "main"],
        &["--filter=object:type=blob", "main"],
        &["--filter=tree:1", "--all"],
        &["--filter=tree:0", "main", "^b1"],
        &["main", "^b1"],
    ] {
        let words = [&["rev-list", "--objects"], words].concat();
        for filter in ["blob:none", "tree:0"] {
            for is_reachable in [true, false] {
                let [(git, _), (here, fetches)] = [Program::Git, HEDGEROW]
                    .map(|program| fetching(&origin, filter, &program, &words, "", is_reachable));
                let told = format!(
                    "{words:?} {filter} {is_reachable}: {} {}",
                    here.stderr, git.stderr
                );
                here.assert_civil(&told);
                assert_eq!(here.code, git.code, "{told}");
                // Git prints what it meets before what is missing.
                let is_size = words.contains(&"--disk-usage");
                assert!(
                    !is_reachable || is_size || here.stdout == git.stdout,
                    "{told}"
                );
                // A reference to a blob is fetched by --all.
                let filters = ["--filter=blob:none", "--filter=tree:0"];
                let filters = words.iter().any(|word| filters.contains(word));
                if filter == "blob:none" && is_reachable {
                    assert_eq!(fetches, usize::from(!filters), "{told}");
                }
            }
        }
    }
}

#[test]
fn nothing_is_fetched_where_that_is_not_wanted() {
    let origin = origin();
    let clone = origin.root.with_file_name("partial.git");
    make_clone(&origin);
    let names = origin.blobs.join("\n");
    let check = ["cat-file", "--batch-check"];
    let unfetched = [("GIT_NO_LAZY_FETCH", "1")];
    let [git, here] =
        [Program::Git, HEDGEROW].map(|program| asked(&program, &clone, &check, &names, &unfetched));
    assert!(here.stdout.ends_with(b" missing\n"));
    assert_eq!((here.code, here.stdout), (git.code, git.stdout));
}

/// A replacement is printed where the object itself is not here.
#[test]
fn what_replaces_a_missing_object_is_printed() {
    let scene = scene(11, "sha1", Storage::Loose, Graph::None);
    let (blob, other) = (&scene.blobs[0], &scene.blobs[1]);
    scene.git(&["replace", blob, other]);
    let path = format!(".git/objects/{}/{}", &blob[..2], &blob[2..]);
    std::fs::remove_file(scene.root.join(path)).unwrap();
    for words in [["cat-file", "-p", blob], ["cat-file", "blob", blob]] {
        let [git, here] =
            [Program::Git, HEDGEROW].map(|program| asked(&program, &scene.root, &words, "", &[]));
        assert_eq!(
            (here.code, &here.stdout),
            (git.code, &git.stdout),
            "{words:?} {here:?}"
        );
    }
}

/// A link that is followed is read, and so is fetched.
#[test]
fn links_on_the_way_are_fetched() {
    let origin = origin();
    origin.git(&["checkout", "-q", "-f", "main"]);
    std::fs::create_dir(origin.root.join("place")).unwrap();
    std::fs::write(origin.root.join("place/content"), "content").unwrap();
    std::os::unix::fs::symlink("place/content", origin.root.join("link")).unwrap();
    std::os::unix::fs::symlink("place", origin.root.join("way")).unwrap();
    std::os::unix::fs::symlink("nothing", origin.root.join("dangling")).unwrap();
    origin.git(&["add", "."]);
    origin.git(&["commit", "-q", "-m", "links"]);
    let words = ["cat-file", "--batch", "--follow-symlinks"];
    for input in [
        "main:link\n",
        "main:way/content\nmain:way\n",
        "main:dangling\n",
    ] {
        for filter in ["blob:none", "tree:0", "tree:1"] {
            for is_reachable in [true, false] {
                let [git, here] = [Program::Git, HEDGEROW].map(|program| {
                    fetching(&origin, filter, &program, &words, input, is_reachable).0
                });
                let told = format!("{input} {filter} {}", here.stderr);
                assert_eq!(here.code, git.code, "{told}");
                assert!(here.stdout == git.stdout, "{told}");
            }
        }
    }
}

/// What is named by its whole id and is not here yet is fetched before the walk, all of it in one request.
#[test]
fn a_walk_fetches_where_it_starts() {
    let origin = origin();
    origin.git(&["tag", "-f", "-a", "-m", "a tag", "late", "main"]);
    let ask = |name: &str| {
        let id = origin.git(&["rev-parse", name]);
        String::from_utf8_lossy(&id).trim().to_owned()
    };
    let (id, tag) = (ask("main"), ask("late"));
    let clone = origin.root.with_file_name("single.git");
    let url = format!("file://{}", origin.root.display());
    for words in [
        &["rev-list", &id][..],
        &["rev-list", "--count", &tag],
        &["rev-list", "--count", &id, "--not", "--all"],
        &["rev-list", "-1", &id, &tag],
        &["rev-list", "-1", UNKNOWN],
        &["rev-list", "-1", &id[..12]],
        &["rev-list", "--missing=allow-any", "-1", &id],
    ] {
        for is_reachable in [true, false] {
            let [git, here] = [Program::Git, HEDGEROW].map(|program| {
                let _ = std::fs::remove_dir_all(&clone);
                let target = clone.to_str().unwrap();
                let single = ["--filter=blob:none", "--single-branch", "-b", "b1"];
                let start = ["clone", "-q", "--bare", "--no-tags"];
                origin.git(&[&start[..], &single, &[&url, target]].concat());
                if !is_reachable {
                    origin.git(&["-C", target, "config", "remote.origin.url", "/nowhere"]);
                }
                asked(&program, &clone, words, "", &[])
            });
            let told = format!("{words:?} {is_reachable}: {} {}", here.stderr, git.stderr);
            assert_eq!(here.code, git.code, "{told}");
            assert!(here.stdout == git.stdout, "{told}");
        }
    }
}

/// A pack of what a partial clone lacks: contents are fetched in one request.
#[test]
fn packs_are_made_of_what_is_fetched() {
    let origin = origin();
    let clone = origin.root.with_file_name("partial.git");
    let commits = &origin.commits[..2];
    let names = [commits, &origin.trees[..2], &origin.blobs].concat();
    let (names, tip) = (names.join("\n") + "\n", "main\n^b1\n");
    for (words, input) in [
        (&[][..], names.as_str()),
        (&["--revs"], tip),
        (&["--revs", "--no-use-bitmap-index"], "main\nb0\n"),
        (&["--revs", "--filter=blob:none"], tip),
        (&["--revs", "--filter=tree:1"], tip),
        (&["--all"], ""),
        (&["--thin"], tip),
        (&["--all", "--exclude-promisor-objects"], ""),
    ] {
        let words = [&["pack-objects", "--stdout", "-q"], words].concat();
        for filter in ["blob:none", "tree:0"] {
            for is_reachable in [true, false] {
                let [git, here] = [Program::Git, HEDGEROW].map(|program| {
                    let (made, fetches) =
                        fetching(&origin, filter, &program, &words, input, is_reachable);
                    (packed(&clone, &made), made, fetches)
                });
                let told = format!(
                    "{words:?} {filter} {is_reachable}: {} {}",
                    here.1.stderr, git.1.stderr
                );
                here.1.assert_civil(&told);
                assert_eq!(here.1.code, git.1.code, "{told}");
                // By sets, more is known to be had.
                let is_subset = here.0.iter().all(|id| git.0.contains(id));
                let is_same = input == tip || here.0.len() == git.0.len();
                assert!(is_subset && is_same, "{told} {:?} {:?}", here.0, git.0);
                if filter == "blob:none" && is_reachable {
                    assert_eq!(here.2, git.2, "{told}");
                }
            }
        }
    }
    // Whoever serves fetches nothing.
    let words = ["pack-objects", "--stdout", "-q"];
    make_clone(&origin);
    let cloned = promises(&clone);
    let unfetched = [("GIT_NO_LAZY_FETCH", "1")];
    let [git, here] =
        [Program::Git, HEDGEROW].map(|program| asked(&program, &clone, &words, &names, &unfetched));
    assert_eq!((here.code, git.code), (128, 128), "{}", here.stderr);
    assert_eq!(promises(&clone), cloned);
}

/// The ids of the objects in a pack that was printed; none if the program failed.
fn packed(clone: &Path, made: &Outcome) -> Vec<String> {
    if made.code != 0 {
        return Vec::new();
    }
    let mut command = Program::Git.command(clone);
    let target = clone.join("made.pack");
    let _ = std::fs::remove_file(target.with_extension("idx"));
    command
        .args(["index-pack", "--stdin", "--fix-thin"])
        .arg(&target);
    run_with(command, &made.stdout).ok("it is a pack");
    let index = std::fs::read(target.with_extension("idx")).unwrap();
    let mut command = Program::Git.command(clone);
    command.arg("show-index");
    let shown = run_with(command, &index).ok("it is an index");
    let shown = String::from_utf8(shown).unwrap();
    let ids = shown.lines().filter_map(|line| line.split(' ').nth(1));
    let mut ids: Vec<String> = ids.map(str::to_owned).collect();
    ids.sort_unstable();
    ids
}
