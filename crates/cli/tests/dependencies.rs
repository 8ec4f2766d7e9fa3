//! What may be linked, as `deny.toml` says it: licences, crates that are not wanted, and where crates
//! come from. `cargo metadata` knows all of it, so that no tool has to be built. cargo-deny, which
//! `make lint` runs where it is installed, also knows advisories.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test reads the manifests it is about"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// How the source of a crate from a registry begins. Which registry that is, stands at the dependency: cargo's
/// own has no name there.
const REGISTRY: &str = "registry+";

#[test]
fn every_crate_keeps_to_the_lists() {
    let lists = Lists::read(&fs::read_to_string(root().join("deny.toml")).unwrap());
    let packages = packages(&lists.targets);
    assert!(packages.len() > 100);
    let faults: Vec<String> = packages
        .iter()
        .flat_map(|package| lists.faults(package))
        .collect();
    assert_eq!(faults, Vec::<String>::new());
}

#[test]
fn a_crate_that_is_not_wanted_is_found() {
    let lists = Lists::read(&fs::read_to_string(root().join("deny.toml")).unwrap());
    let faults = |name: &str, license: Value, source: Value, requirement: &str| {
        let dependencies = serde_json::json!([{
            "name": "other", "req": requirement, "path": null, "kind": null
        }]);
        lists.faults(&serde_json::json!({
            "name": name, "license": license, "source": source, "dependencies": dependencies
        }))
    };
    let none: Vec<String> = Vec::new();
    assert_eq!(faults("a", "MIT".into(), REGISTRY.into(), "^1"), none);
    assert_eq!(faults("a", "MIT".into(), Value::Null, "^1"), none);
    for (name, license, source, requirement) in [
        ("rayon", "MIT".into(), REGISTRY.into(), "^1"),
        ("tokio", "MIT".into(), REGISTRY.into(), "^1"),
        ("a", "GPL-2.0-only".into(), REGISTRY.into(), "^1"),
        ("a", Value::Null, REGISTRY.into(), "^1"),
        ("a", "MIT".into(), "git+https://example.com/a".into(), "^1"),
        ("a", "MIT".into(), Value::Null, "*"),
    ] {
        assert_eq!(faults(name, license, source, requirement).len(), 1);
    }
    let elsewhere = serde_json::json!({
        "name": "a", "license": "MIT", "source": REGISTRY, "dependencies": [{
            "name": "other", "req": "^1", "path": null, "registry": "registry+https://example.com/index"
        }]
    });
    assert_eq!(lists.faults(&elsewhere).len(), 1);
}

