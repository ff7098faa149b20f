"""Results as files: all that a result knows, packed into JSON, and read back.

What `saved` returns stands under the key ``saved`` of a ``result.json``, and as JSON in
a report page. Its ``content`` is JSON once more, packed by gzip and written in base64:
networks as in their own files, the codes of the completed table, the mended cells, the
trace. The rest of a ``result.json`` is for people and scripts, and not read here.
"""

from __future__ import annotations

import base64
import binascii
import gzip
import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from bayesmend._entrance import entrance
from bayesmend._files import PathLike, file_suffix, is_folder, unpack, write_text
from bayesmend.data.cells import CompletedCells
from bayesmend.data.sources import Origin
from bayesmend.data.table import IncompleteData
from bayesmend.errors import BayesmendError, DataError, ParameterError
from bayesmend.formats import ensemble as ensemble_format
from bayesmend.formats import json as json_format
from bayesmend.formats.text import Source, read_source
from bayesmend.learning.ensemble.result import Ensemble
from bayesmend.learning.mechanism.result import LearnedMechanism, MissingCells
from bayesmend.learning.result import LearnResult, Step, check_result
from bayesmend.network.network import Network
from bayesmend.outcome import Certificate, Stopped

__all__ = ["FORMAT", "VERSION", "read_result", "saved", "write_result"]

FORMAT = "bayesmend-result"
VERSION = 1
FILE = "result.json"
"""What a result is called in its folder."""

_IN_PAGE = re.compile(
    r'<script type="application/json" id="saved">\s*(\{.*?\})\s*</script>', re.DOTALL
)
# Of gzip: higher ones take long for the digits of many cells, and gain little.
_LEVEL = 6
_PLAIN = ("method", "chosen", "locality", "log_likelihood", "score", "bound", "seconds")
_NEWER = ("structure_rows",)  # which files of earlier versions lack
_POSITIONS = {
    "rows": np.intp,
    "variables": np.intp,
    "codes": np.uint8,
    "runners_up": np.uint8,
    "tables": np.intp,
}
_MEASURES = ("probabilities", "margins")


@entrance
def write_result(result: LearnResult, path: PathLike) -> None:
    """Write all that a result knows to one file.

    Parameters
    ----------
    result : LearnResult
        What `learn` returned.
    path : str or path
        A file ending in ``.json`` or ``.json.gz``; one of that name is replaced as a
        whole or not at all.

    Examples
    --------
    >>> import tempfile
    >>> import bayesmend as bm
    >>> result = bm.learn({"a": [0, 1, 0, 1], "b": [0, 1, None, 1]}, seed=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     bm.write_result(result, f"{folder}/result.json")
    ...     again = bm.read_result(f"{folder}/result.json")
    >>> again.network == result.network, again.score == result.score
    (True, True)
    """
    check_result(result)
    _require_suffix(path, (".json",))
    facts = {**result.to_dict(), "saved": saved(result)}
    write_text(path, json.dumps(facts, indent=2, ensure_ascii=False) + "\n")


@entrance
def read_result(path: PathLike) -> LearnResult:
    """Read a result that was written to a file or a folder.

    Parameters
    ----------
    path : str or path
        What `write_result` or `write_report` has written, or the folder that
        ``bayesmend learn`` has made.

    Returns
    -------
    LearnResult
        Of an ensemble an `Ensemble`. The completed table holds the variables alone, as
        labels: other columns of the table that was read, and numbers that were cut,
        are not kept.

    Raises
    ------
    DataError
        When the file holds no result, or one that was changed.
    """
    place = Path(path) / FILE if is_folder(Path(path)) else Path(path)
    _require_suffix(place, (".json", ".html", ".htm"))
    source = read_source(place)
    text = source.text
    if file_suffix(place) != ".json":
        found = _IN_PAGE.search(text)
        if found is None:
            _refuse(source.name, "the page holds none")
        text = found[1]
    try:
        document = json.loads(text)
    except (RecursionError, ValueError):
        _refuse(source.name, "it is not valid JSON")
    if isinstance(document, dict) and "format" not in document:
        if "saved" not in document:
            _refuse(source.name, "it holds facts alone")
        document = document["saved"]
    return _restored(document, source.name)


def _require_suffix(path: PathLike, known: tuple[str, ...]) -> None:
    if file_suffix(path) not in known:
        msg = f"a result is kept as {' or '.join(known)}. Got {str(path)!r} instead."
        raise ParameterError(msg)


