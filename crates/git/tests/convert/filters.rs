//! Filter programs: what git writes with them, we write.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use hedgerow_git::convert::{
    AttributeSources, Attributes, Buffers, Conversion, ConvertOptions, Converter, Delivery, Driver,
    FilterContext, FilterLane, Filtered,
};
use hedgerow_git::{Error, Result};

use crate::repository::stage;
use hedgerow_testkit::filter_server::{command, take_log};
use hedgerow_testkit::{blob_id, Repository};

struct Tree {
    repository: Repository,
    driver: Driver,
    files: BTreeMap<String, Vec<u8>>,
    attributes: String,
}

#[derive(Default)]
struct Checkout {
    files: BTreeMap<String, Vec<u8>>,
    messages: Vec<String>,
    failed: Vec<String>,
}

impl Tree {
    /// A tree whose files all go through the driver `f`.
    fn new(names: &[&str], set: impl FnOnce(&mut Driver, &str)) -> Tree {
        let repository = Repository::init(&[]);
        let mut driver = Driver {
            name: "f".into(),
            ..Driver::default()
        };
        let log = repository.root.join(".git/filter-log");
        set(&mut driver, log.to_str().unwrap());
        let config = [("clean", &driver.clean), ("smudge", &driver.smudge)];
        for (key, value) in config.into_iter().chain([("process", &driver.process)]) {
            if let Some(value) = value {
                repository.git(&["config", &format!("filter.f.{key}"), &value.to_string()]);
            }
        }
        let required = driver.required.to_string();
        repository.git(&["config", "filter.f.required", &required]);
        let attributes = "* filter=f text eol=crlf ident\n.gitattributes -filter\n".to_owned();
        let mut files = BTreeMap::new();
        for name in names {
            let content = format!("content of {name}\n$Id$\n");
            files.insert((*name).to_owned(), content.into_bytes());
        }
        files.insert(".gitattributes".to_owned(), attributes.clone().into_bytes());
        stage(&repository, &files);
        files.remove(".gitattributes");
        Tree {
            repository,
            driver,
            files,
            attributes,
        }
    }

    fn converter(&self) -> Converter {
        let attributes = Attributes::new(&AttributeSources {
            directories: vec![("".into(), self.attributes.as_bytes())],
            ..AttributeSources::default()
        });
        let options = ConvertOptions {
            drivers: vec![self.driver.clone()],
            ..ConvertOptions::default()
        };
        Converter::new(options, attributes)
    }

    fn context(&self) -> FilterContext {
        FilterContext {
            directory: self.repository.root.clone(),
            can_delay: true,
            ..FilterContext::default()
        }
    }

    fn lane(&self) -> FilterLane {
        FilterLane::open(&self.driver, self.context()).unwrap()
    }

    fn checkout(&self, mut lane: FilterLane) -> (Checkout, Result<()>) {
        let converter = self.converter();
        let mut buffers = Buffers::default();
        let mut checkout = Checkout::default();
        let names: Vec<&String> = self.files.keys().collect();
        let mut deliver = |delivery: Delivery<'_>| checkout.take(&names, delivery);
        let all = || {
            for (row, (path, content)) in self.files.iter().enumerate() {
                let id = blob_id(content);
                let path = path.as_str().into();
                let conversion = converter.conversion(path);
                assert!(matches!(conversion, Conversion::Driver(_)));
                let before = converter
                    .to_worktree(&mut buffers, conversion, path, &id, content)?
                    .content;
                lane.smudge(row, path, &id, before, &mut deliver)?;
            }
            lane.finish(&mut deliver)
        };
        let outcome = all();
        (checkout, outcome)
    }

    /// What git makes of the same files; the ones it did not write are absent.
    fn git_checkout(&self, args: &[&str]) -> (BTreeMap<String, Vec<u8>>, i32, String) {
        let output = self.repository.run(args, b"");
        let mut files = BTreeMap::new();
        for path in self.files.keys() {
            if let Ok(content) = std::fs::read(self.repository.root.join(path)) {
                files.insert(path.clone(), content);
                std::fs::remove_file(self.repository.root.join(path)).unwrap();
            }
        }
        (files, output.code, output.stderr)
    }
}

