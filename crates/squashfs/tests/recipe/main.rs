//! Recipes that somebody damaged: they are refused by line, or give a tree in canonical order.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests make files and look at them"
)]

use hedgerow_squashfs::recipe::{
    Defaults, Description, FileContexts, Labels, RecipeError, SortRules, XattrFile,
};
use hedgerow_squashfs::Role;
use hedgerow_tree::{canonical_order, NodeError};
use std::path::Path;
use std::sync::Arc;

const DESCRIPTION: &[u8] = b"# comment\ndir /a 0755 1 2\nnod /a/\"b 0600 0 0 c 5 1\nslink /l 0777 0 0 a/b\n\
    link /h 0 0 0 x/y\nlink /i 0 0 0 h\nfile \"/x/y\" 0644 0 0 in\nfile /x/\\z 4755 0 0\npipe \"/p q\" 0600 1 1\nsock /s 0 0 0\n";
const RULES: &[u8] = b"-1 [glob,nosparse] x/*\n5 \"p q\"\n7 [glob_no_path] *[!a-c]?\\z\n";
const XATTRS: &[u8] = b"# file: a\nuser.x=\"t\\\"\\012\"\nuser.y=0xCAFE\nuser.z=0sSGVsbG8=\n";
const CONTEXTS: &[u8] = b"/.* -- u:r:t:s0\n/a(/b)?\\.c{1,2} x\n/[a-z]+|/l -l y\n/a <<none>>\n";

struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) as usize % end
    }

    fn damaged(&mut self, text: &[u8]) -> Vec<u8> {
        let mut text = text.to_vec();
        for _ in 0..1 + self.below(4) {
            let at = self.below(text.len());
            match self.below(4) {
                0 => drop(text.remove(at)),
                1 => text.insert(at, b" \"\\/.\n*[](){}|?-=#09a\0\xff"[self.below(23)]),
                2 => text[at] = text[self.below(text.len())],
                _ => text.extend_from_within(at..),
            }
            text.push(b'\n');
        }
        text
    }
}

fn of_a_line(result: Result<(), RecipeError>) {
    match result {
        Ok(()) => {}
        Err(RecipeError::Line { line, reason, .. }) => assert!(line > 0 && !reason.is_empty()),
        Err(RecipeError::File(error)) => panic!("{error}"),
    }
}

#[test]
fn damage_is_refused_or_makes_no_difference_to_the_rules() {
    let name = Path::new("f");
    let mut chance = Chance(7);
    let (mut good, mut bad) = (0, 0);
    for _ in 0..4000 {
        let mut text = |text| chance.damaged(text);
        let (description, rules) = (text(DESCRIPTION), text(RULES));
        let (xattrs, contexts) = (text(XATTRS), text(CONTEXTS));
        let xattrs = XattrFile::parse(name, &xattrs);
        let contexts = FileContexts::parse(name, &contexts);
        let labels = Arc::new(Labels {
            keep: true,
            xattrs: xattrs.map_err(|error| of_a_line(Err(error))).ok(),
            contexts: contexts.map_err(|error| of_a_line(Err(error))).ok(),
            ..Labels::default()
        });
        let rules = SortRules::parse(name, &rules);
        let rules = rules.or_else(|error| {
            of_a_line(Err(error));
            SortRules::parse(name, RULES)
        });
        let parsed = Description::parse(
            name,
            &description,
            Path::new("/dev/null"),
            Defaults::default(),
        );
        let Ok(parsed) = parsed else {
            bad += 1;
            of_a_line(parsed.map(drop));
            continue;
        };
        good += 1;
        let arranged = rules.unwrap().arrange(parsed.into_nodes(labels)).unwrap();
        let mut last: Option<Vec<u8>> = None;
        for item in arranged.items {
            let mut item = match item {
                Ok(item) => item,
                // There are no inputs.
                Err(NodeError::Entry(error)) => {
                    assert!(error.to_string().starts_with("f:"), "{error}");
                    continue;
                }
                Err(error) => panic!("{error}"),
            };
            item.node.handle.xattrs().unwrap();
            if matches!(item.role, Role::Content(_)) {
                continue;
            }
            let path = item.node.path;
            assert!(last.is_none_or(|last| canonical_order(&last, &path).is_lt()));
            last = Some(path);
        }
    }
    assert!(good > 300 && bad > 300, "{good} {bad}");
}

#[test]
fn long_paths_and_long_chains_of_links_have_their_limits() {
    let parse = |text: &str| {
        Description::parse(
            Path::new("f"),
            text.as_bytes(),
            Path::new("."),
            Defaults::default(),
        )
    };
    let deep = "a/".repeat(2047);
    assert_eq!(
        parse(&format!("pipe {deep} 0 0 0"))
            .unwrap()
            .into_nodes(Arc::default())
            .count(),
        2048
    );
    let error = parse(&format!("pipe {deep}/bcd 0 0 0")).unwrap_err();
    assert_eq!(error.to_string(), "f:1: a path of 4097 bytes");
    let error = parse("pipe /a 0 0 0\npipe /b\0 0 0 0").unwrap_err();
    assert_eq!(error.to_string(), "f:2: a NUL byte");
    let mut chain: String = (0..20_000)
        .map(|n| format!("link {n} 0 0 0 {}\n", n + 1))
        .collect();
    assert!(parse(&chain)
        .unwrap_err()
        .to_string()
        .contains("there is no '20000'"));
    chain += "pipe 20000 0600 3 4\n";
    let nodes: Vec<_> = parse(&chain)
        .unwrap()
        .into_nodes(Arc::default())
        .flatten()
        .collect();
    assert_eq!(nodes.len(), 20_002);
    let same = |node: &hedgerow_tree::Node| (node.link, node.uid) == (nodes[1].link, 3);
    assert!(nodes.iter().skip(1).all(same) && nodes[1].link.is_some());
}
