//! Clones from servers: `git daemon`, http with a password, ssh. What the user has configured for them
//! is git's to obey, and is obeyed.

use crate::cloning::{compare, make};
use crate::twins::Twins;
use crate::HEDGEROW;
use hedgerow_testkit::{git_text, isolated, require, run, skip};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Answers requests by `git http-backend` for a user with a password.
const HTTP: &str = r#"
import base64, http.server, os, subprocess, sys
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.0"
    def log_message(self, *words):
        pass
    def serve(self):
        path, _, query = self.path.partition("?")
        if path.startswith("/moved/"):
            self.send_response(302)
            self.send_header("Location", "/open/" + self.path[len("/moved/"):])
            self.end_headers()
            return
        wanted = "Basic " + base64.b64encode(b"user:pass word").decode()
        if path.startswith("/locked/") and self.headers.get("Authorization") != wanted:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="git"')
            self.end_headers()
            return
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        environment = dict(os.environ, GIT_PROJECT_ROOT=sys.argv[2], GIT_HTTP_EXPORT_ALL="1",
            PATH_INFO=path.replace("/locked", "", 1).replace("/open", "", 1), QUERY_STRING=query,
            REQUEST_METHOD=self.command, CONTENT_TYPE=self.headers.get("Content-Type") or "",
            REMOTE_USER="user", REMOTE_ADDR="127.0.0.1", CONTENT_LENGTH=str(len(body)),
            HTTP_CONTENT_ENCODING=self.headers.get("Content-Encoding") or "",
            GIT_PROTOCOL=self.headers.get("Git-Protocol") or "")
        said = subprocess.run(["git", "http-backend"], input=body, env=environment, stdout=subprocess.PIPE).stdout
        head, _, rest = said.partition(b"\r\n\r\n")
        lines = [line.split(": ", 1) for line in head.decode().split("\r\n")]
        status = [value for name, value in lines if name == "Status"]
        self.send_response(int(status[0].split()[0]) if status else 200)
        for name, value in lines:
            if name != "Status":
                self.send_header(name, value)
        self.end_headers()
        self.wfile.write(rest)
    do_GET = do_POST = serve
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"#;

/// A server, which ends with the value.
struct Server {
    child: Child,
    port: u16,
}

