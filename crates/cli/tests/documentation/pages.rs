//! Generated pages are current, and links and anchors lead somewhere.

use super::root;
use hedgerow_testkit::{isolated, require};

fn check(words: &[&str]) {
    if !require("python3") {
        return;
    }
    let mut python = isolated("python3");
    python.arg("-B").args(words).current_dir(root());
    let output = python.output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&said)
    );
}

#[test]
fn generated_pages_are_current() {
    check(&[
        "docs/tools/pages.py",
        env!("CARGO_BIN_EXE_hedgerow"),
        "--check",
    ]);
}

#[test]
fn links_and_anchors_lead_somewhere() {
    check(&["docs/tools/links.py"]);
}
