"""Mended cells and conditional probabilities as HTML tables."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from bayesmend._columns import show_probability
from bayesmend.data.mended import MendedStratum, MendedSummary, MendedVariable
from bayesmend.drawing.text import escape
from bayesmend.graph.confidence import ArcProbabilities
from bayesmend.learning.mechanism.innocence import Innocence
from bayesmend.learning.mechanism.result import LearnedMechanism, MissingCells
from bayesmend.learning.result import LearnResult
from bayesmend.learning.sensitivity import Sensitivity
from bayesmend.network.network import Network
from bayesmend.network.tabulated import configurations
from bayesmend.report.words import (
    Alike,
    first_rows,
    least_certain,
    number,
    sureness,
)

__all__ = [
    "arc_table",
    "bar",
    "cell_table",
    "column_table",
    "cpt_section",
    "fillings",
    "innocence_table",
    "mechanism_table",
    "mended_table",
    "sensitivity_table",
    "table",
    "unsupported_table",
]

_MAX_KINDS = 100
_MAX_EDGES = 100
_MAX_ROWS = 8
_MAX_CONFIGS = 200
_MAX_STATES = 12
_MAX_COLUMNS = 200
_NO_EXAMPLE = ' <span class="unlike">no example</span>'


def cell_table(result: LearnResult) -> str:
    """Tabulate the mended cells, the least certain first."""
    every = least_certain(result)
    shown = every[:_MAX_KINDS]
    if not shown:
        return ""
    measure = sureness(result)
    most = max(measure.of(alike.cell) for alike in shown) or 1.0
    rows = [
        f"<tr><td>{escape(cell.variable)}</td><td>{escape(cell.state)}"
        f"{_NO_EXAMPLE if cell.supported is False else ''}</td>"
        f"<td>{escape(cell.runner_up)}</td>"
        f"<td {bar(measure.share(cell, most))}>"
        f'{number(measure.of(cell))}</td><td class="n">{len(rows):,}</td>'
        f'<td class="rows">{Alike(cell, rows).show_rows(_MAX_ROWS)}</td></tr>'
        for cell, rows in shown
    ]
    n_left = sum(len(alike.rows) for alike in every[_MAX_KINDS:])
    note = (
        f'<p class="note">{n_left:,} more cells, more certain, are not shown here.</p>'
        if n_left
        else ""
    )
    head = (
        "<tr><th>variable</th><th>mended as</th><th>runner-up</th>"
        f'<th class="n">{measure.name}</th><th class="n">cells</th><th>rows</th></tr>'
    )
    return table(head, rows, "The least certain mended cells first") + note


def column_table(columns: Sequence[Mapping[str, Any]]) -> str:
    """Tabulate what each column of the table was taken for."""
    rows = [
        f"<tr><td>{escape(column['name'])}</td><td>{_TAKEN_FOR[column['role']]}</td>"
        f"<td>{_explanation(column)}</td></tr>"
        for column in columns[:_MAX_COLUMNS]
    ]
    n_left = len(columns) - len(rows)
    note = f'<p class="note">{n_left:,} more columns are not shown.</p>'
    head = "<tr><th>column</th><th>taken for</th><th>intervals or reason</th></tr>"
    return table(head, rows, "What columns were taken for") + note * (n_left > 0)


_TAKEN_FOR = {
    "model": "variable",
    "cut": "variable, cut into intervals",
    "pass-through": "passed through, not modelled",
    "drop": "dropped",
    "weights": "row weights",
}


def _explanation(column: Mapping[str, Any]) -> str:
    return escape(", ".join(column.get("intervals", ())) or column["reason"])


def fillings(result: LearnResult) -> str:
    """Tabulate how often each state was filled in, variable by variable."""
    cells = result.cells
    rows = []
    for v, (name, states) in enumerate(zip(cells.names, cells.states, strict=True)):
        codes = cells.codes[cells.variables == v].tolist()
        if not codes:
            continue
        counts = ((states[k], codes.count(k)) for k in range(len(states)))
        parts = [f"{escape(s)} <b>{n:,}</b>" for s, n in counts if n]
        rows.append(
            f'<tr><td>{escape(name)}</td><td class="n">{len(codes):,}</td>'
            f"<td>{', '.join(parts)}</td></tr>"
        )
    head = '<tr><th>variable</th><th class="n">cells</th><th>mended as</th></tr>'
    return table(head, rows, "Mended cells by variable")


def unsupported_table(result: LearnResult) -> str:
    """Tabulate the mended cells without an observed example, by variable and state."""
    groups: dict[tuple[str, object], list[int]] = {}
    for cell in result.cells:
        if cell.supported is False:
            groups.setdefault((cell.variable, cell.state), []).append(cell.row)
    most_first = sorted(groups.items(), key=lambda group: -len(group[1]))
    rows = [
        f"<tr><td>{escape(variable)}</td><td>{escape(state)}</td>"
        f'<td class="n">{len(where):,}</td>'
        f'<td class="rows">{first_rows(where, _MAX_ROWS)}</td></tr>'
        for (variable, state), where in most_first[:_MAX_KINDS]
    ]
    head = (
        "<tr><th>variable</th><th>mended as</th>"
        '<th class="n">cells</th><th>rows</th></tr>'
    )
    return table(head, rows, "Mended cells without an observed example")


def mechanism_table(found: LearnedMechanism) -> str:
    """Tabulate why cells are missing, variable by variable."""
    rows = []
    for why in found:
        shown = zip(
            why.configurations, why.probabilities, why.lower, why.upper, strict=True
        )
        chances = [
            f"{escape(', '.join(map(str, states)) or 'any')} "
            f"<b>{p:.0%}</b> ({low:.0%} to {high:.0%})"
            for states, p, low, high in list(shown)[:_MAX_KINDS]
        ]
        rows.append(
            f"<tr><td>{escape(why.variable)}</td><td>{escape(why.label)}</td>"
            f"<td>{escape(', '.join(why.parents))}</td><td>{'; '.join(chances)}</td>"
            f'<td class="n">{why.gain:.1f}</td>'
            f'<td class="n">{why.identified:.0%}</td>{_stability(found, why)}</tr>'
        )
    stable = '<th class="n">stable</th>' if found.has_stability else ""
    head = (
        "<tr><th>variable</th><th>missing cells</th><th>depend on</th>"
        '<th>missing, given the states</th><th class="n">gain (nats)</th>'
        f'<th class="n">told by the rest</th>{stable}</tr>'
    )
    return table(head, rows, "Why cells are missing")


def _stability(found: LearnedMechanism, why: MissingCells) -> str:
    """Tell the share of bootstrap samples with the same label, where it was asked."""
    if not found.has_stability:
        return ""
    share = "" if why.stability is None else f"{why.stability:.0%}"
    return f'<td class="n">{share}</td>'


def innocence_table(found: Innocence) -> str:
    """Tabulate what missing cells depend on most clearly, by tests alone."""
    rows = [
        f"<tr><td>{escape(d.variable)}</td>"
        f"<td>{'tenable' if d.is_tenable else 'not tenable'}</td>"
        f'<td>{escape(d.on)}</td><td class="n">{show_probability(d.corrected)}</td>'
        f'<td class="n">{d.effect:.3f}</td></tr>'
        for d in found.strongest
    ]
    head = (
        "<tr><th>variable</th><th>missing at random</th><th>depends most on</th>"
        '<th class="n">corrected p</th><th class="n">effect (V)</th></tr>'
    )
    return table(head, rows, "Tests of missing completely at random")


def sensitivity_table(found: Sequence[Sensitivity]) -> str:
    """Tabulate shares under tilted log-odds of being missing, and their bounds."""
    rows = []
    for one in found:
        for k, state in enumerate(one.states[:_MAX_KINDS]):
            shares = "".join(f'<td class="n">{s:.3f}</td>' for s in one.shares[k])
            changed = one.changed[k].max()
            rows.append(
                f"<tr><td>{escape(one.variable)}</td><td>{escape(state)}</td>{shares}"
                f'<td class="n">{one.lower[k]:.3f} to {one.upper[k]:.3f}</td>'
                f'<td class="n">{changed:,} of {one.n_missing:,}</td></tr>'
            )
    tilts = "".join(f'<th class="n">{tilt:+g}</th>' for tilt in found[0].tilts)
    head = (
        f'<tr><th>variable</th><th>state</th>{tilts}<th class="n">bounds</th>'
        '<th class="n">cells filled anew</th></tr>'
    )
    return table(head, rows, "Shares under tilted log-odds of being missing")


def mended_table(mended: MendedSummary) -> str:
    """Tabulate observed and mended shares, those to look at first."""
    rows = []
    for variable in mended.most_unlike_first:
        parts = (variable.total, *variable.strata)
        rows += [_stratum_row(variable, part) for part in parts]
    head = (
        "<tr><th>variable</th><th>rows</th>"
        '<th class="n">observed</th><th>observed as</th>'
        '<th class="n">mended</th><th>mended as</th></tr>'
    )
    return table(head, rows, "Observed and mended cells", "mended-shares")


def _stratum_row(variable: MendedVariable, part: MendedStratum) -> str:
    is_total = part is variable.total
    flag = ' <span class="unlike">unlike any observed</span>' if part.is_alarm else ""
    return (
        f'<tr class="{"first" if is_total else "stratum"}">'
        f"<td>{escape(variable.name) if is_total else ''}</td>"
        f"<td>{escape(variable.where(part))}{flag}</td>"
        f'<td class="n">{sum(part.observed):,}</td>'
        f"<td>{_shares(variable, part.observed)}</td>"
        f'<td class="n">{sum(part.mended):,}</td>'
        f"<td>{_shares(variable, part.mended)}</td></tr>"
    )


def _shares(variable: MendedVariable, counts: Sequence[int]) -> str:
    """Show shares in the order of the states, so that two can be compared."""
    total = sum(counts)
    if total == 0:
        return "none"
    pairs = list(zip(variable.states, counts, strict=True))[:_MAX_STATES]
    parts = [
        f"{escape(state)} <b>{100 * count / total:.0f}&#8239;%</b>"
        for state, count in pairs
    ]
    return ", ".join(parts) + (" ..." if len(counts) > _MAX_STATES else "")


def arc_table(found: ArcProbabilities) -> str:
    """Tabulate the edges of several structures, the most probable first."""
    arcs = found.edges()[:_MAX_EDGES]
    rows = [
        f"<tr><td>{escape(arc.parent)}</td><td>{escape(arc.child)}</td>"
        f"<td {bar(arc.undirected)}>{arc.undirected:.2f} "
        f"± {arc.undirected_error:.2f}</td>"
        f"<td {bar(arc.probability)}>{arc.probability:.2f} "
        f"± {arc.error:.2f}</td></tr>"
        for arc in arcs
    ]
    n_left = len(found.edges()) - len(arcs)
    note = f'<p class="note">{n_left:,} more are not shown.</p>' if n_left else ""
    head = "<tr><th>from</th><th>to</th><th>either way</th><th>this way</th></tr>"
    return table(head, rows, "Probabilities of arcs") + note


def cpt_section(network: Network, v: int) -> str:
    """Tabulate the probabilities of a variable given its parents; folded away."""
    dag = network.dag
    parents = [(dag.names[p], network.states[p]) for p in dag.parents[v]]
    told = " | " + ", ".join(escape(name) for name, _ in parents) if parents else ""
    head = "".join(f"<th>{escape(name)}</th>" for name, _ in parents)
    head += "".join(f'<th class="n">{escape(s)}</th>' for s in network.states[v])
    configs = itertools.islice(configurations([s for _, s in parents]), _MAX_CONFIGS)
    rows = [
        "<tr>"
        + "".join(f"<td>{escape(label)}</td>" for label in config)
        + "".join(f"<td {bar(p)}>{p:.3f}</td>" for p in row.tolist())
        + "</tr>"
        for config, row in zip(configs, network.cpts[v], strict=False)
    ]
    n_left = len(network.cpts[v]) - len(rows)
    note = f'<p class="note">{n_left:,} more rows are not shown.</p>' if n_left else ""
    return (
        f"<details><summary>{escape(dag.names[v])}<span>{told}</span></summary>"
        + table(f"<tr>{head}</tr>", rows, f"Probabilities of {dag.names[v]}")
        + f"{note}</details>"
    )


def bar(share: float) -> str:
    """Return the attributes of a cell with a number and a bar of some length."""
    return f'class="n bar" style="--p:{share:.3f}"'


def table(head: str, rows: Sequence[str], caption: str, kind: str = "") -> str:
    """Return a table that can be scrolled sideways; `head` and `rows` are HTML."""
    style = f' class="{kind}"' if kind else ""
    return (
        f'<div class="wide" tabindex="0" role="group" '
        f'aria-label="{escape(caption)}, scrollable">'
        f'<table{style} aria-label="{escape(caption)}">'
        f"<thead>{head}</thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )
