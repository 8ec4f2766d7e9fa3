"""Servers on this machine to clone from: a git daemon, https with a password, and plain files."""

import base64
import contextlib
import http.server
import os
import shutil
import socket
import ssl
import subprocess
import tempfile
import threading
import time

from skipped import Skipped
from stopping import started

USER = "builder"
PASSWORD = "secret"
# What is read from git and sent at once, and the size of the pipe between.
BUFFER_BYTES = 1 << 20


@contextlib.contextmanager
def daemon(base, env):
    """A git daemon for the repositories below `base`; its URL."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = ["git", "daemon", "--export-all", "--reuseaddr", "--listen=127.0.0.1",
               f"--port={port}", f"--base-path={base}", str(base)]
    with started(command, env=env, stderr=subprocess.DEVNULL):
        for _ in range(100):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.05)
        yield f"git://127.0.0.1:{port}"


@contextlib.contextmanager
def https(base, env):
    """`git http-backend` for the repositories below `base`, behind https and Basic authentication;
    its URL, with the password, and the file with its certificate. Raises Skipped."""
    certificate, key = _make_certificate(base)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server = _Server(("127.0.0.1", 0), _Handler)
    server.base, server.env = base, env
    # The handshake is left to the thread of the connection.
    server.socket = context.wrap_socket(server.socket, server_side=True,
                                        do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"https://{USER}:{PASSWORD}@127.0.0.1:{server.server_port}", certificate
    finally:
        server.shutdown()
        server.server_close()


@contextlib.contextmanager
def files(directory, delay_s, bytes_per_s):
    """The files of a directory as an object store gives them: the first byte of each comes after
    `delay_s`, and no connection gets more than `bytes_per_s`; their URL."""
    server = _Server(("127.0.0.1", 0), _FileHandler)
    server.directory, server.delay_s, server.bytes_per_s = directory, delay_s, bytes_per_s
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def serve(place, name, repository):
    """A bare copy of the repository below the place's base, ready to be served; its path."""
    served = place.base / f"{name}.git"
    place.git_at(".", "clone", "-q", "--bare", "--no-hardlinks", str(repository), str(served))
    _make_ready(place, served)
    return served


def serve_release(place, name, repository, revision):
    """The same with nothing but a branch `main` with one commit: the tree of the revision."""
    served = place.base / f"{name}.git"
    tree = place.git_at(repository, "rev-parse", f"{revision}^{{tree}}").strip()
    place.git_at(".", "init", "-q", "--bare", "-b", "main", str(served))
    place.git_at(served, "fetch", "-q", "--depth=1", str(repository), revision)
    commit = place.git_at(served, "-c", "user.name=A U Thor", "-c", "user.email=author@example.com",
                          "commit-tree", "-m", revision, tree).strip()
    place.git_at(served, "update-ref", "refs/heads/main", commit)
    (served / "shallow").unlink(missing_ok=True)
    _make_ready(place, served)
    return served


def _make_ready(place, served):
    place.git_at(served, "config", "uploadpack.allowFilter", "true")
    place.git_at(served, "config", "uploadpack.allowAnySHA1InWant", "true")
    place.git_at(served, "repack", "-adbq")


def _make_certificate(base):
    if shutil.which("openssl") is None:
        raise Skipped("there is no openssl to make a certificate")
    certificate, key = base / "server.crt", base / "server.key"
    subprocess.run(["openssl", "req", "-x509", "-nodes", "-newkey", "ec",
                    "-pkeyopt", "ec_paramgen_curve:prime256v1", "-days", "2",
                    "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1",
                    "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True)
    return certificate, key


class _Server(http.server.ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        """A client that was stopped is no news."""


class _Handler(http.server.BaseHTTPRequestHandler):
    """Hands each request to `git http-backend`, and its answer on while git still writes it."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        with tempfile.TemporaryFile() as body:
            self._receive(body)
            if self._is_authorized():
                self._call_git(body)
                return
        self.send_response(401)
        self.send_header("WWW-Authenticate", 'Basic realm="git"')
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_POST = do_GET

    def log_message(self, *_):
        pass

    def _is_authorized(self):
        wanted = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        return self.headers.get("Authorization") == f"Basic {wanted}"

    def _receive(self, body):
        """Keeps the request's body, which is short, in a file for git to read."""
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            while size := int(self.rfile.readline().split(b";")[0], 16):
                body.write(self.rfile.read(size))
                self.rfile.readline()
            while self.rfile.readline().strip():
                pass
        else:
            body.write(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
        body.seek(0)

    def _call_git(self, body):
        path, _, query = self.path.partition("?")
        env = {
            **self.server.env,
            "GIT_PROJECT_ROOT": str(self.server.base),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": self.command,
            "REMOTE_USER": USER,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(os.fstat(body.fileno()).st_size),
            # It is git that unpacks a compressed request.
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
        }
        with subprocess.Popen(["git", "http-backend"], env=env, stdin=body, bufsize=0,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              pipesize=BUFFER_BYTES) as backend:
            self._answer(backend.stdout)

    def _answer(self, answer):
        """Sends on the status, the header and, in chunks, the body that git writes."""
        status, header = 200, []
        while line := answer.readline().decode().strip():
            name, _, value = line.partition(": ")
            if name == "Status":
                status = int(value.split()[0])
            else:
                header.append((name, value))
        self.send_response(status)
        for name, value in header:
            self.send_header(name, value)
        is_chunked = "Content-Length" not in dict(header)
        if is_chunked:
            self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        buffer = memoryview(bytearray(BUFFER_BYTES))
        while count := answer.readinto(buffer):
            if is_chunked:
                self.wfile.write(b"%x\r\n" % count)
            self.wfile.write(buffer[:count])
            if is_chunked:
                self.wfile.write(b"\r\n")
        if is_chunked:
            self.wfile.write(b"0\r\n\r\n")


class _FileHandler(http.server.BaseHTTPRequestHandler):
    """A file, late and slowly."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        path = self.server.directory / os.path.basename(self.path.partition("?")[0])
        time.sleep(self.server.delay_s)
        if not path.is_file():
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(path.stat().st_size))
        self.end_headers()
        sent, start = 0, time.monotonic()
        with path.open("rb") as file:
            while piece := file.read(BUFFER_BYTES // 16):
                self.wfile.write(piece)
                sent += len(piece)
                early_s = start + sent / self.server.bytes_per_s - time.monotonic()
                if early_s > 0:
                    time.sleep(early_s)

    def log_message(self, *_):
        pass
