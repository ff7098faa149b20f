"""A table of patients as users have them, made up, with the truth about its gaps.

``python -m bayesmend.datasets.patients FOLDER`` writes the two files that come with the
package: what a registry would hand over, and what its empty fields would have held.

No row is a person. How the numbers depend on each other is invented, in the direction
that everybody expects: smokers have more carbon monoxide in their breath, cholesterol
rises with age and weight, and so on. Three things are wrong with the table, as with
real ones:

- current smokers leave the question about smoking open more often than others do;
- at the second visit nobody's cholesterol was measured;
- a few fields of other columns were lost by chance.
"""

import csv
import datetime
import io
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from bayesmend._files import write_text

__all__ = ["make_patients", "render", "render_files"]

_N_ROWS = 1000
_SEED = 2024
_VISITS = ("first", "second", "third")
_STARTS = ("2023-01-09", "2023-05-08", "2023-09-04")
_REMARKS = (
    "arrived {0} min late because of the bus on line {1}",
    "call back after {0}:{1}, before that nobody is at home",
    "new telephone number, it ends in {0}{1}",
)
# How often the question about smoking is left open, by the answer it would have had.
_SILENT = {"never": 0.06, "former": 0.12, "current": 0.55}
# Columns that lose some fields by chance.
_SPARED = {"patient", "visit", "date", "smoking", "cholesterol", "remarks"}
_LOST = 0.03

Columns = dict[str, list[str]]


def make_patients(
    n_rows: int = _N_ROWS, seed: int = _SEED
) -> tuple[Columns, Columns, dict[str, npt.NDArray[np.bool_]]]:
    """Return the complete table, the table with empty fields, and which were emptied.

    Examples
    --------
    >>> complete, incomplete, hidden = make_patients(5, seed=1)
    >>> complete["patient"], len(complete)
    (['P-0001', 'P-0002', 'P-0003', 'P-0004', 'P-0005'], 17)
    """
    rng = np.random.default_rng(seed)
    complete = _draw(n_rows, rng)
    hidden = {name: np.zeros(n_rows, bool) for name in complete}
    silent = np.array([_SILENT[answer] for answer in complete["smoking"]])
    hidden["smoking"] = rng.random(n_rows) < silent
    hidden["cholesterol"] = np.array(complete["visit"]) == "second"
    for name in complete:
        if name not in _SPARED:
            hidden[name] = rng.random(n_rows) < _LOST
    incomplete = {
        name: [
            "" if gone else field
            for field, gone in zip(fields, hidden[name], strict=True)
        ]
        for name, fields in complete.items()
    }
    return complete, incomplete, hidden


def _draw(n: int, rng: np.random.Generator) -> Columns:
    """Draw people one column after the other, each given those before."""

    def chance(log_odds: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
        return rng.random(n) < 1 / (1 + np.exp(-log_odds))

    def one_of(*weights: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
        sums = np.cumsum(np.exp(np.stack(weights)), axis=0)
        return np.asarray((rng.random(n) * sums[-1] > sums).sum(axis=0))

    visit = np.sort(rng.integers(0, 3, n))
    start = np.array(_STARTS, dtype="datetime64[D]")[visit]
    date = np.sort(start + rng.integers(0, 80, n))
    female = rng.random(n) < 0.52
    age = np.clip(rng.normal(56, 13, n), 25, 88).round()
    old = (age - 56) / 13
    none = np.zeros(n)
    education = one_of(0.5 * old, none + 0.4, -0.4 * old)
    smoking = one_of(
        none + 0.4 + 0.5 * female,
        none + 0.3 * old,
        none - 0.2 * old - 0.4 * (education - 1),
    )
    smokes = smoking == 2
    monoxide = np.exp(np.where(smokes, 2.6, 0.9) + rng.normal(0, 0.45, n)).round()
    cough = chance(-2.2 + 1.2 * (smoking == 1) + 2.6 * smokes)
    activity = one_of(none + 0.3 * old + 0.5 * smokes, none + 0.4, -0.5 * old)
    bmi = (26.5 + 0.6 * old - 1.7 * (activity - 1) + rng.normal(0, 3.2, n)).round(1)
    heavy = (bmi - 26.5) / 4
    diabetes = chance(-2.4 + 0.8 * old + 1.1 * heavy)
    systolic = (128 + 8 * old + 6 * heavy + 3 * smokes + rng.normal(0, 9, n)).round()
    cholesterol = (5.3 + 0.35 * old + 0.45 * heavy + rng.normal(0, 0.55, n)).round(1)
    statin = chance(-2.2 + 2.4 * (cholesterol - 5.3) + 1.2 * diabetes + 0.4 * old)
    pressed, fat = (systolic - 128) / 12, cholesterol - 5.3
    angina = chance(-2.4 + 0.6 * old + 0.7 * pressed + 1.1 * fat + 1.2 * smokes)
    remarked = np.flatnonzero(rng.random(n) < 0.1)
    remarks = [""] * n
    for row in remarked:
        form = _REMARKS[rng.integers(0, len(_REMARKS))]
        remarks[row] = form.format(*rng.integers(10, 21, 2))

    def yes(values: npt.NDArray[np.bool_]) -> list[str]:
        return ["yes" if value else "no" for value in values]

    def labels(codes: npt.NDArray[np.int64], *names: str) -> list[str]:
        return [names[code] for code in codes]

    def whole(values: npt.NDArray[np.float64]) -> list[str]:
        return [str(int(value)) for value in values]

    def tenths(values: npt.NDArray[np.float64]) -> list[str]:
        return [f"{value:.1f}" for value in values]

    return {
        "patient": [f"P-{number:04d}" for number in range(1, n + 1)],
        "visit": labels(visit, *_VISITS),
        "date": [day.astype(datetime.date).isoformat() for day in date],
        "age": whole(age),
        "sex": ["female" if value else "male" for value in female],
        "education": labels(education, "primary", "secondary", "tertiary"),
        "smoking": labels(smoking, "never", "former", "current"),
        "monoxide": whole(monoxide),
        "cough": yes(cough),
        "activity": labels(activity, "low", "moderate", "high"),
        "bmi": tenths(bmi),
        "diabetes": yes(diabetes),
        "systolic": whole(systolic),
        "cholesterol": tenths(cholesterol),
        "statin": yes(statin),
        "angina": yes(angina),
        "remarks": remarks,
    }


def render(columns: Mapping[str, list[str]]) -> str:
    """Return a table as CSV text."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue()


def _truth(complete: Columns, hidden: dict[str, npt.NDArray[np.bool_]]) -> Columns:
    """List the emptied fields by column: row (from 0), variable, value."""
    cells = [
        (str(row), name, complete[name][row])
        for name, gone in hidden.items()
        for row in np.flatnonzero(gone)
    ]
    rows, names, values = (list(part) for part in zip(*cells, strict=True))
    return {"row": rows, "variable": names, "value": values}


def render_files() -> dict[str, str]:
    """Return the text of the files that come with the package, by their names."""
    complete, incomplete, hidden = make_patients()
    return {
        "patients.csv": render(incomplete),
        "patients-truth.csv": render(_truth(complete, hidden)),
    }


def main(folder: Path) -> None:
    """Write the files into a folder."""
    for name, text in render_files().items():
        write_text(folder / name, text)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
