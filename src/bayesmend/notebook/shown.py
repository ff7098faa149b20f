"""What a notebook shows of each kind of value.

The heading says what ``repr`` says. Tables begin with what deserves a look, such as the
least certain cells, and end with how much more there is.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import singledispatch

from bayesmend._columns import show_probability
from bayesmend._entrance import entrance
from bayesmend.data.cells import CompletedCells
from bayesmend.data.mended import MendedSummary, show_shares
from bayesmend.data.states import MISSING, Label, listing, quantity
from bayesmend.data.summary import Summary
from bayesmend.data.table import IncompleteData
from bayesmend.graph.confidence import ArcProbabilities
from bayesmend.graph.cpdag import Cpdag
from bayesmend.graph.dag import Dag
from bayesmend.hiding.record import Hidden
from bayesmend.inference.files import ImputedFiles
from bayesmend.inference.impute import Imputation
from bayesmend.inference.query import Answer
from bayesmend.learning.bootstrap import Bootstrap
from bayesmend.learning.em.parameters import ParameterFit
from bayesmend.learning.ensemble.result import Ensemble
from bayesmend.learning.mechanism.innocence import Innocence
from bayesmend.learning.mechanism.result import LearnedMechanism
from bayesmend.learning.multiple import MultipleImputation
from bayesmend.learning.pool import Pooled
from bayesmend.learning.result import LearnResult
from bayesmend.learning.sensitivity import Sensitivity
from bayesmend.learning.support import unsupported_in_words
from bayesmend.network.mixture import Mixture
from bayesmend.network.network import Network
from bayesmend.network.tabulated import Cpt
from bayesmend.notebook.certainty import least_certain
from bayesmend.notebook.picture import picture
from bayesmend.notebook.pieces import Bar, folded, fragment, left_out, note, table
from bayesmend.outcome import Outcome
from bayesmend.report.tables import (
    cpt_section,
    fillings,
    mechanism_table,
    mended_table,
    sensitivity_table,
)
from bayesmend.report.words import (
    certificate,
    mended_in_words,
    number,
    stopping,
    sureness,
)
from bayesmend.structure.posterior import StructurePosterior
from bayesmend.validation import Comparison

__all__ = ["as_html"]

_MOST_ROWS = 20  # of a table
_FEW_ROWS = 10  # of one among others
_MOST_COLUMNS = 12
_PREVIEW = 5  # rows of data
_MOST_STATES = 12
_MOST_CPT_ROWS = 60  # of all tables of a network together


@entrance
def as_html(value: object) -> str:
    """Return what a notebook shows of a value: HTML without scripts, of bounded size.

    Examples
    --------
    >>> import bayesmend as bm
    >>> html = as_html(bm.load_network("asia"))
    >>> html.count("<rect"), "<script" in html
    (8, False)
    """
    return _shown(value)


@singledispatch
def _shown(value: object) -> str:
    return fragment(repr(value))


# Tables.


@_shown.register
def _(data: IncompleteData) -> str:
    n_cells, n_missing = data.n_rows * data.n_vars, data.n_missing
    cells = f"{n_missing:,} of {quantity(n_cells, 'cell')} missing"
    share = f" ({n_missing / n_cells:.1%})" if n_missing else ""
    weighted = ", rows weighted" if data.weights is not None else ""
    head = (
        f"{quantity(data.n_rows, 'row')}, {quantity(data.n_vars, 'variable')}, "
        f"{cells}{share}{weighted}"
    )
    rows = []
    for v in range(min(data.n_vars, _MOST_ROWS)):
        counts = [0] * 256
        for code, n in Counter(data.codes[:, v].tobytes()).items():
            counts[code] = n
        rows.append(_variable(data.names[v], data.states[v], counts, counts[MISSING]))
    return fragment(
        head,
        _variables(rows),
        left_out(data.n_vars - len(rows), "variable", ".summary() has them all"),
        folded("First rows", _preview(data)) if n_cells else "",
        *(note(f"{remark}.") for remark in data.notes[:_FEW_ROWS]),
    )


def _variables(rows: Sequence[Sequence[object]]) -> str:
    return table(["variable", "missing", "states", "observed"], rows, "Variables")


def _variable(
    name: str, states: Sequence[Label], counts: Sequence[int], n_missing: int
) -> list[object]:
    seen = counts[: len(states)]
    share = n_missing / max(n_missing + sum(seen), 1)
    shown = f"{share:.1%}" if n_missing else "0"
    return [name, Bar(shown, share), len(states), show_shares(states, seen)]


def _preview(data: IncompleteData) -> str:
    shown = data.codes[:_PREVIEW, :_MOST_COLUMNS].tolist()
    rows = [
        [
            None if code == MISSING else str(states[code])
            for code, states in zip(row, data.states, strict=False)
        ]
        for row in shown
    ]
    n_columns = data.n_vars - _MOST_COLUMNS
    return (
        table(data.names[:_MOST_COLUMNS], rows, "First rows")
        + left_out(data.n_rows - len(rows), "row")
        + left_out(n_columns, "column")
    )


def _by_variable(counts: Mapping[str, int], what: str) -> str:
    """Say of which variables how many cells were hidden or filled, most first."""
    most = sorted(counts.items(), key=lambda item: -item[1])
    rows = [[name, n] for name, n in most[:_MOST_ROWS] if n]
    return table(["variable", what], rows, f"{what.capitalize()} cells") + left_out(
        len(most) - _MOST_ROWS, "variable"
    )


@_shown.register
def _(hidden: Hidden) -> str:
    return fragment(
        f"{hidden.n_hidden:,} of {quantity(hidden.n_candidates, 'cell')} hidden "
        f"({hidden.request['mechanism']})",
        _by_variable(hidden.counts, "hidden"),
    )


@_shown.register
def _(found: ImputedFiles) -> str:
    return fragment(
        f"{quantity(found.n_imputed, 'cell')} filled in "
        f"{quantity(found.n_rows, 'row')} of {quantity(len(found.files), 'file')}",
        _by_variable(found.imputed, "filled"),
        table(["file"], [[str(path)] for path in found.files[:_FEW_ROWS]], "Files"),
        left_out(len(found.files) - _FEW_ROWS, "file"),
    )


@_shown.register
def _(summary: Summary) -> str:
    n_cells = summary.n_rows * summary.n_vars
    head = (
        f"{quantity(summary.n_rows, 'row')}, {quantity(summary.n_vars, 'variable')}, "
        f"{summary.n_missing:,} of {quantity(n_cells, 'cell')} missing, "
        f"{quantity(summary.n_complete_rows, 'complete row')}, "
        f"{quantity(summary.n_distinct_rows, 'distinct row')}"
    )
    rows = [
        _variable(v.name, v.states, v.counts, v.n_missing)
        for v in summary.variables[:_MOST_ROWS]
    ]
    together = [
        [them.n_rows, them.missing[:_MOST_COLUMNS] or "(none)"]
        for them in summary.missing_together[:_FEW_ROWS]
    ]
    aside = [
        [column.name, column.role, column.reason]
        for column in summary.columns
        if column.role != "model"
    ]
    columns = ["column", "taken for", "reason"]
    return fragment(
        head,
        _variables(rows),
        left_out(summary.n_vars - len(rows), "variable", "print it for all"),
        table(["rows", "missing together"], together, "Missing together")
        if summary.n_missing
        else "",
        left_out(len(summary.missing_together) - len(together), "set")
        if summary.n_missing
        else "",
        table(columns, aside[:_FEW_ROWS], "Other columns") if aside else "",
        left_out(len(aside) - _FEW_ROWS, "column"),
    )


@_shown.register
def _(mended: MendedSummary) -> str:
    first = mended.most_unlike_first[:_FEW_ROWS]
    n_left = len(mended.variables) - len(first)
    head = f"Observed and mended, {quantity(len(mended.variables), 'variable')}"
    return fragment(
        head,
        note(_alarms(mended), "alarm"),
        mended_table(replace(mended, variables=tuple(first))) if first else "",
        left_out(n_left, "variable", "they differ less"),
    )


def _alarms(mended: MendedSummary) -> str:
    if not mended.alarms:
        return ""
    names = listing(mended.alarms, _FEW_ROWS)
    return (
        f"The mended cells of {names} resemble no observed ones. Look at them before "
        "you use them."
    )


@_shown.register
def _(cells: CompletedCells) -> str:
    unsupported = quantity(cells.n_unsupported, "cell")
    told = f"{unsupported} without an observed example" * (cells.n_unsupported > 0)
    return fragment(
        quantity(len(cells), "completed cell"),
        note(told, "alarm"),
        _cells(cells, _MOST_ROWS, "" if cells.measure == "probability" else " (nats)"),
    )


def _cells(cells: CompletedCells, n_shown: int, unit: str = "") -> str:
    """Tabulate completed cells, the least certain first, those alike together."""
    alike, n_left = least_certain(cells, n_shown)
    if not alike:
        return ""
    largest = max(group.measure for group in alike) or 1.0
    is_probability = cells.measure == "probability"
    rows = []
    for group in alike:
        cell = group.cell
        share = group.measure if is_probability else group.measure / largest
        flag = " (no example)" if cell.supported is False else ""
        rows.append(
            [
                cell.variable,
                f"{cell.state}{flag}",
                cell.runner_up,
                Bar(number(group.measure), share),
                group.n_cells,
                group.rows_in_words(),
            ]
        )
    head = ["variable", "filled with", "runner-up", f"{cells.measure}{unit}"]
    head += ["cells", "rows"]
    return table(head, rows, "The least certain cells first") + left_out(
        n_left, "cell", "they are more certain"
    )


@_shown.register
def _(imputation: Imputation) -> str:
    n_cells = quantity(len(imputation.cells) // imputation.n_draws, "cell")
    tables = f", {quantity(imputation.n_draws, 'table')}"
    head = f"{n_cells} imputed by {imputation.method}"
    empty = quantity(imputation.n_empty_rows, "row")
    told = f"{empty} without any observed cell" * (imputation.n_empty_rows > 0)
    return fragment(
        head + tables * (imputation.n_draws > 1),
        note(told),
        _cells(imputation.cells, _MOST_ROWS),
    )


# Networks.


@_shown.register
def _(dag: Dag) -> str:
    return fragment(_size(dag), picture(dag))


@_shown.register
def _(cpdag: Cpdag) -> str:
    n_vars, n_arcs = (
        quantity(cpdag.n_vars, "variable"),
        quantity(len(cpdag.arcs), "arc"),
    )
    n_edges = quantity(len(cpdag.edges), "edge")
    return fragment(
        f"{n_vars}, {n_arcs}, {n_edges}",
        picture(cpdag),
        note("An edge without a head is an arc either way.") if cpdag.edges else "",
    )


def _size(dag: Dag) -> str:
    return f"{quantity(dag.n_vars, 'variable')}, {quantity(dag.n_arcs, 'arc')}"


@_shown.register
def _(network: Network) -> str:
    parameters = quantity(network.n_parameters, "parameter")
    return fragment(
        f"{_size(network.dag)}, {parameters}",
        picture(network.dag),
        folded("Probabilities", _cpts(network)),
    )


def _cpts(network: Network) -> str:
    """Tabulate the probabilities of the first variables, as many as there is room."""
    sections, room = [], _MOST_CPT_ROWS
    for v, cpt in enumerate(network.cpts):
        if len(cpt) > room or cpt.shape[1] > _MOST_STATES:
            continue
        room -= len(cpt)
        sections.append(cpt_section(network, v))
    n_left = network.n_vars - len(sections)
    return "".join(sections) + left_out(n_left, "table", ".cpt(name) shows one")


@_shown.register
def _(cpt: Cpt) -> str:
    given = f" given {', '.join(cpt.parents)}" if cpt.parents else ""
    states = cpt.states[:_MOST_STATES]
    rows = [
        [
            *map(str, config),
            *(Bar(show_probability(p), p) for p in row[: len(states)].tolist()),
        ]
        for config, row in zip(
            cpt.configurations, cpt.probabilities[:_MOST_ROWS], strict=False
        )
    ]
    return fragment(
        f"{cpt.variable}{given}",
        table([*cpt.parents, *map(str, states)], rows, "Probabilities"),
        left_out(len(cpt.probabilities) - len(rows), "row"),
        left_out(len(cpt.states) - len(states), "state"),
    )


@_shown.register
def _(mixture: Mixture) -> str:
    head = f"{quantity(len(mixture.networks), 'network')}, " + quantity(
        len(mixture.names), "variable"
    )
    if not mixture.structures:
        return fragment(head, note("Every one has hidden variables."))
    return fragment(
        head,
        note("Drawn is the structure that they agree on."),
        picture(mixture.consensus()),
        _arcs(mixture.arc_probabilities()),
    )


@_shown.register
def _(found: ArcProbabilities) -> str:
    size = quantity(len(found.names), "variable")
    head = f"Arcs of {quantity(found.n_networks, 'structure')}, {size}"
    return fragment(head, _arcs(found))


def _arcs(found: ArcProbabilities) -> str:
    rows = [
        (a.parent, a.child, a.undirected, a.undirected_error, a.probability, a.error)
        for a in found.edges()
    ]
    return _arc_table(rows, "edge")


@_shown.register
def _(found: StructurePosterior) -> str:
    rows = [
        (a.parent, a.child, a.either, a.either_error, a.probability, a.error)
        for a in found.arc_probabilities()
    ]
    size = quantity(len(found.names), "variable")
    head = f"Arcs of all structures of {size}, by method {found.method}"
    return fragment(head, _arc_table(rows, "arc"))


def _arc_table(
    rows: Sequence[tuple[str, str, float, float, float, float]], noun: str
) -> str:
    """Tabulate the first arcs: how probable either way and this way, with errors."""
    shown = [
        [parent, child, _share(either, either_error), _share(this, error)]
        for parent, child, either, either_error, this, error in rows[:_MOST_ROWS]
    ]
    head = ["from", "to", "either way", "this way"]
    n_left = len(rows) - len(shown)
    return table(head, shown, "Probabilities of arcs") + left_out(
        n_left, noun, "less probable"
    )


def _share(share: float, error: float) -> Bar:
    return Bar(f"{share:.2f} ± {error:.2f}" if error else f"{share:.2f}", share)


@_shown.register
def _(found: Bootstrap) -> str:
    return fragment(
        f"{quantity(len(found.structures), 'structure')} by {found.method}",
        note("Drawn is the structure that the samples agree on."),
        picture(found.consensus()),
        _arcs(found.arc_probabilities()),
    )


# Results.


@_shown.register
def _(outcome: Outcome) -> str:
    kind = "proven" if outcome.is_optimal else "open"
    facts = [*_score(outcome), f"{outcome.seconds:.3g} s"]
    return fragment(
        _size(outcome.dag),
        note(_sentence(outcome.status), kind),
        note(", ".join(facts)),
        picture(outcome.dag),
    )


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}."


def _score(outcome: Outcome) -> list[str]:
    facts = [f"score {number(outcome.score)}"]
    if not outcome.is_optimal and math.isfinite(outcome.bound):
        facts.append(f"bound {number(outcome.bound)}")
    return facts


@_shown.register
def _(result: LearnResult) -> str:
    return fragment(_mended(result), *_parts(result))


@_shown.register
def _(result: Ensemble) -> str:
    arcs = ""
    if result.mixture.structures:
        arcs = folded("How sure the arcs are", _arcs(result.arc_probabilities()))
    return fragment(_mended(result), *_parts(result), arcs)


def _mended(result: LearnResult) -> str:
    return f"{_size(result.dag)}; {mended_in_words(result)}"


def _parts(result: LearnResult) -> list[str]:
    """Show what is known, what is drawn, and what is least certain."""
    kind = "proven" if result.is_optimal else "open"
    counts = Counter(result.cells.variables.tolist())
    mechanism = result.mechanism
    return [
        note(_sentence(result.status) + f" {certificate(result)}", kind),
        note(unsupported_in_words(result) or "", "alarm"),
        note(_alarms(result.mended), "alarm"),
        note(_facts(result)),
        picture(result.dag, [counts[v] for v in range(result.dag.n_vars)]),
        _cells(result.cells, _FEW_ROWS, sureness(result).unit),
        folded("Mended cells by variable", fillings(result)) if counts else "",
        folded("Why cells are missing", _why(mechanism)) if mechanism else "",
    ]


def _facts(result: LearnResult) -> str:
    facts = [*_score(result), f"method {result.method}", f"{result.seconds:.3g} s"]
    ended = stopping(result)
    if ended:
        facts.append(f"stopped by {ended}")
    return ", ".join(facts)


@_shown.register
def _(found: LearnedMechanism) -> str:
    head = f"Why the cells of {quantity(len(found), 'variable')} are missing"
    return fragment(head, note(found.note or ""), _why(found))


def _why(found: LearnedMechanism) -> str:
    """Tabulate why cells are missing, what depends on something first."""
    order = sorted(found, key=lambda why: -why.gain)
    first = replace(found, variables=tuple(order[:_MOST_ROWS]))
    return mechanism_table(first) + left_out(len(order) - _MOST_ROWS, "variable")


@_shown.register
def _(fit: ParameterFit) -> str:
    word = "converged" if fit.converged else "not converged"
    n_steps = quantity(len(fit.log_likelihood) - 1, "iteration")
    return fragment(
        f"Parameters, {word} after {n_steps}",
        note(f"log-likelihood {number(fit.log_likelihood[-1])}"),
        picture(fit.network.dag),
    )


@_shown.register
def _(found: MultipleImputation) -> str:
    apart = sorted(found.r_hat().items(), key=lambda item: -item[1])
    rows = [[name, f"{value:.3f}"] for name, value in apart[:_FEW_ROWS]]
    return fragment(
        f"{quantity(found.m, 'completed table')}, "
        f"{quantity(found.n_missing, 'cell')} filled in each",
        note("How far the chains are apart, 1 where they agree:"),
        table(["summary", "R-hat"], rows, "R-hat"),
        left_out(len(apart) - len(rows), "summary", "they agree better"),
    )


@_shown.register
def _(found: Innocence) -> str:
    verdict = "tenable" if found.is_tenable else "not tenable"
    p = show_probability(found.p_value)
    order = sorted(found.strongest, key=lambda d: d.corrected)
    rows = [
        [
            d.variable,
            d.on,
            show_probability(d.corrected),
            Bar(f"{d.effect:.3f}", d.effect),
        ]
        for d in order[:_MOST_ROWS]
    ]
    head = ["variable", "depends most on", "corrected p", "effect (V)"]
    return fragment(
        f"Missing completely at random: {verdict} (p = {p})",
        table(head, rows, "Dependences") if rows else "",
        left_out(len(order) - len(rows), "variable"),
    )


# Answers and comparisons.


@_shown.register
def _(answer: Answer) -> str:
    parts = []
    if answer.given:
        given = ", ".join(f"{name} = {state}" for name, state in answer.given.items())
        probability = show_probability(answer.probability)
        parts.append(note(f"given {given} (probability {probability})"))
    targets = answer.targets[:_MOST_ROWS]
    for name in targets:
        states = sorted(answer.distributions[name].items(), key=lambda item: -item[1])
        errors = None if answer.errors is None else answer.errors[name]
        rows = [
            [str(state), _probability(p, None if errors is None else errors[state])]
            for state, p in states[:_MOST_STATES]
        ]
        parts.append(table([name, "probability"], rows, f"Distribution of {name}"))
        parts.append(left_out(len(states) - len(rows), "state"))
    parts.append(left_out(len(answer.targets) - len(targets), "variable"))
    if answer.joint is not None:
        parts.append(_joint(answer))
    if answer.effective_samples is not None:
        n_samples = f"{answer.effective_samples:,.0f}"
        parts.append(note(f"As good as {n_samples} unweighted samples."))
    head = f"Distribution of {quantity(len(answer.targets), 'variable')}"
    return fragment(head, *parts)


def _probability(p: float, error: float | None) -> Bar:
    shown = show_probability(p)
    return Bar(shown if error is None else f"{shown} ± {error:.1g}", p)


def _joint(answer: Answer) -> str:
    """Tabulate the most probable states of all targets together."""
    assert answer.joint is not None
    flat = answer.joint.ravel()
    labels = [list(states) for states in answer.distributions.values()]
    rows = []
    for place in (-flat).argsort(kind="stable")[:_MOST_ROWS].tolist():
        states = []
        at = place
        for own in reversed(labels):
            at, k = divmod(at, len(own))
            states.append(str(own[k]))
        error = None if answer.joint_errors is None else answer.joint_errors.flat[place]
        rows.append([*reversed(states), _probability(float(flat[place]), error)])
    return table([*answer.targets, "together"], rows, "Joint distribution") + left_out(
        len(flat) - len(rows), "combination", "they are less probable"
    )


@_shown.register
def _(found: Sensitivity) -> str:
    head = (
        f"{found.variable}: shares under tilted log-odds of being missing, "
        f"{quantity(found.n_missing, 'missing cell')}"
    )
    return fragment(head, sensitivity_table([found]))


@_shown.register
def _(pooled: Pooled) -> str:
    names = ("estimate", "se", "lower", "upper", "df", "fmi")
    columns = [getattr(pooled, name).ravel()[:_MOST_ROWS].tolist() for name in names]
    rows = [[float(value) for value in row] for row in zip(*columns, strict=True)]
    return fragment(
        f"Pooled from {quantity(pooled.m, 'table')}, intervals of {pooled.level:.0%}",
        table(names, rows, "Pooled estimates"),
        left_out(pooled.estimate.size - len(rows), "estimate"),
    )


@_shown.register
def _(found: Comparison) -> str:
    rows = [
        [
            m.method,
            Bar(f"{m.accuracy:.1%} ± {m.accuracy_error:.1%}", m.accuracy),
            f"{m.log_loss:.3f} ± {m.log_loss_error:.3f}",
            f"{m.behind:.3f} ± {m.behind_error:.3f}" if m.behind else "",
            f"{m.calibration_error:.1%}",
            f"{m.seconds:.2f}",
        ]
        for m in found.methods[:_MOST_ROWS]
    ]
    head = ["method", "accuracy", "log-loss", "behind", "calibration", "seconds"]
    told = f"{quantity(found.n_hidden, 'hidden cell')}, "
    return fragment(
        told + quantity(found.n_repeats, "repeat"),
        table(head, rows, "Methods, the best first"),
        left_out(len(found.methods) - len(rows), "method"),
    )
