//! What the engine records, from a run to words and a drawing, and files that are broken.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::unwrap_used,
    reason = "tests look at files"
)]

use hedgerow_engine::{run_tasks, Jobs, Options, Recorder, Scope, Statistics};
use hedgerow_stats::{draw, parse, read, summary, Error};
use hedgerow_testkit::{isolated, require, run_with, temporary, Random};
use std::convert::Infallible;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

const TASKS: u64 = 300;

/// Statistics of a run of four workers, which wait a little and run dry at the end.
fn recorded(name: &'static str) -> Statistics {
    let recorder = Arc::new(Recorder::default());
    let options = Options {
        jobs: Jobs::Fixed(NonZeroUsize::new(4).unwrap()),
        recorder: Some(recorder.clone()),
        name,
        ..Options::default()
    };
    let work = |_: &mut (), task: u64, scope: &Scope<'_, u64>| {
        scope.operation("work", || std::thread::sleep(Duration::from_micros(300)));
        scope.add_bytes(1000);
        if task == 0 {
            // The others have nothing to do meanwhile.
            std::thread::sleep(Duration::from_millis(150));
        }
        Ok::<(), Infallible>(())
    };
    run_tasks(&options, (0..TASKS).rev().collect(), |_| (), work).unwrap();
    recorder.snapshot()
}

#[test]
fn what_was_recorded_is_read_back_whole() {
    let statistics = recorded("run");
    let place = temporary();
    let file = place.path().join("stats.json");
    std::fs::write(&file, serde_json::to_vec(&statistics).unwrap()).unwrap();
    assert_eq!(read(&file).unwrap(), statistics);
    assert_eq!((statistics.tasks, statistics.operations), (TASKS, TASKS));
}

#[test]
fn words_say_what_was_counted() {
    let statistics = recorded("run");
    let told = summary(&statistics);
    let line = |subject: &str| {
        let mut lines = told.lines().filter(|line| line.starts_with(subject));
        lines
            .next()
            .unwrap_or_else(|| panic!("{subject}: {told}"))
            .to_owned()
    };
    assert!(line("tasks ").ends_with(" 300"), "{told}");
    assert!(line("operations ").contains(" 300 ("), "{told}");
    assert!(line("workers ").contains('4'), "{told}");
    assert!(line("runs ").contains("run"), "{told}");
    // One worker slept alone for 150 ms.
    assert!(statistics.starved_us > 0);
    assert!(
        told.starts_with("The queue ran empty while workers had nothing to do for "),
        "{told}"
    );
    assert!(summary(&Statistics::default()).starts_with("Nothing was recorded.\n"));
    // Sums are those of the file, not of the reader.
    let more = Statistics {
        tasks: 1_234_567,
        starved_us: 0,
        ..statistics
    };
    let told = summary(&more);
    assert!(told.starts_with("The queue never ran empty"), "{told}");
    assert!(
        told.contains("1,234,567") || told.contains("1 234 567"),
        "{told}"
    );
}

/// Python's parser of XML takes it, whatever the names are.
#[test]
fn a_drawing_is_well_formed_and_shows_the_names_of_runs() {
    if !require("python3") {
        return;
    }
    let count = "import sys, xml.etree.ElementTree as t\n\
                 root = t.fromstring(sys.stdin.buffer.read())\n\
                 assert root.tag.endswith('}svg'), root.tag\n\
                 print('|'.join(''.join(e.itertext()) for e in root.iter() if e.tag.endswith('}text')))\n\
                 print(sum(1 for e in root.iter() if not e.tag.endswith('}text')))\n";
    for name in ["plain", "<b>&\"'", "]]>"] {
        let statistics = recorded(name);
        let mut python = isolated("python3");
        python.env("PYTHONIOENCODING", "utf-8").args(["-c", count]);
        let drawing = draw(&statistics);
        let shown = run_with(python, drawing.as_bytes()).ok(&drawing);
        let shown = String::from_utf8(shown).unwrap();
        let (texts, marks) = shown.trim().rsplit_once('\n').unwrap();
        assert!(texts.split('|').any(|text| text == name), "{name}: {texts}");
        assert!(marks.parse::<usize>().unwrap() > 20, "{marks}");
        assert_eq!(draw(&statistics), drawing, "the same bytes again");
    }
}

#[test]
fn a_file_that_was_cut_off_is_refused_with_a_reason() {
    let place = temporary();
    let file = place.path().join("stats.json");
    let whole = serde_json::to_vec(&recorded("run")).unwrap();
    for length in (0..whole.len()).step_by(7) {
        std::fs::write(&file, &whole[..length]).unwrap();
        let error = read(&file).unwrap_err();
        assert!(
            matches!(error, Error::NotStatistics { .. }),
            "{length}: {error}"
        );
        let words = error.to_string();
        let start = format!("cannot use '{}': ", file.display());
        assert!(
            words.len() > start.len() && words.starts_with(&start),
            "{words}"
        );
    }
}

#[test]
fn damaged_files_are_refused_or_told_and_drawn() {
    let whole = serde_json::to_vec(&recorded("run")).unwrap();
    let (mut taken, mut refused) = (0, 0);
    for seed in 0..400 {
        let random = &mut Random::new(seed);
        let mut damaged = whole.clone();
        for _ in 0..1 + random.below(3) {
            let at = random.below(damaged.len());
            damaged[at] = *random.pick(b"0123456789-.eE\"{}[],: ax\\\xff\0");
        }
        match parse(&damaged) {
            Ok(statistics) => {
                taken += 1;
                assert!(summary(&statistics).ends_with('\n'));
                assert!(draw(&statistics).ends_with("</svg>\n"));
            }
            Err(reason) => {
                refused += 1;
                assert!(!reason.is_empty());
            }
        }
    }
    assert!(taken > 20 && refused > 20, "{taken} {refused}");
}

#[test]
fn a_file_that_is_too_large_is_not_read() {
    let place = temporary();
    let file = place.path().join("stats.json");
    let large = std::fs::File::create(&file).unwrap();
    large.set_len(33 << 20).unwrap();
    assert!(matches!(read(&file), Err(Error::Fs(_))));
    assert!(matches!(read(place.path()), Err(Error::Fs(_))));
    assert!(matches!(
        read(&place.path().join("none")),
        Err(Error::Fs(_))
    ));
}
