use super::*;
use hedgerow_engine::{Phase, Point, StageStatistics, Statistics};

const HOSTILE: &str = "</title></style><script>alert(1)</script><img src=x onerror='a()'>\"'&";

fn statistics(name: &str) -> Statistics {
    let point = |at_us, queue, starved_us| Point {
        at_us,
        queue,
        queue_min: queue / 2,
        queue_max: queue * 2,
        workers: 3,
        target: 4,
        starved_us,
    };
    let mut latency = vec![0; 32];
    latency[3] = 90;
    Statistics {
        wall_us: 3_000_000,
        tasks: 100,
        operations: 90,
        wait_us: 9_000,
        cpu_us: 1_000,
        starved_us: 500,
        starved_wall_us: 400,
        processors: 2,
        latency,
        phases: vec![Phase {
            name: name.into(),
            begin_us: 0,
            end_us: 3000,
        }],
        series: vec![point(1000, 40, 0), point(2000, 0, 500), point(3000, 0, 0)],
        stages: vec![StageStatistics {
            name: name.into(),
            runs: 1,
            wall_us: 2_000_000,
            operations: 90,
            bytes: 5_000_000,
            wait_us: 9_000,
            ..StageStatistics::default()
        }],
        ..Statistics::default()
    }
}

/// The names of all elements, after checking that each is closed in the right order.
fn elements(page: &str) -> Vec<&str> {
    let (mut open, mut all) = (Vec::new(), Vec::new());
    let mut rest = page.strip_prefix("<!DOCTYPE html>").unwrap();
    while let Some(begin) = rest.find('<') {
        let end = begin + rest[begin..].find('>').unwrap();
        let tag = &rest[begin + 1..end];
        assert!(!tag.contains('<'), "{tag}");
        let name = tag.split([' ', '/']).find(|name| !name.is_empty()).unwrap();
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "{tag}");
        } else {
            all.push(name);
            if !tag.ends_with('/') && name != "meta" {
                open.push(name);
            }
        }
        rest = &rest[end + 1..];
    }
    assert!(open.is_empty(), "{open:?}");
    all
}

#[test]
fn a_run_is_told_drawn_and_tabulated() {
    let statistics = statistics("checkout");
    let run = Named {
        name: "run.json",
        statistics: &statistics,
    };
    let shown = page(run, None);
    assert_eq!(shown, page(run, None), "the same bytes again");
    let elements = elements(&shown);
    let count = |name: &str| elements.iter().filter(|it| **it == name).count();
    assert_eq!((count("svg"), count("desc"), count("h1")), (4, 4, 1));
    assert_eq!(count("details"), 4, "a table behind each picture");
    assert_eq!(count("h2"), 6);
    for words in [
        "The file system limited the run: workers waited for it",
        "The queue ran empty",
        "<th scope=\"row\">checkout</th><td>1</td><td>2.00 s</td><td>90</td><td>45</td>\
         <td>5.0 MB</td><td>2.5 MB</td>",
        "<td>file system</td></tr>",
        "<td>90</td></tr>",
        "prefers-color-scheme:dark",
        "<html lang=\"en\">",
    ] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    for outside in ["http://", "https://", "url(", "@import", " src=", " href="] {
        assert!(!shown.contains(outside), "{outside}");
    }
}

#[test]
fn two_runs_have_the_same_axes_and_their_change() {
    let first = statistics("checkout");
    let mut second = statistics("checkout");
    second.wall_us = 1_500_000;
    second.series.truncate(1);
    let [first, second] =
        [("a", &first), ("b", &second)].map(|(name, statistics)| Named { name, statistics });
    let shown = page(first, Some(second));
    elements(&shown);
    assert!(shown.contains("b took 1.50 s, a 3.00 s: 2.00 times as fast."));
    assert!(
        shown.contains("<th scope=\"row\">time</th><td>3.00 s</td><td>1.50 s</td><td>0.50 x</td>")
    );
    let axis = |id: &str| {
        let picture = shown.split(&format!("aria-labelledby=\"{id}-title")).nth(1);
        let picture = picture.unwrap().split("</svg>").next().unwrap();
        let labels = picture.split("class=\"middle\"").skip(1);
        labels
            .map(|it| it.split('<').next().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(axis("queue-0"), axis("queue-1"));
    assert!(axis("queue-1").last().unwrap().ends_with(">3 ms"));
}

#[test]
fn names_cannot_become_markup() {
    let hostile = statistics(HOSTILE);
    let run = Named {
        name: HOSTILE,
        statistics: &hostile,
    };
    for shown in [page(run, None), page(run, Some(run))] {
        let known = [
            "html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "h3", "p", "div",
            "table", "caption", "thead", "tbody", "tr", "th", "td", "details", "summary", "svg",
            "desc", "rect", "line", "path", "text",
        ];
        for element in elements(&shown) {
            assert!(known.contains(&element), "{element}");
        }
        let without_text = shown
            .split('<')
            .skip(1)
            .map(|it| it.split('>').next().unwrap());
        assert!(without_text.clone().all(|tag| !tag.contains("onerror")));
        assert!(shown.contains("&lt;script&gt;"));
    }
}

#[test]
fn whatever_a_file_says_can_be_shown() {
    let huge = Point {
        at_us: u64::MAX,
        queue: usize::MAX,
        queue_min: usize::MAX,
        queue_max: usize::MAX,
        workers: usize::MAX,
        target: usize::MAX,
        starved_us: u64::MAX,
    };
    let mut many = statistics("x");
    many.series = (0..65_536)
        .map(|at_us| Point { at_us, ..huge })
        .chain([huge])
        .collect();
    many.phases = vec![many.phases[0].clone(); 4096];
    let most = u64::MAX;
    (many.wall_us, many.operations, many.cpu_us, many.wait_us) = (most, most, most, most);
    (many.starved_us, many.run_delay_us, many.processors) = (most, most, usize::MAX);
    many.latency = vec![most; 64];
    many.stages = vec![
        StageStatistics {
            operations: most,
            bytes: most,
            cpu_us: most,
            wait_us: most,
            run_delay_us: most,
            ..StageStatistics::default()
        };
        256
    ];
    let nothing = Statistics::default();
    let [many, nothing] = [&many, &nothing].map(|statistics| Named {
        name: "",
        statistics,
    });
    for shown in [
        page(many, None),
        page(nothing, None),
        page(nothing, Some(many)),
    ] {
        elements(&shown);
        assert!(!shown.contains("NaN") && !shown.contains("inf\""));
        assert!(shown.len() < 3 << 20, "{}", shown.len());
    }
}
