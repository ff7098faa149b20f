"""How to do the same again: the command that was given, and the call that equals it."""

import ast
import json
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bayesmend.cli.terminal import STREAM
from bayesmend.graph.constraints import Constraints

__all__ = ["calls_of"]


def calls_of(
    name: str,
    file: str | list[str],
    options: Mapping[str, Any],
    defaults: Mapping[str, Any],
) -> dict[str, str]:
    """Return the command line, if this is one, and the same as a call in Python.

    Options that have their defaults are left out of the call. Where one has no short
    form, or the table came from stdin, there is no call.

    Examples
    --------
    >>> options, defaults = {"seed": 1, "ess": None}, {"seed": None, "ess": None}
    >>> print(calls_of("learn", "table.csv", options, defaults)["python"])
    import bayesmend as bm
    <BLANKLINE>
    result = bm.learn("table.csv", seed=1)
    """
    calls = {}
    if "bayesmend" in Path(sys.argv[0]).parts[-2:]:
        calls["command"] = shlex.join(["bayesmend", *sys.argv[1:]])
    given = {
        option: text
        for option, value in options.items()
        if (text := _literal(value)) != _literal(defaults.get(option))
    }
    if file != STREAM and all(text is not None for text in given.values()):
        table = json.dumps(file, ensure_ascii=False)
        arguments = ", ".join(
            [table, *(f"{key}={text}" for key, text in given.items())]
        )
        call = f"result = bm.{name}({arguments})"
        calls["python"] = f"import bayesmend as bm\n\n{call}"
    return calls


def _literal(value: object) -> str | None:
    """Return a value as Python writes it; None if it has no such form."""
    if isinstance(value, Constraints):
        parts = {
            "required": value.required,
            "forbidden": value.forbidden,
            "tiers": value.tiers,
        }
        kept = {key: [list(names) for names in part] for key, part in parts.items()}
        value = {key: part for key, part in kept.items() if part} or None
    text = repr(value)
    try:
        ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return None
    return text
