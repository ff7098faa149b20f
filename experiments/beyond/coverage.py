"""How often intervals from imputed tables cover the truth.

Samples of CHILD lose 30 % of the cells of all but three variables, depending on these
three. Fifty probabilities are estimated from the completed tables, half of them of a
state alone and half given the state of another variable, each with a 95 % interval.
One completed table, taken as if it had been observed, makes intervals too narrow; so do
many tables drawn from one network, which differ by the cells alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesmend.data.table import IncompleteData
from bayesmend.hiding.mechanisms import hide_mar
from bayesmend.inference.posterior import draw_completions, marginals
from bayesmend.learning.em import learn_em
from bayesmend.learning.multiple import impute_multiple
from bayesmend.learning.pool import pool
from bayesmend.network.network import Network
from bayesmend.seed import as_generator
from experiments.data import DataFolder, network_files
from experiments.design import (
    Answer,
    Block,
    Experiment,
    Measure,
    Method,
    Run,
    Setting,
    Task,
)
from experiments.methods import MAX_PARENTS

__all__ = ["design"]

NETWORK = "child"
N_ROWS = 1000
RATE = 0.3
SEEN = ("Disease", "Sick", "Grunting")
N_TABLES = 20
N_EACH = 25
REPETITIONS = 30
LEVEL = 0.95
# Of what is asked: nearer to 0 or 1, and of fewer rows, the usual interval of a share
# does not hold its level even where nothing is missing.
LEAST = 0.1

COVERED = Measure(
    "covered",
    "95 % intervals that cover the truth (%)",
    100.0,
    digits=1,
    is_contest=False,
    limits=(0.0, 100.0),
)
WIDTH = Measure(
    "width",
    "half the width of the intervals (points)",
    100.0,
    is_contest=False,
)
ERROR = Measure(
    "error",
    "root mean squared error of the estimates (points)",
    100.0,
    is_better_high=False,
)


class Share(NamedTuple):
    """A probability: of a state of a variable, perhaps given a state of another."""

    variable: int
    state: int
    given: int | None
    level: int
    truth: float


def design(*, seed: int = 1, time_limit: float | None = None) -> Experiment:
    """Lay out the experiment; no method of it needs a limit of seconds."""
    setting = Setting(
        f"{NETWORK}/{N_ROWS}/mar",
        {"network": NETWORK, "n_rows": N_ROWS, "rate": RATE, "seen": list(SEEN)},
        range(REPETITIONS),
        files=network_files(NETWORK),
    )
    many = {"m": N_TABLES, "max_parents": MAX_PARENTS}
    one = {"max_parents": MAX_PARENTS}
    return Experiment(
        name="coverage",
        title="Whether intervals from imputed tables cover the truth",
        settings=(setting,),
        methods=(
            Method("single", "one table, most probable", solve_single, one),
            Method("draw", "one table, drawn", solve_fixed, {**one, "m": 1}),
            Method("fixed", "20 tables, one network", solve_fixed, many),
            Method(
                "partition",
                "20 tables, all drawn (partition)",
                solve_multiple,
                {**many, "method": "partition"},
            ),
            Method(
                "bootstrap",
                "20 tables, all drawn (bootstrap)",
                solve_multiple,
                {**many, "method": "bootstrap"},
            ),
            Method("complete", "nothing hidden", solve_complete, is_reference=True),
        ),
        blocks=(Block("CHILD, n = 1,000, 30 % MAR", (setting.name,)),),
        make=make,
        seed=seed,
        quick_repetitions=2,
        measures=(COVERED, WIDTH, ERROR),
        notes=(
            f"Hidden: 30 % of the cells of each variable but {', '.join(SEEN)}, with "
            "log-odds of standard deviation 1 between the states of these.",
            "Asked: 25 probabilities of a state, and 25 given a state of a neighbour "
            "in the network or of any other variable; all between 0.1 and 0.9, and "
            "given what has a probability of at least 0.1.",
            "Intervals: of a single table the share plus and minus 1.96 standard "
            "errors; of many by Rubin's rules. The variance of a share in a table is "
            "p (1 - p) / n.",
            "One network: that of structural EM. All drawn: `impute_multiple`.",
        ),
    )


def make(run: Run, folder: DataFolder) -> Task:
    """Draw rows of the network and hide cells."""
    given = run.setting.parameters
    network = folder.network(given["network"])
    generator = as_generator(run.seed)
    rows = network.sample(given["n_rows"], seed=generator)
    hidden = hide_mar(rows, given["rate"], depends_on=given["seen"], seed=generator)
    return Task(hidden, network=network)


def solve_complete(task: Task, *, seed: int, n_threads: int) -> Answer:
    """Estimate from the table before cells were hidden."""
    codes = task.data.codes.copy()
    codes[task.hidden.rows, task.hidden.variables] = task.hidden.true_codes
    return _judge(task, [codes])


def solve_single(task: Task, *, seed: int, n_threads: int, **options: Any) -> Answer:
    """Estimate from the most probable completion."""
    found = learn_em(task.data, seed=seed, n_threads=n_threads, **options)
    return _judge(task, [found.completed.codes])


def solve_fixed(
    task: Task, *, seed: int, n_threads: int, m: int, **options: Any
) -> Answer:
    """Estimate from tables drawn from one network."""
    found = learn_em(task.data, seed=seed, n_threads=n_threads, **options)
    tables = draw_completions(
        found.network, task.data, n_draws=m, seed=seed, n_threads=n_threads
    )
    return _judge(task, [table.codes for table in tables])


def solve_multiple(
    task: Task, *, seed: int, n_threads: int, m: int, **options: Any
) -> Answer:
    """Estimate from tables with structure, parameters and cells drawn for each."""
    found = impute_multiple(task.data, m, seed=seed, n_threads=n_threads, **options)
    return _judge(task, [table.codes for table in found.tables])


def _judge(task: Task, tables: Sequence[NDArray[np.uint8]]) -> Answer:
    assert task.network is not None
    shares = asked(task.network)
    truth = np.array([share.truth for share in shares])
    found = [estimate(codes, shares) for codes in tables]
    values, squares = (np.array(part) for part in zip(*found, strict=True))
    if len(tables) == 1:
        # Two tables that agree: no variance between them.
        values, squares = (np.repeat(part, 2, axis=0) for part in (values, squares))
    pooled = pool(values, squares, level=LEVEL)
    is_covered = (pooled.lower <= truth) & (truth <= pooled.upper)
    return Answer(
        extra={
            "covered": float(is_covered.mean()),
            "width": float((pooled.upper - pooled.lower).mean() / 2),
            "error": float(np.sqrt(((pooled.estimate - truth) ** 2).mean())),
        }
    )


def estimate(
    codes: NDArray[np.uint8], shares: Sequence[Share]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Give the shares in a table and their variances.

    Examples
    --------
    >>> codes = np.array([[0, 0], [0, 1], [1, 1], [1, 1]], np.uint8)
    >>> alone, among = Share(1, 1, None, 0, 0.5), Share(0, 1, 1, 1, 0.5)
    >>> values, squares = estimate(codes, [alone, among])
    >>> values.round(3).tolist(), squares.round(3).tolist()
    ([0.75, 0.667], [0.047, 0.074])
    """
    values, squares = [], []
    for share in shares:
        column = codes[:, share.variable]
        if share.given is not None:
            column = column[codes[:, share.given] == share.level]
        p = float((column == share.state).mean())
        values.append(p)
        squares.append(p * (1 - p) / len(column))
    return np.array(values), np.array(squares)


