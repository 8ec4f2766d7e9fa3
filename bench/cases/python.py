"""The Python package: its walk and its scandir against those of the standard library, scandir-rs, and
threads by hand; what it costs to import it, and its size."""

import json
import subprocess
import tempfile
from pathlib import Path

from cases.walking import k8s, linux
from contenders import OF_TESTS, ROOT, TARGET
from measure import Pairs, Sample, in_pairs, median
from places import tmpfs
from results import Outcome, amount_row, wall_row
from skipped import Skipped

SCRIPT = ROOT / "bench" / "contenders" / "walk_in_python.py"
LIMIT = ROOT / "bench" / "contenders" / "python_objects.c"
ENVIRONMENT = TARGET / "python" / ("test" if OF_TESTS else "bench")
PYTHON = ENVIRONMENT / "bin" / "python"


def python_walk(setting):
    """os.walk of a local tree, and every entry statted."""
    _require_package()
    with linux(setting) as place:
        count = 3 * setting.pairs
        rows, pairs = [], {}
        rivals = [("os-walk", "os.walk", 4.0, 6.0)]
        if _has("scandir_rs"):
            rivals.append(("scandir-rs-walk", "scandir-rs", 1.3, 2.0))
        limits = {way: _limit(place, way, count) for way in ("limit.walk", "limit.stat")}
        for name, rival, reach, aim in rivals:
            pairs[name] = _in_pairs(place, rival, "hedgerow.walk", count)
            rows.append(wall_row(name, f"Linux tree: hedgerow.os.walk against {rival}, tmpfs",
                                 pairs[name], reach, aim, rival=rival,
                                 limit_s=limits["limit.walk"]))
        for name, ours, words in (("os-scandir", "hedgerow.stat", "and stat"),
                                  ("os-scandir-listed", "hedgerow.stat-listed", "with stat=True")):
            pairs[name] = _in_pairs(place, "os.stat", ours, count)
            rows.append(wall_row(name, f"Linux tree: hedgerow.os.scandir {words}, tmpfs",
                                 pairs[name], 3.0, 5.0, rival="os.scandir",
                                 limit_s=limits["limit.stat"]))
        if len(rivals) == 1:
            rows[0].note = "scandir-rs is not installed"
        return Outcome(rows, pairs)


def _limit(place, way, count):
    """Seconds of one thread that does nothing but the system calls and the objects, the best of some; None
    where it cannot be compiled."""
    module = ENVIRONMENT / "python_objects.so"
    if not module.exists():
        asked = "import sysconfig; print(sysconfig.get_path('include'))"
        include = subprocess.run([str(PYTHON), "-c", asked], capture_output=True, text=True,
                                 check=True).stdout.strip()
        built = subprocess.run(["cc", "-O2", "-shared", "-fPIC", f"-I{include}", str(LIMIT), "-o",
                                str(module)], capture_output=True, check=False)
        if built.returncode != 0:
            return None
    words = ["env", f"PYTHONPATH={ENVIRONMENT}", str(PYTHON), str(SCRIPT), way, "."]
    return min(json.loads(place.output(words))["wall_s"] for _ in range(count))


def python_small(setting):
    """Trees that are walked before threads could help: they must not be slower."""
    _require_package()
    times = 20 if setting.is_smoke else 200
    rows, pairs = [], {}
    with tempfile.TemporaryDirectory(dir=tmpfs()) as top:
        for directories in (3, 30, 100):
            place = Path(top, str(directories))
            for number in range(directories):
                directory = place / f"d{number % 5}" / str(number)
                directory.mkdir(parents=True)
                for name in range(10):
                    (directory / f"f{name}").touch()
            name = f"os-walk-{directories}"
            pairs[name] = _in_pairs(RunHere(place), "os.walk", "hedgerow.walk", setting.pairs,
                                    times=times)
            rows.append(wall_row(name, f"hedgerow.os.walk of {directories} directories, tmpfs",
                                 pairs[name], 1.0, 1.2, rival="os.walk"))
    return Outcome(rows, pairs)


