//! The examples of the README, run as they stand.

use super::{root, PATH};
use hedgerow_testkit::{isolated, temporary};
use std::fs;
use std::path::Path;

const LINES: usize = 250;

#[test]
fn examples_print_what_the_readme_shows() {
    let text = fs::read_to_string(root().join("README.md")).unwrap();
    assert!(text.lines().count() <= LINES);
    let home = temporary();
    let shell = |script: &str, place: &Path| {
        let binaries = Path::new(PATH).parent().unwrap().display();
        let path = format!("{binaries}:{}", std::env::var("PATH").unwrap());
        let mut shell = isolated("sh");
        shell.args(["-c", script]).current_dir(place);
        shell.env("PATH", path).env("HOME", home.path());
        String::from_utf8(shell.output().unwrap().stdout).unwrap()
    };
    let examples = text.split("## Five examples\n").nth(1).unwrap();
    let preparation = examples.split("```sh\n").nth(1).unwrap();
    let preparation = preparation.split("```").next().unwrap();
    assert_eq!(shell(preparation, home.path()), "");
    let blocks: Vec<&str> = text.split("```console\n").skip(1).collect();
    assert_eq!(blocks.len(), 5);
    for block in blocks {
        let block = block.split("```").next().unwrap();
        let mut script = String::from("exec 2>&1\n");
        for line in block.lines() {
            if let Some(command) = line.strip_prefix("$ ") {
                script.push_str(&format!("printf '%s\\n' {}\n", quoted(line)));
                script.push_str(&format!("{command}\n"));
            }
        }
        assert_eq!(shell(&script, &home.path().join("example")), block);
    }
}

fn quoted(line: &str) -> String {
    format!("'{}'", line.replace('\'', "'\\''"))
}
