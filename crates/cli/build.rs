#![allow(clippy::disallowed_methods)] // a build script is no library
//! Notes what the binary is made from and by, for `hedgerow --version --verbose`.

use std::process::Command;

fn main() {
    let commit = output_of("git", &["rev-parse", "--short=12", "HEAD"]);
    let compiler = std::env::var("RUSTC")
        .ok()
        .and_then(|rustc| output_of(&rustc, &["--version"]));
    println!(
        "cargo:rustc-env=HEDGEROW_COMMIT={}",
        commit.unwrap_or_else(|| "unknown".into())
    );
    println!(
        "cargo:rustc-env=HEDGEROW_RUSTC={}",
        compiler.unwrap_or_else(|| "unknown".into())
    );
    // The log of HEAD changes with every commit; a file that is not there would always count as
    // changed.
    for name in ["HEAD", "logs/HEAD"] {
        let path = output_of("git", &["rev-parse", "--git-path", name]);
        if let Some(path) = path.filter(|path| std::path::Path::new(path).exists()) {
            println!("cargo:rerun-if-changed={path}");
        }
    }
}

fn output_of(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
