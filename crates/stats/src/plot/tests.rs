use super::*;
use hedgerow_engine::{Phase, Point};

fn statistics() -> Statistics {
    let mut latency = vec![0; 32];
    latency[3] = 90;
    latency[10] = 10;
    let point = |at_us, queue, starved_us| Point {
        at_us,
        queue,
        queue_min: queue / 2,
        queue_max: queue * 2,
        workers: 3,
        target: 4,
        starved_us,
    };
    Statistics {
        tasks: 100,
        operations: 100,
        starved_us: 500,
        starved_wall_us: 400,
        latency,
        phases: vec![Phase {
            name: "<first> & last".into(),
            begin_us: 0,
            end_us: 3000,
        }],
        series: vec![point(1000, 40, 0), point(2000, 0, 500), point(3000, 0, 0)],
        ..Statistics::default()
    }
}

/// Asserts that every element is closed, in the right order.
fn assert_well_formed(text: &str) {
    let mut open = Vec::new();
    let mut rest = text;
    while let Some(begin) = rest.find('<') {
        assert!(!rest[..begin].contains('>'));
        let end = begin + rest[begin..].find('>').unwrap();
        let tag = &rest[begin + 1..end];
        assert!(
            !tag.contains('<') && tag.matches('"').count().is_multiple_of(2),
            "{tag}"
        );
        let name = tag.split([' ', '/']).find(|name| !name.is_empty()).unwrap();
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !tag.ends_with('/') {
            open.push(name);
        }
        rest = &rest[end + 1..];
    }
    assert!(open.is_empty(), "{open:?}");
    for place in text.match_indices('&') {
        let entity = &text[place.0..];
        let known = ["&amp;", "&lt;", "&gt;", "&quot;"];
        assert!(known.iter().any(|known| entity.starts_with(known)));
    }
}

#[test]
fn all_that_was_recorded_is_in_the_drawing() {
    let drawn = draw(&statistics());
    assert_well_formed(&drawn);
    assert_eq!(drawn, draw(&statistics()), "the same bytes again");
    for words in [
        "Tasks waiting",
        "Workers",
        "Operations by the time they took",
        "&lt;first&gt; &amp; last",
        "50 % and 90 % below 8 us",
        "99 % below 1.02 ms",
        "90 operations from 4 us to 8 us",
        "prefers-color-scheme:dark",
        "2 ms</text>",
    ] {
        assert!(drawn.contains(words), "{words}");
    }
}

#[test]
fn moments_without_work_are_marked() {
    let drawn = draw(&statistics());
    let third = (WIDTH - 86.0) / 3.0;
    let strip = QUEUE.bottom() + 1.0;
    let mark = |class: &str, number: f64, seen: &str| {
        let x = QUEUE.left + number * third;
        format!(
            "<rect class=\"{class}\" x=\"{x:.2}\" y=\"{strip:.2}\" width=\"{third:.2}\" \
             height=\"7.00\" opacity=\"{seen}\"/>"
        )
    };
    // 500 of the 4000 us that four workers had.
    assert!(drawn.contains(&mark("starved", 1.0, "0.43")));
    assert!(drawn.contains(&mark("empty", 2.0, "0.80")));
    assert_eq!(drawn.matches("class=\"starved\"").count(), 2 + 1);
}

#[test]
fn whatever_a_file_says_can_be_drawn() {
    let huge = Point {
        at_us: u64::MAX,
        queue: usize::MAX,
        queue_min: usize::MAX,
        queue_max: usize::MAX,
        workers: usize::MAX,
        target: usize::MAX,
        starved_us: u64::MAX,
    };
    let mut many = statistics();
    many.series = (0..65_536)
        .map(|at_us| Point { at_us, ..huge })
        .chain([huge])
        .collect();
    many.phases = vec![many.phases[0].clone(); 4096];
    many.latency = vec![u64::MAX; 64];
    many.operations = u64::MAX;
    for statistics in [Statistics::default(), many] {
        let drawn = draw(&statistics);
        assert_well_formed(&drawn);
        assert!(!drawn.contains("NaN") && !drawn.contains("inf"));
        assert!(drawn.len() < 1 << 20, "{}", drawn.len());
    }
}
