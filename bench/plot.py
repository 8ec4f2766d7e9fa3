"""Draws what was measured as SVG, from the JSON: bars of ratios, and seconds against latency."""

import math
from html import escape

import table

INK, GRID, OURS, RIVAL, LIMIT = "#333", "#ddd", "#2e7d4f", "#b5533c", "#8a8a8a"
LOST = "#d9a441"
# Longer bars end here; how long they are is written behind them.
LONGEST = 8
STYLE = "font-family='sans-serif' font-size='12'"


def draw_all(found, directory):
    """Writes ratios.svg, and latency.svg if latency was measured."""
    rows = [row for row in table.rows(found) if row["unit"] == "x" and row["aim"]]
    if rows:
        (directory / "ratios.svg").write_text(ratios(rows))
    series = latency_series(found)
    if series:
        (directory / "latency.svg").write_text(latency(series))


def ratios(rows):
    """Horizontal bars: how many times faster, with the line to reach and the aim."""
    label_px, bar_px, row_px, top = 330, 460, 26, 46
    most = min(max(max(row["high"], row["aim"]) for row in rows), LONGEST) * 1.05
    scale = bar_px / most
    along = lambda value: label_px + min(value, most) * scale
    height = top + row_px * len(rows) + 34
    parts = [_open(label_px + bar_px + 70, height,
                   "How many times faster than the rival at its best")]
    for tick in _ticks(most):
        x = label_px + tick * scale
        parts.append(_line(x, top, x, height - 30, INK if tick == 1 else GRID))
        parts.append(_text(x, height - 14, f"{tick:g}x", "middle"))
    for at, row in enumerate(rows):
        y = top + at * row_px
        width = along(row["value"]) - label_px
        color = LOST if row["verdict"] == "missed" else OURS
        parts.append(_text(label_px - 8, y + 15, row["title"], "end"))
        parts.append(f"<rect x='{label_px}' y='{y + 4}' width='{width:.1f}' height='14' "
                     f"fill='{color}'/>")
        parts.append(_line(along(row["low"]), y + 11, along(row["high"]), y + 11, INK))
        for key, dash in (("reach", ""), ("aim", "3,2")):
            x = along(row[key])
            parts.append(_line(x, y + 1, x, y + 21, RIVAL, dash, 2))
        end = along(max(row["high"], row["aim"], row["value"]))
        parts.append(_text(end + 6, y + 15, f"{row['value']:.2f}x"))
    parts.append(_text(label_px, 36, "bar: median of pairs; thin line: spread; red: to reach "
                       "(solid), aim (dashed); yellow: missed", size=11))
    return "\n".join([*parts, "</svg>\n"])


def latency_series(found):
    """(name, color, [(ms, seconds)]) of git, hedgerow and the limit; None if not measured."""
    if "latency" not in found:
        return None
    rows = {row["name"]: row for row in found["latency"]["rows"]}
    series = []
    for name, color, key in (("git at its best", RIVAL, "rival_s"),
                             ("hedgerow, no options", OURS, "ours_s"),
                             ("created from memory (limit)", LIMIT, "limit_s")):
        points = [(int(row.rsplit("-", 1)[1].removesuffix("ms")), found_row[key])
                  for row, found_row in rows.items()]
        series.append((name, color, sorted(points)))
    return series


