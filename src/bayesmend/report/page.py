"""One self-contained page about a result."""

import base64
import hashlib
import json
import math
import os
from collections import Counter
from collections.abc import Mapping

from bayesmend._checks import check_mapping, got
from bayesmend._entrance import entrance
from bayesmend._files import write_text
from bayesmend.data.mended import MendedSummary
from bayesmend.data.states import quantity
from bayesmend.drawing.graph import draw_graph
from bayesmend.drawing.text import escape
from bayesmend.errors import ParameterError
from bayesmend.learning.ensemble.result import Ensemble
from bayesmend.learning.mechanism.result import LABELS
from bayesmend.learning.result import LearnResult, check_result, comparable
from bayesmend.learning.saved import saved
from bayesmend.learning.sensitivity import sensitivity
from bayesmend.learning.support import unsupported_in_words
from bayesmend.report.chart import draw_trace
from bayesmend.report.reading import reading_facts
from bayesmend.report.style import SCRIPT, STYLE
from bayesmend.report.tables import (
    arc_table,
    cell_table,
    column_table,
    cpt_section,
    fillings,
    mechanism_table,
    mended_table,
    sensitivity_table,
    unsupported_table,
)
from bayesmend.report.words import (
    certificate,
    mended_in_words,
    number,
    stopping,
    sureness,
)
from bayesmend.structure.ess import ess_in_words
from bayesmend.structure.others import others_in_words

__all__ = ["render_report", "write_report"]

# Tilts of log-odds, and for how many variables they are shown.
_TILT, _MOST_TILTED = (-2.0, 2.0), 8


@entrance
def write_report(
    result: LearnResult,
    path: str | os.PathLike[str],
    *,
    title: str = "Network and mended table",
    notes: Mapping[str, str] | None = None,
) -> None:
    """Write a page about a result: certificate, network, mended cells, tables, trace.

    The page is one HTML file that needs no other and no connection. `read_result`
    reads the result back from it.

    Parameters
    ----------
    result : LearnResult
        What `learn` returned.
    path : str or path
        The file to write; it appears whole or not at all.
    title : str
        Heading of the page.
    notes : mapping of str to str, optional
        Further facts to show beside score and bound.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import bayesmend as bm
    >>> result = bm.learn({"a": [0, 1, 0, 1], "b": [0, 1, None, 1]}, seed=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     bm.write_report(result, f"{folder}/report.html")
    ...     Path(folder, "report.html").read_text().startswith("<!DOCTYPE html>")
    True
    """
    write_text(path, render_report(result, title=title, notes=notes))


@entrance
def render_report(
    result: LearnResult,
    *,
    title: str = "Network and mended table",
    notes: Mapping[str, str] | None = None,
) -> str:
    """Return the text of the page that `write_report` writes."""
    from bayesmend import __version__

    check_result(result)
    _check_title(title)
    if notes is not None:
        check_mapping("notes", notes, "{'source': 'survey of 2021'}")
    mended = result.mended
    body = [
        _header(result, title),
        _warnings(result, mended),
        _certificate(result),
        _facts(result, notes or {}),
        _network(result),
        _confidences(result),
        _mended(mended),
        _mechanism(result),
        _cells(result),
        _tables(result),
        _reading(result),
        _search(result),
        f"<footer>Made by bayesmend {escape(__version__)}.</footer>",
    ]
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_policy()}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(part for part in body if part)
        + f"\n{_saved(result)}\n<script>{SCRIPT}</script>\n</body>\n</html>\n"
    )


def _saved(result: LearnResult) -> str:
    """Keep the result itself in the page, for `read_result`: data, no script."""
    text = json.dumps(saved(result))
    return f'<script type="application/json" id="saved">{text}</script>'