impl Checkout {
    fn take(&mut self, names: &[&String], delivery: Delivery<'_>) -> Result<()> {
        assert_eq!(names[delivery.row].as_str(), delivery.path.to_string());
        let path = delivery.path.to_string();
        self.messages.extend(delivery.messages);
        let content = match delivery.content {
            Filtered::Content(content) => content.to_vec(),
            Filtered::Stream(stream) => {
                let mut content = Vec::new();
                match stream.read_to_end(&mut content) {
                    Ok(_) => content,
                    Err(error) => {
                        return Err(Error::Convert {
                            path: delivery.path.to_owned(),
                            reason: error.to_string(),
                        })
                    }
                }
            }
            Filtered::Failed(error) => {
                self.failed.push(error.to_string());
                return Ok(());
            }
        };
        assert_eq!(self.files.insert(path, content), None);
        Ok(())
    }
}

fn show(files: &BTreeMap<String, Vec<u8>>) -> String {
    let show = |(path, content): (&String, &Vec<u8>)| {
        let start = &content[..content.len().min(80)];
        format!(
            "{path} {} {:?}\n",
            content.len(),
            String::from_utf8_lossy(start)
        )
    };
    files.iter().map(show).collect()
}

fn same_as_git(tree: &Tree) -> Checkout {
    let (git, code, stderr) = tree.git_checkout(&["checkout-index", "-a"]);
    assert_eq!(code, 0, "{stderr}");
    let (checkout, outcome) = tree.checkout(tree.lane());
    outcome.unwrap();
    assert_eq!(show(&checkout.files), show(&git));
    assert!(checkout.files == git);
    checkout
}

#[test]
fn a_command_gets_the_quoted_path_and_its_directory() {
    let names = ["a", "dir/it's \"b\" $c!", "%f"];
    let tree = Tree::new(&names, |driver, _| {
        driver.smudge = Some("echo %f %% %x; ls -d .git; cat".into());
    });
    let checkout = same_as_git(&tree);
    let content = String::from_utf8(checkout.files["a"].clone()).unwrap();
    let id = blob_id(b"content of a\n$Id$\n");
    assert_eq!(
        content,
        format!("a % %x\n.git\ncontent of a\r\n$Id: {id} $\r\n")
    );
}

#[test]
fn a_command_need_not_read() {
    let mut tree = Tree::new(&["a"], |driver, _| {
        driver.smudge = Some("echo short".into())
    });
    tree.files.insert("a".into(), b"long\n".repeat(100_000));
    stage(&tree.repository, &tree.files);
    let checkout = same_as_git(&tree);
    assert_eq!(checkout.files["a"], b"short\n");
    assert_eq!(checkout.messages, [] as [&str; 0]);
}

#[test]
fn a_failing_command_leaves_the_content_as_it_is() {
    // Lines for each file.
    for (smudge, lines) in [
        ("echo half; exit 3", 2),
        ("no-such-program-here", 3),
        ("kill -9 $$", 2),
    ] {
        let tree = Tree::new(&["a", "b"], |driver, _| driver.smudge = Some(smudge.into()));
        let checkout = same_as_git(&tree);
        assert_eq!(checkout.messages.len(), 2 * lines, "{smudge}");
        assert!(
            checkout.files["a"].starts_with(b"content of a\r\n"),
            "{smudge}"
        );
    }
}

#[test]
fn a_required_filter_that_fails_is_fatal() {
    for (smudge, clean) in [(Some("false"), None), (None, Some("cat")), (Some(""), None)] {
        let tree = Tree::new(&["a"], |driver, _| {
            driver.smudge = smudge.map(Into::into);
            driver.clean = clean.map(Into::into);
            driver.required = true;
        });
        let (_, code, stderr) = tree.git_checkout(&["checkout-index", "-a"]);
        assert_eq!(code, 128, "{stderr}");
        assert!(stderr.contains("a: smudge filter f failed"), "{stderr}");
        let (checkout, outcome) = tree.checkout(tree.lane());
        let error = outcome.unwrap_err().to_string();
        assert!(error.starts_with("a: smudge filter f failed"), "{error}");
        assert!(checkout.files.is_empty());
    }
}