class RunHere:
    """A place that is only a directory."""

    def __init__(self, path):
        self.path = path

    def output(self, command):
        return subprocess.run(command, cwd=self.path, capture_output=True, text=True,
                              check=True).stdout


def python_latency(setting):
    """A client that knows nothing yet, 1 ms from its files."""
    _require_package()
    with k8s(setting, 100 if setting.is_smoke else 1000) as place:
        place.fill()
        rows, pairs = [], {}
        for name, rival, reach, aim in (("os-walk-1ms", "os.walk", 25.0, 30.0),
                                        ("threads-1ms", "threads", 2.0, 4.0)):
            pairs[name] = _in_pairs(place, rival, "hedgerow.walk", setting.pairs, cold=True)
            words = "32 threads by hand" if rival == "threads" else rival
            rows.append(wall_row(name, f"Kubernetes: hedgerow.os.walk against {words}, 1 ms round "
                                 "trips", pairs[name], reach, aim, rival=words))
        return Outcome(rows, pairs)


def python_import(setting):
    """The time of an import beyond the interpreter's own start, and the size of the wheel."""
    _require_package()
    def start(script):
        started = subprocess.run(
            [str(PYTHON), "-c", "import time; t = time.perf_counter();" + script
             + "; print(time.perf_counter() - t)"],
            capture_output=True, text=True, check=True)
        return 1000 * float(started.stdout)
    times = [start("import hedgerow, hedgerow.os") for _ in range(5 * setting.pairs)]
    rows = [amount_row("python-import", "import of hedgerow and hedgerow.os", "ms", times, 60, 30,
                       is_lower_better=True)]
    wheels = list((TARGET / "wheels").glob("hedgerow-*.whl"))
    if wheels:
        size = max(wheel.stat().st_size for wheel in wheels) / 1e6
        rows.append(amount_row("wheel-size", "the largest wheel, with the command line", "MB",
                               [size], 12, 8, is_lower_better=True))
        if OF_TESTS:
            rows[-1].note = "not optimized"
    return Outcome(rows, {}, {"import_ms": median(times)})


def _in_pairs(place, rival, ours, count, cold=False, times=1):
    counted = set()

    def run(name):
        if cold:
            place.mount.open()
        found = json.loads(place.output([str(PYTHON), str(SCRIPT), name, ".", str(times)]))
        counted.add(found["entries"])
        if len(counted) > 1:
            raise RuntimeError(f"{rival} and {ours} count {sorted(counted)} entries")
        return Sample(found["wall_s"], found["cpu_s"], 0.0, 0)

    pairs: Pairs = in_pairs(lambda: run(rival), lambda: run(ours), count)
    return pairs


def _require_package():
    """An environment with the wheel: that of the tests or, where figures count, one of its own."""
    if not OF_TESTS:
        _make_environment()
    if not _has("hedgerow"):
        raise Skipped("the Python package is not installed in "
                      f"{ENVIRONMENT}; scripts/test-python.sh does that")


def _make_environment():
    def run(*words):
        subprocess.run([str(word) for word in words], cwd=ROOT, check=True)
    if not PYTHON.exists():
        run("python3", "-m", "venv", ENVIRONMENT)
    if not _has("scandir_rs"):
        subprocess.run([str(PYTHON), "-m", "pip", "install", "--quiet", "scandir-rs"], check=False)
    run("bash", "scripts/wheel.sh", "release")
    wheels = sorted((TARGET / "wheels").glob("hedgerow-*.whl"), key=lambda path: path.stat().st_mtime)
    run(PYTHON, "-m", "pip", "install", "--quiet", "--no-deps", "--force-reinstall", wheels[-1])


def _has(module):
    if not Path(PYTHON).exists():
        return False
    found = subprocess.run([str(PYTHON), "-c", f"import {module}"], capture_output=True, check=False)
    return found.returncode == 0