#[test]
fn expressions_of_licences_are_read() {
    let allowed = ["MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception"];
    let allowed = allowed.map(str::to_owned).into();
    for expression in [
        "MIT",
        "MIT OR GPL-2.0-only",
        "GPL-2.0-only/MIT",
        "MIT AND Apache-2.0",
        "(GPL-2.0-only OR MIT) AND Apache-2.0",
        "GPL-2.0-only OR Apache-2.0 WITH LLVM-exception",
        "GPL-2.0-only AND BSD-3-Clause OR MIT",
    ] {
        assert!(is_allowed(expression, &allowed), "{expression}");
    }
    for expression in [
        "",
        "GPL-2.0-only",
        "MIT AND GPL-2.0-only",
        "MIT WITH LLVM-exception",
        "(MIT OR Apache-2.0) AND Unicode-3.0",
        "(MIT",
        "MIT OR",
        "MIT Apache-2.0",
    ] {
        assert!(!is_allowed(expression, &allowed), "{expression}");
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All packages of the graph for these targets, with every feature.
fn packages(targets: &[String]) -> Vec<Value> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(root());
    cargo.args([
        "metadata",
        "--locked",
        "--all-features",
        "--format-version=1",
    ]);
    for target in targets {
        cargo.args(["--filter-platform", target]);
    }
    let output = cargo.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    document["packages"].as_array().unwrap().clone()
}

/// What `deny.toml` says.
struct Lists {
    targets: Vec<String>,
    licences: BTreeSet<String>,
    unwanted: BTreeSet<String>,
}

impl Lists {
    fn read(text: &str) -> Self {
        let lists = Self {
            targets: strings(text, "graph", "targets"),
            licences: strings(text, "licenses", "allow").into_iter().collect(),
            unwanted: strings(text, "bans", "deny").into_iter().collect(),
        };
        assert!(lists.licences.contains("MIT") && lists.unwanted.contains("rayon"));
        assert_eq!(lists.targets.len(), 4);
        // What `faults` holds without reading it from there.
        for line in [
            "unknown-registry = \"deny\"",
            "unknown-git = \"deny\"",
            "wildcards = \"deny\"",
            "allow-wildcard-paths = true",
        ] {
            assert!(text.lines().any(|other| other == line), "{line}");
        }
        lists
    }

    /// What is wrong with a package, as `cargo metadata` tells of it.
    fn faults(&self, package: &Value) -> Vec<String> {
        let name = package["name"].as_str().unwrap();
        let mut faults = Vec::new();
        if self.unwanted.contains(name) {
            faults.push(format!("{name} is not wanted"));
        }
        let licence = package["license"].as_str().unwrap_or_default();
        if !is_allowed(licence, &self.licences) {
            faults.push(format!("{name} has the licence '{licence}'"));
        }
        let source = package["source"].as_str();
        if source.is_some_and(|source| !source.starts_with(REGISTRY)) {
            faults.push(format!("{name} comes from {source:?}"));
        }
        // What others wrote in their manifests has been published, and a registry takes no wildcard.
        let dependencies = package["dependencies"].as_array().unwrap();
        for dependency in dependencies {
            if !dependency["registry"].is_null() {
                let other = &dependency["registry"];
                faults.push(format!("{name} takes {} from {other}", dependency["name"]));
            }
        }
        for dependency in dependencies.iter().filter(|_| source.is_none()) {
            if dependency["req"] == "*" && dependency["path"].is_null() {
                faults.push(format!("{name} takes any {}", dependency["name"]));
            }
        }
        faults
    }
}

/// The strings of the list `key` in a section.
fn strings(text: &str, section: &str, key: &str) -> Vec<String> {
    let (_, text) = text.split_once(&format!("\n[{section}]\n")).unwrap();
    let lines = text.lines().take_while(|line| !line.starts_with('['));
    let lines = lines.filter(|line| !line.trim_start().starts_with('#'));
    let body: Vec<&str> = lines.collect();
    let body = format!("\n{}", body.join("\n"));
    let (_, list) = body.split_once(&format!("\n{key} = [")).unwrap();
    let (list, _) = list.split_once(']').unwrap();
    list.split('"')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect()
}

/// Whether an SPDX expression can be kept to with these licences. `/` is an old form of OR.
fn is_allowed(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ");
    let spaced = spaced.replace('/', " OR ");
    let mut words: Vec<&str> = spaced.split_whitespace().rev().collect();
    any_of(&mut words, allowed).unwrap_or(false) && words.is_empty()
}

/// The words are in reversed order; none for what is no expression.
fn any_of(words: &mut Vec<&str>, allowed: &BTreeSet<String>) -> Option<bool> {
    let mut is_allowed = all_of(words, allowed)?;
    while words.pop_if(|word| *word == "OR").is_some() {
        is_allowed |= all_of(words, allowed)?;
    }
    Some(is_allowed)
}

fn all_of(words: &mut Vec<&str>, allowed: &BTreeSet<String>) -> Option<bool> {
    let mut is_allowed = one(words, allowed)?;
    while words.pop_if(|word| *word == "AND").is_some() {
        is_allowed &= one(words, allowed)?;
    }
    Some(is_allowed)
}

fn one(words: &mut Vec<&str>, allowed: &BTreeSet<String>) -> Option<bool> {
    let word = words.pop()?;
    if word == "(" {
        let is_allowed = any_of(words, allowed)?;
        return (words.pop()? == ")").then_some(is_allowed);
    }
    if words.pop_if(|word| *word == "WITH").is_some() {
        return Some(allowed.contains(&format!("{word} WITH {}", words.pop()?)));
    }
    Some(allowed.contains(word))
}