def _refuse(name: str, why: str) -> NoReturn:
    msg = (
        f"{name!r} is no saved result: {why}. Name a result.json of bayesmend learn or "
        "of write_result, its folder, or a report page."
    )
    raise DataError(msg) from None


# --- from a result --------------------------------------------------------------------


def saved(result: LearnResult) -> dict[str, Any]:
    """Return a result as JSON: format, version, and all of it, packed."""
    text = json.dumps(_contents(result), ensure_ascii=False, allow_nan=False)
    plain = text.encode("utf-8", "surrogatepass")
    packed = gzip.compress(plain, compresslevel=_LEVEL, mtime=0)
    content = base64.b64encode(packed).decode("ascii")
    return {"format": FORMAT, "version": VERSION, "content": content}


def _contents(result: LearnResult) -> dict[str, Any]:
    table, mechanism = result.completed, result.mechanism
    contents: dict[str, Any] = {
        "network": json_format.render(result.network),
        "certificate": result.certificate.value,
        "stopped": result.stopped.value,
        "detail": _finite(dict(result.detail)),
        "trace": [
            [*_finite(step[:4]), list(step.log_likelihood)] for step in result.trace
        ],
        "mechanism": None if mechanism is None else _finite(mechanism.to_dict()),
        "table": {
            "n_rows": table.n_rows,
            "codes": base64.b64encode(table.codes.tobytes("F")).decode("ascii"),
            "weights": None if table.weights is None else table.weights.tolist(),
            "notes": list(table.notes),
            "markers": [list(pair) for pair in table.origin.marker_counts],
            "has_schema": table.schema is not None,
        },
        "cells": _cells_of(result.cells),
    }
    contents |= {name: _finite(getattr(result, name)) for name in (*_PLAIN, *_NEWER)}
    if isinstance(result, Ensemble):
        contents["mixture"] = ensemble_format.render(result.mixture)
    return contents


def _cells_of(cells: CompletedCells) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for name in (*_POSITIONS, *_MEASURES, "supported", "row_labels"):
        values = getattr(cells, name)
        if values is not None:
            is_plain = values.dtype != object and np.isfinite(values).all()
            kept[name] = values.tolist() if is_plain else _finite(values.tolist())
    return kept


def _finite(value: Any) -> Any:
    """Make it JSON: numbers that are none become text, what is unknown to it, too."""
    if isinstance(value, float):
        return value if math.isfinite(value) else {"number": str(value)}
    if isinstance(value, Mapping):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if isinstance(value, np.generic | np.ndarray):
        return _finite(value.tolist())
    return value if value is None or isinstance(value, str | int) else str(value)


# --- and back -------------------------------------------------------------------------


def _restored(document: Any, name: str) -> LearnResult:
    for key, wanted in (("format", FORMAT), ("version", VERSION)):
        given = document.get(key) if isinstance(document, dict) else None
        if given != wanted:
            _refuse(name, f"{key} must be {wanted!r}, and is {given!r}")
    try:
        packed = base64.b64decode(document["content"], validate=True)
        contents = json.loads(unpack(packed, name), object_hook=_number)
        return _result_of(contents, name)
    except (BayesmendError, gzip.BadGzipFile, binascii.Error) as error:
        _refuse(name, str(error).rstrip("."))
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        _refuse(name, "its content was changed")
    except RecursionError:
        _refuse(name, "its content is too deeply nested")


def _number(read: dict[str, Any]) -> Any:
    return float(read["number"]) if read.keys() == {"number"} else read


def _result_of(contents: dict[str, Any], name: str) -> LearnResult:
    network = json_format.parse(contents["network"], name)
    table = _table_of(contents["table"], network)
    fields: dict[str, Any] = {key: contents[key] for key in _PLAIN}
    fields |= {key: contents.get(key) for key in _NEWER}
    fields |= {
        "network": network,
        "completed": table,
        "cells": _restored_cells(contents["cells"], table),
        "certificate": Certificate(contents["certificate"]),
        "stopped": Stopped(contents["stopped"]),
        "detail": dict(contents["detail"]),
        "trace": tuple(_step_of(step) for step in contents["trace"]),
        "mechanism": _mechanism_of(contents["mechanism"], network),
    }
    _check_fields(fields)
    if "mixture" not in contents:
        return LearnResult(**fields)
    mixture = ensemble_format.parse(Source(contents["mixture"], name))
    if mixture.names != network.names or mixture.states != network.states:
        raise ValueError
    return Ensemble(mixture=mixture, **fields)


