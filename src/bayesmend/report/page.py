"""One self-contained page about a result."""

import base64
import hashlib
import math
import os
import re
from collections import Counter
from collections.abc import Mapping
from functools import cache
from typing import Any

from bayesmend._checks import check_mapping, got
from bayesmend._entrance import entrance
from bayesmend._files import write_text
from bayesmend.data.mended import MendedSummary
from bayesmend.data.states import listing, quantity
from bayesmend.data.table import IncompleteData
from bayesmend.drawing.graph import draw_graph
from bayesmend.drawing.text import escape
from bayesmend.errors import ParameterError
from bayesmend.learning.ensemble.result import Ensemble
from bayesmend.learning.mechanism.innocence import brief_innocence
from bayesmend.learning.mechanism.result import LABELS
from bayesmend.learning.result import LearnResult, check_result, comparable
from bayesmend.learning.saved import saved
from bayesmend.learning.sensitivity import sensitivity
from bayesmend.learning.support import unsupported_in_words
from bayesmend.report.again import again_section
from bayesmend.report.chart import draw_trace
from bayesmend.report.contents import contents_of
from bayesmend.report.facts import facts_of, finite
from bayesmend.report.held import held_out_section
from bayesmend.report.missing import draw_missing, missing_table, together_table
from bayesmend.report.reading import reading_facts
from bayesmend.report.tables import (
    arc_table,
    cell_table,
    column_table,
    innocence_table,
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
from bayesmend.validation import Comparison
from bayesmend.view import script, style
from bayesmend.view.packed import as_json

__all__ = ["render_report", "write_report"]

# Tilts of log-odds, and for how many variables they are shown.
_TILT, _MOST_TILTED = (-2.0, 2.0), 8
_MOST_NAMES, _FEW_TABLES = 8, 12
_MOST_DRAWN = 80  # variables of the picture that needs no script


@entrance
def write_report(
    result: LearnResult,
    path: str | os.PathLike[str],
    *,
    title: str = "Network and mended table",
    notes: Mapping[str, str] | None = None,
    options: Mapping[str, Any] | None = None,
    calls: Mapping[str, str] | None = None,
    validation: Comparison | None = None,
) -> None:
    """Write a page about a result that can be asked.

    The page is one HTML file that needs no other and no connection. It shows what was
    missing and what fills it, the network with its probabilities, and how good both are
    known to be. In a browser the network can be moved and searched, states can be set,
    and every mended cell says what speaks for and against it. `read_result` reads the
    result back from it.

    Parameters
    ----------
    result : LearnResult
        What `learn` returned.
    path : str or path
        The file to write; it appears whole or not at all.
    title : str
        Heading of the page.
    notes : mapping of str to str, optional
        Further facts to show at the top.
    options : mapping, optional
        The options that led to the result, to show how to get it again.
    calls : mapping of str to str, optional
        What was typed: a ``command`` for a terminal, a call in ``python``.
    validation : Comparison, optional
        What `cross_validate` found on the same table, to show how often filled cells
        are right, and whether their probabilities can be believed.

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
    page = render_report(
        result,
        title=title,
        notes=notes,
        options=options,
        calls=calls,
        validation=validation,
    )
    write_text(path, page)


@entrance
def render_report(
    result: LearnResult,
    *,
    title: str = "Network and mended table",
    notes: Mapping[str, str] | None = None,
    options: Mapping[str, Any] | None = None,
    calls: Mapping[str, str] | None = None,
    validation: Comparison | None = None,
) -> str:
    """Return the text of the page that `write_report` writes."""
    from bayesmend import __version__

    check_result(result)
    _check_title(title)
    if notes is not None:
        check_mapping("notes", notes, "{'source': 'survey of 2021'}")
    if options is not None:
        check_mapping("options", options, "{'seed': 1}")
    if calls is not None:
        check_mapping("calls", calls, "{'python': 'bm.learn(table, seed=1)'}")
    _check_validation(validation)
    known = finite(facts_of(result, options, calls))
    mended, observed = result.mended, result.incomplete
    sections = {
        "data": ("Your data", _data(result, observed, mended)),
        "network": ("Network", _network(result)),
        "ask": ("Ask", _ask(result)),
        "cells": ("Mended cells", _cells(result)),
        "good": (
            "How good",
            _certificate(result)
            + _facts(result)
            + (held_out_section(validation) if validation is not None else "")
            + _confidences(result)
            + _search(result),
        ),
        "again": ("Do it again", again_section(known)),
    }
    shown = {key: section for key, section in sections.items() if section[1]}
    body = [
        _header(result, title, notes or {}),
        "<main>",
        _warnings(result, mended),
        _done(result),
        _navigation(shown),
        *(
            f'<section id="{key}"><h2>{name}</h2>{content}</section>'
            for key, (name, content) in shown.items()
        ),
        "</main>",
        f"<footer>Made by bayesmend {escape(__version__)}.</footer>",
    ]
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_policy()}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_style()}</style>\n</head>\n<body>\n"
        + _with_classes("\n".join(part for part in body if part))
        + f"\n{_json('bayesmend-data', contents_of(result, mended))}"
        + f"\n{_json('bayesmend-result', known)}"
        + f"\n{_json('saved', saved(result))}"
        + f'\n<script type="module">{_script()}</script>\n</body>\n</html>\n'
    )


@cache
def _script() -> str:
    return script(["report"])


@cache
def _style() -> str:
    lengths = "".join(f".p{k}{{--p:{k / 100:g}}}" for k in range(101))
    return f"{style('report', 'view')}\n{lengths}\n"


def _json(name: str, value: object) -> str:
    """Hold values in the page as data, which nothing executes."""
    return f'<script type="application/json" id="{name}">{as_json(value)}</script>'


def _with_classes(text: str) -> str:
    """Let bars have their lengths by classes: style attributes have no hash.

    Examples
    --------
    >>> _with_classes('<td class="n bar" style="--p:0.123">')
    '<td class="n bar p12">'
    """
    # Labels cannot match: their quotes are escaped.
    return re.sub(
        r'bar" style="--p:([\d.]+)"',
        lambda found: f'bar p{min(100, round(100 * float(found[1])))}"',
        text,
    )


def _policy() -> str:
    """Allow this page's own script and style, and nothing from elsewhere."""
    rules = {
        "default-src": "'none'",
        "script-src": f"'sha256-{_hash(_script())}'",
        "style-src": f"'sha256-{_hash(_style())}'",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return "; ".join(f"{name} {source}" for name, source in rules.items())


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _navigation(sections: Mapping[str, tuple[str, str]]) -> str:
    links = (
        f'<li><a href="#{key}">{name}</a></li>' for key, (name, _) in sections.items()
    )
    return f'<nav aria-label="Sections"><ul>{"".join(links)}</ul></nav>'


def _ask(result: LearnResult) -> str:
    who = ""
    if isinstance(result, Ensemble):
        who = (
            " It is the network shown that answers; <code>bayesmend query "
            "ensemble.json</code> gives the mean of all members."
        )
    return (
        '<p class="note">Click the states that you want to set: all other '
        f'distributions follow, exactly.{who}</p><div id="ask-view">'
        '<p class="note static">Asking needs the script of the page; '
        "<code>bayesmend query network.bif</code> answers the same.</p></div>"
    )


def _check_title(value: object) -> None:
    if not isinstance(value, str):
        msg = f"title must be text. {got(value)}"
        raise ParameterError(msg)


def _check_validation(value: object) -> None:
    if value is not None and not isinstance(value, Comparison):
        msg = f"validation must be what cross_validate returns. {got(value)}"
        raise ParameterError(msg)


def _header(result: LearnResult, title: str, notes: Mapping[str, str]) -> str:
    data = result.completed
    facts = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>"
        for name, value in notes.items()
    )
    return (
        f"<header><h1>{escape(title)}</h1>"
        f"<p>{quantity(data.n_rows, 'row')}, {quantity(data.n_vars, 'variable')}, "
        f"{mended_in_words(result)}{_empty_rows(result)}</p>"
        + (f"<dl>{facts}</dl>" if facts else "")
        + "</header>"
    )


def _done(result: LearnResult) -> str:
    """Say in two sentences what was done, and how sure it is."""
    n = len(result.cells)
    filled = f" and filled {quantity(n, 'missing cell')}" if n else ""
    how = (
        f"{_METHODS.get(result.method, result.method)} found this network of "
        f"{quantity(result.dag.n_arcs, 'arc')}{filled}."
    )
    return f'<p class="lead">{escape(how)} {escape(certificate(result))}</p>'


_METHODS = {
    "exact": "Exact search over structures and completions",
    "local": "Local search over structures and completions",
    "em": "Structural EM, which weighs all completions,",
    "em-hard": "Structural EM with most probable completions",
    "ensemble": "An ensemble of networks",
}


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
        f'<div class="certificate {kind}"><strong>{escape(title)}</strong>'
        f"<p>{escape(message)}</p></div>"
        for kind, found in (("alarm", told), ("open", _cautions(result)))
        for title, message in found
    )


