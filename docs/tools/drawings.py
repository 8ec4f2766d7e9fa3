"""One drawing for each page of concepts: boxes in columns, joined by arrows."""

from html import escape

INK, FILL, WORK, OUT = "#333", "#eef3ee", "#dbe9f4", "#f6ecd6"
BOX_W, BOX_H, GAP_X, GAP_Y, MARGIN = 168, 56, 34, 16, 8

# Columns from left to right. A box is (text, fill); every box of a column leads to every box of the
# next.
DRAWINGS = {
    "checkout.svg": [
        [("commit and index", FILL)],
        [("compare trees|equal subtrees unread", FILL)],
        [("decide per path|refuse before writing", FILL)],
        [("worker|directory a", WORK), ("worker|directory b", WORK), ("worker|directory c", WORK)],
        [("index written last|then HEAD, hook", OUT)],
    ],
    "walk.svg": [
        [("directory", FILL)],
        [("list it once", FILL)],
        [("its directories|scheduled first", WORK), ("its files|stat in slices", WORK)],
        [("visitor|walk or status", FILL)],
        [("lines, as found|or in order", OUT)],
    ],
    "images.svg": [
        [("directory", FILL), ("archive", FILL), ("commit", FILL)],
        [("nodes in|canonical order", FILL)],
        [("read and hash", WORK), ("read and hash", WORK)],
        [("plan: duplicates,|tails, places", FILL)],
        [("compress", WORK), ("compress", WORK)],
        [("one committer|writes in order", OUT)],
    ],
    "packs.svg": [
        [("git server|wants and haves", FILL)],
        [("response cache", FILL)],
        [("bitmaps", WORK), ("walk of the rest", WORK)],
        [("copy from a pack", WORK), ("keep a delta", WORK), ("compress anew", WORK)],
        [("client and cache|at once", OUT)],
    ],
}


def all_drawings():
    return {name: draw(columns) for name, columns in DRAWINGS.items()}


def draw(columns):
    most = max(len(column) for column in columns)
    height = most * BOX_H + (most - 1) * GAP_Y + 2 * MARGIN
    width = len(columns) * BOX_W + (len(columns) - 1) * GAP_X + 2 * MARGIN
    parts = [f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' "
             "font-family='sans-serif' font-size='15'>",
             "<defs><marker id='a' viewBox='0 0 8 8' refX='8' refY='4' markerWidth='7' "
             f"markerHeight='7' orient='auto'><path d='M0 0L8 4L0 8z' fill='{INK}'/></marker></defs>",
             "<rect width='100%' height='100%' fill='#fff'/>"]
    places = [places_of(column, at, height) for at, column in enumerate(columns)]
    for left, right in zip(places, places[1:]):
        for x, y in left:
            for to_x, to_y in right:
                parts.append(f"<path d='M{x + BOX_W} {y + BOX_H / 2}L{to_x - 2} {to_y + BOX_H / 2}' "
                             f"stroke='{INK}' marker-end='url(#a)'/>")
    for column, of_column in zip(columns, places):
        for (text, fill), (x, y) in zip(column, of_column):
            parts.append(f"<rect x='{x}' y='{y}' width='{BOX_W}' height='{BOX_H}' rx='6' "
                         f"fill='{fill}' stroke='{INK}'/>")
            lines = text.split("|")
            first = y + BOX_H / 2 + 5 - 9 * (len(lines) - 1)
            for at, line in enumerate(lines):
                parts.append(f"<text x='{x + BOX_W / 2}' y='{first + 18 * at}' "
                             f"text-anchor='middle'>{escape(line)}</text>")
    return "\n".join([*parts, "</svg>\n"])


def places_of(column, at, height):
    total = len(column) * BOX_H + (len(column) - 1) * GAP_Y
    top = (height - total) / 2
    x = MARGIN + at * (BOX_W + GAP_X)
    return [(x, top + row * (BOX_H + GAP_Y)) for row in range(len(column))]
