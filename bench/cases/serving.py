"""A stock git daemon with and without the hook: what several clients get at once. The clients take
what is sent and drop it, so that the server is measured and not their own index-pack."""

import os
import shutil
import socket
import subprocess
import threading
import time
from pathlib import Path

from cases.packs import Repository
from contenders import HEDGEROW, git
from measure import Pairs, Sample
from results import Outcome, wall_row

CLIENTS = 8


def pack_serving(setting):
    outcome = Outcome([])
    rounds = 1 if setting.is_smoke else 2
    with Repository(setting.corpora.deep()) as repository:
        cache = Path(repository.home.name) / "cache"
        hook = _hook(Path(repository.home.name))
        plain = Daemon(repository, "plain", "")
        hooked = Daemon(repository, "hooked", hook)
        cached = Daemon(repository, "cached",
                        hook + f"[hedgerow]\n\tresponseCache = {cache}\n")
        with plain, hooked, cached:
            head = repository.output("rev-parse", "HEAD")
            tips = repository.output("for-each-ref", "--format=%(objectname)").split()
            clone = Request(sorted(set(tips)))
            clones = [clone] * (CLIENTS * rounds)
            pairs = _in_pairs(lambda: plain.serve(clones), lambda: hooked.serve(clones), setting)
            outcome.rows.append(wall_row("daemon-clones", f"git daemon, {CLIENTS} clients, clones",
                                         pairs, 2, 4))
            outcome.pairs["daemon-clones"] = pairs
            behind = 1 if setting.is_smoke else 1000
            others = repository.output("rev-list", "--max-count=200", f"--skip={behind}",
                                       "HEAD").split()
            fetch = Request(sorted(set(tips)), [others[0]])
            numbers = iter(range(1 << 30))

            def mixed(daemon):
                shutil.rmtree(cache, ignore_errors=True)
                cache.mkdir()
                requests = [fetch] * 19
                requests.append(Request([head], [others[next(numbers) % len(others)]]))
                return daemon.serve(requests * (1 if setting.is_smoke else 10))

            pairs = _in_pairs(lambda: mixed(plain), lambda: mixed(cached), setting)
            outcome.rows.append(wall_row(
                "daemon-cached", "with the response cache: fetches, 95 % of them identical",
                pairs, 5, 10))
            outcome.pairs["daemon-cached"] = pairs
    return outcome


def _in_pairs(rival, ours, setting):
    pairs = Pairs([], [])
    for _ in range(1 if setting.is_smoke else min(setting.pairs, 3)):
        pairs.rival.append(rival())
        pairs.ours.append(ours())
    return pairs


def _hook(directory):
    """The configuration of the hook, by a link in `directory`."""
    link = directory / "hedgerow-upload-pack-hook"
    link.symlink_to(HEDGEROW)
    return f"[uploadpack]\n\tpackObjectsHook = {link}\n"


class Request:
    """A fetch of `wants` by one who has `haves`, in protocol version 0. Made beforehand and sent at
    once: what the client does is time that the server does not get."""

    def __init__(self, wants, haves=()):
        abilities = " multi_ack_detailed side-band-64k thin-pack no-progress ofs-delta"
        first, *others = wants
        lines = [f"want {first}{abilities}\n", *(f"want {want}\n" for want in others)]
        ends = [*(f"have {have}\n" for have in haves), "done\n"]
        self.bytes = b"".join([*map(_line, lines), b"0000", *map(_line, ends)])

    def send(self, port, path):
        """Returns how many bytes came back."""
        buffer = bytearray(1 << 20)
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(_line(f"git-upload-pack {path}\0host=localhost\0"))
            advertised = b""
            # Each reference ends with a line end, all of them with a flush packet.
            while not advertised.endswith(b"\n0000"):
                length = connection.recv_into(buffer)
                if length == 0:
                    raise RuntimeError("git daemon hung up")
                advertised = advertised[-5:] + buffer[:length]
            connection.sendall(self.bytes)
            received = 0
            # Linux drops what is received so, and copies nothing: tcp(7).
            while count := connection.recv_into(buffer, len(buffer), socket.MSG_TRUNC):
                received += count
            return received


def _line(text):
    return f"{len(text) + 4:04x}{text}".encode()


class Daemon:
    """A git daemon for the repository, with its own global configuration."""

    def __init__(self, repository, name, configuration):
        self.repository = repository
        self.configuration = Path(repository.home.name) / f"{name}.config"
        self.configuration.write_text("[safe]\n\tdirectory = *\n" + configuration)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]

    def __enter__(self):
        base = self.repository.path.parent
        environment = {**self.repository.env, "GIT_CONFIG_GLOBAL": str(self.configuration)}
        self.process = subprocess.Popen(
            git("daemon", "--export-all", "--reuseaddr", "--listen=127.0.0.1",
                f"--port={self.port}", f"--base-path={base}", "--max-connections=64"),
            env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True)
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return self
            except OSError:
                time.sleep(0.05)
        raise RuntimeError("git daemon does not listen")

    def __exit__(self, *_):
        os.killpg(self.process.pid, 15)
        self.process.wait()

    def serve(self, requests):
        """Sends the requests from several clients at once, each as soon as its last is answered."""
        pending = list(requests)
        lock = threading.Lock()
        sizes = []

        def work():
            while True:
                with lock:
                    if not pending:
                        return
                    request = pending.pop()
                sizes.append(request.send(self.port, f"/{self.repository.path.name}"))

        started = time.perf_counter()
        threads = [threading.Thread(target=work) for _ in range(CLIENTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if len(sizes) != len(requests) or min(sizes) < 100:
            raise RuntimeError(f"of {len(requests)} requests {len(sizes)} were answered")
        return Sample(time.perf_counter() - started, 0, 0, 0)
