"""The table of the README, from what was measured."""

from cases import all_cases


def line(row):
    """A row as a line of plain text."""
    seconds = ""
    if row.rival_s is not None:
        seconds = f"  {row.rival} {_seconds(row.rival_s)} s, ours {_seconds(row.ours_s)} s"
    cpu = ""
    if row.rival_cpu_s is not None:
        cpu = f", user+sys {_seconds(row.rival_cpu_s)} and {_seconds(row.ours_cpu_s)} s"
    limit = "" if row.limit_s is None else f", limit {_seconds(row.limit_s)} s"
    workers = "" if row.git_workers is None else f", git's best workers {row.git_workers}"
    note = f"  ({row.note})" if row.note else ""
    targets = "no target"
    if row.reach is not None:
        targets = f"to reach {row.reach:g}, aim {row.aim:g}: {row.verdict()}"
    digits = 4 if row.unit == "of size" else 2
    return (f"{row.title}: {row.value:.{digits}f} {row.unit} "
            f"[{row.low:.{digits}f}-{row.high:.{digits}f}], "
            f"{targets}{seconds}{cpu}{limit}{workers}{note}")


def markdown(found):
    """All rows as a Markdown table."""
    lines = [
        "| case | rival | its s | hedgerow s | user+sys of both | limit s | median | spread "
        "| to reach | aim | |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows(found):
        # What was measured before other rivals than git were has neither of these.
        rival = row.get("rival", "git")
        cpu = [row.get("rival_cpu_s"), row.get("ours_cpu_s")]
        if row["git_workers"] is not None:
            rival += f", {row['git_workers']} workers"
        lines.append(
            f"| {row['title']} | {rival if row['rival_s'] is not None else ''} "
            f"| {_seconds(row['rival_s'])} | {_seconds(row['ours_s'])} "
            f"| {', '.join(_seconds(seconds) for seconds in cpu if seconds is not None)} "
            f"| {_seconds(row['limit_s'])} "
            f"| {amount(row['value'], row['unit'])} "
            f"| {amount(row['low'], row['unit'])} - {amount(row['high'], row['unit'])} "
            f"| {amount(row['reach'], row['unit'])} | {amount(row['aim'], row['unit'])} "
            f"| {row['verdict']} |"
        )
    return "\n".join(lines) + "\n"


def rows(found):
    """All rows in the order of the table."""
    named = [name for name in all_cases() if name in found]
    return [row for name in named for row in found[name]["rows"]]


def amount(value, unit):
    if value is None:
        return ""
    if unit == "x":
        return f"{value:.2f}x"
    if unit == "MB":
        return f"{value:.0f} MB"
    if unit == "ms":
        return f"{value:.0f} ms"
    if unit == "of size":
        return f"{value:.4f}"
    return f"{value:.2f}"


def _seconds(value):
    if value is None:
        return ""
    return f"{value:.2f}" if value >= 1 else f"{value:.3f}"
