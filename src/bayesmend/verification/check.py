"""Check a result against its table, and a proof of its bound, by other means."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bayesmend._entrance import entrance
from bayesmend.errors import DataError
from bayesmend.verification.answers import CLOSE, check_answer, check_filled
from bayesmend.verification.candidates import (
    Candidates,
    is_candidates,
    read_candidates,
)
from bayesmend.verification.claims import Claim, read_claim, read_json
from bayesmend.verification.dags import find_cycle
from bayesmend.verification.families import Table
from bayesmend.verification.joint import check_joint
from bayesmend.verification.lies import Lie, integer, number, text
from bayesmend.verification.patterns import Patterns
from bayesmend.verification.problems import Problem, from_options, from_proof
from bayesmend.verification.rows import Variable, read_rows
from bayesmend.verification.structures import (
    Families,
    check_structure,
    families_of_table,
)
from bayesmend.verification.units import BITS, to_units

__all__ = ["Verification", "verify"]

TOLERANCE = 1e-6
"""A score this close to a bound counts as equal to it, as in every result."""

_ROUNDING = 1e-8
"""Left to the rounding of the program that is checked; more for large scores."""


@dataclass(frozen=True)
class Verification:
    """What was checked, and the first lie.

    Parameters
    ----------
    lie : str, optional
        What is wrong, in one sentence; ``None`` where nothing is.
    checked : tuple of str
        What was found to be true, in order.
    unchecked : tuple of str
        What the result claims and was not checked, with the reason.
    """

    lie: str | None
    checked: tuple[str, ...]
    unchecked: tuple[str, ...]

    @property
    def accepted(self) -> bool:
        """Whether no lie was found."""
        return self.lie is None

    def to_dict(self) -> dict[str, Any]:
        """Return all in plain types, ready for JSON."""
        return {
            "accepted": self.accepted,
            "lie": self.lie,
            "checked": list(self.checked),
            "unchecked": list(self.unchecked),
        }

    def __str__(self) -> str:
        lines = [f"true: {what}" for what in self.checked]
        lines += [f"not checked: {what}" for what in self.unchecked]
        lines.append("accepted" if self.lie is None else f"rejected: {self.lie}")
        return "\n".join(lines)


@entrance
def verify(
    result: Any,
    data: Any,
    proof: Any = None,
    *,
    tell: Callable[[int, int], None] | None = None,
) -> Verification:
    """Check a result against its table, and a proof of its bound.

    Nothing of what learns is used: the table is read, scores are computed and bounds
    are found anew, in plain Python and with exact sums.

    Parameters
    ----------
    result : path or result
        A ``result.json`` or its folder, or what a learning function returned.
    data : path, mapping or IncompleteData
        The table it was learned from: a text file with a delimiter, or columns. Of a
        structure also its candidates, as a ``.jkl`` file.
    proof : path, optional
        The file that ``certificate`` named. By default the one that the result itself
        names.
    tell : callable, optional
        Called as a proof is checked, with how much is done and of how much: of the
        variables whose families are scored first, then of the nodes.

    Returns
    -------
    Verification
        What is true, what was not checked, and the first lie.

    Raises
    ------
    DataError
        When a file cannot be read, or is of a kind that cannot be checked.

    Examples
    --------
    >>> import tempfile
    >>> import bayesmend as bm
    >>> table = {"a": ["x", "y", "y", None] * 9, "b": ["u", "v", "v", "v"] * 9}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     proof = f"{folder}/proof.json.gz"
    ...     result = bm.learn_exact(table, certificate=proof)
    ...     found = bm.verify(result, table)
    >>> found.accepted, found.unchecked
    (True, ())
    """
    check = _Check(tell)
    try:
        check.run(result, data, proof)
    except Lie as lie:
        return Verification(str(lie), tuple(check.checked), tuple(check.unchecked))
    except DataError:
        raise
    except (
        ArithmeticError,
        AttributeError,
        LookupError,
        RecursionError,
        TypeError,
        ValueError,
    ) as error:
        found = f"the files do not have the form they should have ({error!r:.80})."
        return Verification(found, tuple(check.checked), tuple(check.unchecked))
    return Verification(None, tuple(check.checked), tuple(check.unchecked))


@dataclass
class _Check:
    tell: Callable[[int, int], None] | None
    checked: list[str] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)
    lost: str | None = None  # the proof that the result names, where it is not there

    def run(self, result: Any, data: Any, proof: Any) -> None:
        claim = read_claim(result)
        document = self._proof(result, claim, proof)
        _check_words(claim)
        self.checked.append(f"status {claim.status!r} is what score and bound say")
        if "local optimum" in str(claim.status):
            self.unchecked.append("that it is a local optimum: no proof is about that")
        if is_candidates(data):
            self._of_candidates(claim, read_candidates(Path(data)), document)
        else:
            self._of_table(claim, data, document)

    def _of_candidates(
        self, claim: Claim, known: Candidates, document: dict[str, Any] | None
    ) -> None:
        """Check a structure made of candidates that have their scores from a file."""
        parents = _parents(claim, known.names)
        self.checked.append("the graph has no cycle")
        total = known.score(parents)
        score = total / (1 << BITS)
        if not abs(score - claim.score) <= CLOSE * (1 + 1e-6 * abs(score)):
            msg = f"the score is {score:.9f}, not {claim.score}."
            raise Lie(msg)
        self.checked.append("each variable has one of its candidates for parents")
        self.checked.append(f"the score is {score:.6f}")
        proven = self._proven(claim, document)
        if proven is None or document is None:
            return
        if document["kind"] != "structure" or document.get("candidates") != known.names:
            msg = "the proof is about other variables than the candidates."
            raise Lie(msg)
        self._structure(proven, known.names, known.upper, document)

    def _of_table(
        self, claim: Claim, data: Any, document: dict[str, Any] | None
    ) -> None:
        kind = None if document is None else document["kind"]
        problem = None
        if document is not None and kind != "none":
            problem = from_proof(document.get("problem"))
        variables = _variables(claim, problem)
        problem = self._problem(claim, problem, variables)
        parents = _parents(claim, [variable.name for variable in variables])
        self.checked.append("the graph has no cycle")
        if problem is not None:
            for child, own in enumerate(parents):
                problem.check_parents(child, own)
            self.checked.append("the graph keeps max_parents and the constraints")
        weights = claim.options.get("weights") if problem is None else problem.weights
        rows = read_rows(data, variables, claim.options, weights)
        table = Table(
            rows.codes, [len(each.states) for each in variables], rows.weights
        )
        patterns = Patterns(table, variables)
        if document is not None and kind == "joint":
            patterns.take_order(document.get("cells"), document.get("completion"))
        full = check_filled(claim, table, patterns)
        _check_numbers(claim, variables, len(rows.codes))
        self.unchecked += _unseen(claim, variables, rows.codes)
        if claim.cells is not None:
            told = "observed cells are as in the table, and all missing ones are mended"
            self.checked.append(told)
        if claim.is_given_mechanism:
            self.unchecked.append("score, margins and bound: they count a mechanism")
        elif problem is None:
            self.unchecked.append("the score: neither proof nor options define it")
        elif full is None:
            told = "score: rows without any observed cell count; only a proof has them"
            self.unchecked.append(told)
        else:
            self.checked += check_answer(claim, problem, parents, table, full)
        if problem is None:
            self._proven(claim, document)
        else:
            self._bound(claim, problem, patterns, document)

    def _bound(
        self,
        claim: Claim,
        problem: Problem,
        patterns: Patterns,
        document: dict[str, Any] | None,
    ) -> None:
        """Check the proof that nothing scores above the bound."""
        proven = self._proven(claim, document)
        if proven is None or document is None:
            return
        if document["kind"] == "joint":
            nodes, target = document.get("nodes"), to_units(proven.bound + proven.room)
            n_nodes = check_joint(problem, patterns, nodes, target, self.tell)
            self._tell_bound(proven.bound, n_nodes)
        elif patterns.table.incomplete:
            msg = "the proof is about a complete table, and cells of this are missing."
            raise Lie(msg)
        else:
            families = families_of_table(problem, patterns.table, self.tell)
            self._structure(proven, problem.names, families, document)

    def _structure(
        self,
        proven: _Proven,
        names: Sequence[str],
        families: Families,
        document: dict[str, Any],
    ) -> None:
        n_nodes = check_structure(
            names,
            families,
            document.get("cuts"),
            document.get("nodes"),
            to_units(proven.bound + proven.room),
            self.tell,
        )
        self._tell_bound(proven.bound, n_nodes)

    def _tell_bound(self, bound: float, n_nodes: int) -> None:
        size = "1 node" if n_nodes == 1 else f"{n_nodes:,} nodes"
        told = f"nothing scores above {bound:.9g}: a tree of {size} shows it"
        self.checked.append(told)

    def _proven(self, claim: Claim, document: dict[str, Any] | None) -> _Proven | None:
        """Return what the proof is to show; None where there is nothing to show."""
        if claim.bound is None:
            return None
        if document is None:
            why = "no proof was given"
            if self.lost is not None:
                why = f"the proof that it names, {self.lost!r}, is not there"
            self.unchecked.append(f"the bound {claim.bound}: {why}")
            return None
        if document["kind"] == "none":
            reason = text(document.get("reason"), "the reason why there is no proof")
            told = f"the bound {claim.bound}: there is no proof, because {reason}"
            self.unchecked.append(told.removesuffix("."))
            return None
        bound = number(document.get("bound"), "the bound of the proof")
        room = _ROUNDING * (1 + 1e-4 * abs(claim.score))
        if bound > max(claim.bound, claim.score + TOLERANCE) + room:
            msg = (
                f"the result claims that nothing scores above {claim.bound}, the proof "
                f"only that nothing does above {bound}."
            )
            raise Lie(msg)
        return _Proven(bound, room)

    def _proof(self, result: Any, claim: Claim, proof: Any) -> dict[str, Any] | None:
        """Read the proof that is given, or that the result names."""
        if proof is None:
            proof = getattr(result, "certificate_file", None)
        if proof is None and claim.options.get("certificate"):
            named = Path(claim.options["certificate"])
            near = claim.folder or Path()
            places = [named, near / named.name, near.parent / named]
            proof = next((place for place in places if place.is_file()), None)
            self.lost = str(named) if proof is None else None
        if proof is None:
            return None
        document = read_json(Path(proof), "the proof")
        if document.get("format") != "bayesmend-proof" or document.get("version") != 1:
            msg = f"{str(proof)!r} is no proof: its format and version are others."
            raise Lie(msg)
        if document.get("kind") not in ("joint", "structure", "none"):
            msg = f"a proof of the kind {document.get('kind')!r:.40} is not known."
            raise Lie(msg)
        return document

    def _problem(
        self, claim: Claim, problem: Problem | None, variables: tuple[Variable, ...]
    ) -> Problem | None:
        """Compare what the proof is about with the options of the result."""
        asked = from_options(claim.options, variables)
        if problem is not None and asked is None and claim.folder is not None:
            told = "that the proof is about what was asked for: no options tell it"
            self.unchecked.append(told)
        if problem is None or asked is None:
            return problem or asked
        for name, own, other in (
            ("score", problem.rule.kind, asked.rule.kind),
            ("ess", problem.rule.ess, asked.rule.ess),
            ("prior", problem.rule.is_fair, asked.rule.is_fair),
            ("support", problem.rule.support, asked.rule.support),
            ("penalty of arcs", problem.rule.arc_penalty, asked.rule.arc_penalty),
            ("column of weights", problem.weights, asked.weights),
            ("max_parents", problem.limit, asked.limit),
            ("allowed parents", problem.allowed, asked.allowed),
            ("required parents", problem.required, asked.required),
        ):
            is_moot = name == "support" and claim.cells is None
            if own != other and not is_moot:
                msg = f"the proof is about another {name} than the result's options."
                raise Lie(msg)
        self.checked.append("the proof is about the options of the result")
        return problem


@dataclass(frozen=True)
class _Proven:
    """What a proof is to show, and the room for rounding above it."""

    bound: float
    room: float


def _check_words(claim: Claim) -> None:
    """Check what score and bound say of each other."""
    bound = math.inf if claim.bound is None else claim.bound
    gap = bound - claim.score
    if gap < -TOLERANCE:
        msg = f"the bound {bound} is below the score {claim.score}."
        raise Lie(msg)
    if claim.gap is not None and abs(claim.gap - max(0.0, gap)) > 1e-9:
        msg = (
            f"the gap is not {claim.gap}, but {max(0.0, gap)}, between score and bound."
        )
        raise Lie(msg)
    usual = "optimal" if gap <= TOLERANCE else "bounded" if gap < math.inf else None
    if usual is not None and claim.certificate != usual:
        said = claim.certificate
        msg = f"the certificate is {said!r}, but bound and score say {usual!r}."
        raise Lie(msg)
    if usual is None and claim.certificate in ("optimal", "bounded"):
        msg = f"the certificate is {claim.certificate!r} without a bound."
        raise Lie(msg)
    status, wanted = str(claim.status), _words(claim, gap)
    if status.removesuffix(" given the mechanism") not in wanted and not (
        claim.certificate == "heuristic" and status.startswith("stopped at ")
    ):
        msg = f"the status is {status!r}, but score and bound say {wanted[0]!r}."
        raise Lie(msg)


def _words(claim: Claim, gap: float) -> list[str]:
    """List what a status may say."""
    local = "local optimum"
    if claim.locality is not None:
        local = f"{integer(claim.locality, 'the locality', 1)}-{local}"
    if claim.certificate != "bounded":
        return [local if claim.certificate == "local" else claim.certificate]
    gap = max(0.0, gap)
    share = f" ({100 * gap / abs(claim.score):.2g} %)" if claim.score else ""
    told = f"gap {gap:.3g} nats{share}"
    return [f"{local}, {told}" if claim.locality is not None else told]


def _check_numbers(claim: Claim, variables: Sequence[Variable], n_rows: int) -> None:
    """Check what a result says of its sizes, and which columns are variables."""
    names = [variable.name for variable in variables]
    if claim.names is not None and sorted(claim.names) != sorted(names):
        odd = sorted(set(claim.names) ^ set(names))
        msg = f"{odd[0]!r} is a variable of the result or of the proof, not of both."
        raise Lie(msg)
    n_mended = None if claim.cells is None else len(claim.cells.rows)
    for said, found, what in (
        (claim.n_rows, n_rows, "rows"),
        (claim.n_mended, n_mended, "mended cells"),
    ):
        if said is not None and found is not None and said != found:
            msg = f"the result says {said} {what}, and there are {found}."
            raise Lie(msg)


def _unseen(
    claim: Claim, variables: Sequence[Variable], codes: Sequence[tuple[int, ...]]
) -> list[str]:
    """Tell the states that no row has, and nobody declared."""
    declared = claim.options.get("states") or {}
    told = []
    for v, variable in enumerate(variables):
        seen = {row[v] for row in codes}
        unseen = [s for i, s in enumerate(variable.states) if i not in seen]
        is_open = claim.folder is not None and variable.cuts is None
        if unseen and is_open and variable.name not in declared:
            told.append(
                f"that {variable.name!r} has the state {unseen[0]!r}: no row has it"
            )
    return told


def _variables(claim: Claim, problem: Problem | None) -> tuple[Variable, ...]:
    if claim.nodes is None:
        if problem is None:
            msg = "the result does not tell the states of its variables. Name a proof."
            raise DataError(msg)
        return problem.variables
    variables = tuple(node.variable for node in claim.nodes)
    if problem is not None and problem.variables != variables:
        for own, other in zip(variables, problem.variables, strict=False):
            if own != other:
                msg = f"the proof has other states of {own.name!r} than the result."
                raise Lie(msg)
        msg = "the proof has other variables than the result."
        raise Lie(msg)
    return variables


def _parents(claim: Claim, names: Sequence[str]) -> list[list[int]]:
    index = {name: v for v, name in enumerate(names)}
    parents: list[list[int]] = [[] for _ in names]
    for parent, child in claim.arcs:
        for name in (parent, child):
            if name not in index:
                msg = (
                    f"the arc {parent} -> {child} names {name!r}, which is no variable."
                )
                raise Lie(msg)
        if index[parent] in parents[index[child]]:
            msg = f"the arc {parent} -> {child} is there twice."
            raise Lie(msg)
        parents[index[child]].append(index[parent])
    if cycle := find_cycle(parents):
        told = " -> ".join(names[v] for v in (*cycle, cycle[0]))
        msg = f"the graph has a cycle: {told}."
        raise Lie(msg)
    return parents
