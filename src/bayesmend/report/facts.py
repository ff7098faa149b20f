"""What is known of a result in plain types: the contents of ``result.json``."""

import math
from collections.abc import Mapping
from typing import Any

from bayesmend.learning.result import LearnResult
from bayesmend.report.observed import digest_of
from bayesmend.report.reading import reading_facts

__all__ = ["facts_of", "finite"]


def facts_of(
    result: LearnResult,
    options: Mapping[str, Any] | None = None,
    calls: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return what is known about a result in plain types, ready for JSON.

    Parameters
    ----------
    result : LearnResult
        What `learn` returned.
    options : mapping, optional
        The options that led to it.
    calls : mapping of str to str, optional
        How to do it again: a ``command``, a call in ``python``.

    Examples
    --------
    >>> import bayesmend as bm
    >>> result = bm.learn({"a": [0, 1, 0, 1], "b": [0, 1, None, 1]}, seed=1)
    >>> facts = facts_of(result, {"seed": 1})
    >>> facts["n_rows"], facts["options"], len(facts["table_digest"])
    (4, {'seed': 1}, 64)
    """
    from bayesmend import __version__

    return {
        **result.to_dict(),
        "n_rows": result.completed.n_rows,
        **reading_facts(result.completed),
        **({} if options is None else {"options": dict(options)}),
        **({} if calls is None else {"again": dict(calls)}),
        "table_digest": digest_of(result.incomplete),
        "version": __version__,
    }


def finite(value: Any) -> Any:
    """Return what JSON knows: null for other numbers, the text of other values.

    Examples
    --------
    >>> finite({"score": [1.5, float("inf")], "table": {1: 2 + 3j}})
    {'score': [1.5, None], 'table': {'1': '(2+3j)'}}
    """
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return value if isinstance(value, str | int) or value is None else str(value)