def _policy() -> str:
    """Allow this page's own script, and nothing from elsewhere."""
    digest = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
    # Bars carry their length in style attributes, for which there is no hash.
    rules = {
        "default-src": "'none'",
        "script-src": f"'sha256-{digest}'",
        "style-src": "'unsafe-inline'",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return "; ".join(f"{name} {source}" for name, source in rules.items())


def _check_title(value: object) -> None:
    if not isinstance(value, str):
        msg = f"title must be text. {got(value)}"
        raise ParameterError(msg)


def _header(result: LearnResult, title: str) -> str:
    data = result.completed
    return (
        f"<header><h1>{escape(title)}</h1>"
        f"<p>{quantity(data.n_rows, 'row')}, {quantity(data.n_vars, 'variable')}, "
        f"{mended_in_words(result)}{_empty_rows(result)}</p>"
        "</header>"
    )


def _empty_rows(result: LearnResult) -> str:
    if not result.n_empty_rows or result.completed.is_complete:
        return ""
    return f", {quantity(result.n_empty_rows, 'row')} without any left missing"


def _warnings(result: LearnResult, mended: MendedSummary) -> str:
    """Say first what nobody should miss."""
    told = []
    if (message := unsupported_in_words(result)) is not None:
        told.append(("No observed example", message))
    if mended.alarms:
        message = (
            f"The mended cells of {', '.join(mended.alarms)} resemble no observed "
            "ones. Compare the distributions below before you use them."
        )
        told.append(("Mended cells unlike the observed", message))
    return "".join(
        f'<div class="certificate alarm"><strong>{escape(title)}</strong>'
        f"<p>{escape(message)}</p></div>"
        for title, message in told
    )


def _certificate(result: LearnResult) -> str:
    kind = "proven" if result.is_optimal else "open"
    return (
        f'<div class="certificate {kind}"><strong>{escape(result.status)}</strong>'
        f"<p>{escape(certificate(result))}</p></div>"
    )


def _mended(mended: MendedSummary) -> str:
    if not mended.variables:
        return ""
    return (
        '<section><h2>Observed against mended</h2><p class="note">The observed cells '
        "of each variable beside its mended ones, also within the levels of the "
        "variable that best predicts which cells are missing. Cells filled with their "
        "most probable states make frequent states more frequent; an alarm is a "
        "mended distribution that resembles no observed one.</p>"
        f"{mended_table(mended)}</section>"
    )


def _mechanism(result: LearnResult) -> str:
    """Tell why cells are missing, where that was learned, and what rests on it."""
    found = result.mechanism
    if found is None or not len(found):
        return ""
    first = sorted(found, key=lambda why: (why.label == LABELS[0], -why.share))
    tilted = [
        sensitivity(result, why.variable, tilt=_TILT, n_tilts=3)
        for why in first[:_MOST_TILTED]
    ]
    return (
        '<section><h2>Why cells are missing</h2><p class="note">Innocent: nothing was '
        "found that missing cells depend on. Intervals hold with about 95 %, the "
        "parents being given. Told by the rest: how much of a missing state the other "
        "cells of its row tell; where that is little, a dependence on the state itself "
        "cannot be seen.</p>"
        f'{mechanism_table(found)}<p class="note">What rests on it: the share of each '
        "state in the table if the log-odds of being missing, given that state, were "
        "other than learned by so much; and bounds that hold whatever the reason.</p>"
        f"{sensitivity_table(tilted)}</section>"
    )


def _facts(result: LearnResult, notes: Mapping[str, str]) -> str:
    detail = result.detail
    facts = {
        "score": number(result.score),
        "upper bound": number(result.bound),
        "gap": number(result.gap) + (" nats" if math.isfinite(result.gap) else ""),
        "arcs": str(result.dag.n_arcs),
        "method": result.method,
        "time": f"{result.seconds:.3g} s",
    }
    if result.log_likelihood is not None:
        facts["log-likelihood"] = number(result.log_likelihood)
    for key, name in (("nodes", "nodes"), ("starts", "starts")):
        if detail.get(key) is not None:
            facts[name] = f"{detail[key]:,}"
    ended = stopping(result)
    if ended:
        facts["stopped by"] = ended
    facts |= {str(name): str(value) for name, value in notes.items()}
    items = (
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>"
        for name, value in facts.items()
    )
    remarks = []
    if result.chosen is not None:
        remarks.append(f"The method auto chose {result.chosen}.")
    for words in (ess_in_words(detail), others_in_words(detail)):
        if words is not None:
            remarks.append(f"{words[0].upper()}{words[1:]}.")
    if "note" in detail:
        remarks.append(f"Note: {detail['note']}.")
    told = "".join(f'<p class="note">{escape(text)}</p>' for text in remarks)
    return f"<dl>{''.join(items)}</dl>{told}"


def _network(result: LearnResult) -> str:
    counts = Counter(result.cells.variables.tolist())
    mended = [counts[v] for v in range(result.dag.n_vars)]
    has_either = bool(result.dag.cpdag().undirected)
    legend = (
        '<p class="note">A dashed arc points the other way in an equivalent network: '
        "the data cannot tell its direction.</p>"
        if has_either
        else ""
    )
    graph = draw_graph(result.dag, mended)
    return f'<section><h2>Network</h2><div class="wide">{graph}</div>{legend}</section>'


def _confidences(result: LearnResult) -> str:
    if not isinstance(result, Ensemble):
        return ""
    n_networks = quantity(len(result.mixture.structures), "network")
    return (
        '<section><h2>How sure the arcs are</h2><p class="note">The share of '
        f"{n_networks} with an arc between two variables, and in this direction, with "
        "standard errors.</p>"
        f"{arc_table(result.arc_probabilities())}</section>"
    )


def _cells(result: LearnResult) -> str:
    if len(result.cells) == 0:
        return ""
    return (
        f'<section><h2>Mended cells</h2><p class="note">{sureness(result).meaning} '
        "Rows count from 0, the header not counted; cells alike share a line.</p>"
        f"{_unsupported(result)}{fillings(result)}{cell_table(result)}</section>"
    )


def _unsupported(result: LearnResult) -> str:
    if result.cells.n_unsupported == 0:
        return ""
    return (
        '<h3>Without an observed example</h3><p class="note">No observed row shows '
        "these states together with those of the parents or children of the variable. "
        "What is filled in is carried over from other rows.</p>"
        + unsupported_table(result)
    )


def _tables(result: LearnResult) -> str:
    network = result.network
    sections = "".join(cpt_section(network, v) for v in range(network.n_vars))
    return f"<section><h2>Probabilities</h2>{sections}</section>"


def _reading(result: LearnResult) -> str:
    """Say what was made of the table, so that a reader can judge all the rest."""
    facts = reading_facts(result.completed)
    if not facts["columns"]:
        return ""
    notes = "".join(f"<li>{escape(note)}.</li>" for note in facts["notes"])
    markers = [
        f"{marker or 'empty'} ({count:,})"
        for marker, count in facts["missing_markers"].items()
    ]
    told = "Columns that are passed through come back as they were." * any(
        column["role"] == "pass-through" for column in facts["columns"]
    )
    if markers:
        told += f" Missing cells were written as: {', '.join(markers)}."
    return (
        "<section><h2>How the table was read</h2>"
        + (f"<ul>{notes}</ul>" if notes else "")
        + (f'<p class="note">{escape(told.strip())}</p>' if told else "")
        + f"{column_table(facts['columns'])}</section>"
    )


def _search(result: LearnResult) -> str:
    trace = [step for step in comparable(result) if math.isfinite(step.score)]
    if not trace:
        return ""
    chart = draw_trace(trace, result.bound, result.seconds)
    told = (
        "Observed-data score of the best network over time (logarithmic), a point per "
        "structure whose parameters were fitted."
        if result.log_likelihood is not None
        else "Score of the best pair of network and completion over time (logarithmic),"
        " a point per accepted move; the dashed line is the upper bound, where it is "
        "near."
    )
    return f'<section><h2>Search</h2>{chart}<p class="note">{told}</p></section>'