def _check_fields(fields: dict[str, Any]) -> None:
    """Raise unless each has the type that is promised of it."""
    texts = [fields["method"], fields["chosen"] or ""]
    numbers = [fields["score"], fields["bound"], fields["seconds"]]
    numbers.append(fields["log_likelihood"] or 0.0)
    whole = [fields["locality"], fields["structure_rows"]]
    if not all(isinstance(text, str) for text in texts):
        raise TypeError
    if not all(isinstance(n, int | float) for n in numbers):
        raise TypeError
    if not all(number is None or isinstance(number, int) for number in whole):
        raise TypeError


def _table_of(kept: dict[str, Any], network: Network) -> IncompleteData:
    n_rows = int(kept["n_rows"])
    content = base64.b64decode(kept["codes"], validate=True)
    codes = np.frombuffer(content, np.uint8).reshape(
        (n_rows, network.n_vars), order="F"
    )
    weights, schema = kept["weights"], network.schema if kept["has_schema"] else None
    markers = tuple((str(text), int(count)) for text, count in kept["markers"])
    return IncompleteData(
        network.names,
        network.states,
        codes,
        weights=None if weights is None else np.array(weights, float),
        origin=replace(Origin(), marker_counts=markers),
        discretization=None if schema is None else schema.discretization,
        schema=schema,
        notes=tuple(map(str, kept["notes"])),
    )


def _restored_cells(kept: dict[str, Any], table: IncompleteData) -> CompletedCells:
    arrays: dict[str, NDArray[Any]] = {}
    makers: dict[str, Callable[[Any], NDArray[Any]]] = {
        **{name: _whole(kind) for name, kind in _POSITIONS.items()},
        **{name: lambda listed: np.array(listed, float) for name in _MEASURES},
        "supported": lambda listed: np.array(listed, bool),
        "row_labels": _objects,
    }
    for name, make in makers.items():
        if name in kept:
            arrays[name] = make(kept[name])
    sizes = {values.shape for values in arrays.values()}
    if sizes != {(len(arrays["rows"]),)}:
        raise ValueError
    card = np.array([len(labels) for labels in table.states], int)
    limits = {"rows": table.n_rows, "variables": table.n_vars}
    for name, limit in limits.items():
        if (
            len(arrays[name])
            and not 0 <= arrays[name].min() <= arrays[name].max() < limit
        ):
            raise ValueError
    for name in ("codes", "runners_up"):
        if (arrays[name] >= card[arrays["variables"]]).any():
            raise ValueError
    return CompletedCells(names=table.names, states=table.states, **arrays)


def _whole(kind: Any) -> Callable[[Any], NDArray[Any]]:
    def make(listed: Any) -> NDArray[Any]:
        whole = np.array([int(value) for value in listed], np.intp)
        if len(whole) and not 0 <= whole.min() <= whole.max() <= np.iinfo(kind).max:
            raise ValueError
        return whole.astype(kind)

    return make


def _objects(listed: Any) -> NDArray[np.object_]:
    labels = np.empty(len(listed), object)
    labels[:] = listed
    return labels


def _step_of(kept: list[Any]) -> Step:
    score, kind, seconds, n_arcs, log_likelihood = kept
    found = tuple(map(float, log_likelihood))
    n_arcs = None if n_arcs is None else int(n_arcs)
    return Step(float(score), str(kind), float(seconds), n_arcs, found)


def _mechanism_of(kept: Any, network: Network) -> LearnedMechanism | None:
    if kept is None:
        return None
    variables = []
    for plain in kept["variables"]:
        known = {
            **plain,
            "parents": tuple(plain["parents"]),
            "configurations": tuple(map(tuple, plain["configurations"])),
            **{key: np.array(plain[key], float) for key in _INTERVALS},
        }
        if not {known["variable"], *known["parents"]} <= set(network.names):
            raise ValueError
        variables.append(MissingCells(**known))
    return LearnedMechanism(tuple(variables), float(kept["gain"]), kept["note"])


_INTERVALS = ("probabilities", "lower", "upper")
