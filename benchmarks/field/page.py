"""The page of the docs: tables between two marks in it, of raw rows."""

import json
import re

from benchmarks.field.cases import SOLVERS
from benchmarks.inputs import ROOT

PAGE = ROOT / "docs" / "explanation" / "field.md"
PROVEN = 1e-6  # nats


def latest(path):
    """The last row of each instance that came to an end."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if "word" not in row:
            found[row["instance"]] = row
    return [found[name] for name in sorted(found, key=_natural)]


def _natural(name):
    parts = re.split(r"(\d[\d.]*)", name)
    return [float(part) if place % 2 else part for place, part in enumerate(parts)]


def result_of(row):
    """Tell the proof, or what is left."""
    if row["gap"] <= PROVEN:
        return "proven"
    share = 100 * abs(row["gap"] / row["score"])
    return f"{row['gap']:,.2f} ({share:.3f} %)"


def above(nats):
    """Tell the difference of scores that were rounded to four decimals."""
    return "0" if abs(nats) < 0.01 else f"{nats:+,.2f}"


def seconds(value):
    return f"{value:,.2f}" if value < 10 else f"{value:,.0f}"


def score_file(row):
    """A row of the table of score files."""
    published = row["published"]
    more = "" if published is None else above(row["score"] - published)
    return (
        row["instance"],
        f"{row['variables']:,}",
        f"{row['sets']:,}",
        f"{row['score']:,.3f}",
        more,
        result_of(row),
        seconds(row["processor"]),
    )


def sample(row):
    """A row of the table of samples."""
    others = row["others"]
    ilp = [s for name, s in others.items() if name.startswith("ilp")]
    best = next(iter(others.items()), None)
    table, ess, parents = re.split("_bdeu-|-", row["instance"])
    return (
        f"{table.replace('_', ' ')}, ess {ess}, {parents} parents",
        f"{row['sets']:,}",
        f"{row['score']:,.3f}",
        result_of(row),
        seconds(row["processor"]),
        seconds(min(ilp)) if ilp else "> 7,200",
        "none" if best is None else f"{seconds(best[1])}, {SOLVERS[best[0]]}",
    )


TABLES = {
    "score files": (
        ("instance", "variables", "sets", "score", "above published", "gap", "s"),
        score_file,
    ),
    "samples": (
        ("instance", "sets", "score", "gap", "s", "GOBNILP s", "best of others, s"),
        sample,
    ),
}


def markdown(name, rows):
    """Make the table of that name."""
    header, line_of = TABLES[name]
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *map(line_of, rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def write_page(path):
    """Put the tables of raw rows into the page."""
    rows = latest(path)
    text = PAGE.read_text(encoding="utf-8")
    for name in TABLES:
        own = [
            row for row in rows if ("_bdeu-" in row["instance"]) == (name == "samples")
        ]
        if not own:
            continue
        begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        block = f"{begin}\n\n{markdown(name, own)}\n\n{end}"
        pattern = re.escape(begin) + ".*?" + re.escape(end)
        text = re.sub(pattern, lambda _, block=block: block, text, flags=re.DOTALL)
    PAGE.write_text(text, encoding="utf-8")
