//! Git's options before the command.

use crate::twins::Twins;

#[test]
fn options_before_the_command_are_gits() {
    let mut twins = Twins::new("global options", |repository| {
        std::fs::create_dir(repository.path("dir")).unwrap();
        for name in ["a*", "ab", "dir/\u{e4}"] {
            std::fs::write(repository.path(name), "x").unwrap();
        }
        repository.git(&["add", "ab"]);
    });
    for line in [
        "-c core.quotePath=false status -s -uall",
        "-c core.quotePath status --porcelain -uall",
        "-c status.short=true -c status.branch status",
        "-c advice.statusHints=no -C dir status",
        "--config-env=core.quotePath=PATH status",
        "--git-dir .git --work-tree=. status -s",
        "--git-dir=nowhere status",
        "--literal-pathspecs status -s -- a*",
        "--icase-pathspecs status -s -- AB",
        "--no-pager --no-optional-locks -P status",
        "-c bogus status",
        "-c =x status",
        "-c a.=x status",
        "-c a.-b=x status",
        "-c clean.requireForce=false clean -n",
        "--literal-pathspecs clean -f a*",
    ] {
        twins.line("", line);
    }
}