def _cautions(result: LearnResult) -> list[tuple[str, str]]:
    """Say what a reader should know before trusting the rest."""
    told = []
    suspected = [
        why.variable for why in result.mechanism or () if why.label == LABELS[2]
    ]
    if suspected:
        message = (
            f"Whether cells of {listing(suspected, _MOST_NAMES)} are missing seems to "
            "depend on hidden values. What fills them allows for that as far as the "
            "table tells; see below what rests on it."
        )
        told.append(("Cells that are not missing at random", message))
    if ended := stopping(result):
        message = f"{ended[0].upper()}{ended[1:]} ended the search before it was done."
        told.append(("Ended early", message))
    schema = result.completed.schema
    if aside := () if schema is None else schema.of("pass-through"):
        are = "is" if len(aside) == 1 else "are"
        message = (
            f"{listing([column.name for column in aside], _MOST_NAMES)} {are} not part "
            "of the network; why is told below."
        )
        told.append(("Columns that are passed through", message))
    return told


def _certificate(result: LearnResult) -> str:
    kind = "proven" if result.is_optimal else "open"
    return (
        f'<div class="certificate {kind}"><strong>{escape(result.status)}</strong>'
        f"<p>{escape(certificate(result))}</p></div>"
    )


def _data(result: LearnResult, observed: IncompleteData, mended: MendedSummary) -> str:
    return (
        _missing(result, observed)
        + _mended(mended)
        + _mechanism(result)
        + _innocence(observed)
        + _reading(result)
        or '<p class="note">The table has no missing cell.</p>'
    )


