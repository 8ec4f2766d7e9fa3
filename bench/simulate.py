#!/usr/bin/env python3
"""Predicts how packing speeds up on more cores than there are here, from what each file and each
block cost on one: writes bench/results/simulation.md, .json and .svg. See bench/README.md."""

import json
import statistics
import sys

import contenders
import images
import packers
import plot
import results
from cases import Setting
from corpora import Corpora
from pipelines import ByteWindow, Costs, ItemWindow
from skipped import Skipped

CORES = (1, 2, 4, 8, 16, 32, 64)
COMPRESSIONS = ("lz4", "gzip", "zstd")
# That of the writer: so many MiB, and one more for each core. And one that does not grow.
WINDOW_MIB = 4
FIXED_WINDOW_MIB = 8
TITLES = {"lz4": "lz4", "gzip": "gzip 9", "zstd": "zstd 15"}


def main():
    parser = results.parser_of(
        __doc__, "a small made-up input, into bench/out/smoke: does it still run?")
    parser.add_argument("--compression", action="append", choices=COMPRESSIONS,
                        help="only this one; may be repeated")
    arguments = parser.parse_args()
    out = results.place_of(arguments, "simulation")
    contenders.build()
    setting = Setting(Corpora(arguments.smoke), 1, arguments.smoke)
    try:
        found = {name: predict(*measured(setting, name))
                 for name in arguments.compression or COMPRESSIONS}
    except Skipped as reason:
        sys.exit(f"skipped: {reason}")
    write(out, found)
    print((out.with_suffix(".md")).read_text())


def measured(setting, compression):
    """The costs of every step on one core, and the CPU time that hedgerow itself takes."""
    print(f"measuring {compression} ...", flush=True)
    with images.linux(setting) as place:
        words = packers.COMPRESSIONS[compression].limit
        told = json.loads(place.output([
            str(contenders.PACK_LIMIT), str(place.tree), str(packers.BLOCK_BYTES), "1", words,
            str(place.base / "scratch")]))
        costs = Costs(told["files"], told["blocks"], told["plan_ns"], told["block_bytes"])
        real = place.pack(packers.ours(place.tree, place.image, compression, 2))
        return costs, real.cpu_s


def predict(costs, real_cpu_s):
    """Speed-ups over one core by design and number of cores, with what they come from."""
    designs = {
        f"bytes, {WINDOW_MIB} MiB and 1 a worker":
            lambda cores: ByteWindow(costs, cores, (WINDOW_MIB + cores) << 20),
        f"bytes, {FIXED_WINDOW_MIB} MiB":
            lambda cores: ByteWindow(costs, cores, FIXED_WINDOW_MIB << 20),
        "10 items a worker": lambda cores: ItemWindow(costs, cores),
    }
    times = {name: {cores: design(cores).run() for cores in CORES}
             for name, design in designs.items()}
    return {
        "s_by_cores": {name: {cores: ns / 1e9 for cores, ns in found.items()}
                       for name, found in times.items()},
        "speedup_by_cores": {name: {cores: found[1] / ns for cores, ns in found.items()}
                             for name, found in times.items()},
        "hedgerow_cpu_s": real_cpu_s,
        "costs": summary(costs),
    }


def summary(costs):
    packing = [block[2] for block in costs.blocks]
    quantiles = statistics.quantiles(packing, n=10, method="inclusive")
    return {
        "files": len(costs.files),
        "blocks": len(costs.blocks),
        "all_s": costs.total_ns() / 1e9,
        "read_s": sum(file[1] for file in costs.files) / 1e9,
        "hash_s": sum(file[2] for file in costs.files) / 1e9,
        "plan_s": costs.plan_ns / 1e9,
        "compress_s": sum(packing) / 1e9,
        "write_s": sum(block[4] for block in costs.blocks) / 1e9,
        "compress_block_us": {"10 %": quantiles[0] / 1e3, "median": quantiles[4] / 1e3,
                              "90 %": quantiles[8] / 1e3, "largest": max(packing) / 1e3},
    }


def write(out, found):
    out.parent.mkdir(parents=True, exist_ok=True)
    document = {"machine": results.machine(), "versions": contenders.versions(), "found": found}
    out.with_suffix(".json").write_text(json.dumps(document, indent=1) + "\n")
    panels = {TITLES[name]: prediction["speedup_by_cores"] for name, prediction in found.items()}
    out.with_suffix(".svg").write_text(plot.speedups(panels))
    out.with_suffix(".md").write_text(page(found))


def page(found):
    lines = [
        "# Packing on more cores: a simulation",
        "",
        "**Nothing on this page but its inputs was measured.** It is what a schedule of the measured",
        "costs gives, computed by `python3 bench/simulate.py`, on machines that were not there.",
        "",
        "![speed-up by cores](simulation.svg)",
        "",
        "## What is computed",
        "",
        "Every file of the Linux tree was read and hashed, and every block compressed and written, on",
        "one core; what each took goes into two schedules (`bench/pipelines.py`):",
        "",
        "- *bytes*: hedgerow. As many readers as cores, one plan, as many packers as cores, one that",
        "  writes. Contents between reading and planning, and between planning and writing, are bounded",
        "  in bytes: 4 MiB each, and one more for each worker. The second line is what a window that",
        "  does not grow would do.",
        "- *10 items a worker*: the queue of tar2sqfs. One thread reads, plans and writes. Every block",
        "  and every tail of a file is an item, and no more than 10 for each worker are under way; a",
        "  tail is no work and takes a place all the same. It is charged nothing for hashing.",
        "",
        "A speed-up is over the same design on one core. Left out: the cost of handing work from thread",
        "to thread, memory bandwidth, shared caches, the walk and the tables at the end. All of them",
        "make real packers slower than this, the more so with lz4.",
        "",
        "## What came out",
        "",
    ]
    header = " | ".join(["1 core", *(f"{cores} cores" for cores in CORES[1:])])
    for name, prediction in found.items():
        lines += [f"### {TITLES[name]}", "", f"| window | {header} |",
                  "|---|" + "---|" * len(CORES)]
        for design, speedups in prediction["speedup_by_cores"].items():
            cells = " | ".join(f"{speedup:.1f}x ({speedup / cores:.0%})"
                               for cores, speedup in speedups.items())
            lines.append(f"| {design} | {cells} |")
        lines += ["", inputs(prediction), ""]
    return "\n".join(lines)


def inputs(prediction):
    costs = prediction["costs"]
    seconds = ", ".join(f"{word} {costs[key]:.2f} s" for word, key in (
        ("reading", "read_s"), ("hashing", "hash_s"), ("planning", "plan_s"),
        ("compressing", "compress_s"), ("writing", "write_s")))
    block = ", ".join(f"{word} {us:.0f}" for word, us in costs["compress_block_us"].items())
    return (f"Inputs: {costs['files']} files, {costs['blocks']} blocks; {seconds}. Microseconds to "
            f"compress a block: {block}. The check: together {costs['all_s']:.1f} s, and hedgerow "
            f"-j2 took {prediction['hedgerow_cpu_s']:.1f} s of CPU.")


if __name__ == "__main__":
    main()