@lru_cache(maxsize=4)
def asked(network: Network) -> tuple[Share, ...]:
    """Choose what is asked, the same for all samples."""
    generator = as_generator(20_261_118)
    alone = [
        Share(v, state, None, 0, p)
        for v in range(network.n_vars)
        for state, p in enumerate(_distribution(network, v))
        if LEAST <= p <= 1 - LEAST
    ]
    probable = [(share.variable, share.state) for share in alone]
    among: list[Share] = []
    near = [(p, v) for v, parents in enumerate(network.dag.parents) for p in parents]
    far = [(i, j) for i in range(network.n_vars) for j in range(network.n_vars)]
    for pairs in (near, [pair for pair in far if pair[0] != pair[1]]):
        among += [
            Share(v, state, given, level, p)
            for given, level in probable
            for v in (v for g, v in pairs if g == given)
            for state, p in enumerate(_distribution(network, v, given, level))
            if LEAST <= p <= 1 - LEAST
        ]
        if pairs is near:
            among = _pick(among, N_EACH // 2 + 1, generator)
    kept, others = among[: N_EACH // 2 + 1], among[N_EACH // 2 + 1 :]
    rest = _pick(others, N_EACH - len(kept), generator)
    chosen = (*_pick(alone, N_EACH, generator), *kept, *rest)
    return tuple(dict.fromkeys(chosen))  # a pair may be among both kinds


def _pick(
    shares: list[Share], size: int, generator: np.random.Generator
) -> list[Share]:
    chosen = generator.choice(len(shares), min(size, len(shares)), replace=False)
    return [shares[k] for k in sorted(chosen.tolist())]


def _distribution(
    network: Network, variable: int, given: int | None = None, level: int = 0
) -> list[float]:
    row: dict[str, list[Any]] = {name: [None] for name in network.names}
    if given is not None:
        row[network.names[given]] = [network.states[given][level]]
    table = IncompleteData.from_table(row, states=_states(network))
    name = network.names[variable]
    found = marginals(network, table, targets=name, n_threads=1)
    return [float(p) for p in found.of(name)[1][0]]


def _states(network: Network) -> dict[str, tuple[Any, ...]]:
    return dict(zip(network.names, network.states, strict=True))