def _missing(result: LearnResult, observed: IncompleteData) -> str:
    if observed.is_complete:
        return ""
    return (
        f"<h3>What is missing</h3>{missing_table(observed, result)}"
        f"<h3>Missing together</h3>{together_table(observed)}"
        '<div class="wide" tabindex="0" role="group" aria-label="Map of missing cells">'
        f"{draw_missing(observed)}</div>"
    )


def _mended(mended: MendedSummary) -> str:
    if not mended.variables:
        return ""
    return (
        '<h3>Observed against mended</h3><p class="note">The observed cells '
        "of each variable beside its mended ones, also within the levels of the "
        "variable that best predicts which cells are missing. Cells filled with their "
        "most probable states make frequent states more frequent; an alarm is a "
        "mended distribution that resembles no observed one.</p>"
        f"{mended_table(mended)}"
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
        '<h3>Why cells are missing</h3><p class="note">Innocent: nothing was '
        "found that missing cells depend on. Intervals hold with about 95 %, the "
        "parents being given. Told by the rest: how much of a missing state the other "
        "cells of its row tell; where that is little, a dependence on the state itself "
        "cannot be seen.</p>"
        f'{mechanism_table(found)}<p class="note">What rests on it: the share of each '
        "state in the table if the log-odds of being missing, given that state, were "
        "other than learned by so much; and bounds that hold whatever the reason.</p>"
        f"{sensitivity_table(tilted)}"
    )


