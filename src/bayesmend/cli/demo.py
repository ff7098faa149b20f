"""Show the main job on a table that comes with the package."""

import csv
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import fmean, median
from tempfile import TemporaryDirectory
from typing import Annotated, Any, NamedTuple

from bayesmend._columns import in_columns
from bayesmend._spelling import spelling
from bayesmend.cli.learn import OUTPUTS, facts_of, files_of, summarise
from bayesmend.cli.learn import learn as learn_command
from bayesmend.cli.options import ENSEMBLE, Folder, command_of, option
from bayesmend.cli.terminal import end_interrupted, say
from bayesmend.data.states import listing, quantity
from bayesmend.datasets import load_truth, table_path
from bayesmend.errors import ParameterError
from bayesmend.learning.learn import learn
from bayesmend.learning.mechanism.result import MissingCells
from bayesmend.learning.result import LearnResult
from bayesmend.outcome import Stopped

__all__ = ["demo"]

_OUT = Path("demo")
_TABLE, _TRUTH = "patients.csv", "patients-truth.csv"
_FILES = {
    _TABLE: "the table: all that learning sees",
    _TRUTH: "what its empty fields would have held: row (from 0), variable, value",
    **OUTPUTS,
    ENSEMBLE: "the networks whose answers were averaged",
}
_OPTIONS: dict[str, Any] = {"method": "ensemble", "mechanism": "auto", "seed": 1}
_COMMAND = " ".join(f"--{name} {value}" for name, value in _OPTIONS.items())

Truth = Mapping[str, Mapping[int, str]]
Columns = Mapping[str, list[str]]


def demo(
    out: Annotated[Path, option("DIR", "Folder for the files; made if needed.")] = _OUT,
) -> None:
    """Mend a table of 1,000 invented patients, and compare with the truth.

    Learns why cells are missing, averages many networks, writes the mended table and a
    report, and says in plain words what was found and how much of it is right.
    """
    folder = Folder(out, force=True)
    folder.check(_FILES)
    _check_others(out)
    source, truth = table_path("patients"), load_truth("patients")
    with spelling(command_of(learn_command).spell):  # as of the command that is shown
        result = learn(source, **_OPTIONS)
    completed = _completed(result)
    quality = _quality(completed, _read(source), truth)
    notes = {"table": _TABLE, "compared with the truth": _in_words(quality)}
    calls = {"command": f"bayesmend learn {_TABLE} --out NEW {_COMMAND}"}
    folder.write(
        {
            _TABLE: source.read_text("utf-8"),
            _TRUTH: source.with_name(_TRUTH).read_text("utf-8"),
            **files_of(result, facts_of(result, _OPTIONS, calls), notes=notes),
        }
    )
    say(summarise(result))
    say("What was found")
    for sentence in _findings(result, completed, truth):
        say(f"- {sentence}")
    say(
        "\nHow near the filled fields are to what they would have held, and how near "
        "the most frequent value or the median would be"
    )
    head = ("column", "empty", "mended", "most frequent or median")
    say("\n".join(in_columns([head, *(row.cells for row in quality)])))
    say("")
    _list_files(out)
    if result.stopped is Stopped.INTERRUPT:
        end_interrupted()


class _Quality(NamedTuple):
    """How near the filled fields of a column are to what they would have held."""

    column: str
    n_empty: int
    mended: str
    simple: str

    @property
    def cells(self) -> tuple[str, str, str, str]:
        return self.column, str(self.n_empty), self.mended, self.simple


def _in_words(quality: list[_Quality]) -> str:
    """Tell of the columns with most empty fields how near their filled ones are."""
    most = sorted(quality, key=lambda row: -row.n_empty)[:2]
    return "; ".join(
        f"{row.column} {row.mended} (most frequent or median: {row.simple})"
        for row in most
    )


