"""Draws what was measured as SVG, from the JSON: bars of ratios, and seconds against latency."""

import math
from html import escape

import table

# Names of colors: the style below has each for light and for dark, as `hedgerow stats` has.
INK, GRID, OURS, RIVAL, LIMIT = "ink", "grid", "ours", "rival", "limit"
LOST, PALE = "lost", "pale"
LIGHT = {"page": "#ffffff", INK: "#3d4450", GRID: "#d4d8df", OURS: "#178a6a", RIVAL: "#d3222a",
         LIMIT: "#8b93a1", LOST: "#e9a100", PALE: "#8cc9b6"}
DARK = {"page": "#14171c", INK: "#b9c0cc", GRID: "#353b46", OURS: "#35c79c", RIVAL: "#ff5a5f",
        LIMIT: "#8b93a1", LOST: "#ffc04d", PALE: "#1f7359"}
# What a letter is wide, in shares of the size of the font: an upper estimate for most texts.
LETTER = 0.6
# Longer bars end here; how long they are is written behind them.
LONGEST = 8
FONT = "system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif"


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
    label_px = 20 + max(_width(row["title"]) for row in rows)
    bar_px, row_px, top = 460, 26, 46
    most = min(max(max(row["high"], row["aim"]) for row in rows), LONGEST) * 1.05
    scale = bar_px / most
    along = lambda value: label_px + min(value, most) * scale
    height = top + row_px * len(rows) + 34
    legend = ("bar: median of pairs; thin line: spread; red: to reach (solid), aim (dashed); "
              "yellow: missed")
    width = max(label_px + bar_px + 70, 24 + _width(legend, 11))
    parts = [_open(width, height, "How many times faster than the rival at its best")]
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
                     f"class='fill {color}'/>")
        parts.append(_line(along(row["low"]), y + 11, along(row["high"]), y + 11, INK))
        for key, dash in (("reach", ""), ("aim", "3,2")):
            x = along(row[key])
            parts.append(_line(x, y + 1, x, y + 21, RIVAL, dash, 2))
        end = along(max(row["high"], row["aim"], row["value"]))
        parts.append(_text(end + 6, y + 15, f"{row['value']:.2f}x"))
    parts.append(_text(12, 36, legend, size=11))
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
    labelled = []
    for at, (name, color, points) in enumerate(series):
        placed = [(left + ms / most_ms * width, top + height - seconds / most_s * height, seconds)
                  for ms, seconds in points]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in placed)
        parts.append(_polyline(path, color))
        for x, y, seconds in placed:
            parts.append(f"<circle cx='{x:.1f}' cy='{y:.1f}' r='3' class='fill {color}'/>")
            # At the axis, a number before its point would be outside.
            side = (x - 6, "end") if x - 6 - _width("00.00", 11) > left else (x + 6, "start")
            # One number covers another where the lines meet: the first stays.
            if all(x != other_x or abs(y - other_y) > 12 for other_x, other_y in labelled):
                parts.append(_text(side[0], max(y - 6, top - 4), f"{seconds:.2f}", side[1], 11))
                labelled.append((x, y))
        parts.append(_line(left + 10, top + 12 + 18 * at, left + 40, top + 12 + 18 * at, color,
                           width=2))
        parts.append(_text(left + 46, top + 16 + 18 * at, name))
    return "\n".join([*parts, "</svg>\n"])


def speedups(panels):
    """Speed-up against cores, both doubling: a panel for each name, a line for each design."""
    left, top, side, gap = 50, 60, 250, 50
    colors = (OURS, PALE, RIVAL)
    names = (*next(iter(panels.values())), "cores")
    title = "A simulation: speed-up of packing Linux over one core, by cores"
    width = max(left + (side + gap) * len(panels), 24 + _width(title, 14),
                left + sum(54 + _width(name) for name in names))
    parts = [_open(width, top + side + 70, title)]
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
            parts.append(_polyline(points, color))
    x = left
    for color, name in zip((*colors, LIMIT), names):
        parts += [_line(x, top + side + 46, x + 24, top + side + 46, color, width=2),
                  _text(x + 30, top + side + 50, name)]
        x += 30 + _width(name) + 24
    return "\n".join([*parts, "</svg>\n"])


