"""What SIGTERM does: the run ends, but what it made is unmounted and removed first."""

import contextlib
import os
import signal
import subprocess
import sys


def exit_when_stopped():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("error: stopped"))


@contextlib.contextmanager
def undisturbed():
    """Puts SIGTERM off until the end: what cleans up is not stopped halfway."""
    received = []
    before = signal.signal(signal.SIGTERM, lambda number, _: received.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
        if received:
            os.kill(os.getpid(), signal.SIGTERM)


@contextlib.contextmanager
def started(command, **options):
    """A process in a session of its own. If it still runs after the `with`, it is killed with its
    descendants: they would write into directories that are about to be removed."""
    process = None
    try:
        with undisturbed():
            process = subprocess.Popen(command, start_new_session=True, **options)
        yield process
    finally:
        if process is not None and process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
