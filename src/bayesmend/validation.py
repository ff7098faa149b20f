"""Which way of filling suits a table: cells are hidden on purpose, then compared."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, NamedTuple, Unpack, get_args

import numpy as np
from numpy.typing import NDArray

from bayesmend._checks import check_choice, check_integer, check_items, check_number
from bayesmend._clock import Clock, Progress, check_time_limit
from bayesmend._columns import in_columns
from bayesmend._entrance import entrance
from bayesmend._progress import told
from bayesmend._shown import Shown
from bayesmend._visible import visible
from bayesmend.data.reading import Reading
from bayesmend.data.states import MISSING, quantity
from bayesmend.data.table import IncompleteData, require_rows
from bayesmend.errors import ParameterError
from bayesmend.graph.dag import Dag
from bayesmend.hiding.mechanisms import hide_mar, hide_mcar, hide_mnar
from bayesmend.hiding.record import Hidden
from bayesmend.inference.posterior import marginals
from bayesmend.learning.learn import METHODS, learn
from bayesmend.learning.result import LearnResult
from bayesmend.learning.support import untold_of_support
from bayesmend.network.mixture import ModelLike, model_of
from bayesmend.network.network import Network
from bayesmend.outcome import Stopped
from bayesmend.seed import Seed, as_generator

__all__ = ["Comparison", "MethodScore", "Share", "cross_validate"]

Mechanism = Literal["mcar", "mar", "mnar"]
Way = Callable[..., "LearnResult | ModelLike"]
_COMPARED = ("auto", "em", "ensemble", "mode")
_N_BINS = 10
# The share of a time limit that is for learning; the rest is for inference.
_LEARNING = 0.8


class Share(NamedTuple):
    """How often probabilities came true: a point of a calibration curve."""

    probability: float
    share: float
    n_cells: int


class VariableScore(NamedTuple):
    """How well the hidden cells of one variable were filled."""

    n_cells: int
    accuracy: float
    log_loss: float


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class MethodScore:
    """How well a method filled the hidden cells.

    Parameters
    ----------
    method : str
        Its name.
    accuracy : float
        The share of hidden cells whose most probable state was right.
    accuracy_error, log_loss_error : float
        Standard errors, as if cells were independent.
    log_loss : float
        Mean of -log of the probability of what was right, in nats: it counts how much
        was known, too.
    behind, behind_error : float
        By how much its log-loss is above the lowest of the comparison, and the standard
        error of that difference, cell by cell.
    calibration_error : float
        Mean distance of probabilities from the shares that came true.
    seconds : float
        For one table, in the mean.
    by_variable : mapping of str to VariableScore
        The same for each variable.
    curve : tuple of Share
        The cells in ten bins by the probability of their most probable state.
    """

    method: str
    accuracy: float
    accuracy_error: float
    log_loss: float
    log_loss_error: float
    behind: float
    behind_error: float
    calibration_error: float
    seconds: float
    by_variable: Mapping[str, VariableScore]
    curve: tuple[Share, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return all of it in plain types, ready for JSON."""
        plain = {name: getattr(self, name) for name in self.__slots__}
        return plain | {
            "by_variable": {n: v._asdict() for n, v in self.by_variable.items()},
            "curve": [share._asdict() for share in self.curve],
        }

    def __repr__(self) -> str:
        return (
            f"MethodScore({self.method}, accuracy={self.accuracy:.3f}, "
            f"log_loss={self.log_loss:.3f})"
        )


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Comparison(Shown):
    """Methods side by side on one table; it prints its numbers.

    Parameters
    ----------
    methods : tuple of MethodScore
        The one with the lowest log-loss first.
    n_hidden : int
        Number of hidden cells, of all repeats together.
    n_repeats : int
        How often cells were hidden and filled.
    stopped : Stopped
        Ctrl-C, where it left fewer repeats than asked for.
    """

    methods: tuple[MethodScore, ...]
    n_hidden: int
    n_repeats: int
    stopped: Stopped = Stopped.NOTHING

    @property
    def best(self) -> str:
        """The method with the lowest log-loss."""
        return self.methods[0].method

    def __getitem__(self, method: str) -> MethodScore:
        for found in self.methods:
            if found.method == method:
                return found
        raise KeyError(method)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it in plain types, ready for JSON."""
        return {
            "best": self.best,
            "n_hidden": self.n_hidden,
            "n_repeats": self.n_repeats,
            "stopped": self.stopped.value,
            "methods": [method.to_dict() for method in self.methods],
        }

    def __repr__(self) -> str:
        head = ("method", "accuracy", "log-loss", "behind", "calibration", "seconds")
        rows = [
            (
                m.method,
                f"{m.accuracy:.1%} ± {m.accuracy_error:.1%}",
                f"{m.log_loss:.3f} ± {m.log_loss_error:.3f}",
                f"{m.behind:.3f} ± {m.behind_error:.3f}" if m.behind else "",
                f"{m.calibration_error:.1%}",
                f"{m.seconds:.2f}",
            )
            for m in self.methods
        ]
        repeats = quantity(self.n_repeats, "repeat")
        told = f"{quantity(self.n_hidden, 'hidden cell')}, {repeats}"
        ended = f", stopped at {self.stopped.words}" if self.stopped else ""
        return visible("\n".join([told + ended, "", *in_columns([head, *rows])]))


@entrance
def cross_validate(
    data: Any,
    *,
    methods: Sequence[str] | Mapping[str, Way] = _COMPARED,
    mechanism: Mechanism | Callable[..., Hidden] = "mcar",
    rate: float = 0.1,
    n_repeats: int = 3,
    time_limit: float | None = None,
    seed: Seed = None,
    n_threads: int = 0,
    progress: Progress | bool | None = None,
    **reading: Unpack[Reading],
) -> Comparison:
    """Hide cells of a table, have methods fill them, and compare with what was there.

    Parameters
    ----------
    data : IncompleteData, frame, array, mapping or path
        A table, with or without missing cells of its own: these are filled too, and not
        judged.
    methods : sequence of str, or mapping of str to callable
        Methods of `learn`, and ``mode``: the observed shares of each variable, which
        anything should beat; by default auto, em, ensemble and mode. A mapping names
        ways of your own: each is called with a table and ``seed``, and returns a
        result of learning, a network or an ensemble.
    mechanism : {"mcar", "mar", "mnar"} or callable, default="mcar"
        How cells are hidden, as by `hide_mcar` and so on, at the given rate (under
        ``mar`` a fifth of the variables stays observed, and decides about the others);
        a callable is called with the table and ``seed``, and returns a `Hidden`.
    rate : float, default=0.1
        The share of the observed cells that is hidden.
    n_repeats : int, default=3
        How often.
    time_limit : float, optional
        Seconds in all. In each repeat the methods of `learn` get equal shares of it;
        a repeat for which there is no more time is left out.
    {seed, n_threads, progress}
    {reading}

    Returns
    -------
    Comparison
        Accuracy, log-loss and calibration of each method, the best by log-loss first.

    Examples
    --------
    >>> import bayesmend as bm
    >>> data = bm.load_network("asia").sample(300, seed=1)
    >>> found = bm.cross_validate(data, methods=["em", "mode"], n_repeats=1, seed=1)
    >>> found.best
    'em'
    >>> found["em"].accuracy > found["mode"].accuracy
    True
    """
    progress = told(progress)
    check_integer("n_repeats", n_repeats, 1)
    check_number("rate", rate, least=0, most=1)
    clock = Clock(time_limit)
    ways = _ways(methods, n_repeats, {"time_limit": time_limit, "n_threads": n_threads})
    hide = _hiding(mechanism, rate)
    table = IncompleteData.from_table(data, **reading)
    require_rows(table)
    judged: dict[str, list[_Judged]] = {name: [] for name in ways}
    stopped, n_done = Stopped.NOTHING, 0
    try:
        parent = as_generator(seed)
        for number in range(n_repeats):
            generator = parent.spawn(1)[0]
            hidden = hide(table, seed=generator)
            if hidden.n_hidden == 0:
                msg = (
                    "no cell was hidden, so there is nothing to compare by. Raise rate."
                )
                raise ParameterError(msg)
            found = []
            own = generator.spawn(len(ways))
            for done, (name, way) in enumerate(ways.items()):
                if n_done and clock.is_over:
                    raise TimeoutError
                if progress is not None:
                    share = (number * len(ways) + done) / (n_repeats * len(ways))
                    what = f"comparison: {name}, repeat {number + 1} of {n_repeats}"
                    progress(what, float("nan"), 0.0, share=share)
                found.append(_judge(way, hidden, own[done]))
            for name, one in zip(ways, found, strict=True):
                judged[name].append(one)
            n_done = number + 1
    except KeyboardInterrupt:
        if not n_done:
            raise
        stopped = Stopped.INTERRUPT
    except TimeoutError:
        stopped = Stopped.TIME
    return _compare(judged, table.names, n_done, stopped)


def _ways(
    methods: Sequence[str] | Mapping[str, Way], n_repeats: int, options: dict[str, Any]
) -> dict[str, Way]:
    """Return the ways to fill a table by their names.

    Each gets its share of the time limit; what remains is for what they are asked.
    """
    found: dict[str, Any]
    if isinstance(methods, Mapping):
        found = dict(methods)
    else:
        names = check_items("methods", methods, "names of methods")
        for name in names:
            check_choice("methods", name, (*METHODS, "mode"))
        if (limit := check_time_limit(options["time_limit"])) is not None:
            n_runs = n_repeats * max(sum(name != "mode" for name in names), 1)
            options = {**options, "time_limit": _LEARNING * limit / n_runs}
        found = {name: partial(_learn, name, options) for name in names}
    for name, way in found.items():
        if not callable(way):
            msg = f"methods[{name!r}] must be callable. Got {way!r} instead."
            raise ParameterError(msg)
    if not found:
        msg = "there is no method to compare. Name at least one in methods."
        raise ParameterError(msg)
    return found


def _hiding(
    mechanism: Mechanism | Callable[..., Hidden], rate: float
) -> Callable[..., Hidden]:
    if callable(mechanism):
        return mechanism
    check_choice("mechanism", mechanism, get_args(Mechanism))
    ways = {"mcar": hide_mcar, "mar": _hide_mar, "mnar": hide_mnar}
    return partial(ways[mechanism], rate=rate)


def _hide_mar(
    data: IncompleteData, *, rate: float, seed: np.random.Generator
) -> Hidden:
    """Hide cells depending on a fifth of the variables, those observed most."""
    n_kept = max(1, data.n_vars // 5)
    order = seed.permutation(data.n_vars)
    n_missing = data.missing_mask.sum(axis=0)[order]
    kept = order[np.argsort(n_missing, kind="stable")[:n_kept]]
    names = [data.names[v] for v in sorted(kept.tolist())]
    return hide_mar(data, rate, depends_on=names, seed=seed)


def _learn(
    name: Any, options: dict[str, Any], data: IncompleteData, *, seed: Seed
) -> LearnResult | Network:
    if name == "mode":
        return _shares(data)
    return learn(data, method=name, seed=seed, progress=False, **options)


def _shares(data: IncompleteData) -> Network:
    """Return the network without arcs, of observed shares."""
    tables = []
    for v, card in enumerate(data.card.tolist()):
        column = data.codes[:, v]
        seen = column != MISSING
        weights = None if data.weights is None else data.weights[seen]
        counts = np.bincount(column[seen], weights, minlength=card) + 1 / card
        tables.append((counts / counts.sum())[None])
    return Network(Dag.from_arcs(data.names), data.states, tuple(tables))


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class _Judged:
    """What one method said of hidden cells: each an entry."""

    variables: NDArray[np.intp]
    is_right: NDArray[np.bool_]
    loss: NDArray[np.float64]
    surest: NDArray[np.float64]
    seconds: float


def _judge(way: Way, hidden: Hidden, seed: np.random.Generator) -> _Judged:
    started = time.perf_counter()
    with untold_of_support():
        found = way(hidden.data, seed=seed)
    seconds = time.perf_counter() - started
    if getattr(found, "stopped", Stopped.NOTHING) is Stopped.INTERRUPT:
        raise KeyboardInterrupt
    model = found
    if isinstance(found, LearnResult) and not hasattr(found, "mixture"):
        model = found.network
    said = marginals(model_of(model), hidden.data)  # type: ignore[arg-type]
    n_hidden = len(hidden.rows)
    truth, best, surest = (
        np.empty(n_hidden),
        np.empty(n_hidden, int),
        np.empty(n_hidden),
    )
    for v in np.unique(hidden.variables).tolist():
        here = hidden.variables == v
        rows, p = said.of(hidden.data.names[v])
        p = p[np.searchsorted(rows, hidden.rows[here])]
        truth[here] = p[np.arange(len(p)), hidden.true_codes[here]]
        best[here], surest[here] = p.argmax(axis=1), p.max(axis=1)
    with np.errstate(divide="ignore"):
        loss = -np.log(truth)
    is_right = best == hidden.true_codes
    return _Judged(hidden.variables, is_right, loss, surest, seconds)


def _compare(
    judged: Mapping[str, list[_Judged]],
    names: tuple[str, ...],
    n_repeats: int,
    stopped: Stopped,
) -> Comparison:
    joined = {name: _Joined(list(parts)) for name, parts in judged.items()}
    lowest = min(joined.values(), key=lambda one: float(one.loss.mean()))
    scores = [one.score(name, names, lowest) for name, one in joined.items()]
    scores.sort(key=lambda score: score.log_loss)
    return Comparison(tuple(scores), len(lowest.loss), n_repeats, stopped)


@dataclass(slots=True, repr=False, eq=False)
class _Joined:
    """What one method said of all hidden cells."""

    parts: list[_Judged]
    loss: NDArray[np.float64] = field(init=False)
    is_right: NDArray[np.bool_] = field(init=False)
    surest: NDArray[np.float64] = field(init=False)
    variables: NDArray[np.intp] = field(init=False)

    def __post_init__(self) -> None:
        for name in ("loss", "is_right", "surest", "variables"):
            values = [getattr(part, name) for part in self.parts]
            setattr(self, name, np.concatenate(values))

    def score(
        self, method: str, names: tuple[str, ...], lowest: _Joined
    ) -> MethodScore:
        behind, behind_error = _mean(self.loss - lowest.loss)
        accuracy, accuracy_error = _mean(self.is_right.astype(float))
        log_loss, log_loss_error = _mean(self.loss)
        curve = tuple(self._curve())
        off = sum(abs(s.probability - s.share) * s.n_cells for s in curve)
        return MethodScore(
            method=method,
            accuracy=accuracy,
            accuracy_error=accuracy_error,
            log_loss=log_loss,
            log_loss_error=log_loss_error,
            behind=behind,
            behind_error=behind_error,
            calibration_error=off / len(self.loss),
            seconds=float(np.mean([part.seconds for part in self.parts])),
            by_variable={
                names[v]: VariableScore(
                    int((self.variables == v).sum()),
                    float(self.is_right[self.variables == v].mean()),
                    float(self.loss[self.variables == v].mean()),
                )
                for v in np.unique(self.variables).tolist()
            },
            curve=curve,
        )

    def _curve(self) -> Iterator[Share]:
        bins = np.minimum((self.surest * _N_BINS).astype(int), _N_BINS - 1)
        for b in np.unique(bins).tolist():
            here = bins == b
            share = float(self.is_right[here].mean())
            yield Share(float(self.surest[here].mean()), share, int(here.sum()))


def _mean(values: NDArray[np.float64]) -> tuple[float, float]:
    """Return a mean and its standard error."""
    n = len(values)
    spread = float(values.std(ddof=1)) if n > 1 else float("nan")
    return float(values.mean()), spread / float(np.sqrt(n))