def _innocence(table: IncompleteData) -> str:
    """Tell whether cells can be missing completely at random, by tests alone."""
    found = None if table.is_complete else brief_innocence(table)
    if found is None or not found.strongest:
        return ""
    verdict = "tenable" if found.is_tenable else "not tenable"
    some = f", in {found.n_rows:,} rows" if found.n_rows < table.n_rows else ""
    return (
        "<h3>Are cells missing at random?</h3>"
        '<p class="note">That all cells are missing completely at random is '
        f"<b>{verdict}</b>: p = {found.p_value:.2g}, by {found.n_permutations} "
        f"permutations{some}. Below, for each variable, the observed variable that its "
        "missing cells depend on most clearly: G-tests, corrected for the number of "
        "variables, with Cramer's V as their effect (0 for none, 1 where the one "
        "settles the other). These tests see only what is observed: cells that are "
        "missing because of what they hold show up as far as the others tell."
        f"</p>{innocence_table(found)}"
    )


def _facts(result: LearnResult) -> str:
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
    items = (
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>"
        for name, value in facts.items()
    )
    remarks = []
    if result.chosen is not None:
        remarks.append(f"The method auto chose {result.chosen}.")
    for words in (
        result.rows_in_words,
        ess_in_words(detail),
        others_in_words(detail),
    ):
        if words is not None:
            remarks.append(f"{words[0].upper()}{words[1:]}.")
    if "note" in detail:
        remarks.append(f"Note: {detail['note']}.")
    told = "".join(f'<p class="note">{escape(text)}</p>' for text in remarks)
    return f"<dl>{''.join(items)}</dl>{told}"


def _network(result: LearnResult) -> str:
    """Give the network: a drawing for paper, and where the scripts put theirs."""
    dag = result.dag
    counts = Counter(result.cells.variables.tolist())
    drawn = ""
    if dag.n_vars <= _MOST_DRAWN:
        graph = draw_graph(dag, [counts[v] for v in range(dag.n_vars)])
        drawn = f'<div class="wide static">{graph}</div>'
    legend = (
        '<p class="note">A dashed arc points the other way in an equivalent network: '
        "the data cannot tell its direction.</p>"
        if dag.cpdag().undirected
        else ""
    )
    gains = (
        '<p class="note">The gain of an arc is what the BDeu score (ess 1) of the '
        "completed table would lose without it.</p>"
    )
    tables = "".join(_folded_table(result, v) for v in range(dag.n_vars))
    if dag.n_vars > _FEW_TABLES:
        told = f"Tables of {dag.n_vars:,} variables"
        tables = f"<details><summary>{told}</summary>{tables}</details>"
    return (
        f'{drawn}<div id="network-view"></div>{legend}{gains * bool(dag.n_arcs)}'
        f"<h3>Probabilities</h3>{tables}"
    )


def _folded_table(result: LearnResult, v: int) -> str:
    """Fold a table of probabilities away; the script fills it in."""
    dag = result.dag
    given = ", ".join(escape(dag.names[p]) for p in dag.parents[v])
    return (
        f'<details data-table="{v}"><summary>{escape(dag.names[v])}'
        f"<span>{' | ' * bool(given)}{given}</span></summary></details>"
    )


def _confidences(result: LearnResult) -> str:
    if not isinstance(result, Ensemble):
        return ""
    n_networks = quantity(len(result.mixture.structures), "network")
    return (
        '<h3>How sure the arcs are</h3><p class="note">The share of '
        f"{n_networks} with an arc between two variables, and in this direction, with "
        "standard errors.</p>"
        f"{arc_table(result.arc_probabilities())}"
    )


def _cells(result: LearnResult) -> str:
    if len(result.cells) == 0:
        return ""
    return (
        f'<p class="note">{sureness(result).meaning} '
        "Rows count from 0, the header not counted. Choose a cell to see why.</p>"
        f'<div id="cells-view"></div>{_unsupported(result)}'
        '<div class="static"><p class="note">Cells alike share a line.</p>'
        f"{cell_table(result)}</div>"
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
        "<h3>How the table was read</h3>"
        + (f"<ul>{notes}</ul>" if notes else "")
        + (f'<p class="note">{escape(told.strip())}</p>' if told else "")
        + f"{column_table(facts['columns'])}"
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
    return f'<h3>Search</h3>{chart}<p class="note">{told}</p>'
