"""Where the benchmarks take networks, tables and samples from."""

import os
import sys
from pathlib import Path

from bayesmend import IncompleteData
from bayesmend.errors import DataError
from experiments.data import VARIABLE, DataFolder

ROOT = Path(__file__).parents[1]
DEFAULT = ROOT.parent / "shared" / "data"


def parse_arguments(parser, arguments):
    """Parse arguments, with --data for the folder of data."""
    parser.add_argument(
        "--data",
        metavar="DIR",
        help=f"folder of data; {VARIABLE} or ../shared/data by default",
    )
    given = parser.parse_args(arguments)
    if given.data:
        os.environ[VARIABLE] = given.data
    return given


def data_folder():
    return DataFolder.find() if VARIABLE in os.environ else DataFolder(DEFAULT)


def load_network(name):
    try:
        return data_folder().network(name)
    except DataError as error:
        sys.exit(f"Error: {error}")


def load_sample(name, n_rows, *, seed=1, frame=False):
    """Sample rows of a network; with `frame`, as if they had come from pandas."""
    data = load_network(name).sample(n_rows, seed=seed)
    if not frame:
        return data
    labels = [list(map(str, states)) for states in data.states]
    return IncompleteData.from_table(frame_of(data.codes, data.names, labels))


def frame_of(codes, names, labels):
    """A data frame of categories."""
    import pandas as pd

    columns = {
        str(name): pd.Categorical.from_codes(column, states)
        for name, column, states in zip(names, codes.T, labels, strict=True)
    }
    return pd.DataFrame(columns)