#[test]
fn a_process_gets_what_git_gives_it() {
    let names = ["a", "b-delay", "c", "d-delay", "e-delay", "z-large"];
    let tree = Tree::new(&names, |driver, log| {
        driver.process = Some(command(log).into())
    });
    tree.repository.git(&["commit", "-q", "-m", "all"]);
    tree.repository.git(&["branch", "-M", "main"]);
    let head = tree.repository.git(&["rev-parse", "HEAD"]);
    let head = String::from_utf8(head).unwrap();
    let (git, code, stderr) = tree.git_checkout(&["checkout", "-q", "-f", "main"]);
    assert_eq!(code, 0, "{stderr}");
    let git_log = take_log(&tree.repository);
    let context = FilterContext {
        reference: Some("refs/heads/main".into()),
        treeish: Some(head.trim().parse().unwrap()),
        ..tree.context()
    };
    let (checkout, outcome) = tree.checkout(FilterLane::open(&tree.driver, context).unwrap());
    outcome.unwrap();
    assert_eq!(show(&checkout.files), show(&git));
    assert!(checkout.files == git);
    assert_eq!(take_log(&tree.repository), git_log);
    assert_eq!(git_log.matches("start\n").count(), 1);
    assert_eq!(git_log.matches("list_available_blobs").count(), 3);
}

#[test]
fn a_process_that_fails_on_some_files_goes_on_with_others() {
    let names = [
        "a", "b-error", "c", "d-die", "e", "f-late", "g", "j-abort", "k",
    ];
    let tree = Tree::new(&names, |driver, log| {
        driver.process = Some(command(log).into())
    });
    let checkout = same_as_git(&tree);
    let log = take_log(&tree.repository);
    // Git and we start it again after its death; after `abort` it is not asked again.
    assert_eq!(log.matches("start\n").count(), 4);
    assert!(!log.contains("pathname=k"));
    assert_eq!(checkout.messages.len(), 1);
    assert!(checkout
        .messages
        .iter()
        .all(|message| message.starts_with("external filter '")));
    assert!(checkout.files["e"].starts_with(b"smudge e:content of e\r\n"));
    assert!(checkout.files["k"].starts_with(b"content of k\r\n"));
}

#[test]
fn a_required_process_that_dies_is_an_error_that_names_driver_and_file() {
    for name in [
        "b-die",
        "b-garbage",
        "b-error",
        "b-abort",
        "b-late",
        "b-large-late",
        "b-delay-die",
    ] {
        let tree = Tree::new(&["a", name], |driver, log| {
            driver.process = Some(command(log).into());
            driver.required = true;
        });
        let (checkout, outcome) = tree.checkout(tree.lane());
        let error = outcome.unwrap_err().to_string();
        let words = if name.contains("large") {
            format!("cannot convert '{name}': ")
        } else {
            format!("{name}: smudge filter f failed")
        };
        assert!(error.starts_with(&words), "{error}");
        assert_eq!(checkout.files.keys().collect::<Vec<_>>(), ["a"]);
    }
}

#[test]
fn delayed_files_of_a_process_that_is_gone_fail_without_being_written() {
    let names = ["a-delay", "b-delay", "c-die", "d"];
    let tree = Tree::new(&names, |driver, log| {
        driver.process = Some(command(log).into())
    });
    let (checkout, outcome) = tree.checkout(tree.lane());
    outcome.unwrap();
    assert_eq!(checkout.failed.len(), 2);
    assert_eq!(checkout.failed[0], "'a-delay' was not filtered properly");
    assert_eq!(checkout.files.keys().collect::<Vec<_>>(), ["c-die", "d"]);
    tree.repository.git(&["commit", "-q", "-m", "all"]);
    let (_, code, stderr) = tree.git_checkout(&["checkout", "-q", "-f", "HEAD"]);
    assert_eq!(code, 1, "{stderr}");
    assert!(
        stderr.contains("'a-delay' was not filtered properly"),
        "{stderr}"
    );
}