impl Server {
    /// Starts what `command` makes of a port, and waits until it listens.
    fn start(command: impl Fn(u16) -> Command) -> Option<Server> {
        let port = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let mut command = command(port);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut server = Server {
            child: command.spawn().ok()?,
            port,
        };
        let deadline = Instant::now() + Duration::from_secs(20);
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            let has_ended = server.child.try_wait().unwrap().is_some();
            if has_ended || Instant::now() > deadline {
                return None;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Some(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn twins() -> Twins {
    let mut twins = Twins::new(make);
    twins.trees = vec!["out/src", "out/src/mod"];
    twins
}

type Variables<'a> = &'a [(&'a str, &'a str)];

/// Plays each call by hedgerow's name, and each third by the link, too.
fn play(twins: &mut Twins, calls: &[(String, Variables<'_>)]) {
    let mut found = Vec::new();
    let mut cloned = 0;
    for (number, (call, variables)) in calls.iter().enumerate() {
        let names: &[bool] = if number % 3 == 0 {
            &[false, true]
        } else {
            &[false]
        };
        for &by_link in names {
            cloned += usize::from(compare(twins, call, by_link, variables, &mut found) == 0);
        }
    }
    assert!(cloned > 10, "only {cloned} succeed");
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn of_git() {
    let twins = &mut twins();
    let place = twins.place();
    // The base must be there all the time.
    let base = place.parent().unwrap();
    let programs = PathBuf::from(git_text(base, &["--exec-path"]));
    let server = Server::start(|port| {
        let mut daemon = isolated(programs.join("git-daemon"));
        daemon.args(["--export-all", "--reuseaddr", "--listen=127.0.0.1"]);
        daemon.arg(format!("--port={port}"));
        daemon.arg(format!("--base-path={}", base.display()));
        hedgerow_testkit::use_global_config(&mut daemon, place.join("config"));
        daemon
    });
    let Some(server) = server else {
        return skip("git daemon does not start: clones from it");
    };
    let url = format!("git://127.0.0.1:{}/place", server.port);
    let calls = [
        "URL/src",
        "-q URL/src",
        "--depth=1 URL/src",
        "--filter=blob:none URL/src",
        "URL/nope",
        "URL/empty",
        "--recurse-submodules URL/src",
        "--bare URL/src x.git",
        "-c protocol.version=0 URL/src",
        "-c protocol.version=1 URL/src",
        "-c protocol.git.allow=never URL/src",
        "-b side --single-branch URL/src",
        "--server-option=a=b URL/src",
        "-b nope URL/src",
    ];
    let calls: Vec<_> = calls
        .map(|call| (call.replace("URL", &url), &[][..]))
        .into();
    play(twins, &calls);
}

#[test]
fn of_http() {
    if !require("python3") {
        return;
    }
    let twins = &mut twins();
    let place = twins.place();
    let server = Server::start(|port| {
        let mut python = isolated("python3");
        python.args(["-c", HTTP, &port.to_string()]).arg(&place);
        hedgerow_testkit::use_global_config(&mut python, place.join("config"));
        python
    });
    let Some(server) = server else {
        return skip("the web server does not start: clones by http");
    };
    let base = format!("http://127.0.0.1:{}", server.port);
    let quiet: Variables<'_> = &[("GIT_TERMINAL_PROMPT", "0")];
    let askpass = "PLACE/askpass";
    let header = format!("http.{base}/.extraHeader");
    let instead = format!("url.{base}/locked/.insteadOf");
    let variables: [Variables<'_>; 6] = [
        quiet,
        &[("GIT_ASKPASS", askpass)],
        &[
            ("GIT_CONFIG_COUNT", "1"),
            ("GIT_CONFIG_KEY_0", &header),
            (
                "GIT_CONFIG_VALUE_0",
                "Authorization: Basic dXNlcjpwYXNzIHdvcmQ=",
            ),
            ("GIT_TERMINAL_PROMPT", "0"),
        ],
        &[
            ("GIT_CONFIG_COUNT", "1"),
            ("GIT_CONFIG_KEY_0", "credential.helper"),
            (
                "GIT_CONFIG_VALUE_0",
                "!f() { echo username=user; echo 'password=pass word'; }; f",
            ),
            ("GIT_TERMINAL_PROMPT", "0"),
        ],
        &[
            ("GIT_CONFIG_COUNT", "1"),
            ("GIT_CONFIG_KEY_0", "credential.helper"),
            (
                "GIT_CONFIG_VALUE_0",
                "!f() { echo username=user; echo password=wrong; }; f",
            ),
            ("GIT_TERMINAL_PROMPT", "0"),
        ],
        &[
            ("GIT_CONFIG_COUNT", "1"),
            ("GIT_CONFIG_KEY_0", &instead),
            ("GIT_CONFIG_VALUE_0", "corp:"),
            ("GIT_ASKPASS", askpass),
        ],
    ];
    twins.each(|_| {
        let mut shell = isolated("sh");
        let script = "printf '#!/bin/sh\\ncase $1 in User*) echo user;; *) echo pass word;; esac\\n' >askpass; chmod +x askpass";
        shell.current_dir(&place).args(["-c", script]);
        run(shell).ok("a program that knows the password is made");
    });
    let mut calls = Vec::new();
    for variables in &variables[..5] {
        for call in [
            "URL/locked/src",
            "--depth=1 URL/locked/src",
            "--filter=blob:none URL/locked/src",
            "-q URL/locked/src",
        ] {
            calls.push((call.replace("URL", &base), *variables));
        }
    }
    for call in [
        "URL/open/src",
        "URL/open/nope",
        "URL/moved/src",
        "--bare URL/open/src",
        "--recurse-submodules URL/open/src",
        "-c http.followRedirects=false URL/moved/src",
        "-c http.proxy=http://127.0.0.1:1 URL/open/src",
        "-c protocol.version=0 URL/open/src",
        "-c http.postBuffer=70000 URL/open/src",
        "-c core.askPass=PLACE/askpass URL/locked/src",
        "URL/open/src/",
        "URL/open/src/.git",
        "-v URL/open/src",
    ] {
        calls.push((call.replace("URL", &base), quiet));
    }
    calls.push((
        format!(
            "http://user:pass%20word@127.0.0.1:{}/locked/src",
            server.port
        ),
        quiet,
    ));
    calls.push(("corp:src".to_owned(), variables[5]));
    calls.push((
        "--filter=blob:none --recurse-submodules corp:src".to_owned(),
        variables[5],
    ));
    play(twins, &calls);
}

/// A program in the place of ssh, however it is named.
#[test]
fn of_ssh_by_any_program() {
    let twins = &mut twins();
    let place = twins.place();
    twins.each(|_| {
        let mut shell = isolated("sh");
        let script = "mkdir bin; printf '#!/bin/sh\\nfor last; do :; done\\necho \"$(basename $0): $#\" >&2\\nsh -c \"$last\"\\n' >bin/fake
            cp bin/fake bin/plink; cp bin/fake bin/ssh; chmod +x bin/*";
        shell.current_dir(&place).args(["-c", script]);
        run(shell).ok("programs are made");
    });
    let mut calls: Vec<(String, Variables<'_>)> = Vec::new();
    for variables in [
        &[("GIT_SSH_COMMAND", "PLACE/bin/fake -x 'a b'")][..],
        &[("GIT_SSH", "PLACE/bin/fake")],
        &[("GIT_SSH", "PLACE/bin/plink")],
        &[
            ("GIT_SSH_COMMAND", "PLACE/bin/fake"),
            ("GIT_SSH_VARIANT", "simple"),
        ],
        &[
            ("GIT_SSH_COMMAND", "PLACE/bin/fake"),
            ("GIT_SSH_VARIANT", "putty"),
        ],
        &[
            ("GIT_CONFIG_COUNT", "1"),
            ("GIT_CONFIG_KEY_0", "core.sshCommand"),
            ("GIT_CONFIG_VALUE_0", "PLACE/bin/fake -y"),
        ],
        &[("GIT_SSH_COMMAND", "false")],
    ] {
        for call in [
            "host:PLACE/src",
            "ssh://user@host/PLACE/src",
            "ssh://host:77/PLACE/src",
            "--filter=blob:none -4 host:PLACE/src",
            "host:PLACE/nope",
            "--depth=1 host:PLACE/src",
        ] {
            calls.push((call.to_owned(), variables));
        }
    }
    calls.push((
        "-c core.sshCommand=PLACE/bin/fake host:PLACE/src".to_owned(),
        &[],
    ));
    calls.push((
        "-c core.sshCommand=PLACE/bin/fake --filter=blob:none --recurse-submodules host:PLACE/src"
            .to_owned(),
        &[],
    ));
    calls.push((
        "--upload-pack=nonsense host:PLACE/src".to_owned(),
        &[("GIT_SSH_COMMAND", "PLACE/bin/fake")],
    ));
    calls.push(("-- -oProxyCommand=x:y".to_owned(), &[]));
    play(twins, &calls);
}

#[test]
fn of_sshd() {
    let program = Path::new("/usr/sbin/sshd");
    if !program.exists() || !require("ssh-keygen") {
        return skip("sshd is not installed: clones by ssh");
    }
    let twins = &mut twins();
    let keys = hedgerow_testkit::temporary_on_disk();
    let at = |name: &str| keys.path().join(name).display().to_string();
    let mut shell = isolated("sh");
    let script = "mkdir -p /run/sshd; ssh-keygen -q -t ed25519 -N '' -f host && ssh-keygen -q -t ed25519 -N '' -f user && cp user.pub authorized && chmod 600 *";
    shell.current_dir(keys.path()).args(["-c", script]);
    run(shell).ok("keys are made");
    let server = Server::start(|port| {
        let mut sshd = isolated(program);
        sshd.args([
            "-D",
            "-e",
            "-f",
            "/dev/null",
            "-p",
            &port.to_string(),
            "-h",
            &at("host"),
        ]);
        let path = std::env::var("PATH").unwrap();
        for option in [
            "ListenAddress=127.0.0.1".to_owned(),
            format!("AuthorizedKeysFile={}", at("authorized")),
            format!(
                "SetEnv=PATH={path} GIT_CONFIG_GLOBAL={}",
                twins.place().join("config").display()
            ),
            "StrictModes=no".to_owned(),
            "PermitRootLogin=yes".to_owned(),
            "AcceptEnv=GIT_PROTOCOL".to_owned(),
            format!("PidFile={}", at("pid")),
        ] {
            sshd.arg("-o").arg(option);
        }
        sshd
    });
    let Some(server) = server else {
        return skip("sshd does not start: clones by ssh");
    };
    let command = format!(
        "ssh -F /dev/null -i {} -o StrictHostKeyChecking=no -o UserKnownHostsFile={} -o LogLevel=ERROR -o BatchMode=yes",
        at("user"), at("known")
    );
    let url = format!("ssh://127.0.0.1:{}PLACE", server.port);
    let by_variable = [("GIT_SSH_COMMAND", command.as_str())];
    let by_setting = [
        ("GIT_CONFIG_COUNT", "1"),
        ("GIT_CONFIG_KEY_0", "core.sshCommand"),
        ("GIT_CONFIG_VALUE_0", command.as_str()),
    ];
    let mut calls: Vec<(String, Variables<'_>)> = Vec::new();
    for call in [
        "URL/src",
        "--depth=1 URL/src",
        "--filter=blob:none URL/src",
        "URL/nope",
        "--recurse-submodules -q URL/src",
    ] {
        calls.push((call.replace("URL", &url), &by_variable));
        calls.push((call.replace("URL", &url), &by_setting));
    }
    let mut known = Vec::new();
    // The first call writes the file of known hosts.
    compare(twins, &calls[0].0, false, &by_variable, &mut known);
    play(twins, &calls);
}

/// Serves the files of a directory. A bundle is sent when a second one is asked for, or after half a
/// second; what was asked for, and how much at a time, goes to the file `asked`.
const FILES: &str = r#"
import http.server, os, sys, threading
os.chdir(sys.argv[2])
state = threading.Condition()
waiting = most = 0
class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *words):
        pass
    def do_GET(self):
        global waiting, most
        if self.path.endswith(".bundle"):
            with state:
                waiting += 1
                most = max(most, waiting)
                state.notify_all()
                state.wait_for(lambda: most > 1, 0.5)
                waiting -= 1
        if self.path == "/most":
            with open("most", "w") as file:
                file.write(str(most))
            most = 0
        with open("asked", "a") as file:
            file.write(self.path + "\n")
        super().do_GET()
http.server.ThreadingHTTPServer.request_queue_size = 64
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"#;

/// Makes four bundles in `served`, each with one commit more, and lists of them.
const BUNDLES: &str = "set -e
    mkdir served; cd src
    git bundle create -q ../served/1.bundle t1; git bundle create -q ../served/2.bundle t1..t2
    git bundle create -q ../served/3.bundle t2..t3; git bundle create -q ../served/4.bundle t3..side
    cd ../served
    head() { printf '[bundle]\\n\\tversion = 1\\n\\tmode = %s\\n' $1; }
    bundle() { printf '[bundle \"%s\"]\\n\\turi = %s\\n\\tcreationToken = %s\\n' $1 $2 $1; }
    all() { bundle 1 1.bundle; bundle 2 ./2.bundle; bundle 3 3.bundle; bundle 4 4.bundle; }
    { head all; all; } >list; { head all; echo '\theuristic = creationToken'; all; } >tokens
    { head any; all; } >any; { head all; all; bundle 5 gone.bundle; bundle 6 list; } >gone
    { head all; bundle 1 list; bundle 2 any; } >nested
    git -C ../src bundle create -q ../served/whole.bundle t3
    git -C ../src bundle create -q ../served/last.bundle t3..side
    tokens() { head all; echo '\theuristic = creationToken'; all; }
    { tokens; bundle 9 whole.bundle; } >newest; { tokens; bundle 8 whole.bundle; bundle 9 last.bundle; } >newer
    mkdir a; { head all; bundle 1 ../1.bundle; bundle 2 ../2.bundle; } >a/list";

#[test]
fn of_bundles() {
    if !require("python3") {
        return;
    }
    let twins = &mut twins();
    let place = twins.place();
    let files = hedgerow_testkit::temporary();
    twins.each(|_| {
        let mut shell = isolated("sh");
        shell.current_dir(&place).args(["-c", BUNDLES]);
        run(shell).ok("bundles are made");
        let mut copy = isolated("cp");
        copy.args(["-r", "served", "src", "config"])
            .arg(files.path());
        copy.current_dir(&place);
        run(copy).ok("they are copied");
    });
    let served = files.path().join("served");
    let server = Server::start(|port| {
        let mut python = isolated("python3");
        python.args(["-c", FILES, &port.to_string()]).arg(&served);
        python
    });
    let Some(server) = server else {
        return skip("the web server does not start: clones with bundles");
    };
    let base = format!("http://127.0.0.1:{}", server.port);
    let most = || {
        let mut python = isolated("python3");
        let script = format!("import urllib.request; urllib.request.urlopen('{base}/most')");
        python.args(["-c", &script]);
        run(python).ok("the server is asked");
        std::fs::read_to_string(served.join("most")).unwrap()
    };
    let mut found = Vec::new();
    let lists = [
        "list", "tokens", "newest", "newer", "any", "gone", "nested", "a/list", "none", "1.bundle",
        "2.bundle",
    ];
    for list in lists {
        for more in ["", "--bare", "-q --bare"] {
            let call = format!("--bundle-uri={base}/{list} {more} file://PLACE/src x");
            for by_link in [false, true] {
                compare(twins, &call, by_link, &[], &mut found);
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));

    // Each file once, and several at a time.
    let target = files.path().join("target");
    most();
    for (list, expected) in [
        ("list", 5),
        ("tokens", 5),
        // What is older than the first that needs nothing is not needed.
        ("newest", 2),
        ("newer", 3),
        ("a/list", 3),
        // What is not there, and what is a list, is fetched again.
        ("gone", 0),
    ] {
        std::fs::write(served.join("asked"), "").unwrap();
        let mut clone = isolated(HEDGEROW);
        clone.args(["clone", "-q", &format!("--bundle-uri={base}/{list}")]);
        clone.arg("--no-local");
        clone.arg(files.path().join("src")).arg(target.join(list));
        hedgerow_testkit::use_global_config(&mut clone, files.path().join("config"));
        run(clone).ok(list);
        let asked = std::fs::read_to_string(served.join("asked")).unwrap();
        let mut asked: Vec<_> = asked.lines().collect();
        asked.sort_unstable();
        let count = asked.len();
        asked.dedup();
        if expected != 0 {
            assert_eq!(asked.len(), count, "{list}: {asked:?}");
            assert_eq!(count, expected, "{list}: {asked:?}");
        }
        // Small bundles have come before their headers can be seen.
        assert!(most() != "1" || list.starts_with(['t', 'n']), "{list}");
        let kept = std::fs::read_dir(target.join(list).join(".git/objects/bundles"));
        let names = kept.unwrap().map(|entry| entry.unwrap().file_name());
        let ahead: Vec<_> = names
            .filter(|name| name.to_string_lossy().contains('-'))
            .collect();
        assert!(ahead.is_empty(), "{list}: {ahead:?}");
    }
}