def _quality(completed: Columns, table: Columns, truth: Truth) -> list[_Quality]:
    """Compare each column with the truth, as filled and as a simple rule fills it."""
    return [
        _Quality(
            name,
            len(held),
            _closeness([completed[name][row] for row in held], [*held.values()]),
            _closeness([_simple(table[name])] * len(held), [*held.values()]),
        )
        for name, held in truth.items()
    ]


def _closeness(filled: list[str], held: list[str]) -> str:
    if _are_numbers(held):
        errors = [abs(float(a) - float(b)) for a, b in zip(filled, held, strict=True)]
        return f"off by {fmean(errors):.2g} on average"
    n_right = sum(a == b for a, b in zip(filled, held, strict=True))
    return f"{n_right / len(held):.0%} right"


def _simple(fields: list[str]) -> str:
    observed = [field for field in fields if field]
    if _are_numbers(observed):
        return str(median(map(float, observed)))
    return Counter(observed).most_common(1)[0][0]


def _are_numbers(fields: list[str]) -> bool:
    return all(field.replace(".", "", 1).isdigit() for field in fields)


def _read(path: Path) -> dict[str, list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file)
    return dict(zip(head, map(list, zip(*rows, strict=True)), strict=True))


def _completed(result: LearnResult) -> dict[str, list[str]]:
    """Return the completed table as a user finds it in the file."""
    with TemporaryDirectory() as folder:
        path = Path(folder, _TABLE)
        result.completed.write_csv(path)
        return _read(path)


def _findings(result: LearnResult, completed: Columns, truth: Truth) -> Iterator[str]:
    """Say in plain words why cells are missing, and what that changes."""
    if result.mechanism is None:
        return
    n_innocent = sum(not found.parents for found in result.mechanism)
    for found in result.mechanism:
        if found.parents:
            given = _conditions(found)
            yield f"Whether {found.variable} is missing depends on {given}."
        if found.parents == (found.variable,):
            yield _correction(completed, found, truth)
    if n_innocent:
        yield (
            f"Of the empty fields in {quantity(n_innocent, 'other column')} nothing "
            "was found that they depend on: that may be chance."
        )


def _conditions(found: MissingCells) -> str:
    """List what share is missing given what, the largest first, with its interval."""
    shares = [
        f"{' and '.join(map(str, states))} {share:.0%} ({low:.0%} to {high:.0%})"
        for share, states, low, high in sorted(
            zip(
                found.probabilities.tolist(),
                found.configurations,
                found.lower,
                found.upper,
                strict=True,
            ),
            key=lambda each: -each[0],
        )
    ]
    own = found.parents == (found.variable,)
    what = "what it would hold" if own else " and ".join(found.parents)
    return f"{what}: {listing(shares, 4)}"


def _correction(completed: Columns, found: MissingCells, truth: Truth) -> str:
    """Compare the state that is missing most: observed, mended, and in truth."""
    name = found.variable
    state = found.configurations[int(found.probabilities.argmax())][0]
    mended = completed[name]
    held = truth[name]
    observed = [value for row, value in enumerate(mended) if row not in held]
    true = [held.get(row, value) for row, value in enumerate(mended)]
    shares = [
        values.count(str(state)) / len(values) for values in (observed, mended, true)
    ]
    return (
        "So {name} = {state} is {0:.0%} of what was observed and {1:.0%} of the mended "
        "column; in truth it is {2:.0%}."
    ).format(*shares, name=name, state=state)


def _check_others(folder: Path) -> None:
    """Refuse a folder with files that are not the demo's, which it may replace."""
    others = {path.name for path in folder.glob("*")} - set(_FILES)
    if others:
        message = (
            f"folder '{folder}' holds other files, such as '{min(others)}'. "
            "Name a new or empty folder with --out."
        )
        raise ParameterError(message)


def _list_files(folder: Path) -> None:
    width = max(len(str(folder / name)) for name in _FILES)
    for name, what in _FILES.items():
        say(f"{folder / name!s:{width}}  {what}")
    say(
        f"\nNext: open {folder / 'report.html'} in a browser, or do the same yourself: "
        f"bayesmend learn {folder / _TABLE} --out NEW {_COMMAND}"
    )
