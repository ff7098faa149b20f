"""An answer for what it is: a completed table, its score, margins, probabilities."""

from __future__ import annotations

import math
from collections.abc import Sequence
from math import prod

from bayesmend.verification.claims import Claim, Node
from bayesmend.verification.families import MISSING, Family, Scores, Table
from bayesmend.verification.lies import Lie
from bayesmend.verification.patterns import Patterns
from bayesmend.verification.problems import Problem
from bayesmend.verification.units import BITS

__all__ = ["CLOSE", "check_answer", "check_filled"]

CLOSE = 1e-6
_CLOSE_PROBABILITY = 1e-9

Row = tuple[int, ...]


def check_filled(claim: Claim, table: Table, patterns: Patterns) -> list[Row] | None:
    """Check observed and mended cells; return all rows, filled.

    None where rows are left missing of which no proof tells how they count.
    """
    names = [variable.name for variable in patterns.variables]
    if claim.codes is None:
        if table.incomplete:
            r = table.incomplete[0]
            v = table.rows[r].index(MISSING)
            msg = (
                f"row {table.first[r]} has no {names[v]!r}, and the result fills none."
            )
            raise Lie(msg)
        return [table.rows[r] for r in table.of_row]
    if len(claim.codes) != len(table.of_row):
        msg = f"the result has {len(claim.codes)} rows, the table {len(table.of_row)}."
        raise Lie(msg)
    mended, full, is_whole = [], [], True
    for row, (filled, r) in enumerate(zip(claim.codes, table.of_row, strict=True)):
        observed = table.rows[r]
        is_left = all(code == MISSING for code in observed) and all(
            code >= card for code, card in zip(filled, table.card, strict=True)
        )
        whole = list(filled)
        for v, (code, own) in enumerate(zip(observed, filled, strict=True)):
            value = patterns.value_of(r, v) if code == MISSING else code
            if is_left and value is None:
                is_whole = False
            elif is_left:
                whole[v] = value  # type: ignore[assignment]
            elif own >= table.card[v]:
                msg = f"row {row} of {names[v]!r} is not filled."
                raise Lie(msg)
            elif value is not None and own != value:
                states = patterns.variables[v].states
                other = "the table" if code != MISSING else "the proof"
                msg = (
                    f"row {row} of {names[v]!r} is {states[own]!r} in the result, and "
                    f"{states[value]!r} in {other}."
                )
                raise Lie(msg)
            if code == MISSING and not is_left:
                mended.append((row, v, own))
        full.append(tuple(whole))
    _check_mended(claim, mended, names)
    return full if is_whole else None


def _check_mended(
    claim: Claim, mended: Sequence[tuple[int, int, int]], names: Sequence[str]
) -> None:
    cells = claim.cells
    if cells is None:
        return
    told = list(zip(cells.rows, cells.variables, cells.codes, strict=True))
    if sorted(told) == mended:
        return
    odd = sorted(set(told) ^ set(mended))
    row, v, _ = odd[0] if odd else told[0]
    msg = f"the list of mended cells is wrong in row {row} of {names[v]!r}."
    raise Lie(msg)


class _Chosen(Family):
    """A family of the structure, with counts of the completed rows."""

    def __init__(
        self,
        problem: Problem,
        scores: Scores,
        child: int,
        parents: Sequence[int],
        seen: Table,
        full: Table,
    ) -> None:
        super().__init__(seen, scores, child, parents, problem.choices(child))
        self.counts = full.counts(self.parents, child)

    def place(self, row: Row) -> int:
        """Return where a row is counted."""
        return sum(s * row[v] for s, v in zip(self.strides, self.members, strict=True))

    def change(self, old: int, new: int) -> int:
        """Return what it adds to the score to count one row elsewhere."""
        if old == new:
            return 0
        joint, given, counts = self.joint, self.given, self.counts
        total = joint[counts[new] + 1] - joint[counts[new]]
        total += joint[counts[old] - 1] - joint[counts[old]]
        if old // self.card != new // self.card:
            before, after = self.config(counts, old), self.config(counts, new)
            total += given[before] - given[before - 1]
            total += given[after] - given[after + 1]
        return total + self.row_cost(old, 1) - self.row_cost(new, 1)


