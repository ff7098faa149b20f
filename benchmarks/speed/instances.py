"""Where the benchmarks take their networks and samples from."""

import os
import sys
from pathlib import Path

from bayesmend import IncompleteData, read_network

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("BAYESMEND_DATA", ROOT.parent / "shared" / "data"))


def network_path(name):
    for suffix in (".bif.gz", ".bif"):
        path = DATA / "networks" / (name + suffix)
        if path.exists():
            return path
    sys.exit(
        f"network {name!r} not found in {DATA / 'networks'}. "
        "Set BAYESMEND_DATA to a folder with networks/*.bif of the bnlearn repository."
    )


def load_sample(name, n_rows, *, seed=1, frame=False):
    """Sample rows of a network; with `frame`, as if they had come from pandas."""
    data = read_network(network_path(name)).sample(n_rows, seed=seed)
    if not frame:
        return data
    import pandas as pd

    columns = {
        name: pd.Categorical.from_codes(codes, [str(s) for s in states])
        for name, states, codes in zip(
            data.names, data.states, data.codes.T, strict=True
        )
    }
    return IncompleteData.from_table(pd.DataFrame(columns))
