"""The table of the README, from what was measured."""

# The order in which cases are told.
ORDER = ("linux-tmpfs", "linux-serial", "linux-disk", "linux-loose", "k8s-switch",
         "deep-history", "restore", "latency", "auto-local", "auto", "memory")


def line(row):
    """A row as a line of plain text."""
    seconds = "" if row.git_s is None else f"  git {row.git_s:.2f} s, ours {row.ours_s:.2f} s"
    limit = "" if row.limit_s is None else f", limit {row.limit_s:.2f} s"
    workers = "" if row.git_workers is None else f", git's best workers {row.git_workers}"
    note = f"  ({row.note})" if row.note else ""
    return (f"{row.title}: {row.value:.2f} {row.unit} [{row.low:.2f}-{row.high:.2f}], "
            f"to reach {row.reach:g}, aim {row.aim:g}: {row.verdict()}{seconds}{limit}{workers}"
            f"{note}")


def markdown(found):
    """All rows as a Markdown table."""
    lines = [
        "| case | git s (workers) | hedgerow s | limit s | median | spread | to reach | aim | |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows(found):
        git = _seconds(row["git_s"])
        if row["git_workers"] is not None:
            git += f" ({row['git_workers']})"
        lines.append(
            f"| {row['title']} | {git} | {_seconds(row['ours_s'])} | {_seconds(row['limit_s'])} "
            f"| {amount(row['value'], row['unit'])} "
            f"| {amount(row['low'], row['unit'])} - {amount(row['high'], row['unit'])} "
            f"| {amount(row['reach'], row['unit'])} | {amount(row['aim'], row['unit'])} "
            f"| {row['verdict']} |"
        )
    return "\n".join(lines) + "\n"


def rows(found):
    """All rows in the order of the table."""
    named = [name for name in ORDER if name in found]
    return [row for name in named for row in found[name]["rows"]]


def amount(value, unit):
    if unit == "x":
        return f"{value:.2f}x"
    if unit == "MB":
        return f"{value:.0f} MB"
    return f"{value:.2f}"


def _seconds(value):
    return "" if value is None else f"{value:.2f}"