def check_answer(
    claim: Claim,
    problem: Problem,
    parents: Sequence[Sequence[int]],
    seen: Table,
    full: Sequence[Row],
) -> list[str]:
    """Check score, margins, support and probabilities; return what was found true."""
    weights = seen.weight_of_row
    whole = Table(full, seen.card, weights)
    scores = Scores(problem.rule, seen.n_rows)
    families = [
        _Chosen(problem, scores, child, own, seen, whole)
        for child, own in enumerate(parents)
    ]
    score = sum(family.score(family.counts) for family in families) / (1 << BITS)
    if not abs(score - claim.score) <= CLOSE * (1 + 1e-6 * abs(score)):
        msg = f"the score is {score:.9f}, not {claim.score}."
        raise Lie(msg)
    checked = [f"the score is {score:.6f}"]
    if claim.cells is not None and claim.cells.margins is not None:
        _check_margins(claim, problem, families, full)
        checked.append(
            f"margins and runners-up of {len(claim.cells.rows):,} mended cells"
        )
    if claim.nodes is not None:
        for v, node in enumerate(claim.nodes):
            _check_probabilities(problem, node, families[v], whole)
        checked.append("the probabilities of the network")
    return checked


def _check_margins(
    claim: Claim, problem: Problem, families: Sequence[_Chosen], full: Sequence[Row]
) -> None:
    cells = claim.cells
    assert cells is not None
    assert cells.margins is not None
    known: dict[tuple[Row, int], tuple[list[float], bool]] = {}
    for i, (row, v) in enumerate(zip(cells.rows, cells.variables, strict=True)):
        name = f"row {row} of {problem.names[v]!r}"
        key = (full[row], v)
        if key not in known:
            known[key] = _losses(
                families, full[row], v, len(problem.variables[v].states)
            )
        losses, is_supported = known[key]
        others = [loss for s, loss in enumerate(losses) if s != cells.codes[i]]
        margin, runner_up = min(others, default=math.inf), cells.runners_up[i]
        if not (cells.margins[i] == margin or abs(cells.margins[i] - margin) <= CLOSE):
            msg = f"the margin of {name} is {margin:.9f}, not {cells.margins[i]}."
            raise Lie(msg)
        if others and (
            runner_up == cells.codes[i] or not losses[runner_up] <= margin + CLOSE
        ):
            state = problem.variables[v].states[runner_up]
            msg = f"{state!r} is not the runner-up of {name}."
            raise Lie(msg)
        if cells.supported is not None and cells.supported[i] != is_supported:
            said = "supported" if cells.supported[i] else "unsupported"
            msg = f"{name} is not {said}, as the result has it."
            raise Lie(msg)


def _losses(
    families: Sequence[_Chosen], row: Row, v: int, card: int
) -> tuple[list[float], bool]:
    """Return what each state of a cell would lose, and whether it has examples."""
    losses, is_supported = [0] * card, True
    for family in families:
        if v not in family.members:
            continue
        old = family.place(row)
        is_supported = is_supported and family.base[old] > 0
        stride = family.strides[family.members.index(v)]
        for state in range(card):
            losses[state] -= family.change(old, old + stride * (state - row[v]))
    return [loss / (1 << BITS) for loss in losses], is_supported


def _check_probabilities(
    problem: Problem, node: Node, family: _Chosen, whole: Table
) -> None:
    """Check the posterior mean of configurations that have an example."""
    cpt, card = node.cpt, family.card
    if cpt is None:
        return
    index = {variable.name: v for v, variable in enumerate(problem.variables)}
    order = [index[name] for name in node.parents]
    n_configs = prod(whole.card[p] for p in order)
    name = node.variable.name
    if len(cpt) != n_configs or any(len(row) != card for row in cpt):
        msg = f"the table of {name!r} does not have {n_configs} rows of {card}."
        raise Lie(msg)
    ess = float(problem.rule.ess)
    strides = dict(zip(family.members, family.strides, strict=True))
    for j, row in enumerate(cpt):
        at, left = 0, j
        for p in order:  # the first parent is the fastest
            at += strides[p] * (left % whole.card[p])
            left //= whole.card[p]
        if (
            not math.isclose(math.fsum(row), 1.0, abs_tol=_CLOSE_PROBABILITY)
            or min(row) < 0
        ):
            msg = f"row {j} of the table of {name!r} does not sum to 1."
            raise Lie(msg)
        if problem.rule.support and not any(family.base[at : at + card]):
            continue  # learned from filled cells alone, it takes what fewer parents say
        counts = family.counts[at : at + card]
        for state, (chance, n) in enumerate(zip(row, counts, strict=True)):
            mean = (n + ess / (n_configs * card)) / (sum(counts) + ess / n_configs)
            if abs(chance - mean) > _CLOSE_PROBABILITY:
                label = node.variable.states[state]
                found = f"{chance} for {label!r}, not {mean}"
                msg = f"row {j} of the table of {name!r} has {found}."
                raise Lie(msg)