#[test]
fn a_process_that_offers_what_it_was_not_given_is_told_of() {
    for required in [false, true] {
        let tree = Tree::new(&["a", "b-delay-wrong"], |driver, log| {
            driver.process = Some(command(log).into());
            driver.required = required;
        });
        let (checkout, outcome) = tree.checkout(tree.lane());
        let error = outcome.unwrap_err().to_string();
        let words = "signaled that 'not-b-delay-wrong' is now available although it has not been \
                     delayed earlier";
        assert!(error.starts_with("external filter '"), "{error}");
        assert!(error.ends_with(words), "{error}");
        assert_eq!(checkout.files.keys().collect::<Vec<_>>(), ["a"]);
        tree.repository.git(&["commit", "-q", "-m", "all"]);
        let (_, _, stderr) = tree.git_checkout(&["checkout", "-q", "-f", "HEAD"]);
        assert!(stderr.contains(&format!("error: {error}")), "{stderr}");
    }
}

#[test]
fn a_command_that_is_no_filter_process_leaves_the_content_as_it_is() {
    let tree = Tree::new(&["a", "b"], |driver, _| {
        driver.process = Some("no-such-program-here".into())
    });
    let said = same_as_git(&tree).messages;
    let forked = "cannot fork to run subprocess 'no-such-program-here'";
    assert_eq!(said.iter().filter(|line| *line == forked).count(), 2);
    assert_eq!(said.len(), 4, "{said:?}");
    // Git dies of what is no packet, and of an end where there should be one.
    for process in [
        "exit 0",
        "echo no filter",
        "printf 0000; cat",
        "printf 0005",
    ] {
        let tree = Tree::new(&["a", "b"], |driver, _| {
            driver.process = Some(process.into())
        });
        let (checkout, outcome) = tree.checkout(tree.lane());
        outcome.unwrap();
        let said = checkout.messages.iter();
        let said = said.filter(|line| line.starts_with("initialization for subprocess '"));
        assert_eq!(said.count(), 2, "{process}: {:?}", checkout.messages);
        assert!(checkout.files["a"].starts_with(b"content of a\r\n"));
    }
}

#[test]
fn garbage_ends_a_process_but_not_the_lane() {
    let names = ["a", "b-garbage", "c"];
    let tree = Tree::new(&names, |driver, log| {
        driver.process = Some(command(log).into())
    });
    let (checkout, outcome) = tree.checkout(tree.lane());
    outcome.unwrap();
    assert_eq!(checkout.messages.len(), 1);
    assert!(checkout.files["b-garbage"].starts_with(b"content of"));
    assert!(checkout.files["c"].starts_with(b"smudge c:content of"));
}

#[test]
fn a_required_driver_without_any_command_checks_out() {
    let tree = Tree::new(&["a", "b$Id$"], |driver, _| driver.required = true);
    same_as_git(&tree);
    let mut lane = tree.lane();
    assert!(lane.clean("a".into(), b"x").is_err());
    tree.repository.write("a", b"x");
    assert_eq!(tree.repository.run(&["hash-object", "a"], b"").code, 128);
}

#[test]
fn large_answers_of_required_filters_are_streamed() {
    let tree = Tree::new(&["a-large", "b", "c-large-delay", "d"], |driver, log| {
        driver.process = Some(command(log).into());
        driver.required = true;
    });
    let checkout = same_as_git(&tree);
    assert!(checkout.files["a-large"].len() > 5_000_000);
}

