//! The examples of the README, run as they stand.

use super::{root, scene, PATH};
use hedgerow_testkit::{isolated, temporary, use_global_config};
use std::fs;
use std::path::Path;

const LINES: usize = 250;

#[test]
fn examples_print_what_the_readme_shows() {
    let text = fs::read_to_string(root().join("README.md")).unwrap();
    assert!(text.lines().count() <= LINES);
    let repository = scene();
    let home = temporary();
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
        let mut shell = isolated("sh");
        let binaries = Path::new(PATH).parent().unwrap().display();
        let path = format!("{binaries}:{}", std::env::var("PATH").unwrap());
        shell.args(["-c", &script]).env("PATH", path);
        // One example changes the user's configuration, which is isolated otherwise.
        use_global_config(shell.env("HOME", home.path()), home.path().join("config"));
        let output = shell.current_dir(&repository.root).output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), block);
    }
}

fn quoted(line: &str) -> String {
    format!("'{}'", line.replace('\'', "'\\''"))
}
