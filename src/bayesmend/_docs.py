"""Words about parameters that many functions share, said once.

A docstring names such parameters in braces, alone on a line, and `documented` puts
their description there.
"""

from __future__ import annotations

import re
from textwrap import indent
from typing import Any, TypeVar

__all__ = ["SHARED", "documented"]

SHARED = {
    "auto_ess": """\
ess : float or "auto", optional
    Equivalent sample size, 1 by default; a `Score` has its own. ``auto``: the one of
    0.5 to 20 whose networks, learned quickly from three quarters of the rows, predict
    the others best; ``detail["ess"]`` tells.
""",
    "ax": """\
ax : matplotlib.axes.Axes, optional
    Where to draw; by default on a new figure of ``matplotlib.pyplot``.
""",
    "complete_data": """\
data : IncompleteData, frame, array, mapping or path
    A table without missing cells.
""",
    "constraints": """\
constraints : Constraints or mapping, optional
    Required and forbidden arcs, tiers, limits of single variables; a mapping names
    these parts: ``{"forbidden": [("cough", "smoke")]}``.
""",
    "ess": """\
ess : float, optional
    Equivalent sample size, 1 by default; a `Score` has its own.
""",
    "gap": """\
gap : float, optional
    Stop when no structure can be more than so many nats better; for ``auto`` and
    ``ilp``. By default 0: a proof. ``auto`` gives it up when at most 1 nat is left
    after a hundred rounds of cutting planes, or when it comes closer too slowly.
""",
    "max_memory": """\
max_memory : float, default=2**30
    Bytes that the tables of exact inference may take. What is expected of a family is
    counted in a quarter of it; a family whose table is larger is not considered.
""",
    "own_memory": """\
max_memory : float, optional
    Bytes that may be taken beyond what is held at the beginning. What would take more
    is refused with the figure, or left for a search that takes less; a proof ends with
    the best so far. Like a time limit, it can make an answer depend on the machine.
""",
    "max_parents": """\
max_parents : int, default=3
    Largest number of parents.
""",
    "model": """\
network : Network, Mixture or Ensemble
    The network, or several whose answers are averaged.
""",
    "max_mechanism_parents": """\
max_mechanism_parents : int, default=2
    Largest number of variables that missing cells of one variable depend on.
""",
    "mechanism": """\
mechanism : {"ignore", "self", "auto"} or mapping, default="ignore"
    Why cells are missing. ``ignore``: for no reason that matters. ``self``: because of
    what they hold, in every variable. ``auto``: what the table says, variable by
    variable; where it says nothing, the answer is that of ``ignore``. A mapping gives
    what the missing cells of variables depend on: ``{"income": ["income", "age"]}``.
    It is learned by EM, which weighs all completions, and held fixed where the best
    completion is searched.
""",
    "stability": """\
stability : int, default=0
    Number of bootstrap samples that the mechanism is learned from again, to tell in
    how large a share of them it has the same label; for ``mechanism="auto"``.
""",
    "checkpoint": """\
checkpoint : path, optional
    A folder in which the work is kept as it goes on. A call that was ended in whatever
    way, begun again with the same table, options and folder, goes on where that was,
    and ends with the answer that it would have had; `time_limit` is that of each call.
    A folder of something else is refused.
""",
    "n_threads": """\
n_threads : int, default=0
    Number of threads; 0 means one per core, and more than 8 per core are not made.
    The answer does not depend on it.
""",
    "network": """\
network : Network
    The network.
""",
    "opening": """\
**opening
    How the table is opened, by options of :meth:`IncompleteData.from_table`: missing,
    names, delimiter, decimal, encoding, header, sheet.
""",
    "parent_sets": """\
parent_sets : ParentSets
    The candidates and their scores.
""",
    "prior": """\
prior : {"fair", "uniform"}, optional
    Structure prior: ``fair`` makes k out of m possible parents cost log C(m, k),
    ``uniform`` nothing. Fair by default for bdeu, bds and k2; a `Score` has its own.
""",
    "progress": """\
progress : bool or callable, optional
    By default a bar on a terminal or in a notebook, and nothing elsewhere; False:
    nothing; True: also lines in a log. A callable is told (what, best score, seconds)
    now and then, and ``bound`` and ``share`` if it has parameters of these names.
""",
    "reading": """\
**reading
    How a table that is no ``IncompleteData`` is read, by options of
    :meth:`IncompleteData.from_table`: states, weights, columns, discretize,
    max_numeric_states, normalise, missing, names, delimiter, decimal, encoding,
    header, sheet.
""",
    "fill_empty_rows": """\
fill_empty_rows : bool, default=False
    Whether to fill rows in which nothing is observed. Otherwise they stay missing in
    the completed table; they are counted either way.
""",
    "unknown": """\
unknown : {"error", "missing"}, default="error"
    What to do with a label that the network does not know: raise an error, or take the
    cell as missing. Even then the cell comes back as it was.
""",
    "score": """\
score : Score or str, default="bdeu"
    The rule, or its name: bdeu, bds, k2, bic, aic, qnml or loglik.
""",
    "seed": """\
seed : int, Generator or None
    Source of randomness: the same seed gives the same answer.
""",
    "table": """\
data : IncompleteData, frame, array, mapping or path
    The table.
""",
    "support": """\
support : float, optional
    What a row costs, in nats, in a cell of a family of which no observed row gives an
    example; 0 switches it off. A `Score` has its own.
""",
    "certificate": """\
certificate : path, optional
    A file ending in ``.json`` or ``.json.gz`` that takes the proof of the bound, for
    others to check (`verify`).
""",
    "time_limit": """\
time_limit : float, optional
    Seconds; the best answer so far is returned, with the bound known by then.
""",
}

_IN_BRACES = re.compile(r"^( *)\{([a-z]\w*(?:, [a-z]\w*)*)\}\n", re.MULTILINE)

_T = TypeVar("_T")


def documented(thing: _T) -> _T:
    """Describe the parameters that a docstring names in braces.

    Examples
    --------
    >>> @documented
    ... def learn(data, *, ess=None):
    ...     '''Learn.
    ...     {complete_data, ess}
    ...     '''
    >>> print(learn.__doc__)
    Learn.
        data : IncompleteData, frame, array, mapping or path
            A table without missing cells.
        ess : float, optional
            Equivalent sample size, 1 by default; a `Score` has its own.
    """

    def described(found: re.Match[str]) -> str:
        return "".join(indent(SHARED[name], found[1]) for name in found[2].split(", "))

    either: Any = thing
    if either.__doc__ is not None:  # as it is under python -OO
        either.__doc__ = _IN_BRACES.sub(described, either.__doc__)
    return thing
