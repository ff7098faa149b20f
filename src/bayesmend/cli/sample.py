"""Draw rows from a network."""

from functools import partial
from typing import Annotated

from bayesmend.cli.options import Force, Net, SafeCsv, Seed, TableOut, option, read_net
from bayesmend.cli.terminal import check_outputs, write_through

__all__ = ["sample"]


def sample(
    net: Net,
    rows: Annotated[int, option("N", "Number of rows to draw.", min=0)],
    seed: Seed = None,
    out: TableOut = None,
    force: Force = False,
    safe_csv: SafeCsv = False,
) -> None:
    """Draw complete rows from a network, as CSV."""
    check_outputs([out], force=force, are_tables=True)
    drawn = read_net(net).sample(rows, seed=seed)
    write_through(out, partial(drawn.write_csv, safe=safe_csv))