#[test]
fn clean_is_what_git_add_stores() {
    for (clean, process) in [
        (Some("tr a-z A-Z"), false),
        (Some("exit 1"), false),
        (None, true),
    ] {
        let tree = Tree::new(&["a", "b-error", "c"], |driver, log| {
            driver.clean = clean.map(Into::into);
            driver.process = process.then(|| command(log).into());
        });
        tree.repository.git(&["checkout-index", ".gitattributes"]);
        let mut lane = tree.lane();
        let converter = tree.converter();
        let mut buffers = Buffers::default();
        for path in tree.files.keys() {
            let content = format!("file {path}\r\n$Id: 0123 $\r\n").into_bytes();
            tree.repository.write(path, &content);
            let git = tree.repository.git(&["hash-object", path]);
            let cleaned = lane.clean(path.as_str().into(), &content).unwrap();
            let content = cleaned.content.as_ref().unwrap_or(&content);
            let conversion = converter.conversion(path.as_str().into());
            let request = hedgerow_git::convert::ToGit {
                write_object: false,
                tell_line_ends: false,
                renormalize: false,
                index_content: &mut || Ok(None),
            };
            let ours = converter
                .to_git(
                    &mut buffers,
                    conversion,
                    path.as_str().into(),
                    content,
                    request,
                )
                .unwrap();
            let ours = blob_id(ours.content).to_string();
            assert_eq!(ours, String::from_utf8(git).unwrap().trim(), "{path}");
        }
    }
}

#[test]
fn a_hanging_filter_can_be_cancelled() {
    for process in [false, true] {
        let tree = Tree::new(&["a"], |driver, _| {
            let command = Some("exec sleep 1000".into());
            if process {
                driver.process = command
            } else {
                driver.smudge = command
            }
        });
        let lane = tree.lane();
        let cancel = lane.cancel_handle();
        let started = Instant::now();
        let outcome = std::thread::scope(|scope| {
            let checkout = scope.spawn(|| tree.checkout(lane).1);
            std::thread::sleep(Duration::from_millis(50));
            cancel.cancel().unwrap();
            checkout.join().unwrap()
        });
        assert!(started.elapsed() < Duration::from_secs(20));
        match outcome.unwrap_err() {
            Error::Fs(error) => assert_eq!(error.kind(), std::io::ErrorKind::Interrupted),
            other => panic!("{other}"),
        }
    }
}

#[test]
fn what_the_receiver_says_ends_the_lane() {
    let tree = Tree::new(&["a-large"], |driver, log| {
        driver.process = Some(command(log).into());
        driver.required = true;
    });
    let id = blob_id(b"");
    let mut lane = tree.lane();
    let full = || Error::Unsupported {
        what: "disk full".into(),
    };
    let outcome = lane.smudge(0, "a-large".into(), &id, b"x", &mut |_| Err(full()));
    assert_eq!(outcome.unwrap_err().to_string(), "unsupported: disk full");
    // Not reading a stream to its end is no success either.
    let outcome = lane.smudge(0, "a-large".into(), &id, b"x", &mut |_| Ok(()));
    assert!(outcome
        .unwrap_err()
        .to_string()
        .contains("smudge filter f failed"));
}

#[test]
fn git_lfs_works() {
    if !hedgerow_testkit::require("git-lfs") {
        return;
    }
    let names = ["a.bin", "b.bin", "dir/c.bin"];
    let tree = Tree::new(&names, |driver, _| {
        driver.name = "f".into();
        driver.process = Some("git-lfs filter-process".into());
        driver.required = true;
    });
    let mut lane = tree.lane();
    let mut pointers = BTreeMap::new();
    let mut originals = BTreeMap::new();
    for (number, name) in names.iter().enumerate() {
        let content = format!("binary {name}\n")
            .repeat(1 + number * 300_000)
            .into_bytes();
        let cleaned = lane
            .clean((*name).into(), &content)
            .unwrap()
            .content
            .unwrap();
        let pointer = String::from_utf8(cleaned.clone()).unwrap();
        assert!(
            pointer.starts_with("version https://git-lfs.github.com/spec/v1\n"),
            "{pointer}"
        );
        pointers.insert((*name).to_owned(), cleaned);
        originals.insert((*name).to_owned(), content);
    }
    drop(lane);
    let tree = Tree {
        files: pointers,
        ..tree
    };
    stage(&tree.repository, &tree.files);
    let no_conversion = "* filter=f\n.gitattributes -filter\n".to_owned();
    tree.repository
        .write(".gitattributes", no_conversion.as_bytes());
    tree.repository.git(&["update-index", ".gitattributes"]);
    let tree = Tree {
        attributes: no_conversion,
        ..tree
    };
    let checkout = same_as_git(&tree);
    assert_eq!(show(&checkout.files), show(&originals));
    assert!(checkout.files == originals);
}
