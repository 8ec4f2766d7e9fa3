//! What build jobs take from the directory `integrations`.

use crate::HEDGEROW;
use hedgerow_testkit::{isolated, require, run, temporary, Outcome};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A place with an archive of the program, as `make dist` makes it.
struct Site {
    place: tempfile::TempDir,
    sha256: String,
}

impl Site {
    fn new() -> Self {
        let place = temporary();
        let program = place.path().join("hedgerow-0.1.0/bin/hedgerow");
        fs::create_dir_all(program.parent().unwrap()).unwrap();
        // The program itself would take long to compress.
        fs::write(&program, format!("#!/bin/sh\nexec '{HEDGEROW}' \"$@\"\n")).unwrap();
        fs::set_permissions(
            &program,
            std::os::unix::fs::PermissionsExt::from_mode(0o755),
        )
        .unwrap();
        let tool = program.with_file_name("mksquashfs");
        std::os::unix::fs::symlink("hedgerow", tool).unwrap();
        let script = "tar -cJf archive hedgerow-0.1.0 && sha256sum archive";
        let mut pack = isolated("sh");
        pack.args(["-c", script]).current_dir(place.path());
        let said = String::from_utf8(run(pack).ok("the archive")).unwrap();
        Site {
            sha256: said[..64].to_owned(),
            place,
        }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    fn installed(&self, sha256: &str, directory: &str) -> Outcome {
        let mut script = isolated("sh");
        script.arg(integrations().join("install.sh"));
        let archive = format!("file://{}", self.at("archive").display());
        script.args([archive.as_str(), sha256, directory]);
        script.current_dir(self.place.path());
        run(script)
    }
}

fn integrations() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../integrations")
}

/// What `git` is with `directory` first in the `PATH`.
fn git_in(directory: &Path) -> String {
    let mut command = Command::new(directory.join("hedgerow"));
    hedgerow_testkit::isolate(&mut command);
    let path = std::env::var("PATH").unwrap();
    command.env("PATH", format!("{}:{path}", directory.display()));
    command.args(["shim", "status"]);
    let said = run(command).ok("status");
    String::from_utf8(said).unwrap()
}

#[test]
fn the_script_installs_only_what_has_the_checksum() {
    if !require("xz") {
        return;
    }
    let site = Site::new();
    let refused = site.installed(&"0".repeat(64), "refused");
    assert!(refused
        .failed(1, "install")
        .contains("nothing was installed"));
    assert!(!site.at("refused").exists());
    let links = site
        .installed(&site.sha256.to_uppercase(), "place")
        .ok("install");
    let links = String::from_utf8(links).unwrap();
    assert_eq!(Path::new(links.trim_end()), site.at("place/git-links"));
    assert!(git_in(Path::new(links.trim_end())).starts_with("git is hedgerow"));
    // What is there already stays.
    for before in [None, Some("an older one")] {
        let taken = site.at("taken");
        let _ = fs::remove_dir_all(&taken);
        fs::create_dir_all(taken.join("git-links")).unwrap();
        fs::write(taken.join("git-links/git"), "another program").unwrap();
        if let Some(before) = before {
            fs::write(taken.join("hedgerow"), before).unwrap();
        }
        let refused = site.installed(&site.sha256, "taken");
        let told = refused.failed(1, "install");
        assert!(told.contains("nothing was installed"), "{told}");
        let left = fs::read_to_string(taken.join("hedgerow")).ok();
        assert_eq!(left.as_deref(), before);
    }
}

#[test]
fn the_snippet_for_gitlab_fails_the_job_if_the_checksum_is_wrong() {
    if !require("xz") || !require("curl") {
        return;
    }
    let site = Site::new();
    let snippet = fs::read_to_string(integrations().join("gitlab/hedgerow.yml")).unwrap();
    let lines = snippet.split("before_script:\n").nth(1).unwrap().lines();
    let commands = lines.map(|line| line.trim().trim_start_matches("- ").trim_matches('\''));
    // Only git is replaced.
    let tools = "case $(command -v mksquashfs) in *.hedgerow*) exit 9 ;; esac";
    let script: Vec<&str> = commands.chain([tools, "hedgerow shim status"]).collect();
    let job = |sha256: &str, home: &str| {
        let mut job = isolated("bash");
        // As the runner runs it.
        job.args(["-e", "-o", "pipefail", "-c", &script.join("\n")]);
        job.env("HOME", site.at(home))
            .env("HEDGEROW_SHA256", sha256);
        job.env(
            "HEDGEROW_ARCHIVE",
            format!("file://{}", site.at("archive").display()),
        );
        fs::create_dir(site.at(home)).unwrap();
        run(job)
    };
    let wrong = job(&"0".repeat(64), "wrong");
    assert_ne!(wrong.code, 0, "{wrong:?}");
    assert!(!site.at("wrong/.hedgerow/bin").exists());
    let said = String::from_utf8(job(&site.sha256, "right").ok("the job")).unwrap();
    assert!(said.starts_with("git is hedgerow"), "{said}");
}
