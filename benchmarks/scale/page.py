"""The page of the docs: tables between two marks in it, and a plot, of raw rows."""

import json
import re

import numpy as np

from benchmarks.inputs import ROOT
from benchmarks.scale.cases import CASES, COMPLETE, TRUTH

PAGE = ROOT / "docs" / "explanation" / "scale.md"
LONG_PLOT = ROOT / "docs" / "explanation" / "scale-long.svg"
PLOT = ROOT / "docs" / "explanation" / "scale.svg"
GROWTH = ("rows", "variables", "share hidden", "states", "parents")
HEADER = ("method", "processor s", "MB", "score a row", "% right", "distance")
SHOWN = ("processor", "megabytes", "score", "right", "distance")
PER_ROW = "µs a row"


def latest(path):
    """The last row of each case and method, in the order of cases and methods."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        key = row["axis"], row["size"], row["method"]
        found.pop(key, None)
        found[key] = row
    order = {axis: place for place, axis in enumerate(CASES)}
    methods = {
        name: place
        for case in reversed([c for cases in CASES.values() for c in cases])
        for place, name in enumerate(case.methods)
    }
    return sorted(
        (row for row in found.values() if row["axis"] in order),
        key=lambda row: (
            order[row["axis"]],
            row["size"],
            methods.get(row["method"], len(methods)),
        ),
    )


def show(row, name):
    """Show a figure of a row, or nothing."""
    value = row.get(name)
    if value is None:
        return row.get("word", "") if name == "processor" else ""
    if name == "score":
        return f"{value / row['rows']:.4f}"
    if name == "right":
        return f"{100 * value:.1f}"
    return f"{value:,.3g}" if value < 100 else f"{value:,.0f}"


def per_row(row):
    """Add to a raw row what each row of its table took of the processor."""
    if "processor" not in row:
        return row
    return {**row, "per_row": 1e6 * row["processor"] / row["rows"]}


def markdown(axis, rows):
    """Make a table of the rows of an axis."""
    header, measures = HEADER, SHOWN
    if axis == "long":
        header, measures = (*HEADER, PER_ROW), (*measures, "per_row")
    lines = [
        f"| {' | '.join((axis, *header))} |",
        f"| ---: | --- | {' | '.join(['---:'] * (len(header) - 1))} |",
    ]
    lines += [
        f"| {row['size']:{',.0f' if row['size'] > 1 else 'g'}} | {row['method']} | "
        + " | ".join(show(per_row(row), name) for name in measures)
        + " |"
        for row in rows
    ]
    return "\n".join(lines)


def write_page(path):
    """Put the tables of raw rows into the page, and make its plot."""
    rows = latest(path)
    text = PAGE.read_text(encoding="utf-8")
    for axis in CASES:
        own = [row for row in rows if row["axis"] == axis]
        if not own:
            continue
        begin, end = f"<!-- {axis} -->", f"<!-- end of {axis} -->"
        block = f"{begin}\n\n{markdown(axis, own)}\n\n{end}"
        pattern = re.escape(begin) + ".*?" + re.escape(end)
        text = re.sub(pattern, lambda _, block=block: block, text, flags=re.DOTALL)
    PAGE.write_text(text, encoding="utf-8")
    measured = [row for row in rows if "processor" in row]
    plot([row for row in measured if row["axis"] in GROWTH])
    plot_long([per_row(row) for row in measured if row["axis"] == "long"])


def plot(rows):
    """Draw seconds of the processor against what grows."""
    if not rows:
        return
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams.update({"svg.hashsalt": "scale", "svg.fonttype": "none"})
    from matplotlib import pyplot as plt

    axes_shown = [axis for axis in GROWTH if any(r["axis"] == axis for r in rows)]
    figure, all_axes = plt.subplots(
        1, len(axes_shown), figsize=(2.8 * len(axes_shown), 3.4), sharey=True
    )
    all_axes = np.atleast_1d(all_axes)
    names = [
        name
        for name in dict.fromkeys(row["method"] for row in rows)
        if name not in (TRUTH, COMPLETE)
    ]
    colours = {name: f"C{place}" for place, name in enumerate(names)}
    for ax, axis in zip(all_axes, axes_shown, strict=True):
        for name in names:
            points = [
                (row["size"], row["processor"])
                for row in rows
                if (row["axis"], row["method"]) == (axis, name)
            ]
            if points:
                style = {"color": colours[name], "marker": "o", "markersize": 3}
                ax.plot(*zip(*points, strict=True), label=name, **style)
        ax.set(xscale="linear" if axis == "parents" else "log", yscale="log")
        ax.set_xlabel(axis)
        ax.grid(True, which="major", alpha=0.3)
    all_axes[0].set_ylabel("processor seconds")
    handles = {
        label: handle
        for ax in all_axes
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)
    }
    figure.legend(
        handles.values(), handles.keys(), loc="lower center", ncols=8, frameon=False
    )
    figure.tight_layout(rect=(0, 0.08, 1, 1))
    figure.savefig(PLOT, metadata={"Date": None, "Creator": None})
    plt.close(figure)


def plot_long(rows):
    """Draw what each row of a long table takes."""
    if not rows:
        return
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams.update({"svg.hashsalt": "scale-long", "svg.fonttype": "none"})
    from matplotlib import pyplot as plt

    figure, ax = plt.subplots(figsize=(5, 3.4))
    for name in dict.fromkeys(row["method"] for row in rows):
        points = [(r["rows"], r["per_row"]) for r in rows if r["method"] == name]
        ax.plot(*zip(*points, strict=True), label=name, marker="o", markersize=3)
    ax.set(xscale="log", yscale="log", xlabel="rows", ylabel=f"processor {PER_ROW}")
    ax.grid(True, which="major", alpha=0.3)
    ax.legend(frameon=False)
    figure.tight_layout()
    figure.savefig(LONG_PLOT, metadata={"Date": None, "Creator": None})
    plt.close(figure)
