"""Writes the pages and pictures that are made from the program and from bench/results.

    python3 docs/tools/pages.py BINARY            writes them
    python3 docs/tools/pages.py BINARY --check    says which are out of date, and fails if any are
"""

import json
import pathlib
import re
import subprocess
import sys

import drawings
import speed

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCE = ROOT / "docs/src"
COMMANDS = SOURCE / "reference/commands"


def main():
    binary, is_check = sys.argv[1], "--check" in sys.argv[2:]
    wanted = {**command_pages(binary), **pictures(), **benchmarks(), **growth(), **topics()}
    existing = set(COMMANDS.glob("*.md")) | set((SOURCE / "images").glob("*.svg"))
    stale = existing - set(wanted)
    changed = [path for path, text in wanted.items()
               if not path.exists() or path.read_text() != text]
    if is_check:
        for path in sorted([*changed, *stale]):
            print(f"out of date: {path.relative_to(ROOT)}; run 'make docs'")
        sys.exit(1 if changed or stale else 0)
    for path in stale:
        path.unlink()
    for path in changed:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(wanted[path])


def command_pages(binary):
    """The list of commands, a page for each, and their lines in the summary."""
    said = lambda *words: subprocess.run([binary, "generate", "reference", *words], check=True,
                                         capture_output=True, text=True).stdout
    index = said()
    names = re.findall(r"^\| \[[^]]+\]\(([^)]+)\.md\)", index, re.M)
    pages = {COMMANDS / f"{name}.md": said(name) for name in names}
    pages[COMMANDS / "index.md"] = index
    summary = SOURCE / "SUMMARY.md"
    lines = [line for line in summary.read_text().splitlines()
             if not line.startswith("  - [") or "reference/commands/" not in line]
    after = next(at for at, line in enumerate(lines) if "commands/index.md" in line) + 1
    lines[after:after] = [f"  - [{name}](reference/commands/{name}.md)" for name in names]
    pages[summary] = "\n".join(lines) + "\n"
    return pages


def pictures():
    images = SOURCE / "images"
    return {images / "speed.svg": speed.draw(speed.chosen()),
            images / "all.svg": speed.draw(speed.rated()),
            images / "simulation.svg": (speed.RESULTS / "simulation.svg").read_text(),
            images / "growth.svg": (speed.RESULTS / "growth.svg").read_text(),
            **{images / name: text for name, text in drawings.all_drawings().items()}}


def benchmarks():
    """The page of all measurements, below the part that is written by hand."""
    page = SOURCE / "benchmarks.md"
    head = page.read_text().split("<!-- generated -->")[0]
    return {page: head + "<!-- generated -->\n\n" + speed.tables()}


def growth():
    """The page on growth, below the part that is written by hand."""
    page = SOURCE / "growth.md"
    head = page.read_text().split("<!-- generated -->")[0]
    return {page: head + "<!-- generated -->\n\n" + (speed.RESULTS / "growth.md").read_text()}


def topics():
    """A page for each topic of `hedgerow help`; that about JSON lists the schemas, too."""
    sources = sorted((ROOT / "crates/cli/src/help/topics").glob("*.md"))
    pages = {SOURCE / "reference" / path.name: path.read_text() for path in sources}
    pages[SOURCE / "reference/json.md"] += "\n" + schemas()
    return pages


def schemas():
    lines = ["## Schemas", "", "| schema | what |", "| --- | --- |"]
    for path in sorted((ROOT / "docs/schemas").glob("*.json")):
        about = json.loads(path.read_text())["description"]
        lines.append(f"| `docs/schemas/{path.name}` | {about} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
