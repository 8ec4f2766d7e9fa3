"""Bars and tables of how fast hedgerow is, from bench/results."""

import json
import math
import pathlib
from html import escape

RESULTS = pathlib.Path(__file__).resolve().parents[2] / "bench/results"
FASTER, SLOWER, INK, GRID = "#2e7d4f", "#b5533c", "#222", "#ddd"

# What the picture of the README shows, and in whose words. The last three are slower than the rival.
CHOSEN = [
    ("walk-1ms", "list a tree, 1 ms away", "find"),
    ("status-1ms", "status, 1 ms away", "git"),
    ("k8s-switch", "switch branches (Kubernetes)", "git"),
    ("index-pack", "index a pack (git.git)", "git"),
    ("daemon-clones", "serve 8 clients", "git daemon"),
    ("pack-commit-zstd3-checkout", "image of a commit (Linux)", "checkout + mksquashfs"),
    ("linux-tmpfs", "check out Linux", "git"),
    ("status-local", "status, local (Linux)", "git"),
    ("extract", "extract an image (Linux)", "unsquashfs"),
    ("restore-1", "restore one file (Linux)", "git"),
    ("directory-100k", "100,000 files in a directory", "fd, 64 threads"),
    ("pack-lz4-tar-wall-j2", "lz4 image of an archive", "tar2sqfs"),
]


def measured():
    """Every row of every case, by name."""
    found = {}
    for path in sorted(RESULTS.glob("*.json")):
        case = json.loads(path.read_text())
        for row in case.get("rows", []):
            found[row["name"]] = {**row, "case": case}
    return found


def chosen():
    rows = measured()
    return [(f"{title} / {rival}", rows[name]) for name, title, rival in CHOSEN]


def rated():
    """All rows that compare times with a rival, the largest gain first."""
    rows = [row for row in measured().values() if row["unit"] == "x" and row.get("rival_s")]
    rows.sort(key=lambda row: -row["value"])
    # Beside other cases, "the same" says nothing.
    title = lambda row: row["title"].replace("the same", row["case"]["case"])
    return [(title(row), row) for row in rows]


def draw(rows):
    """Horizontal bars on a logarithmic scale around 1; the line across a bar is the spread."""
    left, width, height, top = 330, 400, 24, 54
    low = min(0.5, *(row["low"] for _, row in rows))
    high = max(row["high"] for _, row in rows) * 1.1
    scale = width / math.log(high / low)
    x = lambda value: left + math.log(value / low) * scale
    total = top + height * len(rows) + 36
    parts = [f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {left + width + 70} {total}' "
             "font-family='sans-serif' font-size='13'>",
             f"<rect width='100%' height='100%' fill='#fff'/>",
             f"<text x='12' y='24' font-size='16' fill='{INK}'>How many times as fast as the best "
             "rival</text>",
             f"<text x='12' y='42' font-size='11' fill='{INK}'>Medians of alternating runs on two "
             "cores; line: spread of the pairs; logarithmic scale</text>"]
    for tick in (0.5, 1, 2, 4, 8, 16, 32, 64, 128):
        if low <= tick <= high:
            color = INK if tick == 1 else GRID
            parts.append(f"<path d='M{x(tick):.1f} {top}V{total - 30}' stroke='{color}'/>")
            parts.append(f"<text x='{x(tick):.1f}' y='{total - 12}' text-anchor='middle'>"
                         f"{tick:g}x</text>")
    for at, (title, row) in enumerate(rows):
        y = top + at * height
        ends = sorted((x(1), x(row["value"])))
        color = FASTER if row["value"] >= 1 else SLOWER
        shown = title if len(title) <= 52 else title[:50] + "…"
        parts.append(f"<text x='{left - 8}' y='{y + 16}' text-anchor='end' fill='{INK}' "
                     f"font-size='12'>{escape(shown)}</text>")
        parts.append(f"<rect x='{ends[0]:.1f}' y='{y + 4}' width='{ends[1] - ends[0]:.1f}' "
                     f"height='15' fill='{color}'/>")
        parts.append(f"<path d='M{x(row['low']):.1f} {y + 11.5}H{x(row['high']):.1f}' "
                     f"stroke='{INK}'/>")
        end = max(ends[1], x(row["high"]), x(1)) + 6
        digits = ".2g" if row["value"] < 10 else ".0f"
        parts.append(f"<text x='{end:.1f}' y='{y + 16}'>{row['value']:{digits}}x</text>")
    return "\n".join([*parts, "</svg>\n"])


def tables():
    """A table for each case, with the machine, the versions and the date."""
    text = []
    for path in sorted(RESULTS.glob("*.json")):
        case = json.loads(path.read_text())
        if "rows" not in case:
            continue
        machine, versions = case["machine"], case["versions"]
        text.append(f"### {path.stem}\n")
        text.append(f"{case['date']}, {machine['cpus']} processors, Linux {machine['kernel']}, "
                    f"git {versions['git']}, hedgerow {versions['hedgerow_commit']}.\n")
        text.append("| case | rival | its seconds | hedgerow | limit | median | spread | goal |")
        text.append("| --- | --- | --- | --- | --- | --- | --- | --- |")
        text.extend(row(found) for found in case["rows"])
        text.append("")
    return "\n".join(text)


def row(found):
    unit = found["unit"]
    amount = lambda value: "" if value is None else f"{value:.3g} {unit}".replace(" x", "x")
    seconds = lambda value: "" if value is None else f"{value:.3g}"
    rival = found.get("rival", "git") if found.get("rival_s") is not None else ""
    if found.get("git_workers") and rival:
        rival += f", {found['git_workers']} workers"
    median = amount(found["value"])
    if found["verdict"] == "missed":
        median = f"**{median}** (missed)"
    return (f"| {found['title']} | {rival} | {seconds(found.get('rival_s'))} "
            f"| {seconds(found.get('ours_s'))} | {seconds(found.get('limit_s'))} | {median} "
            f"| {amount(found['low'])} to {amount(found['high'])} | {amount(found['reach'])} |")
