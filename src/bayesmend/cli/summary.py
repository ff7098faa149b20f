"""Describe a table."""

from typing import Annotated

from bayesmend.cli.options import Json, Reading, flag
from bayesmend.cli.terminal import print_json, say
from bayesmend.learning.mechanism.innocence import innocence

__all__ = ["summary"]


def summary(
    *,
    mechanism: Annotated[
        bool,
        flag(
            "--mechanism",
            "Test whether cells can be missing completely at random, too.",
        ),
    ] = False,
    json: Json = False,
    reading: Reading,
) -> None:
    """Describe a table: variables, states and missing cells.

    The patterns are the sets of variables that are missing together in a row.
    """
    table = reading.table()
    report = table.summary()
    tests = innocence(table, seed=1) if mechanism else None
    if json:
        more = {} if tests is None else {"mechanism": tests.to_dict()}
        print_json({**report.to_dict(), **more})
    else:
        say(str(report) if tests is None else f"{report}\n\n{tests}")
