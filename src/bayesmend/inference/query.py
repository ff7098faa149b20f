"""One question to a network: the distribution of some variables, given others."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesmend._checks import check_flag, check_items
from bayesmend._columns import in_columns, show_probability
from bayesmend._copies import frozen_in_copies
from bayesmend._entrance import entrance
from bayesmend._shown import Shown
from bayesmend._spelling import spell
from bayesmend._visible import visible
from bayesmend.data.states import (
    MISSING,
    Label,
    match_states,
    position_of,
    unknown_label,
)
from bayesmend.errors import InferenceError, ParameterError
from bayesmend.inference.answers import target_names, weigher
from bayesmend.inference.averages import marginals_of, members_for
from bayesmend.inference.conflict import evidence_words, find_conflict
from bayesmend.inference.engine import (
    MAX_MEMORY,
    CompiledHoles,
    Engine,
    Inference,
    or_weighting,
    samples_for,
)
from bayesmend.network.mixture import Model, ModelLike, model_of
from bayesmend.network.network import Network
from bayesmend.seed import Seed, as_generator

__all__ = ["N_SAMPLES", "Answer", "query"]

N_SAMPLES = 100_000
"""For weighting, unless ``n_samples`` says."""

_SHOWN = 20  # of what is given


@frozen_in_copies
@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Answer(Shown):
    """What a network says about some variables, given others; it prints its numbers.

    Parameters
    ----------
    given : mapping
        The evidence: names of variables and labels of their states.
    probability : float
        Probability of the evidence.
    log_probability : float
        Its natural logarithm, which does not underflow.
    distributions : mapping
        For each target a mapping of its states to probabilities, given the evidence.
    joint : ndarray or None
        With ``joint=True``: the joint distribution of the targets, an axis for each in
        the order asked, its states in the order of the network.
    inference : str
        ``exact`` or ``weighting``.
    errors : mapping or None
        From weighting: standard errors, laid out as ``distributions``.
    effective_samples : float or None
        From weighting: how many unweighted samples would be as good.
    joint_errors : ndarray or None
        From weighting with ``joint=True``: standard errors, laid out as `joint`.
    """

    given: Mapping[str, Label]
    probability: float
    log_probability: float
    distributions: Mapping[str, Mapping[Label, float]]
    joint: NDArray[np.float64] | None
    inference: str
    errors: Mapping[str, Mapping[Label, float]] | None = None
    effective_samples: float | None = None
    joint_errors: NDArray[np.float64] | None = None

    @property
    def targets(self) -> tuple[str, ...]:
        """The variables asked about."""
        return tuple(self.distributions)

    def joint_items(self) -> Iterator[tuple[tuple[Label, ...], float]]:
        """Iterate over the joint distribution: states of the targets, probability."""
        assert self.joint is not None
        labels = itertools.product(*self.distributions.values())
        for states, p in zip(labels, self.joint.flat, strict=True):
            yield states, float(p)

    def _joint_rows(self) -> Iterator[tuple[tuple[Label, ...], float, float | None]]:
        """Iterate over the joint distribution with its errors."""
        for k, (states, p) in enumerate(self.joint_items()):
            errors = self.joint_errors
            yield states, p, None if errors is None else float(errors.flat[k])

    @property
    def most_probable(self) -> tuple[tuple[Label, ...], float] | None:
        """The most probable states of all targets together; None without `joint`.

        Among equally probable ones, those whose states come first.
        """
        if self.joint is None:
            return None
        bar = float(self.joint.max()) * (1 - 1e-9)
        best = np.unravel_index((self.joint >= bar).argmax(), self.joint.shape)
        states = zip(self.distributions.values(), best, strict=True)
        return tuple(list(s)[k] for s, k in states), float(self.joint[best])

    def to_dict(self) -> dict[str, Any]:
        """Return all of it in plain types, ready for JSON."""
        best = self.most_probable
        return {
            "given": dict(self.given),
            "probability": self.probability,
            "log_probability": self.log_probability,
            "targets": [self._target(name) for name in self.targets],
            "joint": None
            if self.joint is None
            else [
                {"states": list(states), "probability": p, "error": error}
                for states, p, error in self._joint_rows()
            ],
            "most_probable": None
            if best is None
            else {"states": list(best[0]), "probability": best[1]},
            "inference": self.inference,
            "effective_samples": self.effective_samples,
        }

    def _target(self, name: str) -> dict[str, Any]:
        errors = None if self.errors is None else self.errors[name]
        return {
            "variable": name,
            "distribution": [
                {
                    "state": state,
                    "probability": p,
                    "error": None if errors is None else errors[state],
                }
                for state, p in self.distributions[name].items()
            ],
        }

    def __repr__(self) -> str:
        lines = []
        if self.given:
            given = ", ".join(
                f"{name}={state}" for name, state in [*self.given.items()][:_SHOWN]
            )
            if len(self.given) > _SHOWN:
                given += f" and {len(self.given) - _SHOWN:,} more"
            probability = show_probability(self.probability, self.log_probability)
            lines += [f"given {given} (probability {probability})", ""]
        lines += in_columns(self._rows())
        if self.joint is not None:
            items = [
                (*map(str, states), _shown(p, error))
                for states, p, error in self._joint_rows()
            ]
            lines += ["", *in_columns([(*self.targets, "together"), *items])]
        if self.effective_samples is not None:
            as_good = f"as good as {self.effective_samples:,.0f} unweighted samples"
            lines += ["", as_good]
        return visible("\n".join(lines))

    def _rows(self) -> list[tuple[str, ...]]:
        """Show the distributions, a state per row."""
        rows: list[tuple[str, ...]] = []
        for name in self.targets:
            for k, (state, p) in enumerate(self.distributions[name].items()):
                error = None if self.errors is None else self.errors[name][state]
                rows.append((name if k == 0 else "", str(state), _shown(p, error)))
        return rows


def _shown(probability: float, error: float | None) -> str:
    shown = show_probability(probability)
    return shown if error is None else f"{shown} ± {error:.1g}"


@entrance
def query(
    network: ModelLike,
    targets: str | Sequence[str] | None = None,
    *,
    given: Mapping[str, Any] | None = None,
    joint: bool = False,
    inference: Inference = "exact",
    n_samples: int | None = None,
    seed: Seed = None,
    n_threads: int = 0,
    max_memory: float = MAX_MEMORY,
) -> Answer:
    """Ask a network about some variables, given the states of others.

    Parameters
    ----------
    {model}
    targets : str or sequence of str, optional
        The variables asked about; by default all that are not given.
    given : mapping, optional
        The evidence: states of variables by name. A label that differs in type only
        (``1`` and ``"1"``) matches when no other does. Of a variable that was cut into
        intervals, a number (or a date) stands for the interval it falls into. Where
        the network knows why cells are missing, ``{"missing_age": "missing"}`` says
        that age is.
    joint : bool, default=False
        Whether to give the joint distribution of the targets, too.
    inference : {"exact", "weighting"}, default="exact"
        ``weighting`` estimates from samples, for networks too dense for ``exact``.
    n_samples : int, optional
        Number of samples, for weighting; 100,000 by default.
    seed : int, Generator or None
        Source of randomness, for weighting.
    {n_threads, max_memory}

    Returns
    -------
    Answer
        Distributions of the targets, and the probability of the evidence.

    Raises
    ------
    InferenceError
        When the evidence has probability zero, or the tables would be too large.

    Examples
    --------
    >>> import bayesmend as bm
    >>> asia = bm.load_network("asia")
    >>> answer = bm.query(asia, "lung", given={"xray": "yes", "smoke": "yes"})
    >>> answer
    given smoke=yes, xray=yes (probability 0.075852)
    <BLANKLINE>
    lung  yes  0.645991
          no   0.354009
    >>> round(answer.distributions["lung"]["yes"], 3)
    0.646
    >>> round(answer.probability, 4)
    0.0759
    >>> answer = bm.query(asia, ["lung", "tub"], given={"xray": "yes"}, joint=True)
    >>> answer.most_probable
    (('yes', 'no'), 0.48...)
    """
    network = model_of(network)
    check_flag("joint", joint)
    n_samples = samples_for(inference, n_samples, N_SAMPLES)
    engine = Engine(inference, n_samples, seed, n_threads, max_memory, or_weighting())
    known = _checked_evidence(given)
    network, targets = _with_indicators(network, targets, known)
    row = evidence_row(network, known)
    names = _targets(network, targets, row)
    if joint and not names:
        joined = spell("joint", True)
        msg = f"{joined} needs a target, and every variable is given. Give fewer."
        raise ParameterError(msg)
    cells = np.ascontiguousarray(row[:, None])
    if joint:
        engine = _repeatable(engine)
    found = marginals_of(network, cells, engine, names, check=_require_possible)
    together, joint_errors = None, None
    if joint:
        together, joint_errors = _joint(network, cells, names, engine)
    order = [found.names.index(name) for name in names]
    labels = [found.states[k] for k in order]
    errors, effective = found.errors, found.effective_samples
    return Answer(
        given=shown_evidence(network, row),
        probability=math.exp(found.log_evidence[0]),
        log_probability=float(found.log_evidence[0]),
        distributions=_by_state(
            names, labels, [found.probabilities[k][0] for k in order]
        ),
        joint=together,
        inference=inference,
        errors=None
        if errors is None
        else _by_state(names, labels, [errors[k][0] for k in order]),
        effective_samples=None if effective is None else float(effective[0]),
        joint_errors=joint_errors,
    )


def _with_indicators(
    network: Model,
    targets: str | Sequence[str] | None,
    given: Mapping[str, Any],
) -> tuple[Model, str | Sequence[str] | None]:
    """Add the indicators of missing cells, where one of them is named."""
    if network.mechanism is None:
        return network, targets
    asked: list[Any] = [name for name in network.names if name not in given]
    if isinstance(targets, str):
        asked = [targets]
    elif targets is not None:
        asked = check_items("targets", targets, "names")
    if {str(name) for name in (*asked, *given)} <= set(network.names):
        return network, targets
    if targets is None:
        targets = asked
    return network.with_indicators(), targets


def _checked_evidence(given: Any) -> Mapping[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        msg = f"given must map names of variables to states. Got {given!r} instead."
        raise ParameterError(msg)
    return given


def evidence_row(network: Model, given: Any) -> NDArray[np.uint8]:
    """Return the row of a table that holds the evidence and nothing else."""
    row = np.full(len(network.names), MISSING, dtype=np.uint8)
    for name, label in _checked_evidence(given).items():
        variable = position_of(name, network.names)
        states = network.states[variable]
        try:
            hash(label)
        except TypeError:
            msg = f"given must hold one state of {name!r}. Got {label!r} instead."
            raise ParameterError(msg) from None
        row[variable] = match_states(states, [label])[0]
        if row[variable] == MISSING and network.schema is not None:
            known = network.schema.interval_of(name, label)
            row[variable] = match_states(states, [] if known is None else [known])[0]
        if row[variable] == MISSING:
            raise unknown_label(
                name, states, label, remedy=_with_point(network, name, label)
            )
    return row


def _with_point(network: Model, name: str, label: object) -> str:
    """Say how to write a number with a decimal comma, where that gives an interval."""
    if not isinstance(label, str) or network.schema is None:
        return ""
    number = label.strip().replace(",", ".")
    if network.schema.interval_of(name, number) is None:
        return ""
    return f" Numbers take a decimal point: write {number}."


def _targets(
    network: Model, targets: str | Sequence[str] | None, row: NDArray[np.uint8]
) -> list[str]:
    if targets is None:
        return [network.names[v] for v in np.flatnonzero(row == MISSING)]
    names = target_names(targets)
    for k, name in enumerate(names):
        if row[position_of(name, network.names)] != MISSING:
            msg = f"variable {name!r} is both a target and given. Name it in one."
            raise ParameterError(msg)
        if name in names[:k]:
            msg = f"variable {name!r} is a target twice. Name it once."
            raise ParameterError(msg)
    return names


def _require_possible(
    network: Network,
    cells: NDArray[np.uint8],
    log_evidence: NDArray[np.float64],
    *,
    n_samples: int | None = None,
) -> None:
    if np.isfinite(log_evidence[0]):
        return
    if n_samples is not None:
        shown = evidence_words(network, cells[:, 0])
        msg = (
            f"none of {n_samples:,} samples agrees with the evidence {shown}. Raise "
            f"{spell('n_samples')}, or use {spell('inference', 'exact')}."
        )
        raise InferenceError(msg)
    shown = evidence_words(network, find_conflict(network, cells[:, 0]))
    msg = f"the evidence is impossible: {shown} has probability zero. Give less of it."
    raise InferenceError(msg)


def _compile_joint(
    network: Network, cells: NDArray[np.uint8], names: list[str], engine: Engine
) -> CompiledHoles:
    """Make ready for a joint distribution, or say that it takes too much memory."""
    variables = [network.names.index(name) for name in names]
    flags = np.zeros(network.n_vars, dtype=np.uint8)
    flags[variables] = 1
    compiled = engine.compile(network, cells, flags)
    engine.fit_threads(compiled.holes.joint_size(variables), network.names)
    return compiled


def _repeatable(engine: Engine) -> Engine:
    """Fix the seed, so that single and joint distributions are of the same samples."""
    is_fixed = isinstance(engine.seed, int | np.integer)
    return engine if is_fixed else replace(engine, seed=engine.key())


def _joint(
    model: Model, cells: NDArray[np.uint8], names: list[str], engine: Engine
) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """Return the joint distribution, an axis per name, and its standard errors, if any.

    Of a mixture both are those of the mean.
    """
    if isinstance(model, Network):
        return _joint_of(model, cells, names, engine)
    parts, squares = [], []
    for weight, member, own_cells in members_for(model, cells):
        engine = replace(engine, seed=as_generator(engine.seed))
        part, errors = _joint_of(member, own_cells, names, engine)
        parts.append(weight * part)
        if errors is not None:
            squares.append((weight * errors) ** 2)
    return np.sum(parts, axis=0), np.sqrt(np.sum(squares, axis=0)) if squares else None


def _joint_of(
    network: Network, cells: NDArray[np.uint8], names: list[str], engine: Engine
) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    variables = [network.names.index(name) for name in names]
    card = [len(network.states[v]) for v in variables]
    if engine.inference == "exact":
        compiled = _compile_joint(network, cells, names, engine)
        flat = compiled.holes.joint(compiled.cpts, variables)
        return flat.reshape(card[::-1]).transpose(), None
    engine.require_joint_fits(math.prod(map(float, card)))
    flags = np.zeros(network.n_vars, dtype=np.uint8)
    flags[variables] = 1
    found = weigher(network, cells, engine).marginals(flags, variables)
    return found.joint.reshape(card), found.joint_errors.reshape(card)


def shown_evidence(network: Model, row: NDArray[np.uint8]) -> Mapping[str, Label]:
    return MappingProxyType(
        {
            name: labels[code]
            for name, labels, code in zip(
                network.names, network.states, row.tolist(), strict=True
            )
            if code != MISSING
        }
    )


def _by_state(
    names: list[str],
    states: list[tuple[Label, ...]],
    values: list[NDArray[np.float64]],
) -> Mapping[str, Mapping[Label, float]]:
    return MappingProxyType(
        {
            name: MappingProxyType(dict(zip(labels, numbers.tolist(), strict=True)))
            for name, labels, numbers in zip(names, states, values, strict=True)
        }
    )