def growth(series):
    """Small panels, a title each: user+sys and peak memory as multiples of those of the first size,
    against the size as a multiple of it, all doubling; the dashed line is what is linear."""
    columns, side, gap, top, left = 4, 170, 60, 70, 40
    rows = math.ceil(len(series) / columns)
    width, height = left + columns * (side + gap), top + rows * (side + gap + 24)
    parts = [_open(width, height, "Growth of time and memory with the size")]
    for at, (name, color, dash) in enumerate([("user+sys", OURS, ""), ("peak memory", RIVAL, ""),
                                              ("linear", LIMIT, "4,3")]):
        parts += [_line(left + 130 * at, 42, left + 24 + 130 * at, 42, color, dash, 2),
                  _text(left + 30 + 130 * at, 46, name)]
    for at, (title, found) in enumerate(series.items()):
        x0, y0 = left + at % columns * (side + gap), top + at // columns * (side + gap + 24) + 20
        points = found["points"]
        most = max(math.log2(points[-1]["size"] / points[0]["size"]), 1)
        place = lambda size, value, x0=x0, y0=y0, most=most, points=points: (
            x0 + math.log2(size / points[0]["size"]) / most * side,
            y0 + side - min(max(math.log2(value), 0), most) / most * side)
        words = title if len(title) * 11 * LETTER < side + gap else title.replace(": ", ":|")
        parts += [_text(x0, y0 - 8 - 12 * below, line, size=10)
                  for below, line in enumerate(reversed(words.split("|")))]
        parts += [_line(x0, y0, x0, y0 + side, GRID), _line(x0, y0 + side, x0 + side, y0 + side, GRID),
                  _line(x0, y0 + side, x0 + side, y0, LIMIT, "4,3")]
        # What is too short to be watched has no memory.
        for key, least, color in (("cpu_s", 0.01, OURS), ("peak_mb", 1, RIVAL)):
            first = max(points[0][key], least)
            line = [place(point["size"], max(point[key], least) / first) for point in points]
            parts.append(_polyline(" ".join(f"{x:.1f},{y:.1f}" for x, y in line), color))
            parts += [f"<circle cx='{x:.1f}' cy='{y:.1f}' r='3' class='fill {color}'/>" for x, y in line]
        last = points[-1]
        parts.append(_text(x0, y0 + side + 15, f"{points[0]['size']:,} to {last['size']:,} "
                           f"{found['unit']}", size=10))
        parts.append(_text(x0, y0 + side + 28, f"to {last['cpu_s']:.2f} s, {last['peak_mb']:.0f} MB",
                           size=10))
    return "\n".join([*parts, "</svg>\n"])


def _ticks(most):
    step = next(step for step in (0.5, 1, 2, 5, 10, 20, 50, 100, 1000) if most / step <= 9)
    return [step * number for number in range(int(most / step) + 1)]


def _width(words, size=12):
    """About as many pixels as the text takes."""
    return math.ceil(len(str(words)) * size * LETTER)


def _open(width, height, title):
    width = max(width, 24 + _width(title, 14))
    rules = lambda colors: "".join(
        f".{name}{{stroke:{color}}}.fill.{name}{{fill:{color};stroke:none}}"
        for name, color in colors.items() if name != "page"
    ) + f"text{{fill:{colors[INK]}}}.page{{fill:{colors['page']}}}"
    return (f"<svg xmlns='http://www.w3.org/2000/svg' width='{width}' height='{height}' "
            f"viewBox='0 0 {width} {height}' role='img'>\n<title>{escape(title)}</title>\n"
            f"<style>text{{font-family:{FONT}}}{rules(LIGHT)}\n"
            f"@media (prefers-color-scheme:dark){{{rules(DARK)}}}</style>\n"
            f"<rect width='100%' height='100%' class='page'/>\n"
            + _text(12, 20, title, size=14))


def _line(x1, y1, x2, y2, color, dash="", width=1):
    dashed = f" stroke-dasharray='{dash}'" if dash else ""
    return (f"<line x1='{x1:.1f}' y1='{y1:.1f}' x2='{x2:.1f}' y2='{y2:.1f}' class='{color}' "
            f"stroke-width='{width}'{dashed}/>")


def _polyline(points, color):
    return f"<polyline points='{points}' fill='none' class='{color}' stroke-width='2'/>"


def _text(x, y, words, anchor="start", size=12):
    return (f"<text x='{x:.1f}' y='{y:.1f}' text-anchor='{anchor}' font-size='{size}'>"
            f"{escape(words)}</text>")
