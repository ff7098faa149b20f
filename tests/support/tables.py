"""Tables made for a test, of every kind, and the errors that reading them gives."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from bayesmend import IncompleteData
from bayesmend.errors import DataError

MAKERS = {
    "mapping": dict,
    "pandas": pd.DataFrame,
    "object": lambda table: pd.DataFrame(table).astype(object),
    "polars": pl.DataFrame,
    "arrow": pa.table,
}
make_table = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())


def write_csv(path, columns, n_rows, seed=1):
    """Write a table of random labels; columns map names to labels with their shares."""
    generator = np.random.default_rng(seed)
    drawn = [
        generator.choice(list(shares), n_rows, p=list(shares.values()))
        for shares in columns.values()
    ]
    lines = [",".join(columns), *map(",".join, zip(*drawn, strict=True))]
    path.write_text("\n".join(lines) + "\n")


def fails(table, error=DataError, **options):
    """Return the message of the error that reading a table gives."""
    with pytest.raises(error) as caught:
        IncompleteData.from_table(table, **options)
    return str(caught.value)


def binary_table(n_rows=20_000, seed=0):
    """Three binary variables with labels of three types; about 30 % are state 1."""
    codes = np.random.default_rng(seed).random((n_rows, 3)) < 0.3
    return IncompleteData.from_codes(
        codes.astype(np.uint8),
        names=("smoke", "age", "flag"),
        states=(("no", "yes"), (20, 30), (False, True)),
    )
