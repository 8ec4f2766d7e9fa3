"""Checks every link and anchor of the documentation and of the pages beside the README."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^()\s]+)\)")
HEADING = re.compile(r"^#{1,6} +(.*?) *$", re.M)


def main():
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs/src").rglob("*.md")]
    texts = {page: page.read_text() for page in pages}
    anchors = {page: set(anchors_of(text)) for page, text in texts.items()}
    wrong = []
    count = 0
    for page, text in texts.items():
        for link in LINK.findall(without_code(text)):
            if re.match(r"[a-z]+:", link):
                continue
            count += 1
            path, _, anchor = link.partition("#")
            target = (page.parent / path).resolve() if path else page
            if not target.exists():
                wrong.append(f"{page.relative_to(ROOT)}: no file {link}")
            elif anchor and target in anchors and anchor not in anchors[target]:
                wrong.append(f"{page.relative_to(ROOT)}: no anchor {link}")
    summary = ROOT / "docs/src/SUMMARY.md"
    listed = {(summary.parent / link).resolve() for link in LINK.findall(summary.read_text())}
    for page in (ROOT / "docs/src").rglob("*.md"):
        if page != summary and page not in listed:
            wrong.append(f"{page.relative_to(ROOT)}: not in SUMMARY.md")
    print("\n".join(wrong) or f"{count} links lead somewhere")
    sys.exit(1 if wrong else 0)


def without_code(text):
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    return re.sub(r"`[^`\n]*`", "code", text)


def anchors_of(text):
    """The anchors that mdBook and GitHub give to headings."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    seen = {}
    for heading in HEADING.findall(text):
        words = re.sub(r"[`*]|\]\([^)]*\)|\[", "", heading).lower()
        anchor = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        count = seen.get(anchor, 0)
        seen[anchor] = count + 1
        yield f"{anchor}-{count}" if count else anchor


if __name__ == "__main__":
    main()
