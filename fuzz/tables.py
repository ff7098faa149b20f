"""Tables in memory with awkward cells: read, given back, copied, learned from."""

import copy
import datetime
import math
from decimal import Decimal
from typing import Any

import numpy as np

import bayesmend as bm

WORDS = (
    "", " ", "a", "A", "b ", "é", "漢", "🙂", "\u202e", "a\nb", "a,b", '"', "'", "\0",
    "NA", "None", "nan", "?", "null", "-", "1", "1.0", "01", "1e5", "1,5", "=1+1", "@x",
    "2020-01-02", "2020-13-45", "true", "False", "\x1b[31mred", "x" * 300, "\ud800",
)  # fmt: skip
NUMBERS = (
    0, 1, -1, 2, 9, -9, 99, 255, 256, 2**31, 2**63, 2**64, 10**400, -(10**400), 0.0,
    -0.0, 0.5, 1e-300, 5e-324, 1e300, 1.7e308, math.inf, -math.inf, math.nan,
)  # fmt: skip
OTHERS = (
    None, True, False, math.nan, Decimal("1.5"), Decimal("NaN"), b"a", 1j, (1, 2), [1],
    {"a": 1}, datetime.date(2020, 1, 2), datetime.datetime(1, 1, 1),
    datetime.timedelta(days=1), np.float32(0.1), np.int8(-1), np.bool_(True),
    np.datetime64("NaT"), np.datetime64("2020-01-01"), object(), type,
)  # fmt: skip
POOLS: tuple[tuple[Any, ...], ...] = (WORDS, NUMBERS, OTHERS)


def prepare() -> None:
    """Nothing is needed."""


def attempt(rng: np.random.Generator) -> str:
    n_rows = int(rng.choice([0, 1, 2, 3, 8, 30]))
    columns = {_name(rng, j): _column(rng, n_rows) for j in range(rng.integers(0, 6))}
    table = _shaped(columns, rng)
    options = _options(columns, n_rows, rng)
    data = bm.IncompleteData.from_table(table, **options)
    str(data), repr(data), str(data.summary())
    assert copy.deepcopy(data) == data
    given_back = data.to_table()
    if type(table) is dict:
        _check_given_back(table, given_back, _markers(options.get("missing")))
    else:
        assert len(given_back) == data.n_rows
    if data.n_rows and rng.random() < 0.1:
        result = bm.learn(data, time_limit=0.2, seed=1)
        observed = data.codes != 255
        assert (result.completed.codes[observed] == data.codes[observed]).all()
        assert math.isfinite(result.score)
        str(result.mended)
    return "read"


def _check_given_back(
    before: dict[str, list[Any]], after: dict[str, list[Any]], markers: list[Any]
) -> None:
    for name, column in after.items():  # but those that were dropped
        for old, new in zip(before[name], column, strict=True):
            is_missing = old != old or any(old == marker for marker in markers)
            same = (
                old is new or old == new or (is_missing and (new is None or new != new))
            )
            assert same, (name, old, new)


def _markers(missing: Any) -> list[Any]:
    return missing if isinstance(missing, list) else [missing]


def _name(rng: np.random.Generator, number: int) -> Any:
    if rng.random() < 0.8:
        return f"v{number}"
    return rng.choice(np.array([*WORDS, 0, 1.5, None, True], dtype=object))


def _column(rng: np.random.Generator, n_rows: int) -> list[Any]:
    if rng.random() < 0.5:  # a few plain labels
        pool: list[Any] = [["u", "v", "w", None], [0, 1, None], [0.5, 1.5, 2.5]][
            rng.integers(3)
        ]
    else:
        kinds = [POOLS[k] for k in rng.integers(3, size=rng.integers(1, 3))]
        every = [value for kind in kinds for value in kind]
        pool = [every[k] for k in rng.integers(len(every), size=rng.integers(1, 5))]
    return [pool[k] for k in rng.integers(len(pool), size=n_rows)]


def _shaped(columns: dict[Any, list[Any]], rng: np.random.Generator) -> Any:
    """Make a table of some kind, or leave the mapping where another cannot hold it."""
    kind = rng.integers(5)
    try:
        if kind == 1:
            import pandas as pd

            return pd.DataFrame(columns)
        if kind == 2 and _is_plain(columns):
            import polars as pl

            return pl.DataFrame(columns, strict=False)
        if kind == 3 and _is_plain(columns):
            import pyarrow as pa

            return pa.table(columns)
    except (KeyboardInterrupt, MemoryError):
        raise
    except BaseException:  # the panics of some libraries are no Exception
        return columns
    if kind == 4:
        array = np.empty((len(next(iter(columns.values()), [])), len(columns)), object)
        for j, column in enumerate(columns.values()):
            for i, value in enumerate(column):
                array[i, j] = value
        return array
    if columns and rng.random() < 0.02:
        next(iter(columns.values())).append("one more")
    return columns


def _is_plain(columns: dict[Any, list[Any]]) -> bool:
    """Tell whether values are plain: others may crash polars and pyarrow."""
    kinds = {type(value) for column in columns.values() for value in column}
    return kinds <= {str, int, float, bool, type(None)}


def _options(
    columns: dict[Any, list[Any]], n_rows: int, rng: np.random.Generator
) -> dict[str, Any]:
    name = next(iter(columns), "v0")
    every: dict[str, list[Any]] = {
        "states": [{name: ["u", "v", "w"]}, {name: []}, {"no": ["a"]}, 5],
        "missing": [None, ["u"], [-9], "a", 5],
        "weights": [
            np.ones(n_rows),
            [2] * n_rows,
            name,
            [1e300] * n_rows,
            "no",
            [None],
        ],
        "discretize": [
            None,
            "auto",
            {name: 2},
            {name: "auto"},
            {name: [0, 1]},
            {name: 0},
        ],
        "columns": [{name: "model"}, {name: "pass-through"}, {name: "drop"}, {name: 5}],
        "names": [["a", "b"], list("abcdef")[: len(columns)], 5],
        "normalise": [True, False, "x"],
        "max_numeric_states": [0, 1, 300, -1],
    }
    return {
        key: values[rng.integers(len(values))]
        for key, values in every.items()
        if rng.random() < 0.12
    }
