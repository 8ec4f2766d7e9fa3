use crate::{archive, both, line};
use hedgerow_engine::{Execution, Jobs};
use hedgerow_tar::{write_nodes, NodeOptions, SinkOptions};
use hedgerow_tree::{Node, NodeError, NodeKind};
use std::num::NonZeroUsize;

const MEMBERS: [(char, &str, &str); 7] = [
    ('d', "", ""),
    ('h', "a", "z"),
    ('d', "d", ""),
    ('f', "d/x", "content"),
    ('l', "l", "d/x"),
    ('f', "sparse", "not very"),
    ('f', "z", "linked"),
];

fn nodes() -> Vec<Result<Node, NodeError>> {
    let [nodes, _] = both(&archive(&MEMBERS), &NodeOptions::default());
    nodes.unwrap().collect()
}

fn options() -> SinkOptions {
    SinkOptions {
        execution: Execution {
            jobs: Jobs::Fixed(NonZeroUsize::new(3).unwrap()),
            ..Execution::default()
        },
        ..SinkOptions::default()
    }
}

fn lines(bytes: &[u8]) -> Vec<String> {
    let [nodes, _] = both(bytes, &NodeOptions::default());
    nodes.unwrap().map(line).collect()
}

/// Lines without what tells the place in the archive.
fn without_places(lines: Vec<String>) -> Vec<String> {
    let cut = |line: String| line.split(" #").next().unwrap().to_owned();
    lines.into_iter().map(cut).collect()
}

#[test]
fn what_is_written_is_what_is_read_and_the_same_bytes_for_any_number_of_workers() {
    let expected: Vec<_> = nodes().into_iter().map(line).collect();
    let (first, skipped) = write_nodes(nodes().into_iter(), Vec::new(), &options()).unwrap();
    assert!(skipped.is_empty());
    assert_eq!(without_places(lines(&first)), without_places(expected));
    for jobs in [1, 2, 8] {
        let mut options = options();
        options.execution.jobs = Jobs::Fixed(NonZeroUsize::new(jobs).unwrap());
        let (bytes, _) = write_nodes(nodes().into_iter(), Vec::new(), &options).unwrap();
        assert!(bytes == first);
    }
}

#[test]
fn everything_can_be_put_below_a_name_and_the_root_be_left_out() {
    let below = SinkOptions {
        root_name: b"top".to_vec(),
        ..options()
    };
    let (bytes, _) = write_nodes(nodes().into_iter(), Vec::new(), &below).unwrap();
    let found = lines(&bytes);
    assert!(found[1].starts_with("d /top 0"), "{found:?}");
    assert!(found[2].starts_with("f /top/a 6 linked #"), "{found:?}");
    assert_eq!(found.len(), 1 + MEMBERS.len());
    let without_root = SinkOptions {
        root: false,
        ..options()
    };
    let (bytes, _) = write_nodes(nodes().into_iter(), Vec::new(), &without_root).unwrap();
    assert!(bytes.starts_with(b"a\0"));
}

#[test]
fn names_may_begin_with_a_dot() {
    let mut with_dots = options();
    with_dots.write.dot_names = true;
    let (bytes, _) = write_nodes(nodes().into_iter(), Vec::new(), &with_dots).unwrap();
    assert!(bytes.starts_with(b"./\0"));
    let names = bytes
        .chunks(512)
        .filter(|block| block.starts_with(b"./"))
        .count();
    assert_eq!(names, MEMBERS.len());
    // The target of a hard link is the name of a member.
    assert!(bytes.windows(6).any(|window| window == b"\x31./a\0\0"));
    let (plain, _) = write_nodes(nodes().into_iter(), Vec::new(), &options()).unwrap();
    assert_eq!(without_places(lines(&bytes)), without_places(lines(&plain)));
}

#[test]
fn without_hard_links_contents_come_twice() {
    let options = SinkOptions {
        hard_links: false,
        ..options()
    };
    let (bytes, _) = write_nodes(nodes().into_iter(), Vec::new(), &options).unwrap();
    let found = lines(&bytes);
    assert_eq!(found[1], "f /a 6 linked");
    assert_eq!(found[6], "f /z 6 linked");
}

#[test]
fn a_socket_is_an_error_or_left_out() {
    let with_socket = || {
        let mut nodes = nodes();
        nodes[5].as_mut().unwrap().kind = NodeKind::Socket;
        nodes.into_iter()
    };
    let refused = write_nodes(with_socket(), Vec::new(), &options()).unwrap_err();
    assert_eq!(refused.to_string(), "'sparse': a socket cannot be archived");
    let skipping = SinkOptions {
        skip_unusable: true,
        ..options()
    };
    let (bytes, skipped) = write_nodes(with_socket(), Vec::new(), &skipping).unwrap();
    assert_eq!(skipped.len(), 1);
    assert_eq!(lines(&bytes).len(), MEMBERS.len() - 1);
}

#[test]
fn an_entry_that_cannot_be_had_ends_it_or_is_left_out() {
    let with_error = || {
        let mut nodes = nodes();
        nodes[1] = Err(NodeError::entry("no such luck"));
        nodes.into_iter()
    };
    let refused = write_nodes(with_error(), Vec::new(), &options()).unwrap_err();
    assert_eq!(refused.to_string(), "no such luck");
    let skipping = SinkOptions {
        skip_unreadable: true,
        ..options()
    };
    let (bytes, skipped) = write_nodes(with_error(), Vec::new(), &skipping).unwrap();
    assert_eq!(skipped.len(), 1);
    // The other name of the file is its first one now.
    assert_eq!(lines(&bytes)[5], "f /z 6 linked");
}
