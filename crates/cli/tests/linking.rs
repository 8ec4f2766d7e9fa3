//! scripts/link-in-order.sh, as rustc calls it.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "tests write files and run programs"
)]

use std::path::Path;
use std::process::Command;

const PROGRAM: &str = "
#[inline(never)] fn first(x: usize) -> usize { std::hint::black_box(x) + 1 }
#[inline(never)] fn second<T: Into<usize>>(x: T) -> usize { std::hint::black_box(x.into()) + 2 }
#[inline(never)] fn third(x: usize) -> usize { std::hint::black_box(x) + 3 }
fn main() {
    let x = std::env::args().count();
    println!(\"{}\", first(x) + second(x) + second(x as u8) + third(x));
}
";

/// The functions of the program in the order of their addresses, by the names that people read.
fn functions(program: &Path) -> Vec<String> {
    let told = Command::new("nm").args(["-n", "-C"]).arg(program).output();
    let told = String::from_utf8(told.unwrap().stdout).unwrap();
    let names = told.lines().filter_map(|line| line.splitn(3, ' ').nth(2));
    let own = names.filter(|name| name.starts_with("program::") && !name.contains("main"));
    own.map(str::to_owned).collect()
}

fn link(directory: &Path, list: &str, more: &[&str]) -> Vec<String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/link-in-order.sh");
    let (source, program) = (directory.join("program.rs"), directory.join("program"));
    std::fs::write(&source, PROGRAM).unwrap();
    std::fs::write(directory.join("list"), list).unwrap();
    let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or("rustc".into()));
    rustc.args(["-Csymbol-mangling-version=v0", "-Copt-level=1"]);
    rustc
        .arg(format!("-Clinker={}", script.display()))
        .args(more);
    rustc.arg("-o").args([&program, &source]);
    rustc.env("HEDGEROW_START_ORDER", directory.join("list"));
    let linked = rustc.output().unwrap();
    assert!(linked.status.success(), "{linked:?}");
    let ran = Command::new(&program).output().unwrap();
    assert_eq!(ran.stdout, b"12\n");
    functions(&program)
}

#[test]
fn functions_stand_in_the_order_of_the_list() {
    let is_there = |program| Command::new(program).arg("--version").output().is_ok();
    if !is_there("rustc") || !is_there("nm") {
        return hedgerow_testkit::skip("there is no rustc, or no nm");
    }
    let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or("rustc".into()));
    rustc.args(["-Clinker-features=-lld", "--print=sysroot"]);
    if !rustc.output().unwrap().status.success() {
        return hedgerow_testkit::skip(
            "rustc is older than 1.90, and does not link with lld by itself",
        );
    }
    let directory = tempfile::tempdir().unwrap();
    let list = "program::third\nno::such::function\nprogram::second::<u8>\nprogram::first\n";
    let in_order = link(directory.path(), list, &[]);
    let usual = link(directory.path(), "", &["-Clinker-features=-lld"]);
    assert_eq!(usual.len(), 4, "{usual:?}");
    if !cfg!(all(target_arch = "x86_64", target_env = "gnu")) {
        return hedgerow_testkit::skip("rustc links with lld by itself only for x86_64 and glibc");
    }
    let expected = ["program::third", "program::second::<u8>", "program::first"];
    assert_eq!(in_order[..3], expected);
}