def latency(series):
    """Seconds against round-trip time."""
    left, top, width, height = 60, 56, 480, 280
    most_s = max(seconds for _, _, points in series for _, seconds in points) * 1.05
    most_ms = max(ms for _, _, points in series for ms, _ in points)
    parts = [_open(left + width + 40, top + height + 50,
                   "Kubernetes into an empty tree: seconds against round-trip time")]
    for tick in _ticks(most_s):
        y = top + height - tick / most_s * height
        parts.append(_line(left, y, left + width, y, GRID))
        parts.append(_text(left - 8, y + 4, f"{tick:g} s", "end"))
    for ms in sorted({ms for _, _, points in series for ms, _ in points} | {0}):
        parts.append(_text(left + ms / most_ms * width, top + height + 20, f"{ms} ms", "middle"))
    for at, (name, color, points) in enumerate(series):
        placed = [(left + ms / most_ms * width, top + height - seconds / most_s * height, seconds)
                  for ms, seconds in points]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in placed)
        parts.append(f"<polyline points='{path}' fill='none' stroke='{color}' "
                     "stroke-width='2'/>")
        for x, y, seconds in placed:
            parts.append(f"<circle cx='{x:.1f}' cy='{y:.1f}' r='3' fill='{color}'/>")
            parts.append(_text(x - 6, y - 6, f"{seconds:.2f}", "end", 11))
        parts.append(_line(left + 10, top + 12 + 18 * at, left + 40, top + 12 + 18 * at, color,
                           width=2))
        parts.append(_text(left + 46, top + 16 + 18 * at, name))
    return "\n".join([*parts, "</svg>\n"])


def speedups(panels):
    """Speed-up against cores, both doubling: a panel for each name, a line for each design."""
    left, top, side, gap = 50, 60, 250, 50
    colors = (OURS, "#7fb894", RIVAL)
    parts = [_open(left + (side + gap) * len(panels), top + side + 70,
                   "A simulation: speed-up of packing Linux over one core, by cores")]
    for at, (name, designs) in enumerate(panels.items()):
        x0 = left + at * (side + gap)
        cores = list(next(iter(designs.values())))
        step = side / (len(cores) - 1)
        parts.append(_text(x0 + side / 2, top - 12, name, "middle", 13))
        for tick, count in enumerate(cores):
            at_x, at_y = x0 + tick * step, top + side - tick * step
            parts += [_line(at_x, top, at_x, top + side, GRID),
                      _line(x0, at_y, x0 + side, at_y, GRID),
                      _text(at_x, top + side + 18, str(count), "middle", 11),
                      _text(x0 - 6, at_y + 4, f"{count}x", "end", 11)]
        parts.append(_line(x0, top + side, x0 + side, top, LIMIT, "4,3"))
        for color, by_cores in zip(colors, designs.values()):
            points = " ".join(
                f"{x0 + math.log2(count) * step:.1f},"
                f"{top + side - max(math.log2(speedup), 0) * step:.1f}"
                for count, speedup in by_cores.items())
            parts.append(f"<polyline points='{points}' fill='none' stroke='{color}' "
                         "stroke-width='2'/>")
    x = left
    for color, name in zip((*colors, LIMIT), (*next(iter(panels.values())), "cores")):
        parts += [_line(x, top + side + 46, x + 24, top + side + 46, color, width=2),
                  _text(x + 30, top + side + 50, name)]
        x += 190
    return "\n".join([*parts, "</svg>\n"])


def _ticks(most):
    step = next(step for step in (0.5, 1, 2, 5, 10, 20, 50, 100, 1000) if most / step <= 9)
    return [step * number for number in range(int(most / step) + 1)]


def _open(width, height, title):
    return (f"<svg xmlns='http://www.w3.org/2000/svg' width='{width}' height='{height}' "
            f"viewBox='0 0 {width} {height}' {STYLE}>\n"
            f"<rect width='100%' height='100%' fill='white'/>\n"
            + _text(12, 20, title, size=14))


def _line(x1, y1, x2, y2, color, dash="", width=1):
    dashed = f" stroke-dasharray='{dash}'" if dash else ""
    return (f"<line x1='{x1:.1f}' y1='{y1:.1f}' x2='{x2:.1f}' y2='{y2:.1f}' stroke='{color}' "
            f"stroke-width='{width}'{dashed}/>")


def _text(x, y, words, anchor="start", size=12):
    return (f"<text x='{x:.1f}' y='{y:.1f}' text-anchor='{anchor}' font-size='{size}' "
            f"fill='{INK}'>{escape(words)}</text>")
