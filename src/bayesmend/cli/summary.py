"""Describe a table."""

from bayesmend.cli.options import Json, Reading
from bayesmend.cli.terminal import print_json, say

__all__ = ["summary"]


def summary(*, json: Json = False, reading: Reading) -> None:
    """Describe a table: variables, states and missing cells.

    The patterns are the sets of variables that are missing together in a row.
    """
    report = reading.table().summary()
    if json:
        print_json(report.to_dict())
    else:
        say(str(report))
